"""Passes over X by columns: NumPy's numbers, compiled or not, on any number of threads."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from rowsparse.numerics import compiling, passes

SHAPES = [(1, 1, 1), (1, 9, 2), (7, 3, 11), (23, 4, 1), (23, 8, 2), (50, 13, 5), (9, 30, 12)]


@pytest.fixture(params=["compiled", "plain"])
def source(request, monkeypatch):
    if request.param == "plain":
        monkeypatch.setattr(compiling, "_numba", lambda: None)
    return request.param


@pytest.fixture(params=[4, 1024], ids=["many pieces", "one piece"])
def piece(request, monkeypatch):
    monkeypatch.setattr(passes, "PIECE", request.param)
    monkeypatch.setattr(passes, "SHORT_PIECE", request.param)


@pytest.fixture(params=[np.float64, np.float32])
def kind(request):
    return request.param


def matrix(n, d, kind, seed=0):
    """In Fortran order; one column in three is zero."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[:, ::3] = 0.0
    return np.asfortranarray(X, dtype=kind)


def digits(kind):
    return {"rtol": 1e-4, "atol": 1e-4} if kind == np.float32 else {"rtol": 1e-12, "atol": 1e-12}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.usefixtures("source", "piece")
def test_columns_times_is_the_product_and_the_squares(shape, kind):
    n, d, c = shape
    X, R = matrix(n, d, kind), np.random.default_rng(1).standard_normal((n, c))
    squares = np.full(d, np.nan)
    product = passes.columns_times(X, R, squares)
    assert product.dtype == float
    np.testing.assert_allclose(product, X.astype(float).T @ R, **digits(kind))
    np.testing.assert_allclose(squares, (X.astype(float) ** 2).sum(axis=0), **digits(kind))
    np.testing.assert_array_equal(passes.columns_times(X, R), product)


@pytest.mark.parametrize("c", range(1, 13))
@pytest.mark.usefixtures("source", "piece")
def test_columns_times_of_some_columns_over_some_samples(c, kind):
    X, R = matrix(31, 14, kind), np.random.default_rng(1).standard_normal((31, c))
    squares = np.empty(7)
    columns, samples = np.array([13, 1, 4, 5, 2, 10, 7]), [slice(3, 9), slice(20, 31)]
    product = passes.columns_times(X, R, squares, columns, samples)
    used = np.r_[3:9, 20:31]
    A = X[np.ix_(used, columns)].astype(float)
    np.testing.assert_allclose(product, A.T @ R[used], **digits(kind))
    np.testing.assert_allclose(squares, (A**2).sum(axis=0), **digits(kind))


@pytest.mark.parametrize("k", [0, 1, 3, 4, 5, 8, 11])
@pytest.mark.usefixtures("source", "piece")
def test_gram_is_the_product_of_centred_columns(k, kind):
    X, rng = matrix(37, 12, kind), np.random.default_rng(4)
    columns, centers = rng.permutation(12)[:k], rng.standard_normal(k)
    A = X[:, columns].astype(float) - centers
    G = passes.gram(X, columns, centers)
    np.testing.assert_allclose(G, A.T @ A, **digits(kind))
    np.testing.assert_array_equal(G, G.T)


@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "read-only"])
@pytest.mark.usefixtures("source")
def test_the_layout_of_the_right_side_does_not_matter(layout):
    X, R = matrix(20, 6, float), np.random.default_rng(1).standard_normal((20, 3))
    stored = {
        "C": np.ascontiguousarray(R),
        "F": np.asfortranarray(R),
        "strided": np.repeat(R, 2, axis=0)[::2],
        "reversed": np.ascontiguousarray(R[::-1])[::-1],
        "read-only": R.copy(),
    }[layout]
    if layout == "read-only":
        stored.flags.writeable = X.flags.writeable = False
    np.testing.assert_allclose(passes.columns_times(X, stored), X.T @ R, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.usefixtures("source", "piece")
def test_combine_columns_is_the_product_with_some_columns(shape, kind):
    n, d, c = shape
    X, rng = matrix(n, d, kind), np.random.default_rng(2)
    for size in {0, 1, d // 2, d}:
        columns = rng.permutation(d)[:size]
        W = rng.standard_normal((size, c))
        expected = X[:, columns].astype(float) @ W
        np.testing.assert_allclose(passes.combine_columns(X, columns, W), expected, **digits(kind))


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_shows_in_the_squares_of_its_column_only(bad):
    X = matrix(20, 9, float)
    X[13, 4] = bad
    squares = np.empty(9)
    passes.columns_times(X, np.ones((20, 2)), squares)
    np.testing.assert_array_equal(np.flatnonzero(~np.isfinite(squares)), [4])


def test_the_number_of_threads_changes_no_bit():
    X, rng = matrix(2000, 1501, float), np.random.default_rng(3)
    R, columns, W = rng.standard_normal((2000, 8)), np.arange(0, 1501, 2), rng.random((751, 8))
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            squares = np.empty(1501)
            product = passes.columns_times(X, R, squares)
            G = passes.gram(X, columns, np.zeros(columns.size))
            results.append((product, squares, G, passes.combine_columns(X, columns, W)))
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
