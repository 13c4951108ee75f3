r"""Local search over supports for r < 2: swaps proposed by a quadratic, judged by the loss itself.

At the best fit on a support the loss is majorised by a weighted sum of squares, for which every
swap is scored exactly (``support_fit``). The most promising ones are fitted under the true loss,
many at once, and the best of them is made if it lowers it. The majorizer of a sample that is fitted
exactly is infinitely steep, so the sample weights are those of a smoothed loss; two smoothings
propose swaps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Self

import numpy as np

from ...losses.few_columns import StackedFits, fit
from ...numerics.cached import cached_property
from ...problems.penalised import PenalisedProblem
from ..base import OutOfTime, never
from .columns import Columns, closed_rows, free_columns, padded, without
from .search import NO_ROWS, Found, Products, SquaredSearch, SupportSearch, best_of, some_leave
from .support_fit import Fit

SMOOTHINGS = (0.5, 0.05)  # of the residual's size, for the sample weights that score swaps
TRIED = 24  # swaps fitted under the true loss in one round, at most; fewer where that takes long
REWEIGHTINGS = 10  # in the rough fits that compare swaps: 2 % of the loss is left by then
REFITTED = 2  # of the swaps in a round fitted to the end
CAME_NEAR = 1.1  # times the best loss: what a kick reached is then worth swaps by the loss itself
ROUGH_FLOOR = 1e-6  # smoothing of the fits that judge a swap, relative to the data


def search_for(problem: PenalisedProblem, out_of_time: OutOfTime = never) -> SupportSearch:
    """The local search for the problem's loss."""
    k = min(problem.limit, int(np.sum(~closed_rows(problem))))
    kind = SquaredSearch if problem.loss.quadratic else RobustSearch
    return kind(problem, k, out_of_time)


