"""X in blocks of rows: every operation is a pass over them, counted, and what is known is kept.

Nothing but results leaves a block: ``products`` of d x c, sums over rows, or one row per sample.
Only ``take`` makes a dense copy, of the columns asked for (n x 8 bytes for each of them).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics.rows import nonzero_rows
from .base import Array, Centers, Design
from .blocks import RowBlocks
from .moments import Moments, Summary, dense_parts, n_distinct, summary

OfBlock = Callable[..., Any]
SAME_WEIGHTS = 8 * float(np.finfo(float).eps)  # what dividing and multiplying leaves of equality


class Passes(ABC):
    """The rows of X in order, in blocks, and how something is done with every block."""

    shape: tuple[int, int]
    dtype: np.dtype
    bounds: Array  # block i holds rows bounds[i] to bounds[i + 1] - 1
    names: list[str] | None = None
    count = 0  # passes made so far

    @abstractmethod
    def results(self, of_block: OfBlock, shared: Sequence[Any], by_rows: Sequence[Any]) -> list:
        """What ``of_block(block, *shared, *the block's part of each of by_rows)`` says, in order
        of the blocks."""

    @abstractmethod
    def merged(
        self, merge: Callable, of_block: OfBlock, shared: Sequence[Any], by_rows: Sequence[Any]
    ) -> Any:
        """The same, merged into one; only neighbours are merged, in their order."""

    def pieces(self, number: int, by_rows: Sequence[Any]) -> list[Any]:
        """The parts of arrays of n rows that belong to a block."""
        rows = slice(self.bounds[number], self.bounds[number + 1])
        return [values[rows] for values in by_rows]


class LocalPasses(Passes):
    """Over a store on this machine; while one block is worked on a thread reads the next."""

    def __init__(self, store: RowBlocks):
        self.store = store
        self.shape = store.shape
        self.dtype = float_type(store.dtype)
        self.bounds = np.asarray(store.bounds)
        self.names = store.names

    def results(self, of_block: OfBlock, shared: Sequence[Any], by_rows: Sequence[Any]) -> list:
        return list(self._each(of_block, shared, by_rows))

    def merged(
        self, merge: Callable, of_block: OfBlock, shared: Sequence[Any], by_rows: Sequence[Any]
    ) -> Any:
        found = self._each(of_block, shared, by_rows)
        total = next(found)
        for result in found:
            total = merge(total, result)
        return total

    def _each(
        self, of_block: OfBlock, shared: Sequence[Any], by_rows: Sequence[Any]
    ) -> Iterator[Any]:
        self.count += 1
        for number, block in enumerate(self._read_ahead()):
            yield of_block(as_block(block), *shared, *self.pieces(number, by_rows))

    def _read_ahead(self) -> Iterator[Any]:
        n_blocks = len(self.bounds) - 1
        with ThreadPoolExecutor(1, thread_name_prefix="rowsparse-reader") as reader:
            coming = reader.submit(self.store.block, 0)
            for following in range(1, n_blocks + 1):
                block = coming.result()
                if following < n_blocks:
                    coming = reader.submit(self.store.block, following)
                yield block


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

    # -- one pass first ---------------------------------------------------------------------------

    def summarise(self, weights: Array, Y: Array, diagonal_only: bool) -> Summary:
        """Everything that one pass says about X and Y, kept for the questions that follow."""
        direction = np.random.default_rng(0).standard_normal(self.shape[1])
        self._summary = self._sum(summary, (diagonal_only, direction), (weights, Y), Summary.merged)
        self._summarised = weights, Y
        return self._summary

    def moments(self, weights: Array, Y: Array) -> Moments | None:
        if self._summary is None or self._summarised is None:
            return None
        known_weights, known_Y = self._summarised
        moments = self._summary.moments
        same = np.array_equal(weights, known_weights) and np.array_equal(Y, known_Y)
        return moments if same and moments.products.ndim == 2 else None

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
        return self._sum(_rmatmul, (None,), (R,))

    def rmatmul_of(self, columns: Array, R: Array) -> Array:
        if not len(columns):
            return np.zeros((0, R.shape[1]))
        return self._sum(_rmatmul, (columns,), (R,))

    def take(self, columns: Array) -> Array:
        if not len(columns):
            return np.zeros((self.shape[0], 0), order="F")
        return np.asfortranarray(self._rows(_take, (columns,)))

    def squares(self, weights: Array, centers: Centers = None) -> Array:
        d = self.shape[1]
        middles = np.zeros(d) if centers is None else centers
        known = self._known(weights)
        if known is None:
            return self._sum(_squares, (middles,), (weights,))
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
            return self._sum(_gram, (left, right, middles), (weights,))
        moments, unit = known
        apart = moments.means[: self.shape[1]] - middles
        between = moments.total * np.outer(apart[left], apart[right])
        return unit * (moments.products[np.ix_(left, right)] + between)

    def constant_columns(self) -> Array:
        if self._summary is not None:
            return self._summary.lowest == self._summary.highest
        lowest, highest = self._sum(_extremes, (), (), _wider)
        return lowest == highest

    def _sum(
        self,
        of_block: OfBlock,
        shared: Sequence[Any],
        by_rows: Sequence[Any],
        merge: Callable = np.add,
    ) -> Any:
        function, by_rows = self._of_used(of_block, by_rows)
        return self.passes.merged(merge, function, shared, by_rows)

    def _rows(self, of_block: OfBlock, shared: Sequence[Any]) -> Array:
        function, by_rows = self._of_used(of_block, ())
        return np.concatenate(self.passes.results(function, shared, by_rows))

    def _of_used(self, of_block: OfBlock, by_rows: Sequence[Any]) -> tuple[OfBlock, Sequence[Any]]:
        """The same of the samples that count, whose number in a block is another one."""
        if self.used is None:
            return of_block, by_rows
        whole = [_spread(values, self.used) for values in by_rows]
        return _OfUsed(of_block, len(by_rows)), (*whole, self.used)


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


def as_block(block: Any) -> Any:
    """A block as a float array or CSR array, whatever a store or a chunk holds."""
    if sparse.issparse(block):
        block = sparse.csr_array(block)
    elif type(block).__module__.partition(".")[0] == "sparse":  # pydata's arrays
        block = sparse.csr_array(block.to_scipy_sparse())
    else:
        block = np.asarray(block)
    return block.astype(float_type(block.dtype), copy=False)


def float_type(dtype: Any) -> np.dtype:
    return np.dtype(dtype) if dtype in (np.float32, np.float64) else np.dtype(float)


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


def _take(block: Any, columns: Array) -> Array:
    taken = block[:, columns]
    return np.asarray(taken.toarray() if sparse.issparse(taken) else taken, dtype=float)


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
