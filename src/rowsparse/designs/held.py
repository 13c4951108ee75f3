"""X in blocks as a problem sees it, with Y and the weights beside it on whoever works on a block.

One pass answers what is asked of all three together: a residual is made, used and forgotten within
a block, and only sums leave it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .base import Array
from .chunked import Beside, ChunkedDesign, taken
from .members import sums_of_each
from .moments import dense_parts, row_parts

OfPart = Callable[..., Any]  # of some rows of X, Y and the weights


@dataclass(frozen=True)
class View:
    """Columns of a block centred and scaled, and perhaps a column of ones after them."""

    means: Array
    scales: Array
    with_ones: bool

    @property
    def n_columns(self) -> int:
        """As they are seen."""
        return self.means.size + self.with_ones

    def parts(self, block: Any) -> Iterator[tuple[slice, Array]]:
        """Rows of a block, as many at a time as stay in the cache; the next ones take their
        place."""
        d = self.means.size
        parts = list(row_parts(block, 8 * self.n_columns))
        # made once: new memory for every part would cost as much as what is done with it
        room = np.ones((parts[0].stop, self.n_columns))
        for rows in parts:
            part = block[rows]
            Z = room[: rows.stop - rows.start]
            Z[:, :d] = part.toarray() if sparse.issparse(part) else part
            Z[:, :d] -= self.means
            Z[:, :d] *= 1 / self.scales
            yield rows, Z

    def columns_of(self, block: Any, columns: Array) -> Array:
        """Some of the columns of a whole block."""
        features = columns < self.means.size
        some = columns[features]
        Z = np.ones((block.shape[0], columns.size))
        Z[:, features] = (taken(block, some) - self.means[some]) / self.scales[some]
        return Z


class HeldTable:
    """X as a view shows it, or some of its columns, Y, and the weights of the samples.

    ``of_part(Z, Y, weights, *shared)`` is asked of some rows at a time; what it says of others is
    put together by ``merge``.
    """

    def __init__(self, design: ChunkedDesign, view: View | None, beside: Beside):
        self.design = design
        self.view = view  # None where the design is what is seen
        self.beside = beside
        n_columns = design.shape[1] if view is None else view.n_columns
        self.shape = (design.shape[0], n_columns)
        self._kept: tuple[Array, HeldTable] | None = None  # the last columns that were asked for

    @classmethod
    def of(cls, design: ChunkedDesign, view: View, Y: Array, weights: Array) -> HeldTable:
        """With Y and the weights brought to the blocks."""
        return cls(design, view, design.hold(Y, weights))

    def total(
        self, of_part: OfPart, shared: Sequence[Any] = (), merge: Callable = sums_of_each
    ) -> Any:
        """One pass, over X unless these are columns that were kept."""
        return self.design.total(_OfParts(of_part, merge, self.view), shared, self.beside, merge)

    def of_columns(self, columns: Array) -> HeldTable:
        """Some columns, kept in memory where the blocks are until others are asked for."""
        if self.view is None:
            return HeldTable(self.design.of_columns(columns), None, self.beside)
        if self._kept is None or not np.isin(columns, self._kept[0]).all():
            self._kept = None  # what is kept need not be in memory twice
            kept = self.design.kept(_columns_of, (self.view, columns), columns.size)
            self._kept = columns, HeldTable(kept, None, self.beside)
        known, table = self._kept
        if np.array_equal(columns, known):
            return table
        order = np.argsort(known)
        return table.of_columns(order[np.searchsorted(known, columns, sorter=order)])


class _OfParts:
    """A function of parts of a block, as one of the block."""

    def __init__(self, of_part: OfPart, merge: Callable, view: View | None):
        self.of_part = of_part
        self.merge = merge
        self.view = view

    def __call__(self, block: Any, *arguments: Any) -> Any:
        *shared, Y, weights = arguments
        total = None
        # of infinite entries, which are looked for when all rows have been seen
        with np.errstate(invalid="ignore", over="ignore"):
            for rows, Z in self._parts(block):
                found = self.of_part(Z, Y[rows], weights[rows], *shared)
                total = found if total is None else self.merge(total, found)
        return total

    def _parts(self, block: Any) -> Iterator[tuple[slice, Array]]:
        if not block.shape[0]:  # says what there is to say of no rows
            n_columns = block.shape[1] if self.view is None else self.view.n_columns
            return iter([(slice(0), np.zeros((0, n_columns)))])
        return dense_parts(block, block.shape[1]) if self.view is None else self.view.parts(block)


def _columns_of(block: Any, view: View, columns: Array) -> Array:
    return view.columns_of(block, columns)