class RobustSearch(SupportSearch):
    """The search for the l_{2,r} loss, r < 2."""

    pool_size = 600  # smaller than for squares: it is scanned anew at every support

    def __init__(self, problem: PenalisedProblem, k: int, out_of_time: OutOfTime = never):
        super().__init__(problem, k, out_of_time)
        free = np.flatnonzero(problem.penalty.free(problem.n_rows))
        self.F = problem.design.take(free)
        self.free_ridges = problem.ridges[free]
        # values differ by so much for no other reason than the smoothing of the fits
        size = problem.residual_scale**problem.loss.r / problem.loss.r
        self.resolution = 2 * ROUGH_FLOOR * size
        # residuals of best fits, and what the ridge adds to their loss
        self._residuals: dict[tuple[int, ...], tuple[np.ndarray, float]] = {}
        self._next: dict[tuple[int, ...], Found | None] = {}
        self._pool_block = NO_ROWS, np.empty((len(problem.Y), 0))
        self._weighted: dict[tuple[int, ...], Products] = {}  # of the last support

    def value(self, support: np.ndarray) -> float:
        E, ridge_value = self._fitted(support)
        return self.problem.loss.value_of_residual(E) + ridge_value

    def forward(self) -> np.ndarray:
        return self._grown(NO_ROWS, in_pool=False)

    def descend(self, support: np.ndarray, in_pool: bool = False) -> Found:
        """In the pool swaps are those of sample weights alone; they take a tenth of the time."""
        while len(support) > self.k:
            support = self._without_weakest(support)
        if len(support) < self.k:
            support = self._grown(support, in_pool)
        if in_pool:
            return self._settled(support)
        return self._swapped(support, in_pool=False)

    def _swapped(self, support: np.ndarray, in_pool: bool) -> Found:
        """Make swaps that the loss itself confirms, until none is found."""
        value = self.value(support)
        for _ in range(200):
            better = None if self.out_of_time() else self._better(support, value, in_pool)
            if better is None:
                break
            support, value = better
        return support, value

    def best_for_squares(self, rounds: int, kicks: int, rng: np.random.Generator) -> np.ndarray:
        """The support that squared loss chooses; what its search looked at joins the pool."""
        squared = self._squared
        support = squared.kicked(squared.forward(), rounds, kicks, rng)[0]
        self.pool.update(squared.pool)
        return support

    def rounded(self, support: np.ndarray, n_ridges: int) -> Iterator[tuple[str, np.ndarray]]:
        """Those of squared loss."""
        for name, found in self._squared.rounded(support, n_ridges):
            self.pool.update(found.tolist())
            yield name, found

    def with_k(self, k: int) -> Self:
        other = super().with_k(k)
        other.__dict__.pop("_squared", None)  # it is for this k
        return other

    @cached_property
    def _squared(self) -> SquaredSearch:
        loss = replace(self.problem.loss, r=2.0)
        return SquaredSearch(replace(self.problem, loss=loss), self.k, self.out_of_time)

    def kick(self, support: np.ndarray, rng: np.random.Generator) -> Found:
        """Exchanged and swapped under sample weights; then, if it came near, by the loss itself."""
        found = self._swapped_under_weights(support, some_leave(support, rng), rng)
        found, value = self._settled(found)
        if value > CAME_NEAR * self.value(support):
            return found, value
        return self._swapped(found, in_pool=True)

    def _settled(self, support: np.ndarray) -> Found:
        """Swapped under its own sample weights, again and again, while the loss falls."""
        value = self.value(support)
        while not self.out_of_time():
            trial = self._swapped_under_weights(support, support)
            reached = self.value(trial)
            if reached >= value - self.resolution:
                break
            support = trial
            value = reached
        return support, value

    def _swapped_under_weights(
        self, support: np.ndarray, members: np.ndarray, rng: np.random.Generator | None = None
    ) -> np.ndarray:
        """What swaps in the pool make of some members under the sample weights of a support."""
        key = tuple(support.tolist())
        if key not in self._weighted:
            columns = self._scoring_fit(support, True, SMOOTHINGS[0]).columns
            self._weighted = {key: Products.of(columns, range(len(columns.names)))}
        products = self._weighted[key]
        positions = np.searchsorted(products.names, members)
        return np.sort(products.names[products.exchanged(positions, self.k, rng)])

    # -- changes of a support ---------------------------------------------------------------------

    def _without_weakest(self, support: np.ndarray) -> np.ndarray:
        """The support without the row that is missed least."""
        trials = [np.delete(support, i) for i in range(len(support))]
        return min(trials, key=self.value)

    def _grown(self, support: np.ndarray, in_pool: bool) -> np.ndarray:
        """The support with rows added until there are k, as long as any can be."""
        while len(support) < self.k and not self.out_of_time():
            fit = self._scoring_fit(support, in_pool, SMOOTHINGS[0])
            larger = self._with_the_best(support, fit)
            if larger.size == support.size:
                break
            support = larger
        return np.sort(support)

    def _with_the_best(self, support: np.ndarray, fit: Fit) -> np.ndarray:
        """The support with the row that helps the loss most, of those that the majorizer likes."""
        gains = fit.gains()
        self.note(fit, gains)
        best = np.sort(best_of(gains, self._tried(len(support) + 1)))
        if not best.size:
            return support
        trials = [np.append(support, name) for name in fit.columns.names[best]]
        return trials[int(np.argmin(self._rough_values(trials)))]

    def _better(self, support: np.ndarray, value: float, in_pool: bool) -> Found | None:
        """The best of the proposed swaps, if it lowers the loss; searches meet again and again."""
        key = (int(in_pool), *support.tolist())
        if key not in self._next:
            self._next[key] = self._best_swap(support, value, in_pool)
        return self._next[key]

    def _best_swap(self, support: np.ndarray, value: float, in_pool: bool) -> Found | None:
        for smoothing in SMOOTHINGS:
            trials = self._proposals(support, in_pool, smoothing)
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

    def _proposals(self, support: np.ndarray, in_pool: bool, smoothing: float) -> list[np.ndarray]:
        """The supports that the most promising swaps lead to."""
        fit = self._scoring_fit(support, in_pool, smoothing)
        if not fit.size:
            return []
        gains = fit.swap_gains()
        self.note(fit, gains.max(axis=0))
        scores = gains.ravel()
        best = best_of(scores, self._tried(self.k))
        best = best[np.argsort(-scores[best], kind="stable")]
        names = fit.columns.names
        trials = []
        for i, j in zip(*np.unravel_index(best, gains.shape), strict=True):
            staying = np.delete(names[fit.members], i)
            trials.append(np.sort(np.append(staying, names[j])))
        return trials

    def _tried(self, k: int) -> int:
        """How many supports of k rows are worth a rough fit: 3e8 flops, and 1.6 MB at a time."""
        n, c = self.problem.Y.shape
        m = k + self.F.shape[1]
        flops = 2.0 * REWEIGHTINGS * n * m * (m + c)
        entries = n * (m + c)
        return int(np.clip(min(3e8 / flops, 2e5 / entries), 3, TRIED))

    # -- fits -------------------------------------------------------------------------------------

    def _scoring_fit(self, support: np.ndarray, in_pool: bool, smoothing: float) -> Fit:
        """Weighted least squares on the support, with the weights of the smoothed loss there."""
        E = self._fitted(support)[0]
        size = float(np.sqrt(np.mean(np.einsum("ij,ij->i", E, E))))
        smoothed = self.problem.loss.smoothed(max(smoothing * size, self.problem.smoothing_floor))
        h = smoothed.residual_weights(E)
        ridge = len(h) * self.problem.ridge / h.mean()
        h = h / h.mean()
        if in_pool:
            names, block = self._near(support)
            root = np.sqrt(h)[:, None]
            F, extra = free_columns(self.problem, root, ridge)
            Y = without(F, padded(root * self.problem.Y, extra))
            A = without(F, padded(root * block, extra))
            columns = Columns.of_block(A, Y, names, ridge=ridge)
        else:
            columns = Columns.of(self.problem, h, ridge)
        fit = Fit(columns, self.k)
        return fit.with_members(columns.positions(np.sort(support)))

    def _near(self, support: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Names and dense columns of the pool and the support; the last block is kept."""
        names = np.array(sorted(self.pool.union(support.tolist())), dtype=int)
        if not np.array_equal(self._pool_block[0], names):
            self._pool_block = names, self.problem.design.take(names)
        return self._pool_block

    def _fitted(self, support: np.ndarray) -> tuple[np.ndarray, float]:
        """Residual and ridge of the best fit on a support; swaps come back to the same ones."""
        key = tuple(sorted(support.tolist()))
        if key not in self._residuals:
            if len(self._residuals) >= 512:  # as many as are met again; memory is theirs otherwise
                self._residuals.clear()
            self._residuals[key] = self._fit_on(np.array(key, dtype=int))
        return self._residuals[key]

    def _fit_on(self, support: np.ndarray) -> tuple[np.ndarray, float]:
        problem = self.problem
        A = np.hstack([self.F, problem.design.take(support)])
        if not A.shape[1]:
            return -problem.Y, 0.0
        ridges = self._ridges(len(support))
        floor = ROUGH_FLOOR * problem.residual_scale
        B = fit(A, problem.Y, problem.loss, floor, ridges)
        return A @ B - problem.Y, float(ridges @ np.einsum("ij,ij->i", B, B)) / 2

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
