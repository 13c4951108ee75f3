"""Checks for the recurring bugs of feature-selection packages (P1–P38, see README.md).

Every check takes `make_selector`, which builds an unfitted selector from keyword parameters, and
fails by AssertionError. `ALL_CHECKS` lists them with the pitfall each covers; `checks_for(lacks=…)`
gives those that apply to a selector without some capability.
"""

from __future__ import annotations

import copy
import io
import logging
import pickle
import tempfile
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from . import toy
from .registry import ALL_CHECKS, checks_for, covers

__all__ = ["ALL_CHECKS", "checks_for"]

SKLEARN = tuple(map(int, sklearn.__version__.split(".")[:2]))
ODD_NAMES = ["y", "a b", "[x] <1>", "é", "0", "name", "score", "selected"]


def with_k(make_selector, k, **params):
    """A selector asked for k features and nothing else."""
    selector = make_selector(n_features_to_select=k, **params)
    if "alpha" in selector.get_params():
        selector.set_params(alpha=None)
    return selector


def assert_same_fit(a, b, rtol=1e-4):
    """Same features, and scores that agree up to what two converged runs may differ by."""
    np.testing.assert_array_equal(a.support_, b.support_)
    np.testing.assert_allclose(a.scores_, b.scores_, rtol=rtol, atol=rtol * np.max(a.scores_))


def assert_bitwise_equal(a, b):
    for name in ("support_", "scores_", "ranking_", "coef_", "intercept_"):
        if hasattr(a, name):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def assert_finite(selector):
    for name in ("scores_", "coef_", "intercept_"):
        if hasattr(selector, name):
            assert np.all(np.isfinite(getattr(selector, name))), f"{name} is not finite"


# -- intercept ------------------------------------------------------------------------------------


@covers("P1")
def check_shifting_X_changes_nothing(make_selector):
    X, y = toy.labelled()
    base = make_selector().fit(X, y)
    for shift in (5.0, 1e3):
        shifted = make_selector().fit(X + shift, y)
        assert_same_fit(base, shifted)
        if hasattr(base, "n_iter_"):
            assert shifted.n_iter_ <= 2 * base.n_iter_ + 10


@covers("P1", "sparse")
def check_shifting_sparse_X_changes_nothing(make_selector):
    X, y = toy.labelled()
    base = make_selector().fit(X, y)
    for shift in (5.0, 1e3):
        assert_same_fit(base, make_selector().fit(sp.csc_array(X + shift), y))


@covers("P1", "classification")
def check_imbalanced_classes_converge(make_selector):
    X, _ = toy.labelled(n=100)
    y = (np.arange(100) >= 95).astype(int)
    X[y == 1, 4] += 6.0
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        selector = make_selector().fit(X, y)
    assert selector.ranking_[4] == 1


@covers("P2", "alpha", "coef", "classification")
def check_intercept_alone_orders_the_classes_by_size(make_selector):
    X, _ = toy.labelled(n=60)
    y = np.repeat([0, 1, 2], [15, 25, 20])
    selector = make_selector(alpha=1e6, n_features_to_select=None).fit(X, y)
    assert not np.any(selector.coef_)
    b = selector.intercept_
    assert b.shape == (3,)
    assert b[1] > b[2] > b[0]


# -- columns without information ------------------------------------------------------------------


def _with_constant_columns(X):
    X = X.copy()
    X[:, 0] = 0.0
    X[:, 2] = 0.1
    X[:, 3] = 1e8 + 1e-8 * (np.arange(len(X)) % 2)
    return X, np.array([0, 2, 3])


@covers("P3")
def check_constant_columns_are_never_selected(make_selector):
    X, y = toy.labelled()
    X, constant = _with_constant_columns(X)
    selector = make_selector().fit(X, y)
    assert not selector.support_[constant].any()
    assert_finite(selector)


@covers("P3", "sparse")
def check_constant_sparse_columns_are_never_selected(make_selector):
    X, y = toy.mostly_zero()
    X[:, 0], X[:, 2] = 0.0, 0.1
    selector = make_selector().fit(sp.csc_array(X), y)
    assert not selector.support_[[0, 2]].any()
    assert_finite(selector)


