"""Parts of the samples of X in blocks: masks instead of copies, and one pass for all of them.

With squared loss all that a fit needs of a part are the moments of its samples. Those of the parts
that folds have in common are summed in one pass and merged, those of half-samples each for itself;
then every path on every part runs in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from sklearn.base import clone

from ..designs import ChunkedDesign
from ..designs.chunked import SAME_WEIGHTS
from ..designs.moments import Summary
from ..selectors import TopKSelector
from ..selectors.blocks import MOST_PRODUCTS
from ..selectors.data import Samples
from ..selectors.penalised import RowSelector
from .intake import Table

# That the products of all parts may take together; with more, every part is read for itself.
MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class Part:
    """Some samples, and what a selector makes of their target and weights."""

    rows: np.ndarray  # ascending
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
        design = table.X.only(used)
        samples = Samples.of(clone(selector), design, table.y[rows], weight)
        given = np.ones(len(rows)) if samples.weights is None else samples.weights
        return cls(rows, design, given / given.mean(), samples.target.Y)

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


def of_squared_loss(selector: Any) -> bool:
    """Whether moments are all that it needs."""
    if not isinstance(selector, RowSelector | TopKSelector):
        return False
    return bool(selector.get_params(deep=False).get("r", 2.0) == 2)


def learn_together(selector: Any, table: Table, parts: Sequence[Part], weight: Any) -> None:
    """The moments of all parts in one pass over X, where they are needed and memory allows; of all
    samples as well where the parts are made of few sets."""
    columns = table.shape[1] + table.target.Y.shape[1]
    if not of_squared_loss(selector) or columns > MOST_PRODUCTS:
        return
    used = np.ones(table.shape[0], dtype=bool) if weight is None else weight > 0
    rows = np.flatnonzero(used)
    everyone = Part.of(selector, table, rows, None if weight is None else weight[rows])
    members, sets = _disjoint_sets(used, parts)
    # sums of every set are there at once, and those of every part beside them
    if 8 * columns**2 * (members.shape[1] + len(parts)) > MOST_BYTES:
        return
    weights = np.zeros(used.size)
    weights[rows] = everyone.weights
    Y = np.zeros((used.size, everyone.Y.shape[1]))
    Y[rows] = everyone.Y
    found = table.X.summaries(members, weights, Y)
    # sets that overlap would count samples twice in the sum over all
    if used.all() and sets is not None:
        table.X.learn(reduce(Summary.merged, found), weights, Y)
    for number, part in enumerate(parts):
        of_part = [number] if sets is None else sets[number]
        part.learn(reduce(Summary.merged, [found[i] for i in of_part]), weights, Y)


def _disjoint_sets(
    used: np.ndarray, parts: Sequence[Part]
) -> tuple[np.ndarray, list[list[int]] | None]:
    """Masks of the sets that the parts are made of, and the sets of every part; where there would
    be more than twice as many sets as parts, the parts themselves."""
    masks = np.zeros((used.size, len(parts)), dtype=bool)
    for number, part in enumerate(parts):
        masks[part.rows, number] = True
    if len(parts) >= np.iinfo(int).bits:  # each needs a bit of its own, and one is the sign's
        return masks, None
    bits = masks[used] @ (1 << np.arange(len(parts)))
    kinds, of_used = np.unique(bits, return_inverse=True)
    kind = np.zeros(used.size, dtype=int)
    kind[used] = of_used
    if kinds.size > 2 * len(parts):
        return masks, None
    of_part = [np.flatnonzero(kinds >> number & 1).tolist() for number in range(len(parts))]
    return (kind[:, None] == np.arange(kinds.size)) & used[:, None], of_part


def refuse_nested_clusters(table: Table, parts: Sequence[Part], n_jobs: int | None) -> None:
    """A fit that asks the cluster for passes, on one of its workers, would wait for itself."""
    if n_jobs in (None, 1) or not table.X.passes.by_others:
        return
    if not all(part.is_known for part in parts):
        raise ValueError(
            f"Expected n_jobs=None for fits that pass over a Dask array many times, got "
            f"n_jobs={n_jobs}; every pass runs on all workers as it is."
        )
