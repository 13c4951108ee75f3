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

from ...problems.penalised import PenalisedProblem
from .candidates import Columns
from .greedy import Pool, forward
from .support_fit import Fit

IMPROVES = 1e-9  # relative decrease that counts
LARGEST_KICK = 6
POOL = 1000  # about so many columns
NO_ROWS = np.array([], dtype=int)

OutOfTime = Callable[[], bool]


def swap(fit: Fit, out_of_time: OutOfTime, pool: Pool | None = None) -> int:
    """Make the best swap until none lowers the objective; the number of swaps made."""
    for made in range(1000):
        if out_of_time() or not fit.size:
            return made
        gains, i = fit.best_swaps()
        if pool is not None:
            pool.note(gains, fit.columns.names)
        j = int(np.argmax(gains))
        if not gains[j] > IMPROVES * fit.value + 1e-14 * fit.total:
            return made
        before = fit.value
        fit.remove(i)
        fit.add(j)
        if fit.value >= before:  # what was to be gained was rounding
            return made
    return made


def kick(fit: Fit, members: list[int], rng: np.random.Generator) -> Fit:
    """The fit on these members after several of them were exchanged."""
    k = len(members)
    leaving = rng.choice(k, int(rng.integers(2, min(k, LARGEST_KICK) + 1)), replace=False)
    return forward(fit.cleared().with_members(np.delete(members, leaving)), k, rng)


class SquaredSearch:
    """Supports of at most k rows for the squared loss of a problem."""

    def __init__(self, problem: PenalisedProblem, k: int, out_of_time: OutOfTime = lambda: False):
        self.columns = Columns.of(problem)
        self.k, self.out_of_time = k, out_of_time
        self.pool = Pool(int(np.clip(POOL // max(k, 1), 20, 100)))
        self.swaps = 0
        self.pool_is_all = len(self.columns.names) <= POOL  # then what the pool says is final
        self._fits: dict[bool, Fit] = {}  # on all columns and on those of the pool
        self._dense: list[Columns] = []  # the pool's, shared by the searches of a path
        self.resolution = 1e-14 * float(np.vdot(self.columns.Y, self.columns.Y))

    def forward(self) -> np.ndarray:
        """Greedy forward selection over all columns."""
        fit = forward(self._fit(self.columns, NO_ROWS), self.k, None, self.pool, self.out_of_time)
        return fit.support

    def forward_in_pool(self, rng: np.random.Generator) -> np.ndarray:
        """Randomised forward selection among the columns of the pool."""
        return forward(self._fit(self._near(), NO_ROWS), self.k, rng).support

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

    def descend_in_pool(self, support: np.ndarray) -> tuple[np.ndarray, float]:
        """Swap over the columns of the pool only; of too many rows the weakest leave first."""
        fit = self._fit(self._near(support), support)
        while fit.size > self.k:
            fit.remove(int(np.argmin(fit.sacrifices())))
        forward(fit, self.k)
        self.swaps += swap(fit, self.out_of_time)
        return fit.support, fit.value

    def kicked(
        self, support: np.ndarray, n_kicks: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, float]:
        """The best of a support and what kicks of it lead to, swap-optimal over all columns."""
        fit = self._fit(self._near(support), support)
        best, value = fit.members, fit.value
        for _ in range(n_kicks):
            if self.out_of_time() or len(best) < 2:
                break
            kick(fit, best, rng)
            self.swaps += swap(fit, self.out_of_time)
            if fit.value < value * (1 - IMPROVES):
                best, value = fit.members, fit.value
        return self.descend(fit.columns.names[best])

    def _near(self, support: np.ndarray | None = None) -> Columns:
        """The columns of the pool and of a support, dense; they are kept and added to."""
        if self.pool_is_all:
            return self.columns
        self.pool.chosen |= set() if support is None else set(support.tolist())
        known = self._dense[0] if self._dense else None
        if known is None:
            self._dense[:] = [self.columns.take(np.array(sorted(self.pool.chosen), dtype=int))]
        elif len(known.names) != len(self.pool.chosen):
            new = sorted(self.pool.chosen.difference(known.names.tolist()))
            self._dense[:] = [known.grown(self.columns, np.array(new, dtype=int))]
        return self._dense[0]

    def _fit(self, columns: Columns, support: np.ndarray) -> Fit:
        """The fit on a support; it is good until the next one on these columns is asked for."""
        room, all_columns = max(self.k, len(support)), columns is self.columns
        fit = self._fits.get(all_columns)
        if fit is None or fit.columns is not columns or fit.room < room:
            fit = self._fits[all_columns] = Fit(columns, room)
        return fit.cleared().with_members(columns.positions(support))
