"""The features that a reweighting still uses, and points on them.

Rows of W die on the way: a step works on few columns of X, and these become fewer.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...designs.wrappers import Restriction
from ...numerics.memory import CACHE_BYTES
from ...numerics.rounding import NEGLIGIBLE
from ...numerics.rows import row_norms
from ...numerics.svm.machine import independent_columns
from ...numerics.threads import cached_property
from ...penalties.margin_norm import MarginNorm
from ...problems.margin import MarginProblem
from ..base import Deadline

DROP_BELOW = 1e-6  # of the largest row's part in the margins: such rows are dropped for good


@dataclass(frozen=True)
class Alive:
    """The features in use, their columns (dense once they are few), and the time that is left."""

    problem: MarginProblem
    columns: Restriction
    deadline: Deadline
    bases: dict[bytes, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, problem: MarginProblem, index: np.ndarray, time_limit: float | None = None
    ) -> Alive:
        """The named features."""
        n = len(problem.Y)
        in_cache = CACHE_BYTES // (8 * n)  # a dense block so small costs nothing to keep
        columns = Restriction.of(problem.design, index, max(n, in_cache))
        return cls(problem, columns, Deadline(time_limit))

    def keep(self, mask: np.ndarray) -> Alive:
        """Only those of the mask; a dense block shrinks with them."""
        if mask.all():
            return self
        return replace(self, columns=self.columns.keep(mask), bases={})

    @property
    def index(self) -> np.ndarray:
        """Of the features, in the problem."""
        return self.columns.index

    @cached_property
    def penalty(self) -> MarginNorm:
        """Of these features."""
        return self.problem.penalty.take(self.index)

    @cached_property
    def free(self) -> np.ndarray:
        """Which of them are not penalised."""
        return self.penalty.free(self.index.size)

    def free_basis(self, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of the bias and some columns, see ``independent_columns``; kept for those of last time,
        which most often are those without penalty."""
        if not free.any():
            ones = np.ones((len(self.problem.Y), 1))
            return ones, np.eye(1)
        key = free.tobytes()
        if key not in self.bases:
            self.bases.clear()
            places = np.flatnonzero(free)
            columns = self.columns.X.take(places)
            self.bases[key] = independent_columns(columns)
        return self.bases[key]

    @property
    def null(self) -> Image:
        """All rows zero."""
        c = self.problem.Y.shape[1]
        rows = np.zeros((self.index.size, c))
        return Image(rows, intercept=np.zeros(c))

    def matmul(self, rows: np.ndarray) -> np.ndarray:
        """X W for the rows of W that are alive."""
        block = self.columns.block  # asked first: the design of a small block takes its time
        if block is None:
            return self.columns.X.matmul(rows)
        return block @ rows

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        """X'R for the columns that are alive."""
        block = self.columns.block
        if block is None:
            return self.columns.X.rmatmul(R)
        return block.T @ R

    @property
    def sizes(self) -> np.ndarray:
        """Root mean squares of the columns."""
        return self.problem.sizes_of_columns[self.index]

    def parts(self, rows: np.ndarray) -> np.ndarray:
        """What each row contributes to the margins."""
        return row_norms(rows) * self.sizes

    def change(self, rows: np.ndarray, image: np.ndarray) -> float:
        """The largest change of a part, as a fraction of the largest part.

        Rows without penalty are not asked: a step depends on the others alone, and where free
        columns depend on each other many steps are as good.
        """
        largest = float(self.parts(rows).max(initial=0.0))
        moves = self.parts(image - rows)[~self.free]
        change = float(moves.max(initial=0.0))
        return change / largest if largest > 0 else 0.0

    def survivors(self, rows: np.ndarray) -> np.ndarray:
        """Rows that contribute something."""
        parts = self.parts(rows)
        counts = parts >= _floor(parts)
        return counts | self.free

    def without_dropped(self, rows: np.ndarray) -> tuple[Alive, np.ndarray]:
        """The survivors and their rows; entries die one by one where they are penalised so."""
        mask = self.survivors(rows)
        if not self.penalty.joint:
            parts = np.abs(rows) * self.sizes[:, None]
            dead = parts < _floor(parts)
            dead[self.free] = False
            rows = np.where(dead, 0.0, rows)
            mask &= row_norms(rows) > 0
        return self.keep(mask), rows[mask]


def _floor(parts: np.ndarray) -> np.ndarray:
    """Below it a part is nothing, column by column."""
    largest = parts.max(axis=0, initial=0.0)
    # margins are of size one: rows that do nothing to them go too (wine, C = .01, p = 1: 29 steps)
    return np.maximum(DROP_BELOW * largest, NEGLIGIBLE)


@dataclass(frozen=True)
class Image:
    """A point: rows that are alive, intercept, and the multipliers of the step that led there."""

    rows: np.ndarray
    intercept: np.ndarray
    dual: np.ndarray | None = None
    gap: float = 0.0  # of the step to the minimum that it was to find, as a fraction of it
    gain: float = 0.0  # root of what the step gains where ``change`` does not ask, as a fraction
