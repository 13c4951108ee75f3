"""Parts of the samples as masks instead of copies, and one pass over X for all of them.

With squared loss all that a fit needs of a part are the moments of its samples. Parts overlap: what
they have in common is summed once and merged for each of them; then every path on every part runs
on these sums, wherever X lives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from sklearn.base import clone

from ..designs import ChunkedDesign, TablePasses
from ..designs.chunked import MOST_PRODUCTS, SAME_WEIGHTS
from ..designs.moments import Summary
from ..numerics.memory import PRODUCT_BYTES
from ..problems.compressed import worth_compressing
from ..selectors.data import Samples
from .intake import Table, of_squared_loss

# Cells for every part that is made of them. Four pairs of halves have sixteen cells, and all
# samples are summed once where they would be four times; merging cells costs as much from there on.
MOST_CELLS = 3


@dataclass(frozen=True)
class Part:
    """Some samples, and what a selector makes of their target and weights."""

    rows: np.ndarray  # ascending
    mask: np.ndarray  # the same
    design: ChunkedDesign
    weights: np.ndarray  # mean one
    Y: np.ndarray

    @classmethod
    def of(cls, selector: Any, table: Table, rows: np.ndarray, weight: Any) -> Part:
        """Without reading X. ``weight`` are those of these samples, none of them zero, or None."""
        used = np.zeros(table.shape[0], dtype=bool)
        used[rows] = True
        # a mask cannot hold a sample twice, and would drop it in silence
        if np.count_nonzero(used) < len(rows):
            raise ValueError(
                "Expected every sample at most once in a part of X in blocks, got some more often; "
                "use a splitter without repetition."
            )
        design = table.design.only(used)
        samples = Samples.of(clone(selector), design, table.y[rows], weight)
        given = np.ones(len(rows)) if samples.weights is None else samples.weights
        return cls(rows, used, design, given / given.mean(), samples.target.Y)

    @property
    def is_known(self) -> bool:
        """Whether a fit with squared loss needs no pass any more."""
        return self.design.moments(self.weights, self.Y) is not None

    def learn(self, known: Summary, weights: np.ndarray, Y: np.ndarray) -> None:
        """Take over sums made under these weights and targets of all samples, if they are this
        part's as well: class weights and classes that are missing in it make them others."""
        # weights of mean one: of a part and of all they differ by a factor
        unit = float(self.weights[0] / weights[self.rows[0]])
        same = np.allclose(self.weights, unit * weights[self.rows], rtol=SAME_WEIGHTS, atol=0.0)
        if same and np.array_equal(self.Y, Y[self.rows]):
            self.design.learn(known.scaled(unit), self.weights, self.Y)


def by_passes(table: Table, selector: Any, parts: Sequence[np.ndarray]) -> Table:
    """The table with a design by passes, if it is in memory and moments save more than they cost:
    then the products of columns are not formed again for every one of these parts, nor for every
    path on it."""
    if table.in_blocks or table.imputer is not None or not of_squared_loss(selector):
        return table
    columns = table.shape[1] + table.target.Y.shape[1]
    saves = worth_compressing(min(rows.size for rows in parts), columns)
    # masks know no order, and no sample twice
    ascending = all((np.diff(rows) > 0).all() for rows in parts)
    if not saves or not ascending:
        return table
    return replace(table, design=ChunkedDesign(TablePasses(table.X)))


def training_part(table: Table, selector: Any, rows: np.ndarray, part: Part | None) -> Any:
    """What a selector is fitted to: some samples, or what is known of them."""
    if part is None:
        return table.rows(rows)
    if table.in_blocks or (part.is_known and of_squared_loss(selector)):
        return part.design
    return table.rows(rows)


