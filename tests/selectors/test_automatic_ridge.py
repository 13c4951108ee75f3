"""ridge="auto": the documented rule, free of units, of the scale of weights and of repetition."""

from __future__ import annotations

import numpy as np
import pytest

from rowsparse import L2pSelector, LpInfSelector, TopKSelector
from rowsparse.paths import selection_path

SELECTORS = [L2pSelector, LpInfSelector, TopKSelector]


def data(seed=0, n=40, d=12):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, :3] @ rng.standard_normal((3, 2)) + 0.3 * rng.standard_normal((n, 2))


def left(X, Y):
    """What least squares leaves of Y."""
    X = X - X.mean(axis=0)
    Y = Y - Y.mean(axis=0)
    return np.sum((Y - X @ np.linalg.lstsq(X, Y, rcond=None)[0]) ** 2)


def left_by_forward_selection(X, Y, k):
    """The share of Y that k columns leave, each the best beside those before it."""
    chosen = []
    for _ in range(k):
        others = [j for j in range(X.shape[1]) if j not in chosen]
        chosen.append(min(others, key=lambda j: left(X[:, [*chosen, j]], Y)))
    return left(X[:, chosen], Y) / np.sum((Y - Y.mean(axis=0)) ** 2)


def rule(X, Y, k, eligible=None):
    """The formula of docs/ridge.md."""
    X = X if eligible is None else X[:, eligible]
    n, d = X.shape
    t = k * np.log(np.e * d / k) / n
    noise = left_by_forward_selection(X, Y, k) / np.exp(-2 * t * n / (n - k))
    return 3 * t**2 * (min(1, noise) ** 2 if 3 * t**2 > 0.01 else 1)


@pytest.mark.parametrize("Selector", SELECTORS)
@pytest.mark.parametrize("k", [1, 4, 12])
def test_it_is_the_documented_formula(Selector, k):
    X, Y = data()
    fitted = Selector(k).fit(X, Y)
    assert fitted.ridge_ == pytest.approx(rule(X, Y, k))


def test_what_explains_y_far_better_than_chance_is_found_as_without_a_ridge():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 2000))
    Y = X[:, :8] @ rng.standard_normal((8, 3)) + 0.1 * rng.standard_normal((80, 3))
    for Selector in (L2pSelector, TopKSelector):
        assert np.flatnonzero(Selector(8).fit(X, Y).support_).tolist() == list(range(8))


@pytest.mark.parametrize("seed", range(3))
def test_pure_noise_has_the_whole_ridge(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 500))
    fitted = TopKSelector(10).fit(X, rng.standard_normal(60))
    assert fitted.ridge_ == pytest.approx(3 * (10 * np.log(np.e * 50) / 60) ** 2)


def test_as_many_features_as_samples_have_the_whole_ridge():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 40))
    fitted = TopKSelector(11).fit(X, X[:, 0])
    assert fitted.ridge_ == pytest.approx(3 * (11 * np.log(np.e * 40 / 11) / 12) ** 2)


def test_where_always_in_columns_explain_all_there_is_no_signal_left():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 20))
    fitted = TopKSelector(4, feature_weights=[0] + 19 * [1]).fit(X, X[:, 0])
    assert fitted.ridge_ == pytest.approx(3 * (4 * np.log(np.e * 5) / 30) ** 2)


@pytest.mark.parametrize("Selector", SELECTORS)
def test_a_number_is_taken_as_it_is(Selector):
    assert Selector(3, ridge=0.25).fit(*data()).ridge_ == 0.25


def test_without_k_there_is_none():
    assert L2pSelector(alpha=0.1).fit(*data()).ridge_ == 0.0
    assert L2pSelector().fit(*data()).ridge_ == 0.0


@pytest.mark.parametrize(
    "make", [L2pSelector.mtfs, L2pSelector.rfs, L2pSelector.erfs, L2pSelector.rk1u, L2pSelector.gsr]
)
def test_papers_have_none_unless_asked(make):
    assert make(3).ridge == 0.0
    assert make(3, ridge=1.0).ridge == 1.0
    assert TopKSelector.paper(3).get_params()["ridge"] == 0.0
    assert TopKSelector.paper(3).r == 1.0


def test_columns_kept_out_are_not_searched():
    X, Y = data()
    weights = np.ones(12)
    weights[6:] = np.inf
    fitted = TopKSelector(2, feature_weights=weights).fit(X, Y)
    assert fitted.ridge_ == pytest.approx(rule(X, Y, 2, eligible=slice(6)))


@pytest.mark.parametrize("r", [1.0, 2.0])
def test_weights_are_repetitions_and_their_scale_does_not_matter(r):
    X, Y = data()
    counts = np.random.default_rng(1).integers(0, 4, 40)
    weighted = TopKSelector(3, r=r).fit(X, Y, sample_weight=counts)
    scaled = TopKSelector(3, r=r).fit(X, Y, sample_weight=1e3 * counts)
    repeated = TopKSelector(3, r=r).fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0))
    for other in (scaled, repeated):
        assert other.ridge_ == pytest.approx(weighted.ridge_, rel=1e-9)
        np.testing.assert_allclose(other.coef_, weighted.coef_, atol=1e-5)


@pytest.mark.parametrize("r", [1.0, 1.5, 2.0])
def test_units_of_columns_and_targets_do_not_matter(r):
    X, Y = data()
    plain = TopKSelector(3, r=r, standardize=False).fit(X, Y)
    other = TopKSelector(3, r=r, standardize=False).fit(8 * X, 4 * Y)
    np.testing.assert_array_equal(plain.support_, other.support_)
    np.testing.assert_allclose(other.coef_, plain.coef_ / 2, rtol=1e-5, atol=1e-8)


def in_one_unit(X):
    X[:, 7] *= 1e11
    return X


def with_a_wrong_entry(X):
    X[5, 7] = 1e10
    return X


@pytest.mark.parametrize("Selector", SELECTORS)
@pytest.mark.parametrize("spoil", [in_one_unit, with_a_wrong_entry])
def test_one_strange_column_does_not_set_it(Selector, spoil):
    X, Y = data()
    plain = Selector(3, standardize=False).fit(X, Y)
    other = Selector(3, standardize=False).fit(spoil(X), Y)
    assert other.ridge_ == pytest.approx(plain.ridge_, rel=0.3)
    if Selector is TopKSelector:  # a penalty on coefficients does depend on units
        np.testing.assert_array_equal(other.support_, plain.support_)
        assert other.solution_.objective == pytest.approx(plain.solution_.objective, rel=0.3)


@pytest.mark.parametrize("Selector", SELECTORS)
def test_a_path_over_k_has_the_ridge_of_its_largest(Selector):
    X, Y = data()
    path = selection_path(Selector(), X, Y, ks=[2, 5])
    alone = Selector(5).fit(X, Y)
    assert path[-1].objective == pytest.approx(alone.solution_.objective, rel=1e-6)


@pytest.mark.parametrize("bad", ["none", "Auto", -1.0, None, True, np.nan])
def test_anything_else_is_refused(bad):
    with pytest.raises((TypeError, ValueError), match="Expected ridge"):
        TopKSelector(3, ridge=bad).fit(*data())
