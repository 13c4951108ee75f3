"""Every design is a matrix: each operation equals the same one on an explicit float64 array.

A new way to store X is one line in STORAGES (storages.py); the wrappers are run over each of them.
"""

import numpy as np
import pytest
from conformance.storages import STORAGES, N, Pair, frozen, numbers
from scipy import sparse

from rowsparse.designs import Restriction, Standardized, as_design, base, storages


def test_shape_and_kind_of_numbers(pair):
    assert pair.design.shape == pair.matrix.shape
    assert pair.design.dtype == pair.stored.dtype


@pytest.mark.parametrize("c", [1, 4])
def test_matmul(pair, c):
    W = np.random.default_rng(2).standard_normal((pair.matrix.shape[1], c))
    result = pair.design.matmul(W)
    assert result.dtype == float
    pair.same(result, pair.matrix @ W)


@pytest.mark.parametrize("n_nonzero", [0, 1, 2])
def test_matmul_with_few_nonzero_rows(pair, n_nonzero):
    W = np.zeros((pair.matrix.shape[1], 3))
    W[[1, -1][:n_nonzero]] = 0.5
    pair.same(pair.design.matmul(W), pair.matrix @ W)


@pytest.mark.parametrize("order", ["C", "F"])
def test_rmatmul(pair, order):
    R = np.asarray(np.random.default_rng(2).standard_normal((N, 3)), order=order)
    result = pair.design.rmatmul(R)
    assert result.dtype == float
    pair.same(result, pair.matrix.T @ R)


@pytest.mark.parametrize("columns", [[], [4], [6, 1, 3], [-1], "all"])
def test_take_is_a_fresh_dense_block_in_fortran_order(pair, columns):
    d = pair.matrix.shape[1]
    columns = np.arange(d) if columns == "all" else np.array(columns, dtype=int) % d
    block = pair.design.take(columns)
    pair.same(block, pair.matrix[:, columns])
    assert block.dtype == float
    assert block.flags.f_contiguous
    block += 1.0  # belongs to the caller
    pair.same(pair.design.take(columns), pair.matrix[:, columns])


@pytest.mark.parametrize("centred", [False, True])
def test_squares(pair, centred):
    centers = pair.centers if centred else None
    shifted = pair.matrix - (pair.centers if centred else 0.0)
    expected = pair.weights @ shifted**2
    pair.same(
        pair.design.squares(pair.weights, centers) / (1 + expected), expected / (1 + expected)
    )


def test_means(pair):
    expected = np.average(pair.matrix, axis=0, weights=pair.weights)
    pair.same(pair.design.means(pair.weights), expected)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("rows", [[0, 4, -1], [2], "all"])
def test_gram_of_one_set_of_columns(pair, rows, centred):
    d = pair.matrix.shape[1]
    rows = np.arange(d) if rows == "all" else np.array(rows) % d
    centers = pair.centers if centred else None
    A = (pair.matrix - (pair.centers if centred else 0.0))[:, rows]
    expected = A.T @ (pair.weights[:, None] * A)
    G = pair.design.gram(rows, rows, pair.weights, centers)
    pair.same(G / np.abs(expected).max(), expected / np.abs(expected).max())
    pair.same(pair.design.gram(rows, rows.copy(), pair.weights, centers) - G, 0.0)


@pytest.mark.parametrize("size", [1.0, 0.3])
def test_gram_with_equal_weights(pair, size):
    d = pair.matrix.shape[1]
    rows, columns, weights = np.arange(d), np.array([0, 4, 2]), np.full(N, size)
    expected = size * pair.matrix.T @ pair.matrix
    scale = np.abs(expected).max()
    pair.same(pair.design.gram(rows, rows, weights) / scale, expected / scale)
    pair.same(pair.design.gram(rows, columns, weights) / scale, expected[:, columns] / scale)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [([0, 4], [1, 2, 7]), ([-1], [0, 2]), ([2, 1], [-1])])
def test_gram_between_two_sets_of_columns(pair, rows, columns, centred):
    d = pair.matrix.shape[1]
    rows, columns = np.array(rows) % d, np.array(columns) % d
    centers = pair.centers if centred else None
    A = pair.matrix - (pair.centers if centred else 0.0)
    expected = A[:, rows].T @ (pair.weights[:, None] * A[:, columns])
    G = pair.design.gram(rows, columns, pair.weights, centers)
    pair.same(G / np.abs(expected).max(), expected / np.abs(expected).max())


