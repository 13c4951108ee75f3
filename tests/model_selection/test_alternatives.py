"""Stand-ins for selected columns, against refits of every swap."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from estimator_checks import toy
from sklearn.exceptions import NotFittedError

from rowsparse import L2pSelector, ScoreSelector, TopKSelector
from rowsparse.model_selection import alternatives
from rowsparse.targets import as_target


def loss(X, y, columns, ridge, weight):
    """Least squares on standardised columns, solved by numpy."""
    Y = as_target(y, "auto").Y
    w = weight / weight.sum()
    Z = X - w @ X
    Z = Z / np.sqrt(w @ Z**2)
    Z, Y = Z[:, columns] * np.sqrt(w)[:, None], (Y - w @ Y) * np.sqrt(w)[:, None]
    A = np.vstack([Z, np.sqrt(ridge) * np.eye(len(columns))])
    R = np.vstack([Y, np.zeros((len(columns), Y.shape[1]))])
    W = np.linalg.lstsq(A, R, rcond=None)[0]
    return 0.5 * np.sum((A @ W - R) ** 2)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("data", [toy.labelled, toy.outputs])
def test_changes_are_those_of_refits(data, weighted, ridge):
    X, y = data(d=12)
    X[:, 9] = X[:, 4] + 0.3 * X[:, 9]
    weight = np.random.default_rng(0).uniform(0.2, 3.0, 60) if weighted else np.ones(60)
    fitted = TopKSelector(3, ridge=ridge).fit(X, y, sample_weight=weight)
    found = alternatives(fitted, X, y, tol=10.0, sample_weight=weight)
    chosen = np.flatnonzero(fitted.support_)
    np.testing.assert_array_equal(found.selected, chosen)
    base = loss(X, y, chosen, ridge, weight)
    null = loss(X, y, [], ridge, weight)
    for j, columns, changes in zip(chosen, found.columns, found.changes, strict=True):
        assert set(columns) == set(range(12)) - set(chosen)
        assert (np.diff(changes) >= 0).all()
        for i, change in zip(columns, changes, strict=True):
            swapped = [i, *chosen[chosen != j]]
            expected = (loss(X, y, swapped, ridge, weight) - base) / null
            assert change == pytest.approx(expected, abs=1e-9)


def test_a_copy_stands_in_for_nothing():
    X, y = toy.labelled()
    X = np.column_stack([X, X[:, 4], np.ones(60)])
    fitted = TopKSelector(3, ridge=0.0).fit(X, y)
    found = alternatives(fitted, X, y, tol=1e-9)
    assert [list(one) for one in found.columns] == [[], [8], []]
    assert found.changes[1] == pytest.approx(0.0, abs=1e-12)


def test_names_frames_sparse_and_other_selectors():
    X, y = toy.mostly_zero()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(8)])
    dense = alternatives(ScoreSelector("f", 2).fit(frame, y), frame, y, tol=0.5)
    assert set(dense.to_frame().columns) == {"selected", "alternative", "change"}
    assert dense.to_frame()["selected"].iloc[0].startswith("c")
    thin = alternatives(ScoreSelector("f", 2).fit(sp.csr_array(X), y), sp.csr_array(X), y, tol=0.5)
    for a, b in zip(dense.changes, thin.changes, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_bad_input_is_refused():
    X, y = toy.labelled()
    with pytest.raises(NotFittedError):
        alternatives(L2pSelector(), X, y)
    fitted = L2pSelector(2).fit(X, y)
    with pytest.raises(ValueError, match="8 columns"):
        alternatives(fitted, X[:, :5], y)
    with pytest.raises(ValueError, match="tol"):
        alternatives(fitted, X, y, tol=-1.0)
