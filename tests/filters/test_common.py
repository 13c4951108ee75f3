"""What holds for all filters: weights, several outputs, storage of X, units, bad input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from estimator_checks import toy

from rowsparse import filters

CHOOSING = ("mrmr", "svm_rfe")  # return (order, scores)


def _scores(name, **params):
    """A filter as a function of (X, y) to one score per feature."""
    if name in CHOOSING:
        return lambda X, y, **more: filters.BY_NAME[name](X, y, 3, **params, **more)[1]
    return lambda X, y, **more: filters.BY_NAME[name](X, y, **params, **more)


FILTERS = {
    "fisher": _scores("fisher"),
    "f": _scores("f"),
    "mdlp": _scores("information_gain"),
    "bins": _scores("information_gain", n_bins=4),
    "sigma": _scores("information_gain", n_bins="sigma"),
    "relieff": _scores("relieff", n_neighbors=4),
    "relieff euclidean": _scores("relieff", n_neighbors=4, metric="euclidean", sigma=2.0),
    "miq": _scores("mrmr"),
    "mid mdlp": _scores("mrmr", criterion="mid", n_bins="mdlp"),
    "fcq": _scores("mrmr", criterion="fcq"),
    "svm_rfe": _scores("svm_rfe", step=2),
}
ONE_BY_ONE = [name for name in FILTERS if name not in ("miq", "mid mdlp", "fcq", "svm_rfe")]


@pytest.fixture(params=FILTERS)
def score(request):
    return FILTERS[request.param]


def close(a, b, tol=1e-4):
    np.testing.assert_allclose(a, b, rtol=tol, atol=tol * np.max(np.abs(b)))


TARGETS = ["labels", "indicator", "numbers"]


def data(target):
    X, y = toy.labelled(n=80)
    if target == "indicator":
        return X, np.column_stack([y == 0, y != 1, y == 2]).astype(int)
    return toy.outputs(n=80, c=2) if target == "numbers" else (X, y)


@pytest.mark.parametrize("target", TARGETS)
def test_a_weight_is_a_repetition_and_zero_is_absence(score, target):
    X, y = data(target)
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    repeated = score(np.repeat(X, weights, axis=0), np.repeat(y, weights, axis=0))
    weighted = score(X, y, sample_weight=weights)
    close(weighted, repeated, 2e-3 if score is FILTERS["svm_rfe"] else 1e-8)
    assert not np.allclose(weighted, score(X, y), rtol=1e-3)


@pytest.mark.parametrize("target", ["indicator", "numbers"])
@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_several_outputs_are_averaged(name, target):
    X, Y = data(target)
    each = [FILTERS[name](X, column) for column in Y.T]
    np.testing.assert_allclose(FILTERS[name](X, Y), np.mean(each, axis=0), atol=1e-12)


def test_labels_that_are_always_on_do_not_count():
    X, Y = data("indicator")
    more = np.column_stack([Y, np.ones(len(Y), int), np.zeros(len(Y), int)])
    np.testing.assert_array_equal(filters.relieff(X, more), filters.relieff(X, Y))


@pytest.mark.parametrize("target", TARGETS)
def test_sparse_is_dense(score, target):
    X, y = data(target)
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.5, X, 0.0)
    for version in toy.sparse_versions(X).values():
        close(score(version, y), score(X, y), 2e-3 if score is FILTERS["svm_rfe"] else 1e-9)


def test_frames_lists_float32_and_read_only_arrays(score):
    X, y = data("labels")
    X = np.round(4 * X) / 4  # exact in single precision
    base = score(X, y)
    names = [f"f{j}" for j in range(X.shape[1])]
    for version in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names), X.tolist()):
        close(score(version, y), base, 1e-9)
    frozen = np.asfortranarray(X)
    frozen.flags.writeable = False
    close(score(frozen, y), base, 1e-6)
    close(score(X.astype(np.float32), y), base, 1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_units_and_origin_of_a_column_do_not_matter(score, target):
    X, y = data(target)
    units, origin = 10.0 ** np.arange(-4, 4), np.linspace(-50, 50, 8)
    close(score(X * units + origin * units, y), score(X, y), 1e-3)


def test_columns_can_change_places(score):
    X, y = data("labels")
    order = np.random.default_rng(3).permutation(X.shape[1])
    close(score(X[:, order], y), score(X, y)[order], 1e-4)


def test_rows_can_change_places_and_labels_their_names(score):
    X, y = data("labels")
    order = np.random.default_rng(3).permutation(len(X))
    close(score(X[order], np.array(["z", "m", "a"])[y[order]]), score(X, y), 2e-3)


@pytest.mark.parametrize("target", TARGETS)
def test_constant_and_nearly_constant_columns_score_zero(score, target):
    X, y = data(target)
    X[:, 0], X[:, 2] = 3.0, 1e8 + 1e-8 * (np.arange(len(X)) % 2)
    scores = score(X, y)
    np.testing.assert_array_equal(scores[[0, 2]], 0.0)
    assert np.all(np.isfinite(scores))


@pytest.mark.parametrize("name", ["fisher", "f", "information_gain", "relieff", *CHOOSING])
def test_a_perfect_feature_is_first_and_finite(name):
    X, y = np.random.default_rng(0).standard_normal((60, 8)), np.arange(60) % 2
    X[:, 3] = y
    answer = filters.BY_NAME[name](X, y, 3) if name in CHOOSING else filters.BY_NAME[name](X, y)
    order, scores = answer if name in CHOOSING else (np.argsort(-answer), answer)
    assert order[0] == 3
    assert np.all(np.isfinite(scores))


def test_a_class_with_one_member(score):
    X, y = data("labels")
    y[7] = 9
    assert np.all(np.isfinite(score(X, y)))


def test_input_is_left_alone(score):
    X, y = data("labels")
    X_given, y_given, weights = X.copy(), y.copy(), np.arange(80) % 3
    score(X_given, y_given, sample_weight=weights)
    np.testing.assert_array_equal(X_given, X)
    np.testing.assert_array_equal(y_given, y)
    np.testing.assert_array_equal(weights, np.arange(80) % 3)


BAD = {
    "X nan": ((lambda X, y: (np.where(X == X[3, 2], np.nan, X), y)), "NaN"),
    "X 1d": ((lambda X, y: (X[:, 0], y)), "2D"),
    "X words": ((lambda X, y: (np.full(X.shape, "a"), y)), "convert|numeric"),
    "no columns": ((lambda X, y: (X[:, :0], y)), "0 feature"),
    "lengths": ((lambda X, y: (X[:-1], y)), "79.*80|80.*79"),
    "no target": ((lambda X, y: (X, None)), "target y"),
    "one class": ((lambda X, y: (X, 0 * y)), "two classes"),
    "constant numbers": ((lambda X, y: (X, 0.0 * y + 2.5)), "constant target"),
    "constant labels": (
        (lambda X, y: (X, np.ones((80, 2), int))),
        "more than one|constant|present",
    ),
    "mixed labels": (
        (lambda X, y: (X, np.array([f"c{v}" if v else 0 for v in y], dtype=object))),
        "one type",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_data_are_refused_in_a_sentence(score, case):
    change, words = BAD[case]
    with pytest.raises((ValueError, TypeError), match=words):
        score(*change(*data("labels")))


def test_bad_weights_and_tasks_are_refused(score):
    X, y = data("labels")
    for weights, words in (
        (np.ones(79), "79"),
        (-np.ones(80), "negative"),
        (np.zeros(80), "posit"),
    ):
        with pytest.raises(ValueError, match=words):
            score(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="task='banana'"):
        score(X, y, task="banana")
    with pytest.raises(ValueError, match="continuous"):
        score(X, y + 0.5, task="classification")


@pytest.mark.parametrize(
    ("name", "params", "words"),
    [
        ("relieff", {"n_neighbors": 0}, "n_neighbors=0"),
        ("relieff", {"n_neighbors": 2.5}, "n_neighbors=2.5"),
        ("relieff", {"n_samples": 81}, "from 1 to 80.*n_samples=81"),
        ("relieff", {"metric": "banana"}, "metric='banana'"),
        ("relieff", {"scaling": None}, "scaling=None"),
        ("relieff", {"priors": "equal"}, "priors='equal'"),
        ("relieff", {"sigma": 0.0}, "sigma"),
        ("relieff", {"discrete_features": "all"}, "discrete_features='all'"),
        ("relieff", {"discrete_features": [8]}, "from -8 to 7.*got 8"),
        ("relieff", {"discrete_features": [2, -9]}, "from -8 to 7.*got -9"),
        ("arom", {"task": "regression", "n_features_to_select": 2}, "arom: expected class labels"),
        ("fsv", {"task": "regression"}, "fsv: expected class labels.*got numbers"),
        ("relieff", {"discrete_features": [True]}, "one entry per column"),
        ("relieff", {"discrete_features": [0.5]}, "discrete_features"),
        ("information_gain", {"n_bins": 1}, "n_bins=1"),
        ("information_gain", {"n_bins": "many"}, "n_bins='many'"),
        ("information_gain", {"n_bins": 2.5}, "n_bins=2.5"),
        ("mrmr", {"criterion": "best"}, "criterion='best'"),
        ("mrmr", {"n_bins": 1}, "n_bins=1"),
        ("mrmr", {"feature_weights": -np.ones(8)}, "feature_weights"),
        ("svm_rfe", {"C": 0.0}, "C"),
        ("svm_rfe", {"step": 0}, "step=0"),
        ("svm_rfe", {"step": 1.5}, "step=1.5"),
        ("svm_rfe", {"feature_weights": np.ones(7)}, "feature_weights.*8"),
    ],
)
def test_bad_parameters_are_refused_with_their_name(name, params, words):
    with pytest.raises((ValueError, TypeError), match=words):
        _scores(name, **params)(*data("labels"))


@pytest.mark.parametrize("function", [filters.mrmr, filters.svm_rfe])
@pytest.mark.parametrize("k", [0, 9, 2.5, None])
def test_a_bad_number_of_features_is_refused(function, k):
    with pytest.raises((ValueError, TypeError), match=r"n_features_to_select.*from 1 to 8"):
        function(*data("labels"), k)


@pytest.mark.parametrize("function", [filters.mrmr, filters.svm_rfe])
def test_fewer_usable_columns_than_wanted_is_said(function):
    X, y = data("labels")
    X[:, [0, 2]] = 1.0
    with pytest.warns(UserWarning, match="Expected 7 features, got 6"):
        order, _ = function(X, y, 7)
    assert sorted(order) == [1, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("function", [filters.mrmr, filters.svm_rfe])
def test_feature_weights_keep_and_exclude(function):
    X, y = data("labels")
    weights = np.ones(8)
    weights[0], weights[4] = 0.0, np.inf
    order, _ = function(X, y, 3, feature_weights=weights)
    assert 0 in order
    assert 4 not in order
    heavy = np.where(np.arange(8) == 4, 1e9, 1.0)
    assert 4 not in function(X, y, 7, feature_weights=heavy)[0]


def test_mrmr_complements_the_features_that_are_always_in():
    X, y = toy.labelled(n=200)
    X = np.column_stack([X, X[:, 4] + 0.01 * np.random.default_rng(0).standard_normal(200)])
    weights = np.ones(9)
    weights[8] = 0.0  # nearly a copy of column 4
    order, _ = filters.mrmr(X, y, 3, criterion="mid", feature_weights=weights)
    assert order[0] == 8
    assert set(order[1:]) == {1, 6}


def test_sparse_scipy_classes_give_the_same_picks():
    X, y = toy.mostly_zero(n=120)
    for criterion in ("miq", "fcq"):
        dense = filters.mrmr(X, y, 4, criterion=criterion)[0]
        assert (
            dense.tolist() == filters.mrmr(sp.csr_matrix(X), y, 4, criterion=criterion)[0].tolist()
        )
