"""Designs whose X is large: passes of our own in place of BLAS, and what they find on their way."""

import numpy as np
import pytest
from conformance.storages import STORAGES, N, Pair, numbers

from rowsparse.designs import as_design, storages
from rowsparse.numerics import compiling


@pytest.fixture
def own_passes(monkeypatch):
    """As if every matrix were large enough for them."""
    monkeypatch.setattr(compiling, "WORTH_LOADING", 0)


@pytest.mark.usefixtures("own_passes")
@pytest.mark.parametrize("storage", ["F", "float32 F", "memmap F", "C"])
def test_products_by_own_passes(storage, wrapper, tmp_path):
    X = numbers(d=21).astype(np.float32).astype(float)
    both = Pair(STORAGES[storage](X, tmp_path), X, wrapper)
    R = np.random.default_rng(2).standard_normal((N, 3))
    W = np.zeros((both.matrix.shape[1], 3))
    W[[1, 6, -1]] = 0.5
    both.same(both.design.rmatmul(R), both.matrix.T @ R)
    both.same(both.design.matmul(W), both.matrix @ W)


@pytest.mark.usefixtures("own_passes")
@pytest.mark.parametrize("storage", ["F", "float32 F", "memmap F", "C"])
@pytest.mark.parametrize("centred", [False, True])
def test_gram_by_own_passes(storage, wrapper, centred, tmp_path):
    X = numbers(d=21).astype(np.float32).astype(float)
    both = Pair(STORAGES[storage](X, tmp_path), X, wrapper)
    rows, weights = np.array([0, 4, 2, 11, 8, -1]) % both.matrix.shape[1], np.full(N, 0.3)
    A = (both.matrix - (both.centers if centred else 0.0))[:, rows]
    G = both.design.gram(rows, rows, weights, both.centers if centred else None)
    both.same(G / np.abs(G).max(), 0.3 * A.T @ A / np.abs(G).max())
    np.testing.assert_allclose(G, G.T, rtol=1e-15)


@pytest.mark.usefixtures("own_passes")
@pytest.mark.parametrize("storage", ["F", "float32 F", "C", "csc array"])
def test_sums_of_squares_come_with_the_first_product(storage, wrapper, tmp_path):
    X = numbers().astype(np.float32).astype(float)
    both = Pair(STORAGES[storage](X, tmp_path), X, wrapper)
    stored = underneath(both.design)
    for size in (1.0, 2.0):
        R = size * np.random.default_rng(2).standard_normal((N, 3))
        both.same(both.design.rmatmul(R), both.matrix.T @ R)
    ones = np.ones(N)
    both.same(stored.squares(2 * ones) / (1 + 2 * ones @ X**2), 1 - 1 / (1 + 2 * ones @ X**2))


@pytest.mark.usefixtures("own_passes")
@pytest.mark.parametrize("bad", [np.nan, -np.inf, 1e200])
def test_sums_of_squares_that_a_product_leaves_show_what_is_not_finite(bad):
    X = numbers()
    X[20, 4] = bad
    design = as_design(np.asfortranarray(X))
    design.rmatmul(np.zeros((N, 3)))
    with np.errstate(over="ignore"):
        finite = np.isfinite(design.squares(np.ones(N)))
    assert np.flatnonzero(~finite).tolist() == [4]


@pytest.mark.usefixtures("own_passes")
@pytest.mark.parametrize("storage", ["F", "float32 F", "memmap F"])
def test_products_with_some_columns_or_samples_by_own_passes(storage, wrapper, tmp_path):
    X = numbers(d=21).astype(np.float32).astype(float)
    both = Pair(STORAGES[storage](X, tmp_path), X, wrapper)
    R = np.random.default_rng(2).standard_normal((N, 3))
    columns = np.array([0, 4, -1, 2, 1]) % both.matrix.shape[1]
    both.same(both.design.rmatmul_of(columns, R), both.matrix[:, columns].T @ R)
    samples, rows = [slice(2, 5), slice(11, 12)], [2, 3, 4, 11]
    both.same(both.design.rmatmul_over(samples, R), both.matrix[rows].T @ R[rows])


def test_only_large_matrices_in_fortran_order_with_few_outputs_are_worth_it(monkeypatch):
    X = np.asfortranarray(np.zeros((1000, 21)))
    design = as_design(X)
    assert not design.worth_own_pass(5)
    monkeypatch.setattr(compiling, "WORTH_LOADING", 10 * X.size)
    assert design.worth_own_pass(5)
    assert not design.worth_own_pass(1)
    assert not design.worth_own_pass(storages.MOST_OUTPUTS + 1)
    assert not as_design(X[:, :5]).worth_own_pass(5)
    assert not as_design(np.ascontiguousarray(X)).worth_own_pass(5)
    assert design.worth_own_gram(21)
    assert not design.worth_own_gram(20)
    monkeypatch.setattr(compiling, "WORTH_LOADING", 0)
    wide = as_design(np.zeros((50, 100), order="F"))
    assert wide.worth_own_gram(20)
    assert not wide.worth_own_gram(30)  # the sums of eight slices would take more room than X


@pytest.mark.usefixtures("own_passes")
def test_without_numba_it_is_left_to_blas(monkeypatch):
    monkeypatch.setattr(compiling, "_numba", lambda: None)
    design = as_design(np.asfortranarray(numbers()))
    assert not design.worth_own_pass(5)


def underneath(design):
    return underneath(design.base) if hasattr(design, "base") else design
