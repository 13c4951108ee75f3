"""Local search over supports: the contract, greedy selection, and the search for squared loss.

Every swap of a member for an outsider is scored exactly and the best is made, until none lowers the
loss. A kick lets several members go, fills up again with columns of large gain and swaps on; what
it finds is kept only if it is better. Kicks look at a pool of columns that came near to being
chosen; at the end all columns are looked at again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from copy import copy
from typing import ClassVar, NamedTuple, Self

import numpy as np

from ...losses.few_columns import least_squares
from ...numerics.exchanges import exchanged
from ...problems.penalised import PenalisedProblem
from ..base import OutOfTime, never
from .columns import Columns, padded
from .rounding import rounded
from .support_fit import Fit

# Relative decrease of a value that counts: some hundred times what rounding leaves of a value after
# many changes in place, and far below any gain that a user could tell.
IMPROVES = 1e-9
LOST_IN_PRODUCTS = 1e-4  # of |Y|**2: a smaller value has too few digits left, and is fitted
NO_ROWS = np.array([], dtype=int)

Found = tuple[np.ndarray, float]  # a support and the loss of the best fit on it


class SupportSearch(ABC):
    """Supports of at most k rows of a problem. All values are losses of best fits.

    A search notes in its pool which columns came near to being chosen; ``in_pool`` restricts it to
    those. Searches of one problem for several k share what they know (``with_k``).
    """

    pool_size: ClassVar[int]  # about so many columns are noted on the way to k rows
    pool_is_all = False  # then what the pool says is final
    resolution: float  # values that differ by less are equal

    def __init__(self, problem: PenalisedProblem, k: int, out_of_time: OutOfTime = never):
        self.problem = problem
        self.k = k
        self.out_of_time = out_of_time
        self.pool: set[int] = set()
        self.noted_per_scan = int(np.clip(self.pool_size // max(k, 1), 20, 100))

    def with_k(self, k: int) -> Self:
        """The same columns, pool and memory for another number of rows."""
        other = copy(self)
        other.k = k
        return other

    def improves(self, value: float, on: float) -> bool:
        """Whether a value is lower than another by more than rounding."""
        return value < on * (1 - IMPROVES) - self.resolution

    @abstractmethod
    def value(self, support: np.ndarray) -> float:
        """The loss of the best fit on a support."""

    @abstractmethod
    def forward(self) -> np.ndarray:
        """Greedy forward selection over all columns."""

    @abstractmethod
    def descend(self, support: np.ndarray, in_pool: bool = False) -> Found:
        """Swap until no single swap lowers the loss.

        Missing rows are added first; of too many rows the weakest leave.
        """

    @abstractmethod
    def kick(self, support: np.ndarray, rng: np.random.Generator) -> Found:
        """Exchange several rows for others of the pool, then swap in the pool."""

    def rounded(self, support: np.ndarray, n_ridges: int) -> Iterator[tuple[str, np.ndarray]]:
        """Names and supports of further starts, given a good support; none by default."""
        return iter(())

    def kicked(
        self, support: np.ndarray, rounds: int, kicks: int, rng: np.random.Generator
    ) -> Found:
        """The best of a support and what kicks of it lead to, swap-optimal over all columns.

        After a round of kicks in the pool all columns are looked at: new ones join the pool.
        """
        support, value = self.descend(support)
        for _ in range(rounds):
            before = value
            for _ in range(kicks):
                if self.out_of_time() or len(support) < 2:
                    break
                trial, reached = self.kick(support, rng)
                if self.improves(reached, value):
                    support = trial
                    value = reached
            if value < before:
                support, value = self.descend(support)
        return support, value

    # -- steps that all searches make on a fit ----------------------------------------------------

    def note(self, fit: Fit, scores: np.ndarray) -> None:
        """Remember the columns of largest score, where others than the pool's were looked at."""
        if self.pool_is_all or len(scores) <= len(self.pool):
            return
        best = best_of(scores, self.noted_per_scan)
        self.pool.update(fit.columns.names[best].tolist())

    def fill(self, fit: Fit, k: int, out_of_time: OutOfTime = never) -> Fit:
        """Add the column of largest gain until there are k.

        Ends early when every other column depends on the members.
        """
        while fit.size < k and not out_of_time():
            gains = fit.gains()
            j = int(np.argmax(gains))
            if gains[j] == -np.inf:
                break
            self.note(fit, gains)
            fit.add(j)
        return fit


