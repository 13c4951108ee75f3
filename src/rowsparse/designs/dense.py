"""X as a NumPy array or a memory map, in either order, float32 or float64."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..numerics.passes import columns_times, combine_columns, gram, worth_own_gram, worth_own_pass
from ..numerics.rows import nonzero_rows
from ..numerics.threads import over_slices
from .base import OUTER_BLOCK_BYTES, Design

_BLOCK_BYTES = 1 << 20  # temporary blocks stay inside the cache
_WORTH_COMBINING = 10**6  # entries of the columns that a copy would hold


class DenseDesign(Design):
    """An array of float32 or float64; it is never copied as a whole and never written to."""

    def __init__(self, X: np.ndarray):
        contiguous = X.flags.c_contiguous or X.flags.f_contiguous
        self.X = X if contiguous else np.ascontiguousarray(X)  # BLAS would copy at every product
        self.shape = X.shape
        self.dtype = X.dtype

    def matmul(self, W: np.ndarray) -> np.ndarray:
        used = np.flatnonzero(nonzero_rows(W))
        if self.shape[0] * used.size >= _WORTH_COMBINING and worth_own_pass(self.X, W.shape[1]):
            return combine_columns(self.X, used, W[used])
        if 4 * used.size >= self.shape[1]:
            return _product(self.X, W)
        return self.take(used) @ W[used]

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        if not worth_own_pass(self.X, R.shape[1]):
            return _product(self.X.T, R)
        if self.dtype != np.float64 or "_plain_squares" in self.__dict__:
            return columns_times(self.X, R)
        # sums of squares cost little on the way, and a pass over a large X of their own later
        squares = np.empty(self.shape[1])
        product = columns_times(self.X, R, squares)
        self._plain_squares = squares
        return product

    def rmatmul_of(self, columns: np.ndarray, R: np.ndarray) -> np.ndarray:
        if worth_own_pass(self.X, R.shape[1]):
            return columns_times(self.X, R, columns=columns)
        return super().rmatmul_of(columns, R)

    def rmatmul_over(self, samples: Sequence[slice], R: np.ndarray) -> np.ndarray | None:
        if not worth_own_pass(self.X, R.shape[1]):
            return None
        return columns_times(self.X, R, samples=samples)

    def take(self, columns: np.ndarray) -> np.ndarray:
        if self.X.flags.f_contiguous:
            return self.X.T[columns].astype(float, copy=False).T
        return np.asfortranarray(np.take(self.X, columns, axis=1), dtype=float)

    def squares(self, weights: np.ndarray, centers: np.ndarray | None = None) -> np.ndarray:
        n, d = self.shape
        if centers is None and self.dtype == np.float64 and np.all(weights == weights[0]):
            return weights[0] * self._plain_squares
        out = np.zeros(d)

        def add(part: slice) -> None:
            size = max(1, _BLOCK_BYTES // (8 * (part.stop - part.start)))
            for start in range(0, n, size):
                rows = slice(start, start + size)
                middle = 0.0 if centers is None else centers[part]
                block = np.subtract(self.X[rows, part], middle, dtype=float)
                np.square(block, out=block)
                out[part] += weights[rows] @ block

        over_slices(add, d, flops=10.0 * self.X.size)
        return out

    def gram(
        self,
        rows: np.ndarray,
        columns: np.ndarray,
        weights: np.ndarray,
        centers: np.ndarray | None = None,
    ) -> np.ndarray:
        equal = bool(np.all(weights == weights[0]))
        if rows is not columns or not equal or not worth_own_gram(self.X, len(rows)):
            return super().gram(rows, columns, weights, centers)
        middles = np.zeros(len(rows)) if centers is None else centers[rows]
        return weights[0] * gram(self.X, rows, middles)

    def outer(self, weights: np.ndarray) -> np.ndarray:
        if self.X.nbytes > OUTER_BLOCK_BYTES or 4 * np.count_nonzero(weights) < weights.size:
            return super().outer(weights)
        scaled = self.X * np.sqrt(weights)
        return scaled @ scaled.T

    @cached_property
    def _plain_squares(self) -> np.ndarray:
        out = np.empty(self.shape[1])

        def square(part: slice) -> None:
            np.einsum("ij,ij->j", self.X[:, part], self.X[:, part], out=out[part])

        over_slices(square, self.shape[1], flops=10.0 * self.X.size)  # bound by memory
        return out

    def constant_columns(self) -> np.ndarray:
        suspects = np.flatnonzero((self.X[:16] == self.X[0]).all(axis=0))
        constant = np.zeros(self.shape[1], dtype=bool)
        constant[suspects] = [bool((self.X[:, j] == self.X[0, j]).all()) for j in suspects]
        return constant


def _product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """``A B`` for a large A and few columns of B, in the precision of A, as float64."""
    B = B.astype(A.dtype, copy=False)
    out = np.empty((A.shape[0], B.shape[1]), dtype=A.dtype)

    def multiply(part: slice) -> None:
        np.dot(A[part], B, out=out[part])  # unlike matmul it always lets other threads run

    over_slices(multiply, A.shape[0], flops=2.0 * A.size * B.shape[1])
    return out.astype(float, copy=False)
