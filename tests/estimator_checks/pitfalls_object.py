"""Pitfalls of an estimator among others: state, names, numbers, prior knowledge."""

from __future__ import annotations

import copy
import io
import logging
import pickle
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from . import toy
from .registry import covers
from .shared import ODD_NAMES, SKLEARN, assert_bitwise_equal, assert_finite, assert_same_fit, with_k

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
    X = toy.thin(200, 10_000, 0.01, rng)
    y = np.arange(200) % 2
    X[:, [5]] = sp.csc_array((y + 0.1 * rng.standard_normal(200))[:, None])
    assert _peak_bytes(with_k(make_selector, 2), X, y) < 200 * 10_000 * 8


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
    assert selector.solution_.criterion <= selector.solution_.tol


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


@covers("P34", "sample_weight", "relative_weights")
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
