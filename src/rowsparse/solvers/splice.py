"""Local search over supports for squared loss: exact swaps of one row, kicks of several.

Every swap of a member for an outsider is scored exactly and the best is made, until none lowers the
objective. A kick lets several members go, fills up again with columns of large gain and swaps on;
what it finds is kept only if it is better. Kicks look at a pool of columns that came near to being
chosen; at the end all columns are looked at again.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import numpy as np

from ..problem import Problem
from .forward import Pool, forward
from .quadratic import Columns, Fit

IMPROVES = 1e-9  # relative decrease that counts
LARGEST_KICK = 6
POOL = 1000  # about so many columns

OutOfTime = Callable[[], bool]


def swap(fit: Fit, out_of_time: OutOfTime, pool: Pool | None = None) -> int:
    """Make the best swap until none lowers the objective; the number of swaps made."""
    for made in range(1000):
        if out_of_time() or not fit.size:
            return made
        gains = fit.swap_gains()
        if pool is not None:
            pool.note(gains.max(axis=1), fit.columns.names)
        j, i = divmod(int(np.argmax(gains)), fit.size)
        if not gains[j, i] > IMPROVES * fit.value + 1e-14 * fit.total:
            return made
        before = fit.value
        fit.remove(i)
        fit.add(j)
        if fit.value >= before:  # what was to be gained was rounding
            return made
    return made


def kick(fit: Fit, rng: np.random.Generator) -> Fit:
    """A copy in which several members were exchanged."""
    k = fit.size
    leaving = rng.choice(k, int(rng.integers(2, min(k, LARGEST_KICK) + 1)), replace=False)
    kept = Fit(fit.columns, k).with_members(np.delete(fit.members, leaving))
    return forward(kept, k, rng)


class SquaredSearch:
    """Supports of at most k rows for the squared loss of a problem."""

    def __init__(self, problem: Problem, k: int, out_of_time: OutOfTime = lambda: False):
        self.columns = Columns.of(problem)
        self.k, self.out_of_time = k, out_of_time
        self.pool = Pool(int(np.clip(POOL // max(k, 1), 20, 100)))
        self.swaps = 0
        self._pool_columns: Columns | None = None
        self.resolution = 1e-14 * float(np.vdot(self.columns.Y, self.columns.Y))

    def forward(self) -> np.ndarray:
        """Greedy forward selection over all columns."""
        fit = forward(Fit(self.columns, self.k), self.k, None, self.pool, self.out_of_time)
        return fit.support

    def forward_in_pool(self, rng: np.random.Generator) -> np.ndarray:
        """Randomised forward selection among the columns of the pool."""
        return forward(Fit(self._near(), self.k), self.k, rng).support

    def value(self, support: np.ndarray) -> float:
        """The sum of squared residuals on a support."""
        return self._fit(self.columns, support).value

    def descend(self, support: np.ndarray) -> tuple[np.ndarray, float]:
        """Swap over all columns until no single swap lowers the objective."""
        fit = self._fit(self.columns, support)
        forward(fit, self.k, None, self.pool)
        self.swaps += swap(fit, self.out_of_time, self.pool)
        return fit.support, fit.value

    def with_k(self, k: int) -> SquaredSearch:
        """The same columns and pool for another number of rows."""
        other = copy(self)
        other.k, other.swaps = k, 0
        return other

    def without_weakest(self, support: np.ndarray) -> np.ndarray:
        """The support without the row that is missed least."""
        fit = self._fit(self._near(support), support)
        return np.delete(fit.columns.names[fit.members], int(np.argmin(fit.sacrifices())))

    def descend_in_pool(self, support: np.ndarray) -> tuple[np.ndarray, float]:
        """Swap over the columns of the pool only."""
        fit = self._fit(self._near(support), support)
        forward(fit, self.k)
        self.swaps += swap(fit, self.out_of_time)
        return fit.support, fit.value

    def kicked(
        self, support: np.ndarray, n_kicks: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, float]:
        """The best of a support and what kicks of it lead to, swap-optimal over all columns."""
        best = self._fit(self._near(support), support)
        for _ in range(n_kicks):
            if self.out_of_time() or best.size < 2:
                break
            trial = kick(best, rng)
            self.swaps += swap(trial, self.out_of_time)
            if trial.value < best.value * (1 - IMPROVES):
                best = trial
        return self.descend(best.support)

    def _near(self, support: np.ndarray | None = None) -> Columns:
        """The columns of the pool and of a support, dense; the last ones are kept."""
        self.pool.chosen |= set() if support is None else set(support.tolist())
        if self._pool_columns is None or len(self._pool_columns.names) != len(self.pool.chosen):
            chosen = np.array(sorted(self.pool.chosen), dtype=int)
            self._pool_columns = self.columns.take(chosen)
        return self._pool_columns

    def _fit(self, columns: Columns, support: np.ndarray) -> Fit:
        members = np.searchsorted(columns.names, support)
        return Fit(columns, max(self.k, len(support))).with_members(members)
