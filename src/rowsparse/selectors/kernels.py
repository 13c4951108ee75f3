"""Kernel columns as a design: one feature per training point, computed when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from ..designs import Design
from ..inputs import as_numbers
from ..numerics.memory import CACHE_BYTES
from ..numerics.rounding import largest_with

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
LARGEST = largest_with(3)  # of a kernel's values, which a machine multiplies


@dataclass(frozen=True)
class Kernel:
    """``k(A, B)`` with the names and parameters of scikit-learn's SVC."""

    kernel: Any
    gamma: float
    degree: float
    coef0: float

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        """The matrix of ``k(a, b)``, dense."""
        with np.errstate(over="ignore", invalid="ignore"):  # said in words below
            K = self._values(A, B)
            largest = float(np.abs(K).max(initial=0.0))
        if not largest <= LARGEST:
            raise ValueError(
                f"Expected kernel values up to {LARGEST:.0e}, got {largest:.2g}; scale X or choose "
                "another kernel or gamma."
            )
        return K

    def _values(self, A: Any, B: Any) -> np.ndarray:
        if callable(self.kernel):
            K = as_numbers(self.kernel(A, B), "the values of a callable kernel")
            if K.shape != (A.shape[0], B.shape[0]):
                raise ValueError(
                    f"Expected kernel(A, B) of shape {(A.shape[0], B.shape[0])}, got {K.shape}; "
                    "a callable kernel takes two matrices and returns the matrix between them."
                )
            return K
        used = {
            "poly": {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0},
            "rbf": {"gamma": self.gamma},
            "sigmoid": {"gamma": self.gamma, "coef0": self.coef0},
        }.get(self.kernel, {})
        return np.asarray(pairwise_kernels(A, B, metric=self.kernel, **used), dtype=float)


def kernel_width(gamma: Any, X: Any, weights: np.ndarray | None = None) -> float:
    """``gamma`` as a number: "scale" is 1 / (n_features * X.var()), "auto" 1 / n_features.

    A row of weight two counts twice in the variance.
    """
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        return float(gamma)
    w = np.ones(X.shape[0]) if weights is None else weights
    with np.errstate(over="ignore", invalid="ignore"):  # the caller refuses a width of 0 or NaN
        variance = _variance(X, w)
    return 1.0 / (X.shape[1] * variance) if variance != 0 else 1.0


def _variance(X: Any, w: np.ndarray) -> float:
    """Of all entries of X, under weights of its rows."""
    d = X.shape[1]
    total = w.sum() * d
    mean = float((w @ X).sum()) / total
    # from differences: the mean of the squares minus the square of the mean would cancel
    if sparse.issparse(X):
        stored = np.diff(X.indptr)
        of_zeros = w @ (d - stored) * mean**2
        of_stored = np.repeat(w, stored) @ (X.data - mean) ** 2
        squares = of_zeros + of_stored
    else:
        squares = w @ ((X - mean) ** 2).sum(axis=1)
    return float(squares) / total


class KernelColumns(Design):
    """Column j is ``k(x_i, p_j)`` over the training points x_i, minus its weighted mean, for
    candidate points p_j. Nothing is kept: a solver holds the columns that it still needs."""

    dtype = np.dtype(float)

    def __init__(self, kernel: Kernel, X: Any, points: Any, weights: np.ndarray):
        self.kernel = kernel
        self.X = X
        self.points = points
        self.weights = weights
        self.shape = (X.shape[0], points.shape[0])
        self.means_ = np.zeros(self.shape[1])
        self._squares = np.zeros(self.shape[1])
        for part, block in self._blocks():
            self.means_[part] = weights @ block / weights.sum()
            # from differences, block by block: nothing cancels, and no second pass is needed
            self._squares[part] = weights @ (block - self.means_[part]) ** 2

    def take(self, columns: np.ndarray) -> np.ndarray:
        block = np.asfortranarray(self.kernel(self.X, self.points[columns]))
        block -= self.means_[columns]
        return block

    def matmul(self, W: np.ndarray) -> np.ndarray:
        total = np.zeros((self.shape[0], W.shape[1]))
        for part, block in self._blocks():
            total += (block - self.means_[part]) @ W[part]
        return total

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        out = np.empty((self.shape[1], R.shape[1]))
        for part, block in self._blocks():
            out[part] = (block - self.means_[part]).T @ R
        return out

    def squares(self, weights: np.ndarray, centers: np.ndarray | None = None) -> np.ndarray:
        if centers is None and np.array_equal(weights, self.weights):
            return self._squares.copy()
        out = np.empty(self.shape[1])
        shift = self.means_ if centers is None else self.means_ + centers
        for part, block in self._blocks():
            out[part] = weights @ (block - shift[part]) ** 2
        return out

    def constant_columns(self) -> np.ndarray:
        # squares of rounding: 1e-28 is 1e-14, some digits above a double's last, squared
        size = self.weights.sum() * np.maximum(self.means_**2, 1e-300)
        return self._squares <= 1e-28 * size

    def _blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        # 64 at the least: pairwise_kernels spends more on its checks than on fewer points
        size = max(64, CACHE_BYTES // (8 * self.shape[0]))
        for start in range(0, self.shape[1], size):
            part = np.arange(start, min(start + size, self.shape[1]))
            yield part, self.kernel(self.X, self.points[part])


def first_of_equals(X: Any) -> np.ndarray:
    """Indices of the first of all equal rows (sparse ones canonical), in increasing order."""
    if sparse.issparse(X):
        if not X.data.all():  # zeros that are stored, of a copy: the arrays are the caller's
            X = X.copy()
            X.eliminate_zeros()
        keys = []
        for begin, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            keys.append(X.indices[begin:end].tobytes() + X.data[begin:end].tobytes())
    else:
        keys = [(row + 0.0).tobytes() for row in np.ascontiguousarray(X)]  # no -0.0: other bytes
    first: dict[bytes, int] = {}
    for i, key in enumerate(keys):
        # bytes, not distances: points that differ in the last digit are different
        first.setdefault(key, i)
    return np.array(list(first.values()))
