r"""Local search over supports for r < 2: swaps proposed by a quadratic, judged by the loss itself.

At the best fit on a support the loss is majorised by a weighted sum of squares, for which every
swap is scored exactly (``support_fit``). The most promising ones are fitted under the true loss,
many at once, and the best of them is made if it lowers it. The majorizer of a sample that is fitted
exactly is infinitely steep, so the sample weights are those of a smoothed loss; two smoothings
propose swaps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np

from ...losses.few_columns import StackedFits, fit
from ...numerics.exchanges import NOTHING, Products, exchanged
from ...numerics.rows import row_squares
from ...problems.penalised import PenalisedProblem
from ..base import OutOfTime, never
from .columns import Columns, closed_rows
from .pool import best_of
from .search import Found, SquaredSearch, SupportSearch
from .support_fit import Fit

SMOOTHINGS = (0.5, 0.05)  # of the residual's size, for the sample weights that score swaps
TRIED = 24  # swaps fitted under the true loss in one round, at most; fewer where that takes long
REWEIGHTINGS = 10  # in the rough fits that compare swaps: 2 % of the loss is left by then
REFITTED = 2  # of the swaps in a round fitted to the end
CAME_NEAR = 1.05  # times the best loss: what a kick reached is then worth swaps by the loss itself
MOST_KICKS = 16  # in a round; of those that come with more, most lead back to the same supports
ROUGH_FLOOR = 1e-6  # smoothing of the fits that judge a swap, relative to the data


def search_for(problem: PenalisedProblem, out_of_time: OutOfTime = never) -> SupportSearch:
    """The local search for the problem's loss."""
    k = min(problem.limit, int(np.sum(~closed_rows(problem))))
    kind = SquaredSearch if problem.loss.quadratic else RobustSearch
    return kind(problem, k, out_of_time)