@covers("P3", "sample_weight")
def check_columns_constant_where_weights_are_positive_are_never_selected(make_selector):
    X, y = toy.labelled()
    weight = np.ones(len(y))
    weight[:6] = 0.0
    X[6:, 3] = 1.5
    selector = make_selector().fit(X, y, sample_weight=weight)
    assert not selector.support_[3]
    assert_finite(selector)


@covers("P3", "k")
def check_fewer_usable_columns_than_k_is_said_aloud(make_selector):
    X, y = toy.labelled()
    X, constant = _with_constant_columns(X)
    with pytest.warns(UserWarning, match="5"):
        selector = with_k(make_selector, 6).fit(X, y)
    assert selector.support_.sum() == 5
    assert not selector.support_[constant].any()


@covers("P3", "standardize")
def check_units_of_the_columns_do_not_matter(make_selector):
    X, y = toy.labelled()
    units = 10.0 ** np.array([-9, -7, 7, 0, -5, 5, 9, 3])
    assert_same_fit(make_selector().fit(X, y), make_selector().fit(X * units, y))


# -- how many -------------------------------------------------------------------------------------


@covers("P4", "k")
def check_k_features_means_exactly_k(make_selector):
    X, y = toy.labelled()
    for k in (1, 2, 7, 8):
        selector = with_k(make_selector, k).fit(X, y)
        assert selector.support_.sum() == k
        assert selector.transform(X).shape == (60, k)


@covers("P4", "k")
def check_k_features_with_duplicated_columns(make_selector):
    X, y = toy.labelled()
    X = np.hstack([X, X])
    for k in (1, 3, 4):
        first, second = (with_k(make_selector, k).fit(X, y) for _ in range(2))
        assert first.support_.sum() == k
        assert_bitwise_equal(first, second)


@covers("P4", "k")
def check_k_out_of_range_is_refused(make_selector):
    X, y = toy.labelled()
    for k in (0, 9):
        with pytest.raises(ValueError, match="n_features_to_select"):
            with_k(make_selector, k).fit(X, y)


@covers("P4", "alpha")
def check_nothing_selected_warns_and_gives_no_columns(make_selector):
    X, y = toy.labelled()
    selector = make_selector(alpha=1e6, n_features_to_select=None).fit(X, y)
    assert not selector.support_.any()
    with pytest.warns(UserWarning, match=r"(?i)no features were selected"):
        assert selector.transform(X).shape == (60, 0)


# -- labels ---------------------------------------------------------------------------------------


@covers("P5", "classification")
def check_one_class_is_refused(make_selector):
    X, _ = toy.labelled()
    with pytest.raises(ValueError, match=r"(?i)class"):
        make_selector().fit(X, np.array(["only"] * 60))


@covers("P5", "classification")
def check_a_class_with_one_member_is_fine(make_selector):
    X, y = toy.labelled()
    y[7] = 9
    selector = make_selector().fit(X, y)
    np.testing.assert_array_equal(selector.classes_, [0, 1, 2, 9])
    assert_finite(selector)


@covers("P5", "classification")
def check_a_class_missing_from_a_fold_is_fine(make_selector):
    X, y = toy.labelled()
    model = make_pipeline(make_selector(), LogisticRegression())
    scores = cross_val_score(
        model, X, y, groups=y, cv=GroupKFold(3), error_score="raise", scoring="accuracy"
    )
    np.testing.assert_array_equal(scores, 0.0)  # the held-out class was never seen


def _label_versions(y):
    words = np.array(["blue", "green", "red"])[y]
    return {
        "int": y,
        "int8": y.astype(np.int8),
        "negative int": y - 5,
        "gaps": np.array([2, 30, 400])[y],
        "float": y.astype(float),
        "str": words,
        "object": words.astype(object),
        "list": words.tolist(),
        "pandas str": pd.Series(words),
        "pandas categorical": pd.Series(words, dtype="category"),
        "polars": pl.Series(words.tolist()),
        "column": y[:, None],
    }


@covers("P6", "classification")
def check_the_type_of_the_labels_does_not_matter(make_selector):
    X, y = toy.labelled()
    base = make_selector().fit(X, y)
    for name, labels in _label_versions(y).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a column vector draws DataConversionWarning
            selector = make_selector().fit(X, labels)
        np.testing.assert_array_equal(base.scores_, selector.scores_, err_msg=name)
        expected = np.unique(np.asarray(labels).ravel())
        np.testing.assert_array_equal(np.asarray(selector.classes_), expected, err_msg=name)


