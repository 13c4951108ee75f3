"""Designs that change X without copying or densifying it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..numerics.threads import cached_property
from .base import Array, Centers, Design
from .members import MemberProducts
from .moments import Moments
from .storages import DenseDesign

ALL = slice(None)


class Standardized(Design):
    """(X - 1 means') / scales, applied on the fly.

    ``known`` are sample weights and the sums of squares ``base.squares(weights, means)``, if they
    have been computed: they are asked for again.
    """

    def __init__(
        self, base: Design, means: Array, scales: Array, known: tuple[Array, Array] | None = None
    ):
        self.base = base
        self.means_ = means
        self.scales = scales
        self.known = known
        self.shape = base.shape
        self.dtype = base.dtype
        self.rounds_products = base.rounds_products

    @property
    def offsets(self) -> Array:
        return (self.base.offsets + np.abs(self.means_)) / self.scales

    def matmul(self, W: Array) -> Array:
        scaled = W / self.scales[:, None]
        return self.base.matmul(scaled) - self.means_ @ scaled

    def rmatmul(self, R: Array) -> Array:
        return self._standardized(self.base.rmatmul(R), R.sum(axis=0))

    def rmatmul_of(self, columns: Array, R: Array) -> Array:
        return self._standardized(self.base.rmatmul_of(columns, R), R.sum(axis=0), columns)

    def rmatmul_over(self, samples: Sequence[slice], R: Array) -> Array | None:
        product = self.base.rmatmul_over(samples, R)
        if product is None:
            return None
        return self._standardized(product, _sums(samples, R))

    def _standardized(self, product: Array, sums: Array, columns: Array | slice = ALL) -> Array:
        """From the product of X with R, whose column sums these are, that of this design."""
        centred = product - np.outer(self.means_[columns], sums)
        return centred / self.scales[columns, None]

    def take(self, columns: Array) -> Array:
        block = self.base.take(columns)
        block -= self.means_[columns]
        block /= self.scales[columns]
        return block

    # X is centred below, not afterwards: sums of squares far from zero would cancel.

    def squares(self, weights: Array, centers: Centers = None) -> Array:
        if centers is None and self.known is not None:
            known_weights, squares = self.known
            if np.array_equal(weights, known_weights):
                return squares / self.scales**2
        # weights of tiny residuals times squares of large entries would leave the range of a float
        largest = weights.max(initial=0.0) or 1.0
        unit = 2.0 ** np.round(np.log2(largest))  # a power of two changes no digit
        squares = self.base.squares(weights / unit, self._base_centers(centers))
        return squares / self.scales**2 * unit

    def gram(self, rows: Array, columns: Array, weights: Array, centers: Centers = None) -> Array:
        G = self.base.gram(rows, columns, weights, self._base_centers(centers))
        # in place: a Gram matrix may be as large as memory allows
        G /= self.scales[rows][:, None]
        G /= self.scales[columns]
        return G

    def outer(self, factors: Array, centers: Centers = None) -> Array:
        return self.base.outer(factors / self.scales, self._base_centers(centers))

    def constant_columns(self) -> Array:
        return self.base.constant_columns()

    def moments(self, weights: Array, Y: Array) -> Moments | None:
        known = self.base.moments(weights, Y)
        return None if known is None else known.transformed(*self._with_targets(Y))

    def member_products(self, weights: Array, Y: Array) -> MemberProducts | None:
        known = self.base.member_products(weights, Y)
        return None if known is None else known.transformed(*self._with_targets(Y))

    def _with_targets(self, Y: Array) -> tuple[Array, Array]:
        """Centers and scales of the columns of [X Y]; Y is left as it is."""
        n_outputs = Y.shape[1]
        centers = np.append(self.means_, np.zeros(n_outputs))
        return centers, np.append(self.scales, np.ones(n_outputs))

    def _base_centers(self, centers: Centers) -> Array:
        return self.means_ if centers is None else self.means_ + self.scales * centers


class Subset(Design):
    """Some columns of X."""

    def __init__(self, base: Design, columns: Array):
        self.base = base
        self.columns = np.asarray(columns)
        self.shape = (base.shape[0], len(columns))
        self.dtype = base.dtype
        self.rounds_products = base.rounds_products

    @property
    def offsets(self) -> Array:
        return self.base.offsets[self.columns]

    def matmul(self, W: Array) -> Array:
        return self.base.matmul(self._whole(W))

    def rmatmul(self, R: Array) -> Array:
        return self.base.rmatmul(R)[self.columns]

    def rmatmul_of(self, columns: Array, R: Array) -> Array:
        return self.base.rmatmul_of(self.columns[columns], R)

    def rmatmul_over(self, samples: Sequence[slice], R: Array) -> Array | None:
        product = self.base.rmatmul_over(samples, R)
        return None if product is None else product[self.columns]

    def take(self, columns: Array) -> Array:
        return self.base.take(self.columns[columns])

    def squares(self, weights: Array, centers: Centers = None) -> Array:
        whole = None if centers is None else self._whole(centers)
        return self.base.squares(weights, whole)[self.columns]

    def gram(self, rows: Array, columns: Array, weights: Array, centers: Centers = None) -> Array:
        left = self.columns[rows]
        # the same object below as above: that is how a symmetric product is told from others
        right = left if rows is columns else self.columns[columns]
        whole = None if centers is None else self._whole(centers)
        return self.base.gram(left, right, weights, whole)

    def outer(self, factors: Array, centers: Centers = None) -> Array:
        whole = None if centers is None else self._whole(centers)
        return self.base.outer(self._whole(factors), whole)

    def constant_columns(self) -> Array:
        return self.base.constant_columns()[self.columns]

    def _whole(self, of_columns: Array) -> Array:
        """For all columns of the base what is given for these; zero for the others."""
        whole = np.zeros((self.base.shape[1], *of_columns.shape[1:]))
        whole[self.columns] = of_columns
        return whole


@dataclass(frozen=True)
class Restriction:
    """Columns of X that a solver still uses, for solvers that drop columns on their way.

    ``X`` is the design of these columns: a dense block of them once they are ``few``, else the
    columns seen through the whole, which is not copied.
    """

    whole: Design
    index: Array
    few: int
    block: Array | None = None

    @classmethod
    def of(cls, whole: Design, index: Array, few: int) -> Restriction:
        """The named columns, copied if they are at most ``few``."""
        block = whole.take(index) if index.size <= few else None
        return cls(whole, index, few, block)

    def keep(self, mask: Array) -> Restriction:
        """Only the columns of the mask; a dense block shrinks with them."""
        if mask.all():
            return self
        index = self.index[mask]
        if self.block is None:
            return Restriction.of(self.whole, index, self.few)
        # columns in one piece each: of Fortran order, as ``take`` makes them
        return Restriction(self.whole, index, self.few, self.block.T[mask].T)

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
        n, d = base.shape
        self.base = base
        self.shape = (n, d + 1)
        self.dtype = base.dtype
        self.rounds_products = base.rounds_products

    @property
    def offsets(self) -> Array:
        return np.append(self.base.offsets, 0.0)

    def matmul(self, W: Array) -> Array:
        return self.base.matmul(W[:-1]) + W[-1]

    def rmatmul(self, R: Array) -> Array:
        return np.vstack([self.base.rmatmul(R), R.sum(axis=0)])

    def rmatmul_of(self, columns: Array, R: Array) -> Array:
        features, is_constant = self._split(columns)
        out = np.empty((len(columns), R.shape[1]))
        out[~is_constant] = self.base.rmatmul_of(features, R)
        out[is_constant] = R.sum(axis=0)
        return out

    def rmatmul_over(self, samples: Sequence[slice], R: Array) -> Array | None:
        product = self.base.rmatmul_over(samples, R)
        if product is None:
            return None
        return np.vstack([product, _sums(samples, R)])

    def take(self, columns: Array) -> Array:
        features, is_constant = self._split(columns)
        block = np.empty((self.shape[0], len(columns)), order="F")
        block[:, ~is_constant] = self.base.take(features)
        block[:, is_constant] = 1.0
        return block

    def squares(self, weights: Array, centers: Centers = None) -> Array:
        if centers is None:
            return np.append(self.base.squares(weights), weights.sum())
        of_ones = weights.sum() * (1.0 - centers[-1]) ** 2
        return np.append(self.base.squares(weights, centers[:-1]), of_ones)

    def gram(self, rows: Array, columns: Array, weights: Array, centers: Centers = None) -> Array:
        if centers is not None:  # nobody standardises the ones: by dense blocks
            return super().gram(rows, columns, weights, centers)
        left, ones_left = self._split(rows)
        # the same object below as above: that is how a symmetric product is told from others
        right, ones_right = (left, ones_left) if rows is columns else self._split(columns)
        G = np.empty((len(rows), len(columns)))
        # the base knows nothing of the column of ones, whose products are sums
        G[np.ix_(~ones_left, ~ones_right)] = self.base.gram(left, right, weights)
        if ones_left.any() or ones_right.any():
            sums_left = self.rmatmul_of(rows, weights[:, None])
            sums_right = sums_left if right is left else self.rmatmul_of(columns, weights[:, None])
            G[:, ones_right] = sums_left
            G[ones_left] = sums_right.T
        return G

    def outer(self, factors: Array, centers: Centers = None) -> Array:
        if centers is None:
            return self.base.outer(factors[:-1]) + factors[-1] ** 2
        of_ones = factors[-1] * (1.0 - centers[-1])
        return self.base.outer(factors[:-1], centers[:-1]) + of_ones**2

    def constant_columns(self) -> Array:
        return np.append(self.base.constant_columns(), True)

    def moments(self, weights: Array, Y: Array) -> Moments | None:
        known = self.base.moments(weights, Y)
        return None if known is None else known.with_column_of_ones(self.base.shape[1])

    def member_products(self, weights: Array, Y: Array) -> MemberProducts | None:
        known = self.base.member_products(weights, Y)
        return None if known is None else known.with_column_of_ones(self.base.shape[1])

    def _split(self, columns: Array) -> tuple[Array, Array]:
        """The features among the columns, and which of them are the column of ones."""
        columns = np.asarray(columns)
        is_constant = columns == self.shape[1] - 1
        return columns[~is_constant], is_constant


def _sums(samples: Sequence[slice], R: Array) -> Array:
    return np.sum([R[some].sum(axis=0) for some in samples], axis=0)
