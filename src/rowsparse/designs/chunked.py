"""X in blocks of rows: every operation is a pass over them, counted, and what is known is kept.

Nothing but results leaves a block: ``products`` of d x c, sums over rows, or one row per sample.
Only ``take`` makes a dense copy, of the columns asked for (n x 8 bytes for each of them).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics.rows import n_distinct, nonzero_rows
from .base import Array, Centers, Design
from .moments import (
    Moments,
    Summary,
    dense_parts,
    merged_each,
    summaries,
    summary,
)
from .passes import ChosenPasses, OfBlock, Passes

# Columns of [X Y] up to which all their products are computed in one pass: with more, their root
# alone takes longer than some passes, and copies of the matrix fill a small machine's memory.
MOST_PRODUCTS = 5000
SAME_WEIGHTS = 8 * float(np.finfo(float).eps)  # what dividing and multiplying leaves of equality


@dataclass(frozen=True)
class Beside:
    """So many arrays by the rows of X, as passes take them, and perhaps a mask of those in use."""

    by_rows: Sequence[Any]
    count: int


class ChunkedDesign(Design):
    """A design by passes. ``used`` are the samples that count, a mask; the others are not there."""

    def __init__(self, passes: Passes, used: Array | None = None):
        self.passes = passes
        self.used = used
        n = passes.shape[0] if used is None else int(np.count_nonzero(used))
        self.shape = (n, passes.shape[1])
        self.dtype = passes.dtype
        self._summary: Summary | None = None
        self._summarised: tuple[Array, Array] | None = None  # the weights and Y that are in it

    def only(self, used: Array) -> ChunkedDesign:
        """The same X without some samples."""
        return ChunkedDesign(self.passes, used)

    def of_columns(self, columns: Array) -> ChunkedDesign:
        """The same samples with some columns of X."""
        return ChunkedDesign(ChosenPasses(self.passes, columns), self.used)

    # -- one pass first ---------------------------------------------------------------------------

    def summarise(self, weights: Array, Y: Array, diagonal_only: bool) -> Summary:
        """Everything that one pass says about X and Y, kept for the questions that follow."""
        shared = (diagonal_only, self._direction())
        self._summary = self.total(summary, shared, (weights, Y), Summary.merged)
        self._summarised = weights, Y
        return self._summary

    def summaries(self, members: Array, weights: Array, Y: Array) -> tuple[Summary, ...]:
        """The same, in one pass, of several sets of samples: the columns of a mask."""
        by_rows = (members, weights, Y)
        found: tuple[Summary, ...] = self.total(
            summaries, (self._direction(),), by_rows, merged_each
        )
        return found

    def knows_products(self, weights: Array, Y: Array) -> bool:
        """Whether the products of all columns are known, by now: a pass is made for them unless
        there are too many, or more columns than samples."""
        if self.moments(weights, Y) is None and self.shape[1] + Y.shape[1] <= min(
            MOST_PRODUCTS, self.shape[0]
        ):
            self.summarise(weights, Y, diagonal_only=False)
        return self.moments(weights, Y) is not None

    def learn(self, known: Summary, weights: Array, Y: Array) -> None:
        """Take over what a pass of another design has said about these samples."""
        self._summary = known
        self._summarised = weights, Y

    def _direction(self) -> Array:
        return np.random.default_rng(0).standard_normal(self.shape[1])

    def moments(self, weights: Array, Y: Array) -> Moments | None:
        if self._summary is None or not self._was_summarised(weights, Y):
            return None
        moments = self._summary.moments
        return moments if moments.products.ndim == 2 else None

    def _was_summarised(self, weights: Array, Y: Array) -> bool:
        if self._summarised is None:
            return False
        known_weights, known_Y = self._summarised
        return np.array_equal(weights, known_weights) and np.array_equal(Y, known_Y)

    @property
    def has_products(self) -> bool:
        """Whether a pass has left the products of all columns."""
        return self._summary is not None and self._summary.moments.products.ndim == 2

    def n_distinct(self, Y: Array) -> int:
        """Samples that differ in X or Y, by the marks of the first pass."""
        if self._summary is None:
            raise ValueError("Expected a design that has been summarised.")
        marks = np.concatenate(self._summary.marks)
        direction = np.random.default_rng(1).standard_normal(Y.shape[1])
        of_targets = Y @ direction
        largest = np.abs(of_targets).max() or 1.0
        return n_distinct(marks / (np.abs(marks).max() or 1.0) + of_targets / largest)

    def _known(self, weights: Array) -> tuple[Moments, float] | None:
        """Moments of X under weights that are a multiple of these, and the multiple."""
        if self._summary is None or self._summarised is None:
            return None
        known = self._summarised[0]
        unit = weights[0] / known[0]
        multiple = np.allclose(weights, unit * known, rtol=SAME_WEIGHTS, atol=0.0)
        return (self._summary.moments, unit) if multiple else None

    # -- the operations of a design ---------------------------------------------------------------

    def matmul(self, W: Array) -> Array:
        columns = np.flatnonzero(nonzero_rows(W))
        if not columns.size:
            return np.zeros((self.shape[0], W.shape[1]))
        return self._rows(_matmul, (columns, W[columns]))

    def rmatmul(self, R: Array) -> Array:
        return self.total(_rmatmul, (None,), (R,))

    def rmatmul_of(self, columns: Array, R: Array) -> Array:
        if not len(columns):
            return np.zeros((0, R.shape[1]))
        return self.total(_rmatmul, (columns,), (R,))

    def take(self, columns: Array) -> Array:
        if not len(columns):
            return np.zeros((self.shape[0], 0), order="F")
        return np.asfortranarray(self._rows(taken, (columns,)))

    def squares(self, weights: Array, centers: Centers = None) -> Array:
        d = self.shape[1]
        middles = np.zeros(d) if centers is None else centers
        known = self._known(weights)
        if known is None:
            return self.total(_squares, (middles,), (weights,))
        moments, unit = known
        apart = moments.means[:d] - middles
        return unit * (moments.diagonal[:d] + moments.total * apart**2)

    def means(self, weights: Array) -> Array:
        known = self._known(weights)
        return super().means(weights) if known is None else known[0].means[: self.shape[1]]

    def gram(self, rows: Array, columns: Array, weights: Array, centers: Centers = None) -> Array:
        left = np.asarray(rows)
        right = np.asarray(columns)
        if not left.size or not right.size:
            return np.zeros((left.size, right.size))
        middles = np.zeros(self.shape[1]) if centers is None else centers
        known = self._known(weights)
        if known is None or known[0].products.ndim == 1:
            return self.total(_gram, (left, right, middles), (weights,))
        moments, unit = known
        apart = moments.means[: self.shape[1]] - middles
        between = moments.total * np.outer(apart[left], apart[right])
        return unit * (moments.products[np.ix_(left, right)] + between)

    def constant_columns(self) -> Array:
        if self._summary is not None:
            return self._summary.lowest == self._summary.highest
        lowest, highest = self.total(_extremes, (), (), _wider)
        return lowest == highest

    def total(
        self,
        of_block: OfBlock,
        shared: Sequence[Any],
        by_rows: Sequence[Any] | Beside,
        merge: Callable = np.add,
    ) -> Any:
        """What ``of_block`` says of every block, put together."""
        beside = by_rows if isinstance(by_rows, Beside) else self._beside(by_rows)
        function = self._of_used(of_block, beside.count)
        return self.passes.merged(merge, function, shared, beside.by_rows)

    def hold(self, *by_rows: Array) -> Beside:
        """Arrays by samples for many passes: they are brought to the blocks once."""
        beside = self._beside(by_rows)
        return Beside(self.passes.held(beside.by_rows), beside.count)

    def kept(self, of_block: OfBlock, shared: Sequence[Any], n_columns: int) -> ChunkedDesign:
        """What ``of_block`` makes of the rows of every block, also of those that do not count, as
        a design that is kept in memory where the blocks are."""
        return ChunkedDesign(self.passes.kept(of_block, shared, n_columns), self.used)

    def _rows(self, of_block: OfBlock, shared: Sequence[Any]) -> Array:
        function = self._of_used(of_block, 0)
        return np.concatenate(self.passes.results(function, shared, self._beside(()).by_rows))

    def _beside(self, by_rows: Sequence[Array]) -> Beside:
        """Arrays by the samples that count as arrays by all rows, and the mask."""
        if self.used is None:
            return Beside(by_rows, len(by_rows))
        whole = [_spread(values, self.used) for values in by_rows]
        return Beside((*whole, self.used), len(by_rows))

    def _of_used(self, of_block: OfBlock, n_by_rows: int) -> OfBlock:
        """The same of the samples that count, whose number in a block is another one."""
        return of_block if self.used is None else _OfUsed(of_block, n_by_rows)


class _OfUsed:
    """A function of a block and arrays by its rows, on the rows of a mask, its last argument."""

    def __init__(self, of_block: OfBlock, n_by_rows: int):
        self.of_block = of_block
        self.n_by_rows = n_by_rows

    def __call__(self, block: Any, *arguments: Any) -> Any:
        *others, used = arguments
        n_shared = len(others) - self.n_by_rows
        by_rows = [values[used] for values in others[n_shared:]]
        return self.of_block(block[used], *others[:n_shared], *by_rows)


def _spread(values: Array, used: Array) -> Array:
    whole = np.zeros((used.size, *values.shape[1:]))
    whole[used] = values
    return whole


# -- what is done with one block ------------------------------------------------------------------


def _matmul(block: Any, columns: Array, W: Array) -> Array:
    if sparse.issparse(block):
        return np.asarray(block[:, columns] @ W)
    out = np.empty((block.shape[0], W.shape[1]))
    everything = columns.size == block.shape[1]
    for rows, part in dense_parts(block, block.shape[1]):
        out[rows] = (part if everything else part[:, columns]) @ W
    return out


def _rmatmul(block: Any, columns: Array | None, R: Array) -> Array:
    if columns is not None:
        block = block[:, columns]
    if sparse.issparse(block):
        return np.asarray(block.T @ R)
    out = np.zeros((block.shape[1], R.shape[1]))
    for rows, part in dense_parts(block, block.shape[1]):
        out += part.T @ R[rows]
    return out


def taken(block: Any, columns: Array) -> Array:
    """Some columns of a block as a dense one."""
    some = block[:, columns]
    return np.asarray(some.toarray() if sparse.issparse(some) else some, dtype=float)


def _squares(block: Any, centers: Array, weights: Array) -> Array:
    out = np.zeros(block.shape[1])
    for rows, part in dense_parts(block, block.shape[1]):
        out += weights[rows] @ (part - centers) ** 2
    return out


def _gram(block: Any, left: Array, right: Array, centers: Array, weights: Array) -> Array:
    out = np.zeros((left.size, right.size))
    both = np.union1d(left, right)
    in_left = np.searchsorted(both, left)
    in_right = np.searchsorted(both, right)
    for rows, part in dense_parts(block[:, both], both.size):
        Z = part - centers[both]
        out += Z[:, in_left].T @ (weights[rows, None] * Z[:, in_right])
    return out


def _extremes(block: Any) -> tuple[Array, Array]:
    d = block.shape[1]
    if not block.shape[0]:
        return np.full(d, np.inf), np.full(d, -np.inf)
    lowest, highest = block.min(axis=0), block.max(axis=0)
    if sparse.issparse(block):
        return lowest.toarray().ravel(), highest.toarray().ravel()
    return lowest, highest


def _wider(some: tuple[Array, Array], others: tuple[Array, Array]) -> tuple[Array, Array]:
    return np.minimum(some[0], others[0]), np.maximum(some[1], others[1])