@covers("P6", "classification")
def check_two_labels_of_any_type(make_selector):
    X, y = toy.labelled(c=2)
    base = make_selector().fit(X, y)
    for labels in (y.astype(bool), 2 * y - 1, y.astype(float), np.array(["n", "p"])[y]):
        np.testing.assert_array_equal(base.scores_, make_selector().fit(X, labels).scores_)


@covers("P6", "classification", "coef")
def check_many_integer_classes_are_classes(make_selector):
    for c in (3, 12, 50):
        X, y = toy.labelled(n=3 * c, c=c)
        selector = make_selector().fit(X, y)
        assert selector.classes_.size == c
        assert selector.coef_.shape == (c, 8)


@covers("P25", "classification")
def check_order_and_names_of_the_classes_do_not_matter(make_selector):
    X, y = toy.labelled()
    base = make_selector().fit(X, y)
    renamed = make_selector().fit(X, np.array(["z", "m", "a"])[y])
    assert_same_fit(base, renamed)
    if hasattr(base, "coef_"):
        np.testing.assert_allclose(base.coef_, renamed.coef_[::-1], rtol=1e-4, atol=1e-4)


@covers("P25", "classification", "coef")
def check_swapping_two_classes_flips_the_sign(make_selector):
    X, y = toy.labelled(c=2)
    base, swapped = make_selector().fit(X, y), make_selector().fit(X, 1 - y)
    assert_same_fit(base, swapped)
    np.testing.assert_allclose(base.coef_, -swapped.coef_, rtol=1e-4, atol=1e-4)


# -- what X looks like ----------------------------------------------------------------------------


@covers("P7", "sparse")
def check_every_sparse_format_equals_dense(make_selector):
    X, y = toy.mostly_zero()
    base = make_selector().fit(X, y)
    for version in toy.sparse_versions(X).values():
        assert_same_fit(base, make_selector().fit(version, y), rtol=1e-6)


@covers("P7")
def check_every_dense_container_equals_an_array(make_selector):
    X, y = toy.labelled()
    X = np.round(3 * X)
    base = make_selector().fit(X, y)
    strided = np.zeros((120, 16))
    strided[::2, ::2] = X
    for version in (np.asfortranarray(X), strided[::2, ::2], X.tolist(), X.astype(np.int16)):
        assert_same_fit(base, make_selector().fit(version, y), rtol=1e-6)


@covers("P8", "sparse", "regression", "coef")
def check_sparse_X_with_many_outputs_has_the_right_shapes(make_selector):
    X, _ = toy.mostly_zero()
    Y = np.random.default_rng(0).standard_normal((60, 4))
    for outputs in (Y, Y[:, :1], Y[:, 0]):
        selector = make_selector().fit(sp.csr_array(X), outputs)
        q = 1 if outputs.ndim == 1 else outputs.shape[1]
        assert selector.coef_.shape == (q, 8)
        assert np.shape(selector.intercept_) == (q,)


@covers("P9")
def check_float32_stays_float32(make_selector):
    X, y = toy.labelled()
    single = make_selector().fit(X.astype(np.float32), y)
    np.testing.assert_array_equal(single.support_, make_selector().fit(X, y).support_)
    if hasattr(single, "coef_"):
        assert single.coef_.dtype == np.float32
    assert single.transform(X.astype(np.float32)).dtype == np.float32


@covers("P10")
def check_read_only_memmaps_are_accepted(make_selector):
    X, y = toy.labelled()
    base = make_selector().fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        X_map, y_map = _saved(folder, "X", X), _saved(folder, "y", y)
        assert_same_fit(base, make_selector().fit(X_map, y_map), rtol=1e-9)
        del X_map, y_map


@covers("P10", "sparse")
def check_sparse_X_of_read_only_memmaps_is_accepted(make_selector):
    X, y = toy.mostly_zero()
    base = make_selector().fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        for kind in (sp.csr_array, sp.csc_array):
            S = kind(X)
            names = ("data", "indices", "indptr")
            parts = [_saved(folder, kind.__name__ + name, getattr(S, name)) for name in names]
            frozen = kind(tuple(parts), shape=X.shape, copy=False)
            assert_same_fit(base, make_selector().fit(frozen, y), rtol=1e-6)


