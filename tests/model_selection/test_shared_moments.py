"""Tall tables in memory: the products of columns are formed once for all folds and halves, and the
answers are those of fits that form their own."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, ShuffleSplit

from rowsparse import L2pSelector, LpInfSelector, TopKSelector
from rowsparse.model_selection import SelectorCV, StabilitySelector, parts, stability, tuning
from rowsparse.model_selection.intake import Table

N, D, KS = 151, 12, [1, 2, 4, 6]


def table():
    """Columns of different units, far from zero or with many zeros, of which four matter."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)) * rng.uniform(0.5, 3, D)
    X[:, ::3] += 40
    X[:, 1::3] *= rng.random((N, 4)) < 0.4
    W = np.zeros((D, 2))
    W[:4] = 2 * rng.standard_normal((4, 2))
    return X, (X - X.mean(axis=0)) @ W + rng.standard_normal((N, 2))


X, Y = table()
TARGETS = {
    "numbers": Y,
    "classes": np.array(["a", "b", "c"])[np.digitize(Y[:, 0], [-1, 1])],
    "labels": (Y > 0).astype(int),
}
WEIGHTS = np.r_[np.zeros(20), np.random.default_rng(1).uniform(0.5, 2, N - 20)]


@pytest.fixture
def alone(monkeypatch):
    """A fit whose folds and halves are fitted each for itself."""

    def fit(estimator, *data, **more):
        with monkeypatch.context() as patched:
            for module in (tuning, stability):
                patched.setattr(module, "by_passes", lambda table, selector, parts: table)
            return clone(estimator).fit(*data, **more)

    return fit


@pytest.fixture
def designs(monkeypatch):
    """The designs by passes that fits make of tables."""
    made = []

    def watched(table, selector, parts_of_table):
        found = parts.by_passes(table, selector, parts_of_table)
        made.append(found.design)
        return found

    for module in (tuning, stability):
        monkeypatch.setattr(module, "by_passes", watched)
    return made


SEARCHES = {
    "alphas": SelectorCV(L2pSelector(p=1), cv=4),
    "own loss": SelectorCV(L2pSelector(p=1), cv=4, scoring="loss"),
    "estimator": SelectorCV(TopKSelector(), ks=KS, estimator=LinearRegression(), cv=3),
    "no intercept": SelectorCV(L2pSelector(p=1, fit_intercept=False, standardize=False), cv=3),
    "p and ridge": SelectorCV(L2pSelector(), grid={"p": [0.5, 1], "ridge": [0, 0.1]}, ks=KS),
    "orders": SelectorCV(L2pSelector(p=1), grid={"r": [1, 2], "alpha": [0.5, 0.2]}, cv=3),
    "lp,inf": SelectorCV(LpInfSelector(), ks=KS, cv=KFold(3, shuffle=True, random_state=0)),
    "top k": SelectorCV(TopKSelector(), ks=KS, rule="1se"),
    "always in": SelectorCV(TopKSelector(feature_weights=np.r_[0, np.ones(D - 1)]), ks=[2, 4]),
}


def assert_same_search(found, expected):
    for name in ("mean_test_score", "std_test_score", "mean_n_features"):
        np.testing.assert_allclose(
            found.cv_results_[name], expected.cv_results_[name], rtol=1e-9, atol=1e-9
        )
    np.testing.assert_array_equal(found.support_, expected.support_)
    assert found.best_index_ == expected.best_index_


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["plain", "weighted"])
def test_a_search_scores_as_with_fits_of_their_own(name, weight, alone, designs):
    expected = alone(SEARCHES[name], X, Y, sample_weight=weight)
    found = clone(SEARCHES[name]).fit(X, Y, sample_weight=weight)
    assert designs[0] is not None
    assert_same_search(found, expected)


@pytest.mark.parametrize("target", ["classes", "labels"])
@pytest.mark.parametrize("X", [X, sp.csr_array(X), X.astype(np.float32)], ids=["", "sparse", "32"])
def test_every_target_and_storage(target, X, alone, designs):
    search = SelectorCV(TopKSelector(class_weight=None), ks=KS, cv=3)
    assert_same_search(search.fit(X, TARGETS[target]), alone(search, X, TARGETS[target]))
    assert designs[0] is not None


