"""Local search over supports: the contract, greedy selection, and the search for squared loss.

Every swap of a member for an outsider is scored exactly and the best is made, until none lowers the
loss. A kick lets several members go, fills up again with columns of large gain and swaps on; what
it finds is kept only if it is better. Most of this happens in a pool of columns that came near to
being chosen, by their products alone. Every support that this finds is looked at among all
columns: that proves it swap-optimal, or brings new columns into the pool. Without the latter the
search stops at what the pool holds: on ALLAML, k = 10, kicks in the pool of forward selection end
at 1.32 to 1.39, and at .97 to 1.07 in one that grows (five seeds).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import NamedTuple, Self

import numpy as np

from ...losses.few_columns import least_squares
from ...numerics.rounding import HALF_THE_DIGITS, LAST_DIGITS
from ...problems.penalised import PenalisedProblem
from ..base import OutOfTime, never
from .columns import Columns, padded
from .pool import Pool
from .support_fit import Fit

NO_ROWS = np.array([], dtype=int)

# In units of the columns' mean square. Under a little more ridge the loss has fewer local minima:
# kicks under these in turn reach lower objectives than as many under the last alone where k is
# large against n (TOX_171, k = 50, mean of five seeds: 8.90 instead of 9.82; ALLAML, k = 20: .115
# instead of .162), and equal ones elsewhere.
RIDGES = (0.03, 0.003, 0.0)


class Found(NamedTuple):
    """A support and the loss of the best fit on it."""

    support: np.ndarray
    value: float


class SupportSearch(ABC):
    """Supports of at most k rows of a problem. All values are losses of best fits."""

    resolution: float  # values that differ by less are equal

    def __init__(self, problem: PenalisedProblem, k: int, out_of_time: OutOfTime = never):
        self.problem = problem
        self.k = k
        self.out_of_time = out_of_time

    def with_k(self, k: int) -> Self:
        """The same columns, pool and memory for another number of rows."""
        other = copy(self)
        other.k = k
        return other

    def improves(self, value: float, on: float) -> bool:
        """Whether a value is lower than another by more than rounding."""
        return value < on * (1 - HALF_THE_DIGITS) - self.resolution

    @abstractmethod
    def value(self, support: np.ndarray) -> float:
        """The loss of the best fit on a support."""

    @abstractmethod
    def forward(self) -> np.ndarray:
        """Greedy forward selection over all columns; it ends with k rows, whatever the clock says:
        fewer are no answer."""

    @abstractmethod
    def descend(self, support: np.ndarray, in_pool: bool = False) -> Found:
        """Swap until no single swap lowers the loss, or none of a column in the pool.

        Missing rows are added first; of too many rows the weakest leave.
        """

    @abstractmethod
    def kicked(
        self, found: Found, rounds: int, kicks: int | None, rng: np.random.Generator
    ) -> Found:
        """The best of a swap-optimal support and what rounds of kicks lead to, swap-optimal too;
        without a number of kicks as many as are in proportion."""


class SquaredSearch(SupportSearch):
    """The search for squared loss, in which every swap is scored exactly."""

    def __init__(self, problem: PenalisedProblem, k: int, out_of_time: OutOfTime = never):
        super().__init__(problem, k, out_of_time)
        self.columns = Columns.of(problem)
        self.pool = Pool(self.columns)
        self.per_value = 1 / (2 * len(problem.Y))  # from sums of squares to losses
        self.resolution = LAST_DIGITS * self.columns.total * self.per_value

    def value(self, support: np.ndarray) -> float:
        """By a fit of its own: the products that swaps rest on have lost half of the digits."""
        columns = self.columns
        # a solver of another kind may name one that lies in the span of what is always in
        support = support[columns.squares[support] > 0]
        if not support.size:
            return columns.total * self.per_value
        # of length one, so that columns of any scale are fitted to the same number of digits
        lengths = np.sqrt(columns.squares[support])
        samples = columns.block(support) / lengths
        # the ridge is one more sample for each column, in which it alone has an entry
        ridge_samples = np.diag(np.sqrt(columns.ridge) / lengths)
        A = np.vstack([samples, ridge_samples])
        Y = padded(columns.Y, len(support))
        B = least_squares(A, Y)
        R = Y - A @ B
        return float(np.vdot(R, R)) * self.per_value

    def forward(self) -> np.ndarray:
        fit = Fit(self.columns, self.k)
        while fit.size < self.k:
            gains = fit.gains()
            j = int(np.argmax(gains))
            if gains[j] == -np.inf:  # every other column depends on the members
                break
            self.pool.note(gains, self.k)  # those that nearly entered are worth swaps later on
            fit.add(j)
        return fit.support

    def descend(self, support: np.ndarray, in_pool: bool = False) -> Found:
        """Swaps in the pool and one among all columns, by turns."""
        best = NO_ROWS
        lowest = np.inf
        while True:
            support = self.pool.exchanged(support, self.k)
            fit = Fit(self.columns, self.k, support)
            # what products promise may be rounding
            if not fit.value < lowest:
                break
            best = fit.support
            lowest = fit.value
            if in_pool or not fit.size or self.out_of_time():
                break
            support = self.best_swap(fit)
            if not support.size:
                break
        return Found(best, lowest * self.per_value)

    def best_swap(self, fit: Fit) -> np.ndarray:
        """The support after the best swap with any column, no rows if none gains."""
        gains = fit.swap_gains()
        most = gains.max(axis=0)
        self.pool.note(most, self.k)
        entering = int(np.argmax(most))
        counts_from = HALF_THE_DIGITS * fit.value + LAST_DIGITS * self.columns.total
        if not most[entering] > counts_from:
            return NO_ROWS
        leaving = int(np.argmax(gains[:, entering]))
        staying = np.delete(fit.members, leaving)
        return np.sort(np.append(staying, entering))

    def kicked(
        self, found: Found, rounds: int, kicks: int | None, rng: np.random.Generator
    ) -> Found:
        best = found
        if len(best.support) < 2:  # one row: every swap has been scored
            return best
        for _ in range(rounds):
            trial = best.support
            for ridge in RIDGES:
                # the pool grows, and with it the time that a kick takes
                n_kicks = kicks or self._kicks(rounds)
                trial = self.pool.kicked(trial, self.k, ridge, n_kicks, rng)
                if self.out_of_time():
                    return best
            if np.array_equal(trial, best.support):
                continue
            found = self.descend(trial)
            if self.improves(found.value, on=best.value):
                best = found
        return best

    def _kicks(self, rounds: int) -> int:
        """For each ridge in each round: all together take half as long as forward selection takes
        other packages, 5 ns for each entry of X and each row (fastcan, benchmarks/topk)."""
        n, c = self.columns.Y.shape
        d = len(self.columns.C)
        # ns for each of the k rows, measured on the same sets
        forward_of_others = 5 * n * d
        one_kick = max(self.pool.size, 1) * (16 + 1.3 * c)
        all_kicks = 0.5 * forward_of_others
        n_shares = rounds * len(RIDGES)
        return max(4, int(all_kicks / (one_kick * n_shares)))


def swapped(problem: PenalisedProblem, k: int, out_of_time: OutOfTime = never) -> np.ndarray:
    """W on the k features (those always in counted) that no swap improves under squared loss and
    the ridge, whatever the penalty.

    Every swap is looked for among all columns: a single descent is no reason to wait some two
    seconds, once, for the compiler of the exchanges in a pool.
    """
    free = problem.penalty.free(problem.n_rows)
    n_features = problem.may_enter.size  # a row of the intercept comes after them
    n_always = int(np.count_nonzero(free[:n_features]))
    constrained = problem.with_limit(max(k - n_always, 0))
    search = SquaredSearch(constrained, constrained.limit, out_of_time)
    best = Fit(search.columns, search.k, search.forward())
    while best.size and not out_of_time():
        support = search.best_swap(best)
        other = Fit(search.columns, search.k, support)
        lower = other.value < best.value  # what a swap promises may be rounding
        if not (other.size and lower):
            break
        best = other
    return constrained.refitted(best.support)


def unexplained(problem: PenalisedProblem) -> tuple[float, np.ndarray]:
    """The share of Y's squares that forward selection leaves, of those that free rows leave, one
    where they leave none; and what it selects."""
    search = SquaredSearch(problem, problem.limit)
    nothing = search.value(NO_ROWS)
    if nothing <= search.resolution:
        return 1.0, NO_ROWS
    support = search.forward()
    return search.value(support) / nothing, support