def _saved(folder, name, array):
    path = Path(folder, name + ".npy")
    np.save(path, array)
    return np.load(path, mmap_mode="r")


# -- an object among others -----------------------------------------------------------------------


@covers("P11")
def check_clone_pickle_and_deepcopy(make_selector):
    X, y = toy.labelled()
    unfitted = make_selector()
    fitted = make_selector().fit(X, y)
    for twin in (clone, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))):
        assert repr(twin(unfitted)) == repr(unfitted)
        assert_bitwise_equal(fitted, twin(unfitted).fit(X, y))
    for twin in (copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))):
        assert_bitwise_equal(fitted, twin(fitted))
        np.testing.assert_array_equal(fitted.transform(X), twin(fitted).transform(X))


@covers("P14")
def check_fits_from_many_threads_agree(make_selector):
    X, y = toy.labelled()
    base = make_selector().fit(X, y)
    with ThreadPoolExecutor(4) as pool:
        fits = list(pool.map(lambda _: make_selector().fit(X, y), range(8)))
    for selector in fits:
        assert_same_fit(base, selector, rtol=1e-9)


@covers("P16")
def check_number_of_blas_threads_does_not_change_the_selection(make_selector):
    X, y = toy.labelled(n=200, d=40)
    fits = []
    for threads in (1, 2, 4):
        with threadpool_limits(limits=threads):
            fits.append(make_selector().fit(X, y))
    assert_same_fit(fits[0], fits[1], rtol=1e-6)
    assert_same_fit(fits[0], fits[2], rtol=1e-6)


@covers("P16")
def check_the_same_fit_twice_is_the_same_bit_for_bit(make_selector):
    X, y = toy.labelled(n=100, d=30)
    assert_bitwise_equal(make_selector().fit(X, y), make_selector().fit(X, y))


def _peak_bytes(selector, X, y):
    clone(selector).fit(X, y)  # what is compiled or loaded on first use
    tracemalloc.start()
    try:
        selector.fit(X, y)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@covers("P18", "k")
def check_memory_for_wide_and_tall_data_is_a_few_times_X(make_selector):
    for n, d in ((40, 3000), (3000, 40)):
        X, y = toy.labelled(n=n, d=d)
        assert _peak_bytes(with_k(make_selector, 3), X, y) < 10 * X.nbytes  # d×d or n×n: 75


@covers("P18", "k", "sparse")
def check_sparse_X_is_never_made_dense(make_selector):
    rng = np.random.default_rng(0)
    X = sp.random_array((200, 5000), density=0.01, rng=rng, format="csc")
    y = np.arange(200) % 2
    X[:, [5]] = sp.csc_array((y + 0.1 * rng.standard_normal(200))[:, None])
    assert _peak_bytes(with_k(make_selector, 2), X, y) < 200 * 5000 * 8


@covers("P20")
def check_fit_changes_no_parameter_and_can_be_repeated(make_selector):
    X, y = toy.labelled()
    selector = make_selector()
    before = selector.get_params()
    described = repr(before)
    first = copy.deepcopy(selector.fit(X, y))
    after = selector.get_params()
    assert all(after[name] is before[name] for name in before)
    assert repr(after) == described
    assert_bitwise_equal(first, selector.fit(X, y))


@covers("P20")
def check_a_second_fit_forgets_the_first(make_selector):
    X, y = toy.labelled()
    X2, y2 = toy.labelled(n=50, d=10, c=4, seed=3)
    reused = make_selector().fit(X, y).fit(X2, y2)
    assert_bitwise_equal(make_selector().fit(X2, y2), reused)


@covers("P20", "classification", "regression")
def check_a_second_fit_forgets_the_classes_and_names_of_the_first(make_selector):
    X, y = toy.labelled()
    selector = make_selector().fit(pd.DataFrame(X, columns=ODD_NAMES), y)
    selector.fit(*toy.outputs())
    assert not hasattr(selector, "classes_")
    assert not hasattr(selector, "feature_names_in_")


@covers("P21")
def check_fit_returns_self(make_selector):
    selector = make_selector()
    assert selector.fit(*toy.labelled()) is selector


