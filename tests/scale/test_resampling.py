"""Cross-validation and stability selection on X in blocks: the answers of memory, few passes."""

import numpy as np
import pytest
from scale.holders import HOLDERS, table, weights
from sklearn.base import clone
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit

from rowsparse import L2pSelector, LpInfSelector, ScoreSelector, TopKSelector
from rowsparse.designs import as_design
from rowsparse.model_selection import KnockoffSelector, SelectorCV, StabilitySelector

X, Y = table()
CLASSES = np.array(["a", "b", "c"])[np.digitize(Y[:, 0], [-1, 1])]
TARGETS = {
    "numbers": Y,
    "one output": Y[:, 0],
    "classes": CLASSES,
    "two classes": CLASSES == "a",
    "labels": (Y > 0).astype(int),
}
KS = [1, 2, 4, 6]


def assert_same_search(search, expected):
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], rtol=1e-6
    )
    np.testing.assert_array_equal(
        search.cv_results_["mean_n_features"], expected.cv_results_["mean_n_features"]
    )
    assert search.best_index_ == expected.best_index_
    np.testing.assert_array_equal(search.support_, expected.support_)
    np.testing.assert_allclose(
        search.best_selector_.coef_, expected.best_selector_.coef_, rtol=1e-6, atol=1e-7
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("holder", ["npy", "dask, uneven"])
def test_two_passes_for_a_whole_search(target, holder, tmp_path):
    """One for the moments of all folds, one for all scores."""
    held = as_design(HOLDERS[holder](X, tmp_path))
    search = SelectorCV(TopKSelector(), ks=KS, cv=4).fit(held, TARGETS[target])
    assert held.passes.count == 2
    assert_same_search(search, SelectorCV(TopKSelector(), ks=KS, cv=4).fit(X, TARGETS[target]))


@pytest.mark.parametrize(
    "search",
    [
        SelectorCV(L2pSelector(p=1), cv=3),
        SelectorCV(L2pSelector(), grid={"p": [0.5, 1]}, ks=KS, cv=3, rule="1se"),
        SelectorCV(LpInfSelector(), ks=KS, cv=KFold(3, shuffle=True, random_state=0)),
        SelectorCV(TopKSelector(), ks=KS, cv=ShuffleSplit(4, test_size=0.3, random_state=0)),
        SelectorCV(TopKSelector(), ks=KS, cv=RepeatedKFold(n_splits=3, n_repeats=2)),
        SelectorCV(L2pSelector(r=1, p=1), grid={"alpha": [0.3]}, cv=2),
        SelectorCV(TopKSelector(class_weight="balanced"), ks=KS, cv=3),
    ],
    ids=["alphas", "grid", "lpinf", "shuffled", "repeated", "r=1", "class weights"],
)
@pytest.mark.parametrize("weight", [None, weights()], ids=["plain", "weighted"])
def test_searches_of_every_kind(search, weight, tmp_path):
    target = CLASSES if search.selector.class_weight else Y
    if isinstance(search.cv, RepeatedKFold):
        search.set_params(cv=RepeatedKFold(n_splits=3, n_repeats=2, random_state=0))
    expected = clone(search).fit(X, target, sample_weight=weight)
    held = HOLDERS["dask"](X, tmp_path)
    assert_same_search(clone(search).fit(held, target, sample_weight=weight), expected)


def test_a_class_that_a_fold_does_not_have(tmp_path):
    y = CLASSES.copy()
    y[:3] = "rare"
    cv = KFold(4)
    with np.errstate(invalid="ignore"):
        expected = SelectorCV(TopKSelector(), ks=KS, cv=cv).fit(X, y)
    held = HOLDERS["npy"](X, tmp_path)
    assert_same_search(SelectorCV(TopKSelector(), ks=KS, cv=cv).fit(held, y), expected)


@pytest.mark.parametrize("holder", ["csr", "dask"])
@pytest.mark.parametrize("weight", [None, weights()], ids=["plain", "weighted"])
def test_stability_in_one_pass(holder, weight, tmp_path):
    stable = StabilitySelector(TopKSelector(4), n_pairs=6, random_state=0)
    expected = clone(stable).fit(X, Y, sample_weight=weight)
    held = as_design(HOLDERS[holder](X, tmp_path))
    found = clone(stable).fit(held, Y, sample_weight=weight)
    assert held.passes.count == 1
    np.testing.assert_array_equal(found.selection_probabilities_, expected.selection_probabilities_)
    assert found.pfer_ == expected.pfer_


def test_stability_of_robust_loss_passes_over_masks(tmp_path):
    stable = StabilitySelector(L2pSelector(3, r=1, init="zero"), n_pairs=2, random_state=0)
    expected = clone(stable).fit(X, Y[:, 0])
    found = clone(stable).fit(HOLDERS["dask"](X, tmp_path), Y[:, 0])
    np.testing.assert_array_equal(found.selection_probabilities_, expected.selection_probabilities_)


def test_what_cannot_be_done_in_blocks_is_refused(tmp_path):
    held = HOLDERS["dask"](X, tmp_path)
    cases = [
        (SelectorCV(TopKSelector(), ks=KS, scoring="loss"), "leave both out"),
        (SelectorCV(TopKSelector(), ks=KS, imputer=object()), "Expected"),
        (SelectorCV(L2pSelector(3, r=1), ks=KS, n_jobs=2), "Expected n_jobs=None"),
        (StabilitySelector(L2pSelector(3, r=1), n_pairs=2, n_jobs=2), "Expected n_jobs=None"),
        (StabilitySelector(TopKSelector(3), store=tmp_path / "s", random_state=0), "no store"),
        (StabilitySelector(ScoreSelector("relieff", 3), n_pairs=2), "in memory"),
        (KnockoffSelector(TopKSelector(3)), "Expected X in memory for KnockoffSelector"),
    ]
    for estimator, sentence in cases:
        with pytest.raises((TypeError, ValueError), match=sentence):
            estimator.fit(held, Y)