def learn_together(selector: Any, table: Table, parts: Sequence[Part], weight: Any) -> None:
    """The moments of all parts, and of all samples, in one pass over X, where they are needed and
    memory allows."""
    columns = table.shape[1] + table.target.Y.shape[1]
    if not of_squared_loss(selector) or columns > MOST_PRODUCTS:
        return
    used = np.ones(table.shape[0], dtype=bool) if weight is None else weight > 0
    rows = np.flatnonzero(used)
    everyone = Part.of(selector, table, rows, None if weight is None else weight[rows])
    weights = np.zeros(used.size)
    weights[rows] = everyone.weights
    Y = np.zeros((used.size, everyone.Y.shape[1]))
    Y[rows] = everyone.Y
    groups = _groups(rows, parts)
    cells = [cell for group in groups for cell in group.cells]
    # sums of every cell are there at once, and those of every part beside them; with more of them
    # every part is read for itself
    if 8 * columns**2 * (len(cells) + len(parts)) > PRODUCT_BYTES:
        return
    members = np.zeros((used.size, len(cells)), dtype=bool)
    for number, cell in enumerate(cells):
        members[cell, number] = True
    found = iter(table.design.summaries(members, weights, Y))
    for group in groups:
        sums = _Sums(group.cells, [next(found) for _ in group.cells], used.size)
        for part in group.parts:
            part.learn(sums.of(part.rows), weights, Y)
        if used.all():
            table.design.learn(sums.of(rows), weights, Y)


@dataclass(frozen=True)
class _Group:
    """Parts, and the cells that they are made of: sets of samples without overlap."""

    parts: Sequence[Part]
    cells: list[np.ndarray]  # the samples of each


def _groups(rows: np.ndarray, parts: Sequence[Part]) -> list[_Group]:
    """Neighbouring parts, as many together as have few cells. All cells of a group together are
    all samples."""
    found = []
    first = 0
    undivided = np.zeros(rows.size, dtype=int)
    cell_of_row = undivided
    for number, part in enumerate(parts):
        inside = part.mask[rows]
        finer = _cut(cell_of_row, inside)
        if finer.max() >= MOST_CELLS * (number - first + 1):
            found.append(_group(parts[first:number], rows, cell_of_row))
            first = number
            finer = _cut(undivided, inside)
        cell_of_row = finer
    found.append(_group(parts[first:], rows, cell_of_row))
    return found


def _cut(cell_of_row: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Every cell cut into what is inside of a part and what is not, numbered anew."""
    finer = 2 * cell_of_row + inside
    exists = np.bincount(finer) > 0
    return np.asarray((np.cumsum(exists) - 1)[finer])


def _group(parts: Sequence[Part], rows: np.ndarray, cell_of_row: np.ndarray) -> _Group:
    return _Group(parts, [rows[cell_of_row == cell] for cell in range(cell_of_row.max() + 1)])


class _Sums:
    """What one pass has found of cells."""

    def __init__(self, cells: list[np.ndarray], found: list[Summary], n: int):
        self.cells = cells
        self.found = found
        self.marks = np.zeros(n)
        for cell, summary in zip(cells, found, strict=True):
            self.marks[cell] = np.concatenate(summary.marks)

    def of(self, rows: np.ndarray) -> Summary:
        """Of samples that are whole cells."""
        inside = np.zeros(self.marks.size, dtype=bool)
        inside[rows] = True
        own = [
            summary for cell, summary in zip(self.cells, self.found, strict=True) if inside[cell[0]]
        ]
        # marks are compared together with targets, which are in the order of the samples
        return replace(reduce(Summary.merged, own), marks=(self.marks[rows],))


def refuse_nested_clusters(table: Table, parts: Sequence[Part], n_jobs: int | None) -> None:
    """A fit that asks the cluster for passes, on one of its workers, would wait for itself."""
    if n_jobs in (None, 1) or not table.design.passes.by_others:
        return
    if not all(part.is_known for part in parts):
        raise ValueError(
            f"Expected n_jobs=None for fits that pass over a Dask array many times, got "
            f"n_jobs={n_jobs}; every pass runs on all workers as it is."
        )