def some_leave(support: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The support without some of its rows, two to six."""
    k = len(support)
    n_leaving = int(rng.integers(2, min(k, 6) + 1))
    return np.delete(support, rng.choice(k, n_leaving, replace=False))


def best_of(scores: np.ndarray, m: int) -> np.ndarray:
    """The indices of the m largest scores, in no order; never one of minus infinity."""
    best = np.arange(len(scores))
    if m < len(scores):
        best = np.argpartition(-scores, m - 1)[:m]
    return best[scores[best] > -np.inf]


class SquaredSearch(SupportSearch):
    """The search for squared loss, in which every swap is scored exactly.

    In the pool it works on the products of columns, which is fast and loses digits.
    """

    # A search among so many costs little beside one look at all of X, and on the cases of
    # benchmarks/topk it finds the supports that a search over all columns finds.
    pool_size = 1000

    def __init__(self, problem: PenalisedProblem, k: int, out_of_time: OutOfTime = never):
        super().__init__(problem, k, out_of_time)
        self.columns = Columns.of(problem)
        if len(self.columns.names) <= self.pool_size:
            self.pool_is_all = True
            self.pool.update(np.flatnonzero(self.columns.squares > 0).tolist())
        self.per_value = 1 / (2 * len(problem.Y))  # from sums of squares to losses
        self.total = float(np.vdot(self.columns.Y, self.columns.Y))
        self.resolution = 1e-14 * self.total * self.per_value
        self._last: Fit | None = None
        self._products: Products | None = None

    def value(self, support: np.ndarray) -> float:
        columns = self.columns
        if not support.size:
            return self.total * self.per_value
        lengths = np.sqrt(columns.squares[support])
        ridges = np.diag(np.full(len(support), np.sqrt(columns.ridge)) / lengths)
        A = np.vstack([columns.block(support) / lengths, ridges])
        Y = padded(columns.Y, len(support))
        R = Y - A @ least_squares(A, Y)
        return float(np.vdot(R, R)) * self.per_value

    def forward(self) -> np.ndarray:
        return self.fill(self._fit(NO_ROWS), self.k, self.out_of_time).support

    def descend(self, support: np.ndarray, in_pool: bool = False) -> Found:
        if in_pool:
            return self._exchanged(support)
        fit = self._fit(support)
        while fit.size > self.k:
            fit.remove(int(np.argmin(fit.sacrifices())))
        self._swap(self.fill(fit, self.k))
        return fit.support, self._loss(fit)

    def kick(self, support: np.ndarray, rng: np.random.Generator) -> Found:
        return self._exchanged(some_leave(support, rng), rng)

    def rounded(self, support: np.ndarray, n_ridges: int) -> Iterator[tuple[str, np.ndarray]]:
        """The relaxation of the pool under some ridges, rounded."""
        products = self._products_with(support)
        members = np.searchsorted(products.names, support)
        B = np.ascontiguousarray(products.B.T)
        for name, found in rounded(products.G, B, self.total, members, self.k, n_ridges):
            yield name, np.sort(products.names[found])

    def _loss(self, fit: Fit) -> float:
        return fit.value * self.per_value

    def _swap(self, fit: Fit) -> None:
        """Make the best swap until none lowers the loss."""
        for _ in range(1000):  # more than any support of the benchmarks has needed, by far
            if self.out_of_time() or not fit.size:
                return
            gains = fit.swap_gains()
            best = gains.max(axis=0)
            self.note(fit, best)
            entering = int(np.argmax(best))
            leaving = int(np.argmax(gains[:, entering]))
            before = fit.value
            if not best[entering] > IMPROVES * before + 1e-14 * fit.total:
                return
            fit.remove(leaving)
            fit.add(entering)
            if fit.value >= before:  # what was to be gained was rounding
                return

    def _fit(self, support: np.ndarray) -> Fit:
        """The fit on a support; it is good until the next one is asked for."""
        room = max(self.k, len(support))
        if self._last is None or self._last.room < room:
            self._last = Fit(self.columns, room)
        return self._last.with_members(self.columns.positions(support))

    def _exchanged(self, support: np.ndarray, rng: np.random.Generator | None = None) -> Found:
        """The support after swaps in the pool; missing rows enter first, given rng by chance."""
        products = self._products_with(support)
        members = np.searchsorted(products.names, support)
        members = np.sort(products.exchanged(members, self.k, rng))
        found = products.names[members]
        value = products.value(members)
        if value < LOST_IN_PRODUCTS * self.total:
            return found, self.value(found)
        return found, value * self.per_value

    def _products_with(self, support: np.ndarray) -> Products:
        """Those of the pool, which a support joins."""
        self.pool.update(support.tolist())
        if self._products is None or len(self._products.names) < len(self.pool):
            self._products = Products.of(self.columns, self.pool)
        return self._products


class Products(NamedTuple):
    """What some columns have with one another and with Y."""

    names: np.ndarray
    G: np.ndarray
    B: np.ndarray  # outputs by columns
    least: np.ndarray  # of what is left of a column that may enter
    total: float  # |Y|**2

    @classmethod
    def of(cls, columns: Columns, chosen: Iterable[int]) -> Products:
        """Of the chosen columns, under their names."""
        positions = np.array(sorted(chosen), dtype=int)
        block = columns.block(positions)
        G = block.T @ block
        G[np.diag_indices_from(G)] += columns.ridge
        # products of a column that depends on others lose more digits than a fit
        least = max(columns.dependent, 1e-8) * G.diagonal()
        B = np.ascontiguousarray(columns.C[positions].T)
        total = float(np.vdot(columns.Y, columns.Y))
        return cls(columns.names[positions], G, B, least, total)

    def value(self, members: np.ndarray) -> float:
        """``|R|**2`` of the fit on some members, none of which depends on the others."""
        B = self.B[:, members]
        return self.total - float(
            np.vdot(B.T, np.linalg.solve(self.G[np.ix_(members, members)], B.T))
        )

    def exchanged(
        self, members: np.ndarray, k: int, rng: np.random.Generator | None = None
    ) -> np.ndarray:
        """Swap-optimal members from these; missing ones enter first, given rng by chance: one of
        the four that gain most."""
        ranks = np.zeros(k, dtype=int) if rng is None else rng.integers(4, size=k)
        enough = IMPROVES, self.total
        return exchanged(self.G, self.B, self.least, members, ranks, enough)