@covers("P22")
def check_fit_is_silent_and_leaves_global_state_alone(make_selector):
    state = (np.geterr(), list(warnings.filters), logging.getLogger().handlers[:])
    random_state = np.random.get_state()[1].copy()  # noqa: NPY002
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        make_selector().fit(*toy.labelled())
    assert out.getvalue() == ""
    assert state == (np.geterr(), list(warnings.filters), logging.getLogger().handlers[:])
    np.testing.assert_array_equal(random_state, np.random.get_state()[1])  # noqa: NPY002


@covers("P23")
def check_training_data_is_not_kept(make_selector):
    sizes = [len(pickle.dumps(make_selector().fit(*toy.labelled(n=n)))) for n in (60, 3000)]
    assert sizes[1] < sizes[0] + 8_000  # one column of X alone would be 23 520 bytes more


@covers("P35")
def check_X_and_y_are_left_unchanged(make_selector):
    X, y = toy.labelled()
    for order in "CF":
        X_given, y_given = np.array(X, order=order), y.copy()
        make_selector().fit(X_given, y_given).transform(X_given)
        np.testing.assert_array_equal(X_given, X)
        np.testing.assert_array_equal(y_given, y)


@covers("P35", "sparse")
def check_sparse_X_is_left_unchanged(make_selector):
    X, y = toy.mostly_zero()
    for version in toy.sparse_versions(X).values():
        before = copy.deepcopy(version)
        make_selector().fit(version, y)
        for name in ("data", "indices", "indptr"):
            if hasattr(version, name):
                np.testing.assert_array_equal(getattr(version, name), getattr(before, name))


@covers("P36")
def check_tags_say_what_is_accepted(make_selector):
    tags = get_tags(make_selector())
    assert tags.target_tags.required
    assert tags.transformer_tags is not None
    assert not tags.input_tags.allow_nan


@covers("P36", "sparse")
def check_tags_say_that_sparse_X_is_accepted(make_selector):
    assert get_tags(make_selector()).input_tags.sparse


@covers("P36", "regression")
def check_tags_say_one_and_many_outputs(make_selector):
    tags = get_tags(make_selector()).target_tags
    assert tags.multi_output
    assert tags.single_output


@covers("P37", "coef", "classification")
def check_coef_is_outputs_by_features(make_selector):
    for c, rows in ((2, 1), (3, 3)):
        selector = make_selector().fit(*toy.labelled(c=c))
        assert selector.coef_.shape == (rows, 8)
        assert selector.intercept_.shape == (rows,)


@covers("P37", "coef", "alpha")
def check_select_from_model_reads_coef_the_same_way(make_selector):
    X, y = toy.labelled()
    selector = make_selector(alpha=0.1, n_features_to_select=None).fit(X, y)
    outside = SelectFromModel(selector, threshold=1e-10, prefit=True)
    assert 0 < selector.support_.sum() < 8
    np.testing.assert_array_equal(outside.get_support(), selector.support_)


# -- names ----------------------------------------------------------------------------------------


@covers("P24")
def check_odd_names_survive_in_pandas_and_polars(make_selector):
    X, y = toy.labelled()
    for frame in (pd.DataFrame(X, columns=ODD_NAMES), pl.DataFrame(X, schema=ODD_NAMES)):
        selector = make_selector().fit(frame, y)
        chosen = np.array(ODD_NAMES, dtype=object)[selector.support_]
        np.testing.assert_array_equal(selector.feature_names_in_, ODD_NAMES)
        np.testing.assert_array_equal(selector.get_feature_names_out(), chosen)
        for library in ("pandas", "polars"):
            out = selector.set_output(transform=library).transform(frame)
            assert list(out.columns) == list(chosen)


@covers("P24")
def check_names_that_are_not_strings_are_ignored(make_selector):
    X, y = toy.labelled()
    selector = make_selector().fit(pd.DataFrame(X), y)
    assert not hasattr(selector, "feature_names_in_")
    expected = [f"x{j}" for j in np.flatnonzero(selector.support_)]
    assert list(selector.get_feature_names_out()) == expected


