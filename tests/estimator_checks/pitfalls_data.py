"""Pitfalls of data: intercepts, dull columns, k, labels, storage of X."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from . import toy
from .registry import covers
from .shared import assert_bitwise_equal, assert_finite, assert_same_fit, with_k

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
    """The table does; coefficients keep the digits that their objective was certified with."""
    X, y = toy.labelled()
    single = make_selector().fit(X.astype(np.float32), y)
    np.testing.assert_array_equal(single.support_, make_selector().fit(X, y).support_)
    if hasattr(single, "coef_"):
        assert single.coef_.dtype == np.float64
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
