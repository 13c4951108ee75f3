"""Designs that change X without copying or densifying it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .base import Design
from .dense import DenseDesign


class Standardized(Design):
    """(X - 1 means') / scales, applied on the fly.

    ``known`` are sample weights and the sums of squares ``base.squares(weights, means)``, if they
    have been computed: they are asked for again.
    """

    def __init__(
        self,
        base: Design,
        means: np.ndarray,
        scales: np.ndarray,
        known: tuple[np.ndarray, np.ndarray] | None = None,
    ):
        self.base, self.means_, self.scales, self.known = base, means, scales, known
        self.shape, self.dtype = base.shape, base.dtype

    def matmul(self, W: np.ndarray) -> np.ndarray:
        scaled = W / self.scales[:, None]
        return self.base.matmul(scaled) - self.means_ @ scaled

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        product = self.base.rmatmul(R) - np.outer(self.means_, R.sum(axis=0))
        return product / self.scales[:, None]

    def rmatmul_of(self, columns: np.ndarray, R: np.ndarray) -> np.ndarray:
        product = self.base.rmatmul_of(columns, R) - np.outer(self.means_[columns], R.sum(axis=0))
        return product / self.scales[columns, None]

    def rmatmul_over(self, samples: Sequence[slice], R: np.ndarray) -> np.ndarray | None:
        product = self.base.rmatmul_over(samples, R)
        if product is None:
            return None
        return (product - np.outer(self.means_, _sums(samples, R))) / self.scales[:, None]

    def take(self, columns: np.ndarray) -> np.ndarray:
        block = self.base.take(columns)
        block -= self.means_[columns]
        block /= self.scales[columns]
        return block

    def squares(self, weights: np.ndarray, centers: np.ndarray | None = None) -> np.ndarray:
        if centers is None and self.known is not None and np.array_equal(weights, self.known[0]):
            return self.known[1] / self.scales**2
        return self.base.squares(weights, self._base_centers(centers)) / self.scales**2

    def gram(
        self,
        rows: np.ndarray,
        columns: np.ndarray,
        weights: np.ndarray,
        centers: np.ndarray | None = None,
    ) -> np.ndarray:
        G = self.base.gram(rows, columns, weights, self._base_centers(centers))
        G /= self.scales[rows][:, None]
        G /= self.scales[columns]
        return G

    def constant_columns(self) -> np.ndarray:
        return self.base.constant_columns()

    def _base_centers(self, centers: np.ndarray | None) -> np.ndarray:
        return self.means_ if centers is None else self.means_ + self.scales * centers


class Subset(Design):
    """Some columns of X."""

    def __init__(self, base: Design, columns: np.ndarray):
        self.base, self.columns = base, np.asarray(columns)
        self.shape, self.dtype = (base.shape[0], len(columns)), base.dtype

    def matmul(self, W: np.ndarray) -> np.ndarray:
        whole = np.zeros((self.base.shape[1], W.shape[1]))
        whole[self.columns] = W
        return self.base.matmul(whole)

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        return self.base.rmatmul(R)[self.columns]

    def rmatmul_of(self, columns: np.ndarray, R: np.ndarray) -> np.ndarray:
        return self.base.rmatmul_of(self.columns[columns], R)

    def rmatmul_over(self, samples: Sequence[slice], R: np.ndarray) -> np.ndarray | None:
        product = self.base.rmatmul_over(samples, R)
        return None if product is None else product[self.columns]

    def take(self, columns: np.ndarray) -> np.ndarray:
        return self.base.take(self.columns[columns])

    def squares(self, weights: np.ndarray, centers: np.ndarray | None = None) -> np.ndarray:
        return self.base.squares(weights, self._whole(centers))[self.columns]

    def gram(
        self,
        rows: np.ndarray,
        columns: np.ndarray,
        weights: np.ndarray,
        centers: np.ndarray | None = None,
    ) -> np.ndarray:
        left = self.columns[rows]
        right = left if rows is columns else self.columns[columns]
        return self.base.gram(left, right, weights, self._whole(centers))

    def constant_columns(self) -> np.ndarray:
        return self.base.constant_columns()[self.columns]

    def _whole(self, centers: np.ndarray | None) -> np.ndarray | None:
        if centers is None:
            return None
        whole = np.zeros(self.base.shape[1])
        whole[self.columns] = centers
        return whole


@dataclass(frozen=True)
class Restriction:
    """Columns of X that a solver still uses, for solvers that drop columns on their way.

    ``X`` is the design of these columns: a dense block of them once they are ``few``, else the
    columns seen through the whole, which is not copied.
    """

    whole: Design
    index: np.ndarray
    few: int
    block: np.ndarray | None = None

    @classmethod
    def of(cls, whole: Design, index: np.ndarray, few: int) -> Restriction:
        """The named columns, copied if they are at most ``few``."""
        return cls(whole, index, few, whole.take(index) if index.size <= few else None)

    def keep(self, mask: np.ndarray) -> Restriction:
        """Only the columns of the mask; a dense block shrinks with them."""
        if mask.all():
            return self
        if self.block is None:
            return Restriction.of(self.whole, self.index[mask], self.few)
        return Restriction(self.whole, self.index[mask], self.few, self.block.T[mask].T)

    @cached_property
    def X(self) -> Design:
        """The design of these columns."""
        if self.block is not None:
            return DenseDesign(self.block)
        if self.index.size == self.whole.shape[1]:
            return self.whole
        return Subset(self.whole, self.index)


class WithConstant(Design):
    """X with a last column of ones: its row of W is the intercept."""

    def __init__(self, base: Design):
        self.base = base
        self.shape, self.dtype = (base.shape[0], base.shape[1] + 1), base.dtype

    def matmul(self, W: np.ndarray) -> np.ndarray:
        return self.base.matmul(W[:-1]) + W[-1]

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        return np.vstack([self.base.rmatmul(R), R.sum(axis=0)])

    def rmatmul_of(self, columns: np.ndarray, R: np.ndarray) -> np.ndarray:
        features, is_constant = self._split(columns)
        out = np.empty((len(columns), R.shape[1]))
        out[~is_constant] = self.base.rmatmul_of(features, R)
        out[is_constant] = R.sum(axis=0)
        return out

    def rmatmul_over(self, samples: Sequence[slice], R: np.ndarray) -> np.ndarray | None:
        product = self.base.rmatmul_over(samples, R)
        return None if product is None else np.vstack([product, _sums(samples, R)])

    def take(self, columns: np.ndarray) -> np.ndarray:
        features, is_constant = self._split(columns)
        block = np.empty((self.shape[0], len(columns)), order="F")
        block[:, ~is_constant] = self.base.take(features)
        block[:, is_constant] = 1.0
        return block

    def squares(self, weights: np.ndarray, centers: np.ndarray | None = None) -> np.ndarray:
        last = 0.0 if centers is None else centers[-1]
        own = weights.sum() * (1.0 - last) ** 2
        return np.append(self.base.squares(weights, None if centers is None else centers[:-1]), own)

    def gram(
        self,
        rows: np.ndarray,
        columns: np.ndarray,
        weights: np.ndarray,
        centers: np.ndarray | None = None,
    ) -> np.ndarray:
        if centers is not None:
            return super().gram(rows, columns, weights, centers)
        left, constant_left = self._split(rows)
        right, constant_right = self._split(columns)
        if rows is columns:
            right = left
        G = np.empty((len(rows), len(columns)))
        G[np.ix_(~constant_left, ~constant_right)] = self.base.gram(left, right, weights)
        if constant_left.any() or constant_right.any():
            sums = self._sums_of(left, weights)
            G[np.ix_(~constant_left, constant_right)] = sums[:, None]
            sums = sums if right is left else self._sums_of(right, weights)
            G[np.ix_(constant_left, ~constant_right)] = sums
            G[np.ix_(constant_left, constant_right)] = weights.sum()
        return G

    def outer(self, weights: np.ndarray) -> np.ndarray:
        return self.base.outer(weights[:-1]) + weights[-1]

    def constant_columns(self) -> np.ndarray:
        return np.append(self.base.constant_columns(), True)

    def _sums_of(self, features: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return self.base.rmatmul_of(features, weights[:, None])[:, 0]

    def _split(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        is_constant = np.asarray(columns) == self.shape[1] - 1
        return np.asarray(columns)[~is_constant], is_constant


def _sums(samples: Sequence[slice], R: np.ndarray) -> np.ndarray:
    return np.sum([R[some].sum(axis=0) for some in samples], axis=0)
