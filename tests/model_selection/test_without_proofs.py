"""Fits inside a resampling prove nothing that nobody reads, and find what they find with proofs."""

import numpy as np
import pytest
from estimator_checks import toy

from rowsparse import L2pSelector, LpInfSelector, TopKSelector
from rowsparse.model_selection import SelectorCV
from rowsparse.model_selection.following import follow, with_k
from rowsparse.paths import selection_path
from rowsparse.problems.base import without_proofs

X, Y = toy.outputs(d=12)
SELECTORS = {
    "l2,1": L2pSelector(p=1),
    "l2,p with a ridge": L2pSelector(ridge=1.0),
    "lp,inf": LpInfSelector(p=1),
    "top k": TopKSelector(ridge=0.0),
    "top k with a ridge": TopKSelector(ridge=1.0),
    "top k, robust": TopKSelector(r=1.0, ridge=0.0),
}


@pytest.mark.parametrize("name", SELECTORS)
def test_what_is_found_does_not_depend_on_what_is_proved(name):
    selector = SELECTORS[name]
    ks = [1, 2, 3, 5]
    steps = follow(selector, X, Y, {}, ks=ks).steps
    expected = selection_path(with_k(selector, 5), X, Y, ks=ks)
    for step, solution in zip(steps, expected.solutions, strict=True):
        np.testing.assert_array_equal(step.solution.W, solution.W)
        assert step.solution.objective == solution.objective


@pytest.mark.parametrize("selector", [L2pSelector(alpha=0.1, p=1), L2pSelector(alpha=0.1, ridge=1)])
def test_a_gap_is_for_those_who_read_it(selector):
    assert follow(selector, X, Y, {}).steps[0].solution.gap is None
    assert selector.fit(X, Y).solution_.gap is not None


def test_five_of_twelve_columns_are_bounded_for_a_reader_alone():
    selector = TopKSelector(5, ridge=0.0)
    assert selector.fit(X, Y).solution_.lower_bound > 0
    with without_proofs():
        assert selector.fit(X, Y).solution_.lower_bound == 0


def test_two_columns_are_still_enumerated():
    """A proof that may find a better pair is a part of the search."""
    step = follow(TopKSelector(ridge=0.0), X, Y, {}, ks=[2]).steps[0]
    assert step.solution.proof.startswith("proved optimal: all pairs")


def test_a_search_proves_what_it_gives_away():
    search = SelectorCV(L2pSelector(p=1), grid={"alpha": [0.5, 0.1]}, cv=3).fit(X, Y)
    assert search.best_selector_.solution_.gap is not None
    assert all(solution.gap is not None for solution in search.path_.solutions)
