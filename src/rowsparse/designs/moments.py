"""Sums over the rows of [X Y] that one pass gives: means, central products, smallest and largest.

Every part of the rows is centred at its own mean, and parts are merged by the distance of their
means (Chan, Golub & LeVeque 1983): nothing cancels, however far from zero the columns lie, and
how the rows were cut changes nothing beyond rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dsyrk

from ..numerics.memory import CACHE_BYTES

Array = np.ndarray
# Share of stored entries from which CSR blocks are multiplied as dense ones. With 400 columns 2 %
# is twice as fast sparse and 10 % is three times as fast dense.
DENSE_FROM = 0.05


@dataclass(frozen=True)
class Moments:
    """Weighted means and central products of the columns of [X Y]."""

    total: float  # of the weights
    means: Array
    products: Array  # m x m, or of every column with itself alone (m)

    @classmethod
    def of_nothing(cls, m: int, diagonal_only: bool) -> Moments:
        """Of no rows."""
        return cls(0.0, np.zeros(m), np.zeros(m if diagonal_only else (m, m)))

    @property
    def diagonal(self) -> Array:
        """Central sums of squares."""
        return self.products if self.products.ndim == 1 else self.products.diagonal()

    def merged(self, other: Moments) -> Moments:
        """Of the rows of both; neither is changed, so that a lost task can be done again."""
        if not self.total or not other.total:
            return self if self.total else other
        total = self.total + other.total
        share = other.total / total
        step = other.means - self.means
        apart = np.sqrt(self.total * share) * step
        products = self.products + other.products
        products += apart**2 if products.ndim == 1 else np.outer(apart, apart)
        return Moments(total, self.means + share * step, products)

    def scaled(self, unit: float) -> Moments:
        """Under weights that are so many times as large."""
        return Moments(unit * self.total, self.means, unit * self.products)

    def transformed(self, centers: Array, scales: Array) -> Moments:
        """Of the columns ``(z - centers) / scales``."""
        products = self.products / scales
        products /= scales[:, None]
        return Moments(self.total, (self.means - centers) / scales, products)

    def with_column_of_ones(self, position: int) -> Moments:
        """Of the columns and one more, which is one everywhere."""
        products = np.insert(self.products, position, 0.0, axis=0)
        products = np.insert(products, position, 0.0, axis=1)
        return Moments(self.total, np.insert(self.means, position, 1.0), products)


@dataclass(frozen=True)
class Summary:
    """What the first pass over some rows says."""

    moments: Moments
    lowest: Array  # of the columns of X
    highest: Array
    marks: tuple[Array, ...]  # one number per row, by block, equal for equal rows

    def merged(self, other: Summary) -> Summary:
        """Of the rows of both, in this order."""
        with np.errstate(invalid="ignore", over="ignore"):  # as in ``summary``
            moments = self.moments.merged(other.moments)
        return Summary(
            moments,
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            self.marks + other.marks,
        )

    def scaled(self, unit: float) -> Summary:
        """Under weights that are so many times as large."""
        return replace(self, moments=self.moments.scaled(unit))


def summary(block: Any, diagonal_only: bool, direction: Array, weights: Array, Y: Array) -> Summary:
    """Of one block of rows, and their weights and targets."""
    d = block.shape[1]
    if not block.shape[0]:
        nothing = Moments.of_nothing(d + Y.shape[1], diagonal_only)
        return Summary(nothing, np.full(d, np.inf), np.full(d, -np.inf), ())
    lowest = block.min(axis=0)
    highest = block.max(axis=0)
    if sparse.issparse(block):
        lowest = lowest.toarray().ravel()
        highest = highest.toarray().ravel()
    # infinite entries leave NaN in sums, which is looked for when all rows have been seen
    with np.errstate(invalid="ignore", over="ignore"):
        moments = _moments(block, diagonal_only, weights, Y)
    return Summary(moments, lowest, highest, (_marks(block, direction),))


def summaries(
    block: Any, direction: Array, members: Array, weights: Array, Y: Array
) -> tuple[Summary, ...]:
    """Of several sets of the rows of one block; a column of ``members`` is not zero in one."""
    found = []
    for chosen in members.T:
        rows = np.flatnonzero(chosen)
        found.append(summary(block[rows], False, direction, weights[rows], Y[rows]))
    return tuple(found)


def merged_each(some: tuple[Summary, ...], others: tuple[Summary, ...]) -> tuple[Summary, ...]:
    """Set by set."""
    return tuple(one.merged(other) for one, other in zip(some, others, strict=True))


def dense_parts(block: Any, m: int) -> Iterator[tuple[slice, Array]]:
    """Rows of a block as float64, as many at a time as stay in the cache, for a table of m columns.

    Parts of eight times the size take up to 1.7 times as long, of 20 as of 5,000 columns.
    """
    size = max(1, CACHE_BYTES // (8 * m))
    for start in range(0, block.shape[0], size):
        rows = slice(start, min(start + size, block.shape[0]))
        part = block[rows]
        if sparse.issparse(part):
            part = part.toarray()
        yield rows, np.asarray(part, dtype=float)


def _moments(block: Any, diagonal_only: bool, weights: Array, Y: Array) -> Moments:
    if sparse.issparse(block):
        full = block.nnz > DENSE_FROM * block.shape[0] * block.shape[1]
        if diagonal_only or not full:
            return _sparse_moments(block, diagonal_only, weights, Y)
    return _dense_moments(block, diagonal_only, weights, Y)


def _dense_moments(block: Any, diagonal_only: bool, weights: Array, Y: Array) -> Moments:
    m = block.shape[1] + Y.shape[1]
    total = 0.0
    means = np.zeros(m)
    # the triangle that BLAS keeps, column by column as it wants it
    products = np.zeros(m) if diagonal_only else np.zeros((m, m), order="F")
    for rows, part in dense_parts(block, m):
        s = weights[rows]
        of_part = float(s.sum())
        Z = np.empty((len(part) + 1, m))
        Z[:-1, : block.shape[1]] = part
        Z[:-1, block.shape[1] :] = Y[rows]
        own = s @ Z[:-1] / of_part
        Z[:-1] -= own
        if not np.all(s == 1):
            Z[:-1] *= np.sqrt(s)[:, None]
        step = own - means
        share = of_part / (total + of_part)
        Z[-1] = np.sqrt(total * share) * step  # what merging two sets of rows adds
        if diagonal_only:
            products += np.einsum("ij,ij->j", Z, Z)
        else:
            products = dsyrk(1.0, Z.T, beta=1.0, c=products, lower=1, overwrite_c=1)
        means += share * step
        total += of_part
    return Moments(total, means, products if diagonal_only else _both_triangles(products))


def _both_triangles(lower: Array) -> Array:
    """The symmetric matrix of which this is the lower triangle, the upper one being zero."""
    whole = lower + lower.T
    np.fill_diagonal(whole, lower.diagonal())
    return whole


def _sparse_moments(block: Any, diagonal_only: bool, weights: Array, Y: Array) -> Moments:
    """Without making it dense; columns of a sparse table have means that are near to zero."""
    Z = sparse.hstack([block.astype(float), sparse.csr_array(Y)], format="csr")
    total = float(weights.sum())
    means = np.asarray(weights @ Z) / total
    weighted = Z.multiply(weights[:, None]).tocsr()
    if diagonal_only:
        squares = np.asarray(weighted.multiply(Z).sum(axis=0)).ravel()
        return Moments(total, means, np.maximum(squares - total * means**2, 0.0))
    products = (Z.T @ weighted).toarray()
    return Moments(total, means, products - np.outer(total * means, means))


def _marks(block: Any, direction: Array) -> Array:
    """A product of every row with one direction, of the logarithms of its entries.

    The bits of a float, read as an integer, are nearly its logarithm: columns of any unit count
    alike, though nothing is known of their sizes before the end of the pass.
    """
    if sparse.issparse(block):
        logarithms = block.astype(float)
        logarithms.data = _logarithms(logarithms.data)
        return np.asarray(logarithms @ direction)
    marks = np.empty(block.shape[0])
    for rows, part in dense_parts(block, block.shape[1]):
        marks[rows] = _logarithms(part) @ direction
    return marks


def _logarithms(numbers: Array) -> Array:
    without_signed_zeros = numbers + 0.0
    return without_signed_zeros.view(np.int64).astype(float)
