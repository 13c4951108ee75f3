"""Every design is a matrix: each operation equals the same one on an explicit float64 array.

A new way to store X is one line in STORAGES; the wrappers are run over each of them.
"""

import functools

import numpy as np
import pytest
from scipy import sparse

from rowsparse.designs import (
    NotFinite,
    Standardized,
    Subset,
    WithConstant,
    as_design,
    base,
    dense,
)
from rowsparse.numerics import passes

N, D = 23, 9


def with_duplicates(X, kind):
    """The same matrix with every stored entry split in two halves."""
    coo = sparse.coo_array(X)
    rows, columns = coo.coords
    both = (np.concatenate([rows, rows]), np.concatenate([columns, columns]))
    doubled = sparse.coo_array((np.concatenate([coo.data, coo.data]) / 2, both), shape=X.shape)
    if kind == "coo":
        return doubled
    order = np.lexsort((both[0], both[1]))
    counts = np.bincount(both[1], minlength=X.shape[1])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csc_array((doubled.data[order], both[0][order], indptr), shape=X.shape)


def unsorted(X):
    csc = sparse.csc_array(X)
    for j in range(X.shape[1]):
        part = slice(csc.indptr[j], csc.indptr[j + 1])
        csc.indices[part], csc.data[part] = csc.indices[part][::-1], csc.data[part][::-1]
    csc.has_sorted_indices = False
    return csc


def long_indices(X):
    csc = sparse.csc_array(X)
    csc.indices, csc.indptr = csc.indices.astype(np.int64), csc.indptr.astype(np.int64)
    return csc


def explicit_zeros(X):
    csc = sparse.csc_array(np.ones_like(X))
    csc.data[:] = X.T.ravel()
    return csc


