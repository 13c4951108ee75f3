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
from scipy.linalg.blas import dsyr, dsyrk

from ..numerics.memory import CACHE_BYTES

Array = np.ndarray
# Share of stored entries from which CSR blocks are multiplied as dense ones. With 400 columns 2 %
# is twice as fast sparse and 10 % is three times as fast dense.
DENSE_FROM = 0.05
# Of a column's largest entry: a range as wide is no rounding, whatever asks whether it varies.
PLAINLY = 1e-3


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
    lowest: Array  # of the columns of X, among rows enough to see that they vary
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
    lowest, highest = ranges(block)
    # infinite entries leave NaN in sums, which is looked for when all rows have been seen
    with np.errstate(invalid="ignore", over="ignore"):
        moments = _moments(block, diagonal_only, weights, Y)
    return Summary(moments, lowest, highest, (marks_of(block, direction),))


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


def row_parts(block: Any, row_bytes: int) -> Iterator[slice]:
    """Rows of a block, as many at a time as stay in the cache."""
    size = max(1, CACHE_BYTES // row_bytes)
    for start in range(0, block.shape[0], size):
        yield slice(start, min(start + size, block.shape[0]))


def ranges(block: Any) -> tuple[Array, Array]:
    """Smallest and largest of every column; of one that varies plainly, so much of them as shows
    it: most columns do within few rows."""
    if sparse.issparse(block):
        return block.min(axis=0).toarray().ravel(), block.max(axis=0).toarray().ravel()
    d = block.shape[1]
    lowest = np.full(d, np.inf, block.dtype)
    highest = -lowest
    unsure = np.arange(d)
    for rows in row_parts(block, block.dtype.itemsize * d):
        part = block[rows] if unsure.size == d else block[rows, unsure]
        lowest[unsure] = np.minimum(lowest[unsure], part.min(axis=0))
        highest[unsure] = np.maximum(highest[unsure], part.max(axis=0))
        largest = np.maximum(np.abs(lowest), np.abs(highest))
        with np.errstate(invalid="ignore", over="ignore"):
            unsure = np.flatnonzero(~(highest - lowest > PLAINLY * largest))
        if not unsure.size:
            break
    return lowest, highest


def _moments(block: Any, diagonal_only: bool, weights: Array, Y: Array) -> Moments:
    if sparse.issparse(block):
        full = block.nnz > DENSE_FROM * block.shape[0] * block.shape[1]
        if diagonal_only or not full:
            return _sparse_moments(block, diagonal_only, weights, Y)
    if diagonal_only:
        return dense_sums(block, weights, Y)[0]
    return _dense_moments(block, weights, Y)


class _Apart:
    """The rows of a dense block, or of one nearly so, from a center among the first of them.

    What is summed so is as large as the spread of the block, whatever its distance from zero, and
    the mean's own distance from the center is left to take out at the end.
    """

    def __init__(self, block: Any, weights: Array, n_more: int):
        self.block = block
        self.weights = weights
        d = block.shape[1]
        self.parts = list(row_parts(block, 8 * (d + n_more)))
        first = self.parts[0]
        self.center = self._dense(first).mean(axis=0, dtype=float).astype(block.dtype)
        # made once: new memory for every part would cost as much as what is done with it
        self.room = np.empty((first.stop, d + n_more))
        self.roots = np.sqrt(weights)
        self.weighs = not np.all(weights == 1)
        self.sums = np.zeros(d)

    def rows(self, more: Array) -> Iterator[tuple[slice, Array, Array]]:
        """Part after part: which rows, these as they are in the block, and in float64 from the
        center, times the roots of their weights and with more columns beside them."""
        d = self.block.shape[1]
        for rows in self.parts:
            part = self._dense(rows)
            E = self.room[: len(part)]
            E[:, :d] = part
            E[:, :d] -= self.center
            E[:, d:] = more[rows]
            if self.weighs:
                E *= self.roots[rows, None]
            self.sums += self.roots[rows] @ E[:, :d]
            yield rows, part, E

    def _dense(self, rows: slice) -> Array:
        part = self.block[rows]
        return np.asarray(part.toarray() if sparse.issparse(part) else part)


def dense_sums(
    block: Array, weights: Array, Y: Array, with_targets: bool = False
) -> tuple[Moments, Array]:
    """Means and central sums of squares, and if wanted the central products of Y with X, which are
    made in the precision of X."""
    total, target_means, T = _centred(weights, Y)
    weighted = weights[:, None] * T
    unit = np.abs(weighted).max(axis=0)
    unit[unit == 0] = 1.0
    factors = (weighted / unit).T.astype(block.dtype, order="C")
    squares = np.zeros(block.shape[1])
    products = np.zeros((Y.shape[1], block.shape[1]))
    apart = _Apart(block, weights, 0)
    room = np.empty(apart.room.shape, block.dtype) if with_targets else apart.room
    for rows, part, E in apart.rows(T[:, :0]):
        squares += np.einsum("ij,ij->j", E, E)
        if with_targets:
            Z = np.subtract(part, apart.center, out=room[: len(part)])
            more = factors[:, rows] @ Z
            # beyond 1e34 single precision has no room for sums
            products += more if np.isfinite(more).all() else factors[:, rows] @ Z.astype(float)
    steps = apart.sums / total
    squares = np.maximum(squares - total * steps**2, 0.0)
    means = np.append(apart.center + steps, target_means)
    of_targets = np.einsum("ij,ij->j", weighted, T)
    return Moments(total, means, np.append(squares, of_targets)), products * unit[:, None]


def _dense_moments(block: Any, weights: Array, Y: Array) -> Moments:
    total, target_means, T = _centred(weights, Y)
    m = block.shape[1] + Y.shape[1]
    # the triangle that BLAS keeps, column by column as it wants it
    products = np.zeros((m, m), order="F")
    apart = _Apart(block, weights, Y.shape[1])
    for _, _, E in apart.rows(T):
        products = dsyrk(1.0, E.T, beta=1.0, c=products, lower=1, overwrite_c=1)
    steps = np.append(apart.sums / total, np.zeros(Y.shape[1]))
    products = dsyr(-total, steps, a=products, lower=1, overwrite_a=1)
    means = np.append(apart.center, target_means) + steps
    return Moments(total, means, _both_triangles(products))


def _centred(weights: Array, Y: Array) -> tuple[float, Array, Array]:
    """The sum of the weights, the means of the targets, and these without them."""
    total = float(weights.sum())
    means = weights @ Y / total
    return total, means, Y - means


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


def marks_of(block: Any, direction: Array) -> Array:
    """A product of every row with one direction, of the logarithms of its entries.

    The bits of a float, read as an integer, are nearly its logarithm: columns of any unit count
    alike, though nothing is known of their sizes before the end of the pass.
    """
    if sparse.issparse(block):
        logarithms = block.astype(float)
        logarithms.data = _logarithms(logarithms.data)
        return np.asarray(logarithms @ direction)
    marks = np.empty(block.shape[0])
    d = block.shape[1]
    for rows in row_parts(block, 8 * d):
        marks[rows] = _logarithms(block[rows]) @ direction
    return marks


def _logarithms(numbers: Array) -> Array:
    without_signed_zeros = numbers + numbers.dtype.type(0)
    bits = np.dtype(f"i{numbers.dtype.itemsize}")
    return without_signed_zeros.view(bits).astype(float)
