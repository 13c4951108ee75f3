"""Every filter equals its formula, written out in definitions.py or computed by scikit-learn."""

import sys
import warnings

import numpy as np
import pytest
from filters import definitions
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import RFE, f_classif, f_regression
from sklearn.metrics import mutual_info_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from rowsparse import filters
from rowsparse.filters import base
from rowsparse.numerics import tables

SEEDS = st.integers(0, 10_000)


def toy(seed=0, n=40, d=6, c=3, discrete=0):
    """Unequal classes, two features that matter, and as many discrete columns as wanted."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, c, n) * (rng.random(n) < 0.8)
    y[:c] = np.arange(c)
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 10, d) + rng.uniform(-3, 3, d)
    X[:, 1] += 1.5 * y * X[:, 1].std()
    X[:, 3] -= y**2 * X[:, 3].std()
    for j in range(discrete):
        X[:, j] = np.where(rng.random(n) < 0.6, y % 2, rng.integers(0, 4, n))
    return X, y


# -- F and Fisher ---------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(2, 6), st.integers(1, 7))
def test_f_equals_f_classif(seed, c, d):
    X, y = toy(seed, n=30, d=max(d, 4), c=c)
    np.testing.assert_allclose(filters.f_score(X, y), f_classif(X, y)[0], rtol=1e-9)


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_f_equals_f_regression(seed):
    X, _ = toy(seed)
    y = X[:, 2] + np.random.default_rng(seed).standard_normal(len(X))
    np.testing.assert_allclose(filters.f_score(X, y), f_regression(X, y)[0], rtol=1e-7)


def test_fisher_equals_its_formula_and_orders_as_f():
    X, y = toy()
    scores = filters.fisher_score(X, y)
    np.testing.assert_allclose(scores, definitions.fisher(X, y), rtol=1e-10)
    np.testing.assert_allclose(filters.f_score(X, y), scores * (40 - 3) / (3 - 1), rtol=1e-12)


def test_fisher_for_numbers_is_explained_over_residual_variance():
    X, _ = toy()
    y = X[:, 2] + np.random.default_rng(0).standard_normal(40)
    r = np.array([np.corrcoef(x, y)[0, 1] for x in X.T])
    np.testing.assert_allclose(filters.fisher_score(X, y), r**2 / (1 - r**2), rtol=1e-9)


# -- information ----------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(2, 9), st.booleans())
def test_information_gain_with_equal_frequency_bins(seed, n_bins, ties):
    X, y = toy(seed, n=31, discrete=2)
    X = np.round(X) if ties else X
    expected = [definitions.information(definitions.equal_frequency(x, n_bins), y) for x in X.T]
    found = filters.information_gain(X, y, n_bins)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(2, 5), st.booleans())
def test_information_gain_with_supervised_cuts(seed, c, ties):
    X, y = toy(seed, n=50, c=c, discrete=1)
    X = np.round(X) if ties else X
    expected = [definitions.information(definitions.mdlp_codes(x, y), y) for x in X.T]
    np.testing.assert_allclose(filters.information_gain(X, y), expected, atol=1e-10)


def test_supervised_cuts_are_found_on_the_data_of_this_test():
    X, y = toy(3, n=80)
    assert len(definitions.mdlp_cuts(X[:, 1], y)) >= 1
    assert filters.information_gain(X, y)[1] > 0.1


def test_information_gain_with_three_states():
    X, y = toy()
    expected = [definitions.information(definitions.three_states(x), y) for x in X.T]
    np.testing.assert_allclose(filters.information_gain(X, y, "sigma"), expected, atol=1e-10)


def test_information_gain_of_numbers_bins_both_sides():
    X, _ = toy()
    y = X[:, 2] ** 2
    coded = definitions.equal_frequency(y, 4)
    expected = [definitions.information(definitions.equal_frequency(x, 4), coded) for x in X.T]
    found = filters.information_gain(X, y, 4)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    assert np.argmax(found) == 2  # a correlation of zero would miss it


# -- ReliefF --------------------------------------------------------------------------------------


@pytest.mark.parametrize("priors", ["empirical", "uniform", "inverse"])
@pytest.mark.parametrize("scale", [True, False])
def test_relieff_equals_its_formula(priors, scale):
    X, y = toy()
    expected = definitions.relieff(X, y, 4, scale=scale, priors=priors)
    scaling = "range" if scale else "none"
    found = filters.relieff(X, y, n_neighbors=4, priors=priors, scaling=scaling)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.integers(2, 4), st.integers(1, 30))
def test_relieff_with_discrete_columns_and_any_number_of_neighbours(seed, c, k):
    X, y = toy(seed, n=30, c=c, discrete=2)
    expected = definitions.relieff(X, y, k, discrete={0, 1})
    found = filters.relieff(X, y, n_neighbors=k, discrete_features=[0, 1])
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_discrete_columns_are_recognised():
    X, y = toy(discrete=2)
    given = filters.relieff(X, y, discrete_features=[0, 1])
    np.testing.assert_array_equal(filters.relieff(X, y), given)
    mask = np.arange(6) < 2
    np.testing.assert_array_equal(filters.relieff(X, y, discrete_features=mask), given)
    none = filters.relieff(X, y, discrete_features=None)
    assert not np.allclose(none, given)
    np.testing.assert_array_equal(filters.relieff(X, y, discrete_features=[]), none)


def test_relieff_with_euclidean_neighbours():
    X, y = toy(discrete=1)
    expected = definitions.relieff(X, y, 3, discrete={0}, metric="euclidean")
    found = filters.relieff(X, y, n_neighbors=3, metric="euclidean")
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert not np.allclose(found, filters.relieff(X, y, n_neighbors=3))


def test_relieff_over_some_rows_only():
    X, y = toy()
    found = filters.relieff(X, y, n_neighbors=3, n_samples=7, random_state=5)
    rows = np.sort(np.random.RandomState(5).permutation(40)[:7])
    np.testing.assert_allclose(found, definitions.relieff(X, y, 3, rows=rows), atol=1e-12)


@pytest.mark.parametrize("sigma", [None, 2.5])
@pytest.mark.parametrize("k", [1, 5, 60])
def test_rrelieff_equals_its_formula(sigma, k):
    X, _ = toy(discrete=1)
    y = X[:, 1] + X[:, 4]
    found = filters.relieff(X, y, n_neighbors=k, sigma=sigma)
    np.testing.assert_allclose(found, definitions.rrelieff(X, y, k, sigma, {0}), atol=1e-12)


# -- mRMR -----------------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.sampled_from([5, "sigma", "mdlp"]), st.booleans())
def test_mrmr_by_mutual_information(seed, n_bins, quotient):
    X, y = toy(seed, n=60, d=8)
    code = {
        5: lambda x: definitions.equal_frequency(x, 5),
        "sigma": definitions.three_states,
        "mdlp": lambda x: definitions.mdlp_codes(x, y),
    }[n_bins]
    codes = [code(x) for x in X.T]
    relevance = [mutual_info_score(a, y) for a in codes]
    redundancy = [[mutual_info_score(a, b) for b in codes] for a in codes]
    order, values = definitions.mrmr(relevance, redundancy, 5, quotient)
    criterion = "miq" if quotient else "mid"
    found, scores = filters.mrmr(X, y, 5, criterion=criterion, n_bins=n_bins)
    assert found.tolist() == order
    np.testing.assert_allclose(scores[found], values, atol=1e-10)


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.booleans(), st.booleans())
def test_mrmr_by_f_and_correlation(seed, quotient, regression):
    X, y = toy(seed, n=60, d=8)
    if regression:
        y = X[:, 1] + X[:, 4] + np.random.default_rng(seed).standard_normal(60)
    relevance = (f_regression if regression else f_classif)(X, y)[0]
    order, values = definitions.mrmr(relevance, np.abs(np.corrcoef(X.T)), 6, quotient)
    found, scores = filters.mrmr(X, y, 6, criterion="fcq" if quotient else "fcd")
    assert found.tolist() == order
    np.testing.assert_allclose(scores[found], values, rtol=1e-7)


def test_scores_of_features_not_taken_are_those_of_the_last_round():
    X, y = toy(n=60, d=8)
    order, scores = filters.mrmr(X, y, 3, criterion="fcd")
    relevance, redundancy = f_classif(X, y)[0], np.abs(np.corrcoef(X.T))
    rest = np.setdiff1d(np.arange(8), order)
    expected = relevance[rest] - redundancy[rest][:, order[:2]].mean(axis=1)
    np.testing.assert_allclose(scores[rest], expected)
    assert scores[order[2]] >= scores[rest].max()


# -- SVM-RFE --------------------------------------------------------------------------------------


def _rfe_ranking(X, y, k, svm, step=1):
    Z = StandardScaler().fit_transform(X)
    return RFE(svm, n_features_to_select=k, step=step).fit(Z, y)


@pytest.mark.parametrize("c", [2, 4])
@pytest.mark.parametrize("shape", [(80, 12), (40, 60)])
def test_svm_rfe_eliminates_as_scikit_learn_does(c, shape):
    X, y = toy(1, *shape, c=c)
    for k in (1, 5):
        reference = _rfe_ranking(X, y, k, SVC(kernel="linear", tol=1e-6))
        order, scores = filters.svm_rfe(X, y, k, step=1)
        assert set(order) == set(np.flatnonzero(reference.support_))
        rounds = shape[1] - k - np.floor(scores).astype(int) + 1
        np.testing.assert_array_equal(rounds, reference.ranking_)


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("d", [6, 35])  # fewer columns than samples of a pair of classes, and more
def test_svm_rfe_does_not_wait_for_libsvm_where_classes_overlap(c, d, monkeypatch):
    X, y = toy(2, 60, d, c=c)
    weights = 0.5 + np.arange(60) % 3
    order, scores = filters.svm_rfe(X, y, 3, step=2, sample_weight=weights)
    monkeypatch.setattr(sys.modules["rowsparse.filters.svm_rfe"], "MOVES", 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again, close = filters.svm_rfe(X, y, 3, step=2, sample_weight=weights)
    assert again.tolist() == order.tolist()
    np.testing.assert_allclose(close, scores, atol=1e-4)


def test_svm_rfe_for_numbers():
    X, _ = toy(1, 80, 10)
    y = 3 * X[:, 2] / X[:, 2].std() - X[:, 5] / X[:, 5].std()
    y += 0.5 * np.random.default_rng(0).standard_normal(80)
    reference = _rfe_ranking(X, (y - y.mean()) / y.std(), 2, SVR(kernel="linear", tol=1e-6))
    order, _ = filters.svm_rfe(X, y, 2, step=1)
    assert set(order) == set(np.flatnonzero(reference.support_)) == {2, 5}


def test_a_step_drops_a_fraction_of_what_remains():
    X, y = toy(d=20)
    _, scores = filters.svm_rfe(X, y, 5, step=0.5)
    assert np.bincount(np.floor(scores).astype(int)).tolist() == [10, 5, 5]
    _, scores = filters.svm_rfe(X, y, 5, step=6)
    assert np.bincount(np.floor(scores).astype(int)).tolist() == [6, 6, 3, 5]


@pytest.mark.parametrize(("n_columns", "compiled"), [(8, True), (1, False)])
def test_all_blocks_together_decide_whether_cuts_are_compiled(n_columns, compiled, monkeypatch):
    """Blocks of one column each, 10,000 samples: one alone is not worth a compiler."""
    ways = []

    def noted(values, classes, weights, n_classes, way):
        ways.append(way)
        return np.zeros(values.shape, dtype=bool)

    monkeypatch.setattr(base, "CACHE_BYTES", 1)
    monkeypatch.setattr(tables, "supervised_cuts", noted)
    X = np.random.default_rng(0).standard_normal((10_000, n_columns))
    filters.information_gain(X, np.arange(10_000) % 2)
    assert ways == n_columns * [compiled]