@pytest.mark.parametrize("centred", [False, True])
def test_outer_skips_factors_of_zero(pair, centred):
    q = np.random.default_rng(3).uniform(-1, 2, pair.matrix.shape[1])
    q[[0, 4]] = 0.0
    scaled = (pair.matrix - (pair.centers if centred else 0.0)) * q
    expected = scaled @ scaled.T
    found = pair.design.outer(q, pair.centers if centred else None)
    pair.same(found / np.abs(expected).max(), expected / np.abs(expected).max())


@pytest.mark.parametrize("centred", [False, True])
def test_outer_of_thin_columns_is_that_of_the_dense_matrix(wrapper, centred, tmp_path):
    rng = np.random.default_rng(5)
    X = np.where(rng.uniform(size=(60, 300)) < 0.02, rng.normal(3, 1, (60, 300)), 0.0)
    X[:, 7] = rng.normal(100, 1, 60)  # a full one among them, far from zero
    both = Pair(STORAGES["csc array"](X, tmp_path), X, wrapper)
    q = rng.uniform(0, 2, both.matrix.shape[1])
    scaled = (both.matrix - (both.centers if centred else 0.0)) * q
    expected = scaled @ scaled.T
    found = both.design.outer(q, both.centers if centred else None)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_constant_columns(pair):
    expected = [np.unique(column).size == 1 for column in pair.matrix.T]
    assert sum(expected) >= 2
    np.testing.assert_array_equal(pair.design.constant_columns(), expected)


def test_X_is_never_written_to(pair):
    before = frozen(pair.stored)
    design, d = pair.design, pair.matrix.shape[1]
    everything = np.arange(d)
    design.matmul(np.ones((d, 2)))
    design.rmatmul(np.ones((N, 2)))
    design.take(everything)
    design.squares(pair.weights, pair.centers)
    design.gram(everything, everything, pair.weights, pair.centers)
    design.gram(everything, everything, pair.weights)
    design.outer(np.ones(d))
    design.constant_columns()
    design.means(pair.weights)
    assert frozen(pair.stored) == before


def test_arguments_are_never_written_to(pair):
    d = pair.matrix.shape[1]
    W, R, q = np.ones((d, 2)), np.ones((N, 2)), np.ones(d)
    arrays = [W, R, q, pair.weights, pair.centers, np.arange(d)]
    before = [array.copy() for array in arrays]
    pair.design.matmul(W)
    pair.design.rmatmul(R)
    pair.design.outer(q)
    pair.design.squares(pair.weights, pair.centers)
    pair.design.gram(arrays[-1], arrays[-1], pair.weights, pair.centers)
    for now, then in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(now, then)


# -- more than one block at a time ----------------------------------------------------------------


@pytest.mark.parametrize("storage", ["C", "F", "csc array", "memmap"])
def test_results_do_not_depend_on_the_size_of_the_blocks(storage, wrapper, tmp_path, monkeypatch):
    X = numbers(n=12, d=150)
    both = Pair(STORAGES[storage](X, tmp_path), X, wrapper)
    monkeypatch.setattr(storages, "CACHE_BYTES", 8 * 12 * 5)
    for module in (base, storages):
        monkeypatch.setattr(module, "COPY_BYTES", 1)
    A = both.matrix
    q = np.random.default_rng(3).uniform(0, 2, A.shape[1])
    np.testing.assert_allclose(both.design.outer(q), (A * q**2) @ A.T, rtol=1e-10, atol=1e-8)
    expected = both.weights @ (A - both.centers) ** 2
    np.testing.assert_allclose(both.design.squares(both.weights, both.centers), expected)


def test_products_with_some_columns(pair):
    R = np.random.default_rng(2).standard_normal((N, 3))
    for columns in (np.array([0, 4, -1, 2, 1]) % pair.matrix.shape[1], np.array([3]), np.arange(0)):
        pair.same(pair.design.rmatmul_of(columns, R), pair.matrix[:, columns].T @ R)


def test_products_over_some_samples_are_offered_where_they_are_quicker_only(pair):
    assert pair.design.rmatmul_over([slice(2, 5)], np.ones((N, 3))) is None