def read_only_map(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


STORAGES = {
    "C": lambda X, _: np.ascontiguousarray(X),
    "F": lambda X, _: np.asfortranarray(X),
    "float32": lambda X, _: X.astype(np.float32),
    "float32 F": lambda X, _: np.asfortranarray(X, dtype=np.float32),
    "memmap": read_only_map,
    "memmap F": lambda X, folder: read_only_map(np.asfortranarray(X), folder),
    "view": lambda X, _: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "reversed": lambda X, _: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "csr matrix": lambda X, _: sparse.csr_matrix(X),
    "csc matrix": lambda X, _: sparse.csc_matrix(X),
    "coo matrix": lambda X, _: sparse.coo_matrix(X),
    "csr array": lambda X, _: sparse.csr_array(X),
    "csc array": lambda X, _: sparse.csc_array(X),
    "coo array": lambda X, _: sparse.coo_array(X),
    "csc float32": lambda X, _: sparse.csc_array(X.astype(np.float32)),
    "int64 indices": lambda X, _: long_indices(X),
    "unsorted": lambda X, _: unsorted(X),
    "coo duplicates": lambda X, _: with_duplicates(X, "coo"),
    "csc duplicates": lambda X, _: with_duplicates(X, "csc"),
    "explicit zeros": lambda X, _: explicit_zeros(X),
}
WRAPPERS = ["plain", "standardized", "constant", "subset", "standardized constant subset"]


def numbers(n=N, d=D, seed=0):
    """A third zeros, columns of different size; one constant, one empty, one zero or two."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7) * np.logspace(-1, 1, d)
    X[:, 3], X[:, 5], X[:, 7] = 2.5, 0.0, 2.0 * (X[:, 7] > 0)
    return X


class Pair:
    """A design and the explicit matrix it stands for."""

    def __init__(self, stored, matrix, wrapper, seed=1):
        rng = np.random.default_rng(seed)
        n, d = matrix.shape
        self.stored, self.design, self.matrix = stored, as_design(stored), matrix
        if "standardized" in wrapper:
            means, scales = rng.standard_normal(d), rng.uniform(0.5, 2, d)
            self.design = Standardized(self.design, means, scales)
            self.matrix = (self.matrix - means) / scales
        if "constant" in wrapper:
            self.design = WithConstant(self.design)
            self.matrix = np.hstack([self.matrix, np.ones((n, 1))])
        if "subset" in wrapper:
            columns = np.concatenate(
                [rng.permutation(d)[: d - 1], np.arange(d, self.matrix.shape[1])]
            )
            columns = np.union1d(columns, [3, 5])[::-1]  # the constant columns, and out of order
            self.design, self.matrix = Subset(self.design, columns), self.matrix[:, columns]
        self.weights = rng.uniform(0.1, 3, n)
        self.centers = rng.standard_normal(self.matrix.shape[1])
        single = self.design.dtype == np.float32
        self.same = functools.partial(
            np.testing.assert_allclose, rtol=0, atol=2e-4 if single else 1e-11
        )


@pytest.fixture(params=WRAPPERS)
def wrapper(request):
    return request.param


@pytest.fixture(params=STORAGES)
def pair(request, wrapper, tmp_path):
    X = numbers()
    if "float32" in request.param:
        X = X.astype(np.float32).astype(float)
    return Pair(STORAGES[request.param](X, tmp_path), X, wrapper)


def frozen(stored):
    """Every array behind the stored X, as bytes."""
    if sparse.issparse(stored):
        names = [k for k in ("data", "indices", "indptr", "row", "col") if hasattr(stored, k)]
        return [getattr(stored, name).tobytes() for name in names]
    return [stored.tobytes()]


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


def test_outer_skips_weights_of_zero(pair):
    q = np.random.default_rng(3).uniform(0, 2, pair.matrix.shape[1])
    q[[0, 4]] = 0.0
    expected = (pair.matrix * q) @ pair.matrix.T
    pair.same(pair.design.outer(q) / np.abs(expected).max(), expected / np.abs(expected).max())


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
    monkeypatch.setattr(dense, "_BLOCK_BYTES", 8 * 12 * 5)
    monkeypatch.setattr(base, "_OUTER_BLOCK_BYTES", 1)
    A = both.matrix
    q = np.random.default_rng(3).uniform(0, 2, A.shape[1])
    np.testing.assert_allclose(both.design.outer(q), (A * q) @ A.T, rtol=1e-10, atol=1e-8)
    expected = both.weights @ (A - both.centers) ** 2
    np.testing.assert_allclose(both.design.squares(both.weights, both.centers), expected)


# -- passes of our own ----------------------------------------------------------------------------


@pytest.fixture
def own_passes(monkeypatch):
    """As if every matrix were large enough for them."""
    monkeypatch.setattr(passes, "WORTH", 0)
    monkeypatch.setattr(passes, "WORTH_GRAM", 0)
    monkeypatch.setattr(dense, "_WORTH_COMBINING", 0)


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
    assert stored.products_check(3) == (storage == "F")
    for size in (1.0, 2.0):
        R = size * np.random.default_rng(2).standard_normal((N, 3))
        both.same(both.design.rmatmul(R), both.matrix.T @ R)
    ones = np.ones(N)
    both.same(stored.squares(2 * ones) / (1 + 2 * ones @ X**2), 1 - 1 / (1 + 2 * ones @ X**2))


@pytest.mark.usefixtures("own_passes")
@pytest.mark.parametrize("bad", [np.nan, -np.inf, 1e200])
def test_the_first_product_refuses_what_is_not_finite(wrapper, bad, tmp_path):
    X = numbers()
    X[20, 4] = bad
    both = Pair(np.asfortranarray(X), X, wrapper)
    with pytest.raises(NotFinite, match="finite"):
        both.design.rmatmul(np.zeros((N, 3)))


def test_products_with_some_columns(pair):
    R = np.random.default_rng(2).standard_normal((N, 3))
    for columns in (np.array([0, 4, -1, 2, 1]) % pair.matrix.shape[1], np.array([3]), np.arange(0)):
        pair.same(pair.design.rmatmul_of(columns, R), pair.matrix[:, columns].T @ R)


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


def test_products_over_some_samples_are_offered_where_they_are_quicker_only(pair):
    assert pair.design.rmatmul_over([slice(2, 5)], np.ones((N, 3))) is None


def underneath(design):
    return underneath(design.base) if hasattr(design, "base") else design


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
