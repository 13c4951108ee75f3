"""X as it is stored: a NumPy array or memory map in either order, or compressed sparse columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics.compiling import numba_is_there, worth_loading
from ..numerics.memory import CACHE_BYTES, COPY_BYTES
from ..numerics.passes import columns_times, combine_columns, gram
from ..numerics.rows import nonzero_rows
from ..numerics.threads import N_SLICES, cached_property, over_slices
from .base import Array, Centers, Design
from .blocks import RowBlocks
from .chunked import ChunkedDesign
from .passes import LocalPasses

# To so many outputs ``numerics.passes`` beat BLAS, which is made for many, on all threads: to 26 by
# a tenth and more on one.
MOST_OUTPUTS = 12
# What a product of two stored entries costs, in products of dense columns by BLAS: X X' of
# 1,000 x 5,000 takes the same time either way where a tenth of the entries is stored.
SPARSE_PRODUCT = 100


def as_design(X) -> Design:
    """A design for an array, a memory map, a sparse matrix or array, rows in blocks, or a design
    itself.

    The only place that asks what type X has.
    """
    if isinstance(X, Design):
        return X
    if isinstance(X, RowBlocks):
        return ChunkedDesign(LocalPasses(X))
    if is_dask(X):
        from .dask_arrays import DaskPasses  # where X is one, Dask is there

        return ChunkedDesign(DaskPasses(X))
    is_sparse = sparse.issparse(X)
    if not is_sparse:
        X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(
            f"Expected X with two dimensions (samples × features), got {X.ndim}; "
            "use X.reshape(-1, 1) for a single feature."
        )
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(float)
    return SparseDesign(X) if is_sparse else DenseDesign(X)


def in_blocks(X: object) -> bool:
    """Whether X is a store of blocks, or a Dask array, rather than a table in memory."""
    return isinstance(X, RowBlocks | ChunkedDesign) or is_dask(X)


def is_dask(X: object) -> bool:
    """Whether it is a collection of Dask's, told by its name: Dask need not be there."""
    return type(X).__module__.partition(".")[0] == "dask"