def test_sums_of_squares_that_are_known_serve_their_own_weights_only():
    X, weights = np.ones((20, 3)), np.arange(20.0)
    known = Standardized(as_design(X), np.zeros(3), np.ones(3), (weights, np.full(3, 7.0)))
    np.testing.assert_allclose([known.squares(weights)[0], known.squares(2 * weights)[0]], [7, 380])


# -- columns far from zero ------------------------------------------------------------------------


def shifted(storage, shift, folder):
    """A standardised design over X + shift, and the same matrix from the unshifted X."""
    X = np.random.default_rng(0).standard_normal((50, 6))
    X -= X.mean(axis=0)
    far = X + shift
    exact = far.astype(np.longdouble)
    means = exact.mean(axis=0)
    matrix = np.asarray(exact - means, dtype=float)
    scales = matrix.std(axis=0)
    design = Standardized(as_design(STORAGES[storage](far, folder)), means.astype(float), scales)
    return design, matrix / scales


@pytest.mark.parametrize("shift", [1e3, 1e6])
@pytest.mark.parametrize("storage", ["C", "F", "memmap", "csc array"])
def test_columns_far_from_zero_lose_no_more_digits_than_their_storage(storage, shift, tmp_path):
    design, matrix = shifted(storage, shift, tmp_path)
    lost = 1e-15 * shift * 10
    W, R = np.random.default_rng(1).standard_normal((2, 50, 6))
    np.testing.assert_allclose(design.take(np.arange(6)), matrix, atol=lost)
    np.testing.assert_allclose(design.matmul(W[:6]), matrix @ W[:6], atol=10 * lost)
    np.testing.assert_allclose(design.rmatmul(R), matrix.T @ R, atol=50 * lost)


@pytest.mark.parametrize("shift", [1e3, 1e6])
@pytest.mark.parametrize("storage", ["C", "F", "memmap", "csc array"])
def test_gram_and_squares_far_from_zero(storage, shift, tmp_path):
    """Centred blocks lose nothing; sums of squares of a sparse column lose the shift squared."""
    design, matrix = shifted(storage, shift, tmp_path)
    everything, weights = np.arange(6), np.ones(50) / 50
    lost = 1e-14 * (shift**2 if "csc" in storage else shift)
    G = design.gram(everything, everything, weights)
    np.testing.assert_allclose(G, matrix.T @ matrix / 50, atol=lost)
    np.testing.assert_allclose(design.squares(weights), np.ones(6), atol=lost)


# -- what can be stored ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.int32, np.uint8, bool])
@pytest.mark.parametrize("container", [np.asarray, sparse.csc_array])
def test_other_numbers_become_float64(kind, container):
    X = np.array([[0, 1], [1, 1], [1, 0]]).astype(kind)
    design = as_design(container(X))
    assert design.dtype == float
    np.testing.assert_array_equal(design.take(np.arange(2)), X.astype(float))


def test_a_design_is_its_own_design():
    design = as_design(np.ones((3, 2)))
    assert as_design(design) is design


def test_one_dimension_is_refused_with_what_to_type():
    with pytest.raises(ValueError, match=r"reshape\(-1, 1\)"):
        as_design(np.ones(3))


@pytest.mark.parametrize("storage", ["C", "F"])
def test_contiguous_arrays_are_not_copied(storage, tmp_path):
    X = STORAGES[storage](numbers(), tmp_path)
    assert np.shares_memory(as_design(X).X, X)


@pytest.mark.parametrize("few", [0, 3, 9])
def test_columns_that_are_left_are_the_same_dense_or_not(few):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 9))
    columns = Restriction.of(as_design(A), np.arange(9), few)
    index = np.arange(9)
    for mask in (np.arange(9) != 4, np.arange(8) % 2 == 0, np.array([True, False, True, True])):
        columns, index = columns.keep(mask), index[mask]
        assert (columns.block is not None) == (columns.index.size <= few)
        np.testing.assert_array_equal(columns.index, index)
        np.testing.assert_array_equal(columns.X.take(np.arange(index.size)), A[:, index])
    assert columns.keep(np.ones(3, dtype=bool)) is columns
    assert Restriction.of(as_design(A), np.arange(9), 0).X.shape == A.shape


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_float32_meets_numbers_beyond_its_range(size, order):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 30)).astype(np.float32, order=order)
    R = rng.normal(size=(20, 3))
    product = as_design(X).rmatmul(size * R)
    np.testing.assert_allclose(product, size * (X.T.astype(float) @ R), rtol=1e-4, atol=1e-5 * size)
