"""Ways to store X, wrappers around them, and the explicit matrix that each stands for."""

import functools

import numpy as np
from scipy import sparse

from rowsparse.designs import Standardized, Subset, WithConstant, as_design

N, D = 23, 9


def with_duplicates(X, kind):
    """The same matrix with every stored entry split in two halves."""
    coo = sparse.coo_array(X)
    rows, columns = coo.row, coo.col
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


def frozen(stored):
    """Every array behind the stored X, as bytes."""
    if sparse.issparse(stored):
        names = [k for k in ("data", "indices", "indptr", "row", "col") if hasattr(stored, k)]
        return [getattr(stored, name).tobytes() for name in names]
    return [stored.tobytes()]