class DenseDesign(Design):
    """An array of float32 or float64; it is never copied as a whole and never written to."""

    def __init__(self, X: Array):
        contiguous = X.flags.c_contiguous or X.flags.f_contiguous
        self.X = X if contiguous else np.ascontiguousarray(X)  # BLAS would copy at every product
        self.shape = X.shape
        self.dtype = X.dtype
        self.rounds_products = X.dtype == np.float32

    def matmul(self, W: Array) -> Array:
        used = np.flatnonzero(nonzero_rows(W))
        n_read = self.shape[0] * used.size
        if worth_reading(n_read) and self.worth_own_pass(W.shape[1]):
            return combine_columns(self.X, used, W[used])
        if 4 * used.size >= self.shape[1] and self.dtype == np.float64:
            return _product(self.X, W)
        # predictions from float32 as well keep the digits of nearly equal columns
        out = np.zeros((self.shape[0], W.shape[1]))
        size = max(1, COPY_BYTES // (8 * self.shape[0]))
        for start in range(0, used.size, size):
            columns = used[start : start + size]
            out += self.take(columns) @ W[columns]
        return out

    def rmatmul(self, R: Array) -> Array:
        if self.dtype == np.float32:
            # float32 holds R only in units of its largest entries, here powers of two
            exponents = np.frexp(np.abs(R).max(axis=0, initial=0.0))[1]
            units = np.ldexp(1.0, exponents - 1)
            R = R / units
            if self.worth_own_pass(R.shape[1]):
                return units * columns_times(self.X, R)
            return units * _product(self.X.T, R)
        if not self.worth_own_pass(R.shape[1]):
            return _product(self.X.T, R)
        if "_plain_squares" in self.__dict__:
            return columns_times(self.X, R)
        # sums of squares cost little on the way, and a pass over a large X of their own later
        squares = np.empty(self.shape[1])
        product = columns_times(self.X, R, squares)
        self._plain_squares = squares
        return product

    def rmatmul_of(self, columns: Array, R: Array) -> Array:
        if not self.rounds_products and self.worth_own_pass(R.shape[1]):
            return columns_times(self.X, R, columns=columns)
        out = np.empty((len(columns), R.shape[1]))
        size = max(1, COPY_BYTES // (8 * self.shape[0]))
        for start in range(0, len(columns), size):
            part = slice(start, start + size)
            out[part] = self.take(columns[part]).T @ R
        return out

    def means(self, weights: Array) -> Array:
        columns = np.arange(self.shape[1])
        # in double precision: far from zero a column varies in digits that float32 has not
        return self.rmatmul_of(columns, weights[:, None])[:, 0] / weights.sum()

    def rmatmul_over(self, samples: Sequence[slice], R: Array) -> Array | None:
        if not self.worth_own_pass(R.shape[1]):
            return None
        return columns_times(self.X, R, samples=samples)

    def take(self, columns: Array) -> Array:
        if self.X.flags.f_contiguous:
            return self.X.T[columns].astype(float, copy=False).T
        return np.asfortranarray(np.take(self.X, columns, axis=1), dtype=float)

    def squares(self, weights: Array, centers: Centers = None) -> Array:
        n, d = self.shape
        if centers is None and self.dtype == np.float64 and np.all(weights == weights[0]):
            return weights[0] * self._plain_squares
        middles = np.zeros(d) if centers is None else centers
        out = np.zeros(d)
        by_columns = self.X.flags.f_contiguous  # blocks of neighbours in memory, four times faster

        def add_block(rows: slice, columns: slice) -> None:
            block = np.subtract(self.X[rows, columns], middles[columns], dtype=float)
            np.square(block, out=block)
            out[columns] += weights[rows] @ block

        def add(part: slice) -> None:
            if by_columns:
                for columns in _cached_pieces(part, n):
                    add_block(slice(0, n), columns)
            else:
                for rows in _cached_pieces(slice(0, n), part.stop - part.start):
                    add_block(rows, part)

        over_slices(add, d, flops=10.0 * self.X.size)
        return out

    @cached_property
    def _plain_squares(self) -> Array:
        """Neither weighted nor centred."""
        out = np.empty(self.shape[1])

        def square(part: slice) -> None:
            np.einsum("ij,ij->j", self.X[:, part], self.X[:, part], out=out[part])

        over_slices(square, self.shape[1], flops=10.0 * self.X.size)  # bound by memory
        return out

    def gram(self, rows: Array, columns: Array, weights: Array, centers: Centers = None) -> Array:
        symmetric = rows is columns and bool(np.all(weights == weights[0]))
        if not symmetric or not self.worth_own_gram(len(rows)):
            return super().gram(rows, columns, weights, centers)
        middles = np.zeros(len(rows)) if centers is None else centers[rows]
        return weights[0] * gram(self.X, rows, middles)

    def outer(self, factors: Array, centers: Centers = None) -> Array:
        few = 4 * np.count_nonzero(factors) < factors.size
        if few or self.X.nbytes > COPY_BYTES:
            return super().outer(factors, centers)
        scaled = np.subtract(self.X, 0.0 if centers is None else centers, dtype=float)
        scaled *= factors
        return scaled @ scaled.T  # one factor, twice: BLAS does half the work

    def constant_columns(self) -> Array:
        # few columns survive a look at their first entries, so few are read to the end
        suspects = np.flatnonzero((self.X[:16] == self.X[0]).all(axis=0))
        constant = np.zeros(self.shape[1], dtype=bool)
        for j in suspects:
            column = self.X[:, j]
            constant[j] = (column == column[0]).all()
        return constant

    def worth_own_pass(self, n_outputs: int) -> bool:
        """By X and the number of outputs alone, so that equal calls give equal bits."""
        return 1 < n_outputs <= MOST_OUTPUTS and self._is_large()

    def worth_own_gram(self, n_columns: int) -> bool:
        """Where the columns are long, and the sums of the slices take no more room than X."""
        long = worth_reading(self.shape[0] * n_columns)
        return long and N_SLICES * n_columns**2 <= self.X.size and self._is_large()

    def _is_large(self) -> bool:
        return self.X.flags.f_contiguous and worth_reading(self.X.size) and numba_is_there()


def worth_reading(n_entries: int) -> bool:
    """Whether a pass over so many entries pays for compiled loops: memory gives one of them in the
    time of ten operations."""
    return worth_loading(10.0 * n_entries)


def _cached_pieces(whole: slice, width: int) -> Iterator[slice]:
    """Pieces of so many numbers per item that a temporary copy of one stays in the cache."""
    size = max(1, CACHE_BYTES // (8 * width))
    for start in range(whole.start, whole.stop, size):
        yield slice(start, min(start + size, whole.stop))


def _product(A: Array, B: Array) -> Array:
    """``A B`` for a large A and few columns of B, in the precision of A, as float64."""
    B = B.astype(A.dtype, copy=False)
    out = np.empty((A.shape[0], B.shape[1]), dtype=A.dtype)

    def multiply(part: slice) -> None:
        np.dot(A[part], B, out=out[part])  # unlike matmul it always lets other threads run

    over_slices(multiply, A.shape[0], flops=2.0 * A.size * B.shape[1])
    return out.astype(float, copy=False)


def canonical(X: Any) -> Any:
    """X, or where sparse entries are stored in parts or out of order a copy in which they are not:
    the arrays are the caller's."""
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


class SparseDesign(Design):
    """Compressed columns; only those that a solver takes ever become dense."""

    def __init__(self, X):
        X = canonical(sparse.csc_array(X))
        self.X = X
        self.shape = X.shape
        self.dtype = X.dtype

    def matmul(self, W: Array) -> Array:
        used = np.flatnonzero(nonzero_rows(W))
        if 4 * used.size < self.shape[1]:  # else choosing columns costs more than it saves
            return np.asarray(self.X[:, used] @ W[used], dtype=float)
        return np.asarray(self.X @ W, dtype=float)

    def rmatmul(self, R: Array) -> Array:
        return np.asarray(self.X.T @ R, dtype=float)

    def rmatmul_of(self, columns: Array, R: Array) -> Array:
        return np.asarray(self.X[:, columns].T @ R, dtype=float)

    def take(self, columns: Array) -> Array:
        return np.asfortranarray(self.X[:, columns].toarray(), dtype=float)

    def squares(self, weights: Array, centers: Centers = None) -> Array:
        n, d = self.shape
        stored = np.diff(self.X.indptr)
        column = np.repeat(np.arange(d), stored)
        middles = np.zeros(d) if centers is None else centers
        # stored entries one by one, which is exact where columns lie far from zero
        apart = self.X.data.astype(float) - middles[column]
        counted = weights[self.X.indices]
        of_stored = np.bincount(column, apart**2 * counted, minlength=d)
        missing = weights.sum() - np.bincount(column, counted, minlength=d)
        # of a full column nothing is missing, though rounding may leave a little
        missing = np.where(stored < n, missing, 0.0)
        return of_stored + middles**2 * missing

    def gram(self, rows: Array, columns: Array, weights: Array, centers: Centers = None) -> Array:
        stored = np.diff(self.X.indptr)
        fullest = max(stored[rows].max(initial=0), stored[columns].max(initial=0))
        if centers is not None and 2 * fullest > len(weights):
            return super().gram(rows, columns, weights, centers)  # nearly dense: centre first
        left = self.X[:, rows].astype(float)
        right = self.X[:, columns].astype(float)
        weighted = right.multiply(weights[:, None]).tocsc()
        G = (left.T @ weighted).toarray()
        if centers is None:
            return G
        # centred afterwards, so that the columns stay sparse: most of them lie near zero
        middles_left = centers[rows]
        middles_right = centers[columns]
        G -= np.outer(middles_left, right.T @ weights)
        G -= np.outer(left.T @ weights, middles_right)
        G += np.outer(middles_left, middles_right) * weights.sum()
        return G

    def outer(self, factors: Array, centers: Centers = None) -> Array:
        stored = np.diff(self.X.indptr)
        # A nearly full column is centred first, as in ``gram``; the others are multiplied as they
        # are stored and centred afterwards.
        thin = (factors != 0) & (2 * stored <= self.shape[0])
        if not self._worth_sparse_products(stored[thin]):
            return super().outer(factors, centers)
        total = super().outer(np.where(thin, 0.0, factors), centers)
        columns = np.flatnonzero(thin)
        scaled = (self.X[:, columns].astype(float) @ sparse.diags_array(factors[columns])).tocsr()
        size = max(1, COPY_BYTES // (16 * self.shape[0]))
        for start in range(0, self.shape[0], size):
            samples = slice(start, start + size)
            total[samples] += (scaled[samples] @ scaled.T).toarray()
        if centers is not None:
            middles = centers[columns] * factors[columns]
            of_middles = scaled @ middles
            total -= of_middles[:, None] + of_middles
            total += middles @ middles
        return total

    def _worth_sparse_products(self, stored: Array) -> bool:
        """Of columns with so many entries each, against products of dense columns."""
        entries = stored.astype(float)
        return SPARSE_PRODUCT * np.sum(entries**2) < entries.size * float(self.shape[0]) ** 2

    def constant_columns(self) -> Array:
        lowest = self.X.min(axis=0).toarray()
        highest = self.X.max(axis=0).toarray()
        return (lowest == highest).ravel()