@covers("P24")
def check_duplicate_names_are_kept_apart_or_refused(make_selector):
    X, y = toy.labelled()
    frame = pd.DataFrame(X, columns=["a"] * 8)
    if SKLEARN >= (1, 9):  # refused by scikit-learn itself
        with pytest.raises(ValueError, match="unique"):
            make_selector().fit(frame, y)
    else:
        assert_same_fit(make_selector().fit(X, y), make_selector().fit(frame, y))


@covers("P24")
def check_reordered_columns_are_refused(make_selector):
    X, y = toy.labelled()
    frame = pd.DataFrame(X, columns=ODD_NAMES)
    selector = make_selector().fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        selector.transform(frame[ODD_NAMES[::-1]])


# -- numbers that go wrong ------------------------------------------------------------------------


@covers("P30", "solution")
def check_a_converged_fit_is_silent_and_says_so(make_selector):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selector = make_selector().fit(*toy.labelled())
    assert selector.solution_.violation <= selector.solution_.tol


@covers("P33", "classification")
def check_a_perfect_separator_ranks_first(make_selector):
    X, y = toy.labelled(c=2)
    X[:, 3] = y
    selector = make_selector().fit(X, y)
    assert selector.ranking_[3] == 1
    assert_finite(selector)


@covers("P33", "regression")
def check_a_column_equal_to_the_target_ranks_first(make_selector):
    X, _ = toy.outputs()
    selector = make_selector().fit(X, X[:, 3])
    assert selector.ranking_[3] == 1
    assert_finite(selector)


@covers("P34", "sample_weight")
def check_weight_two_is_the_row_twice(make_selector):
    X, y = toy.labelled()
    weight = 1 + np.arange(60) % 3
    weighted = make_selector().fit(X, y, sample_weight=weight)
    repeated = make_selector().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same_fit(weighted, repeated)


@covers("P34", "sample_weight")
def check_weight_zero_is_the_row_removed(make_selector):
    X, y = toy.labelled()
    weight = (np.arange(60) % 4 > 0).astype(float)
    X_bad = np.where(weight[:, None] > 0, X, 1e4)
    weighted = make_selector().fit(X_bad, y, sample_weight=weight)
    assert_same_fit(weighted, make_selector().fit(X[weight > 0], y[weight > 0]))


@covers("P34", "sample_weight")
def check_the_scale_of_the_weights_does_not_matter(make_selector):
    X, y = toy.labelled()
    weight = np.random.default_rng(0).uniform(0.2, 3.0, 60)
    base = make_selector().fit(X, y, sample_weight=weight)
    assert_same_fit(base, make_selector().fit(X, y, sample_weight=1e3 * weight), rtol=1e-6)


@covers("P34", "sample_weight")
def check_weights_change_the_fit(make_selector):
    X, y = toy.labelled()
    weight = np.where(np.arange(60) < 30, 5.0, 0.5)
    scores = make_selector().fit(X, y, sample_weight=weight).scores_
    assert not np.allclose(scores, make_selector().fit(X, y).scores_, rtol=1e-3)


# -- prior knowledge ------------------------------------------------------------------------------


@covers("P27", "feature_weights", "k")
def check_feature_weights_belong_to_their_own_column(make_selector):
    X, y = toy.labelled()
    for j in range(8):
        weights = np.ones(8)
        weights[j] = np.inf
        assert not with_k(make_selector, 7, feature_weights=weights).fit(X, y).support_[j]
        weights[j] = 0.0
        assert with_k(make_selector, 2, feature_weights=weights).fit(X, y).support_[j]


# -- many kinds of target -------------------------------------------------------------------------


@covers("P6", "multilabel", "coef")
def check_an_indicator_matrix_is_multi_label(make_selector):
    X, y = toy.labelled()
    Y = np.column_stack([y == 0, y != 1, y == 2]).astype(int)
    base = make_selector().fit(X, Y)
    assert base.coef_.shape == (3, 8)
    for version in (Y.astype(float), Y.astype(bool), 2 * Y - 1):
        assert_same_fit(base, make_selector().fit(X, version), rtol=1e-6)


@covers("P6", "regression", "coef")
def check_numbers_are_regression(make_selector):
    X, Y = toy.outputs()
    selector = make_selector().fit(X, Y)
    assert selector.coef_.shape == (3, 8)
    assert not hasattr(selector, "classes_")
    assert set(np.argsort(selector.ranking_)[:3]) == set(toy.INFORMATIVE)