class RobustSearch(SupportSearch):
    """The search for the l_{2,r} loss, r < 2; squared loss finds where to start, and the pool."""

    def __init__(self, problem: PenalisedProblem, k: int, out_of_time: OutOfTime = never):
        super().__init__(problem, k, out_of_time)
        free = np.flatnonzero(problem.penalty.free(problem.n_rows))
        self.F = problem.design.take(free)
        self.free_ridges = problem.ridges[free]
        # values differ by so much for no other reason than the smoothing of the fits
        size = problem.residual_scale**problem.loss.r / problem.loss.r
        self.resolution = 2 * ROUGH_FLOOR * size
        # residuals of best fits and what the ridge adds to their loss: swaps come back to the same
        self._fits: dict[tuple[int, ...], tuple[np.ndarray, float]] = {}
        squares = replace(problem, loss=replace(problem.loss, r=2.0))
        self.squared = SquaredSearch(squares, k, out_of_time)

    def with_k(self, k: int) -> Self:
        other = super().with_k(k)
        other.squared = self.squared.with_k(k)
        return other

    def value(self, support: np.ndarray) -> float:
        E, ridge_value = self._fitted(support)
        return self.problem.loss.value_of_residual(E) + ridge_value

    def forward(self) -> np.ndarray:
        return self.squared.forward()

    def descend(self, support: np.ndarray, in_pool: bool = False) -> Found:
        """In the pool swaps are those of sample weights alone; they take a tenth of the time."""
        found = self._settled(support)
        return found if in_pool else self._swapped(found, in_pool=False)

    def kicked(
        self, found: Found, rounds: int, kicks: int | None, rng: np.random.Generator
    ) -> Found:
        best = found
        seen = {tuple(found[0].tolist())}  # kicks often lead back to where others have been
        for _ in range(rounds * (self._kicks(rounds) if kicks is None else kicks)):
            if self.out_of_time() or len(best[0]) < 2:
                break
            found = self._settled(self._kick(best[0], rng))
            key = tuple(found[0].tolist())
            if key in seen:
                continue
            seen.add(key)
            if found[1] < CAME_NEAR * best[1]:
                found = self._swapped(found, in_pool=True)
            if self.improves(found[1], best[1]):
                best = self._swapped(found, in_pool=False)
        return best

    def _kicks(self, rounds: int) -> int:
        """In each round; fewer where one, about three fits, takes long beside forward selection."""
        n, c = self.problem.Y.shape
        d = self.problem.n_rows
        one = 0.006 + 1.8e-7 * n * self.k * (self.k + c)
        return int(np.clip((0.5 + 7e-9 * n * d * self.k) / (one * rounds), 0, MOST_KICKS))

    def _kick(self, support: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Some rows leave; others that help under the weights of the support take their places."""
        n_leaving = int(rng.integers(min(2, len(support)), min(len(support), 6) + 1))
        staying = np.delete(support, rng.choice(len(support), n_leaving, replace=False))
        return self._exchanged(support, staying, rng.integers(4, size=self.k))

    # -- swaps under the sample weights of a support ----------------------------------------------

    def _settled(self, support: np.ndarray) -> Found:
        """Swapped under its own sample weights, again and again, while the loss falls."""
        if len(support) != self.k:
            support = self._exchanged(support, support)
        value = self.value(support)
        while not self.out_of_time():
            trial = self._exchanged(support, support)
            reached = self.value(trial)
            if not reached < value - self.resolution:
                break
            support, value = trial, reached
        return support, value

    def _exchanged(
        self, support: np.ndarray, members: np.ndarray, ranks: np.ndarray | None = None
    ) -> np.ndarray:
        """What swaps in the pool make of some members under the sample weights of a support."""
        columns = self._weighted(support, SMOOTHINGS[0], in_pool=True)
        ranks = np.zeros(self.k, dtype=int) if ranks is None else ranks
        X = np.ascontiguousarray(columns.block(np.arange(len(columns.C))).T)
        tall = X.shape[1] > X.shape[0]
        products = Products(
            NOTHING if tall else X,
            X @ X.T if tall else NOTHING,
            np.ascontiguousarray(columns.C.T),
            columns.squares - columns.ridge,
            columns.total,
        )
        found = exchanged(products, columns.positions(members), ranks, ridge=columns.ridge)
        return np.sort(columns.names[found])

    def _weighted(self, support: np.ndarray, smoothing: float, in_pool: bool) -> Columns:
        """The columns under the weights of the smoothed loss at the best fit on a support."""
        E = self._fitted(support)[0]
        size = float(np.sqrt(np.mean(row_squares(E))))
        smoothed = self.problem.loss.smoothed(max(smoothing * size, self.problem.smoothing_floor))
        h = smoothed.residual_weights(E)
        ridge = len(h) * self.problem.ridge / h.mean()
        near = self.squared.pool.members
        near[support] = True
        names = np.flatnonzero(near) if in_pool else None
        return Columns.of(self.problem, h / h.mean(), ridge, names)

    # -- swaps by the loss itself -----------------------------------------------------------------

    def _swapped(self, found: Found, in_pool: bool) -> Found:
        """Make swaps that the loss itself confirms, until none is found."""
        better: Found | None = found
        while better is not None:
            found = better
            stop = self.out_of_time() or not found[0].size
            better = None if stop else self._best_swap(found, in_pool)
        return found

    def _best_swap(self, found: Found, in_pool: bool) -> Found | None:
        """The best of the proposed swaps, if it lowers the loss."""
        support, value = found
        for smoothing in SMOOTHINGS:
            trials = self._proposals(support, smoothing, in_pool)
            if not trials:
                continue
            values = self._rough_values(trials)
            for t in np.argsort(values, kind="stable")[:REFITTED]:
                if values[t] > 1.02 * value:  # a rough fit is that close
                    break
                reached = self.value(trials[t])
                if reached < value - self.resolution:
                    return trials[t], reached
        return None

    def _proposals(self, support: np.ndarray, smoothing: float, in_pool: bool) -> list[np.ndarray]:
        """The supports that the most promising swaps lead to."""
        columns = self._weighted(support, smoothing, in_pool)
        fit = Fit(columns, self.k, columns.positions(support))
        if not fit.size:
            return []
        gains = fit.swap_gains()
        if not in_pool:
            self.squared.pool.note(gains.max(axis=0), self.k)
        best = best_of(gains.ravel(), self._tried())
        trials = []
        for i, j in zip(*np.unravel_index(np.sort(best), gains.shape), strict=True):
            staying = np.delete(columns.names[fit.members], i)
            trials.append(np.sort(np.append(staying, columns.names[j])))
        return trials

    def _tried(self) -> int:
        """How many supports are worth a rough fit: 3e8 flops, and 1.6 MB at a time."""
        n, c = self.problem.Y.shape
        m = self.k + self.F.shape[1]
        flops = 2.0 * REWEIGHTINGS * n * m * (m + c)
        entries = n * (m + c)
        return int(np.clip(min(3e8 / flops, 2e5 / entries), 3, TRIED))

    # -- fits -------------------------------------------------------------------------------------

    def _fitted(self, support: np.ndarray) -> tuple[np.ndarray, float]:
        key = tuple(sorted(support.tolist()))
        if key not in self._fits:
            if len(self._fits) >= 512:  # as many as are met again; memory is theirs otherwise
                self._fits.clear()
            self._fits[key] = self._fit_on(np.array(key, dtype=int))
        return self._fits[key]

    def _fit_on(self, support: np.ndarray) -> tuple[np.ndarray, float]:
        problem = self.problem
        A = np.hstack([self.F, problem.design.take(support)])
        if not A.shape[1]:
            return -problem.Y, 0.0
        ridges = self._ridges(len(support))
        floor = ROUGH_FLOOR * problem.residual_scale
        B = fit(A, problem.Y, problem.loss, floor, ridges)
        return A @ B - problem.Y, float(ridges @ row_squares(B)) / 2

    def _ridges(self, n_members: int) -> np.ndarray:
        """Of the free columns and so many others."""
        return np.append(self.free_ridges, np.full(n_members, self.problem.ridge))

    def _rough_values(self, trials: list[np.ndarray]) -> np.ndarray:
        """The loss of some fit, near the best one, on each of several supports of one size."""
        used, where = np.unique(np.concatenate(trials), return_inverse=True)
        block = self.problem.design.take(used)
        own = block[:, where.reshape(len(trials), -1)].transpose(1, 0, 2)
        F = np.broadcast_to(self.F, (len(trials), *self.F.shape))
        A = np.concatenate([F, own], axis=2)
        ridges = self._ridges(own.shape[2]) if self.problem.ridge else None
        fits = StackedFits(A, self.problem.Y, self.problem.loss, 0.2, 0.0, ridges)
        lowest = np.full(len(trials), np.inf)
        for _ in range(REWEIGHTINGS):
            fits.step()
            lowest = np.minimum(lowest, fits.values())
        return lowest