def test_class_weights_are_of_every_fold(alone):
    search = SelectorCV(TopKSelector(), grid={"class_weight": [None, "balanced"]}, ks=KS, cv=3)
    y = TARGETS["classes"]
    assert_same_search(clone(search).fit(X, y), alone(search, X, y))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_one_pass_for_the_products_and_one_for_the_scores(n_jobs, designs):
    SelectorCV(TopKSelector(), ks=KS, n_jobs=n_jobs).fit(X, Y)
    assert designs[0].passes.count == 2
    SelectorCV(L2pSelector(p=1), estimator=LinearRegression(), n_jobs=n_jobs).fit(X, Y)
    assert designs[1].passes.count == 1


@pytest.mark.parametrize("selector", [TopKSelector(3), L2pSelector(3, p=1)])
@pytest.mark.parametrize("given", [{}, {"groups": np.arange(N) // 3}, {"sample_weight": WEIGHTS}])
def test_halves_select_as_with_fits_of_their_own(selector, given, alone, designs):
    stable = StabilitySelector(selector, n_pairs=7, random_state=0)
    expected = alone(stable, X, Y, **given)
    found = clone(stable).fit(X, Y, **given)
    assert designs[0].passes.count == 1
    for mine, other in zip(
        found.stability_.selections, expected.stability_.selections, strict=True
    ):
        np.testing.assert_array_equal(mine, other)


def test_halves_share_cells():
    """Fourteen halves one by one would sum every sample seven times."""
    whole = Table.of(SelectorCV(TopKSelector()), TopKSelector(), X, Y)
    rng = np.random.default_rng(0)
    halves = []
    for _ in range(7):
        order = rng.permutation(N)
        halves += [np.sort(order[: N // 2]), np.sort(order[N // 2 : N - 1])]
    whole = parts.by_passes(whole, TopKSelector(), halves)
    found = [parts.Part.of(TopKSelector(), whole, rows, None) for rows in halves]
    groups = parts._groups(np.arange(N), found)
    assert len(groups) == 2
    for group in groups:
        np.testing.assert_array_equal(np.sort(np.concatenate(group.cells)), np.arange(N))
    parts.learn_together(TopKSelector(), whole, found, None)
    for part in found:
        moments = part.design.moments(part.weights, part.Y)
        both = np.hstack([X, Y])[part.rows]
        np.testing.assert_allclose(moments.means, both.mean(axis=0))
        centred = both - both.mean(axis=0)
        np.testing.assert_allclose(moments.products, centred.T @ centred, rtol=1e-10, atol=1e-9)


def test_repeated_samples_are_counted_once():
    """Their number sets the automatic ridge: marks and targets must be of the same sample."""
    twice = np.repeat(np.arange(60), 2)
    whole = Table.of(SelectorCV(TopKSelector()), TopKSelector(), X[twice], Y[twice])
    folds = [np.flatnonzero(np.arange(120) % 3 != fold) for fold in range(3)]
    whole = parts.by_passes(whole, TopKSelector(), folds)
    found = [parts.Part.of(TopKSelector(), whole, rows, None) for rows in folds]
    parts.learn_together(TopKSelector(), whole, found, None)
    for part in found:
        assert part.design.n_distinct(part.Y) == np.unique(twice[part.rows]).size


@pytest.mark.parametrize(
    ("selector", "cv", "X"),
    [
        (TopKSelector(r=1), KFold(3), X),
        (TopKSelector(), ShuffleSplit(2, random_state=0), X),
        (TopKSelector(), KFold(3), np.hstack([X] * 6)),
    ],
    ids=["robust loss", "not in order", "wide"],
)
def test_where_it_does_not_help_nothing_is_shared(selector, cv, X, designs):
    SelectorCV(selector, ks=[1, 2], cv=cv).fit(X[:60], Y[:60])
    assert designs == [None]
