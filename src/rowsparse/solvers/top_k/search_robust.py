r"""Local search over supports for r < 2: swaps proposed by a quadratic, judged by the loss itself.

At the best fit on a support the loss is majorised by a weighted sum of squares, for which every
swap is scored exactly (``quadratic``). The most promising ones are fitted under the true loss, many
at once, and the best of them is made if it lowers it. The majorizer of a sample that is fitted
exactly is infinitely steep, so the weights are those of a smoothed loss; two smoothings propose
swaps.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import numpy as np

from ...losses.residual import ResidualLoss
from ...problems.penalised import PenalisedProblem
from .candidates import Columns
from .greedy import Pool, forward
from .refit import fit_unless_above
from .search_squared import kick
from .support_fit import Fit

SMOOTHINGS = (0.5, 0.05)  # of the residual's size, for the weights that score swaps
TRIED = 24  # swaps fitted under the true loss in one round, at most
REWEIGHTINGS = 10  # in the rough fits that compare swaps
FLOPS = 3e8  # of one round of rough fits
ENTRIES = 2e5  # of the stacked matrices of one
REFITTED = 2  # of them fitted to the end
NEARLY = 1.02  # a rough fit is that close
ROUGH_FLOOR = 1e-6  # smoothing of the fits that judge a swap, relative to the data
KEPT = 512  # supports whose residuals are remembered
POOL = 600
MAX_SWAPS = 200


class RobustSearch:
    """Supports of at most k rows for the l_{2,r} loss of a problem, r < 2."""

    pool_is_all = False

    def __init__(
        self, problem: PenalisedProblem, k: int, out_of_time: Callable[[], bool] = lambda: False
    ):
        self.problem, self.k, self.out_of_time = problem, k, out_of_time
        self.F = problem.design.take(np.flatnonzero(problem.penalty.free(problem.n_rows)))
        self.pool = Pool(int(np.clip(POOL // max(k, 1), 20, 100)))
        self.swaps = 0
        # values differ by so much for no other reason than the smoothing of the fits
        self.resolution = 2 * ROUGH_FLOOR * problem.residual_scale**problem.loss.r / problem.loss.r
        self._residuals: dict[tuple, np.ndarray] = {}
        self._next: dict[tuple, tuple[np.ndarray, float] | None] = {}
        self._pool_block: tuple[np.ndarray, np.ndarray] | None = None

    def value(self, support: np.ndarray) -> float:
        """The loss of the best fit on a support."""
        return self.problem.loss.value_of_residual(self._residual(support))

    def forward(self) -> np.ndarray:
        """Add the row that helps the loss most, among those the majorizer likes best."""
        return self._forward(None, np.array([], dtype=int), None)

    def forward_in_pool(self, rng: np.random.Generator) -> np.ndarray:
        """Randomised forward selection among the columns of the pool, by the majorizer alone."""
        return self._forward(self._near(), np.array([], dtype=int), rng)

    def descend(self, support: np.ndarray) -> tuple[np.ndarray, float]:
        """Swaps over all columns until none of those tried lowers the loss."""
        if len(support) < self.k:
            support = self._forward(None, support, None)
        return self._swap(support, None)

    def with_k(self, k: int) -> RobustSearch:
        """The same columns, pool and memory for another number of rows."""
        other = copy(self)
        other.k, other.swaps = k, 0
        return other

    def _without_weakest(self, support: np.ndarray) -> np.ndarray:
        """The support without the row that is missed least."""
        trials = [np.delete(support, i) for i in range(len(support))]
        return min(trials, key=self.value)

    def descend_in_pool(self, support: np.ndarray) -> tuple[np.ndarray, float]:
        """Swaps over the columns of the pool; of too many rows the weakest leave first."""
        while len(support) > self.k:
            support = self._without_weakest(support)
        if len(support) < self.k:
            support = self._forward(self._near(support), support, None)
        return self._swap(support, self._near(support))

    def kicked(
        self, support: np.ndarray, n_kicks: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, float]:
        """The best of a support and what exchanges of several of its rows lead to."""
        value = self.value(support)
        for _ in range(n_kicks):
            if self.out_of_time() or len(support) < 2:
                break
            fit = self._scoring_fit(support, self._near(support), SMOOTHINGS[0])
            trial, reached = self.descend_in_pool(kick(fit, fit.members, rng).support)
            if reached < value - self.resolution:
                support, value = trial, reached
        return self.descend(support)

    # -- steps ------------------------------------------------------------------------------------

    def _forward(self, names, support: np.ndarray, rng) -> np.ndarray:
        while len(support) < self.k and not self.out_of_time():
            fit = self._scoring_fit(support, names, SMOOTHINGS[0])
            gains = fit.gains()
            self.pool.note(gains, fit.columns.names)
            if rng is not None:
                grown = forward(fit, fit.size + 1, rng).support
                if grown.size == support.size:
                    break
                support = grown
                continue
            best = np.argsort(-gains, kind="stable")[: self._tried(len(support) + 1)]
            best = best[gains[best] > -np.inf]
            if not best.size:
                break
            trials = [np.append(support, fit.columns.names[j]) for j in best]
            support = trials[int(np.argmin(self._rough_values(trials)))]
        return np.sort(support)

    def _swap(self, support: np.ndarray, names: np.ndarray | None) -> tuple[np.ndarray, float]:
        value = self.value(support)
        for _ in range(MAX_SWAPS):
            better = None if self.out_of_time() else self._better(support, value, names)
            if better is None:
                break
            self.swaps += 1
            support, value = better
        return support, value

    def _better(self, support, value: float, names) -> tuple[np.ndarray, float] | None:
        """The best of the proposed swaps, if it lowers the loss; searches meet again and again."""
        key = (names is None, *support.tolist())
        if key not in self._next:
            self._next[key] = self._best_swap(support, value, names)
        return self._next[key]

    def _best_swap(self, support, value: float, names) -> tuple[np.ndarray, float] | None:
        for smoothing in SMOOTHINGS:
            trials = self._proposals(support, names, smoothing)
            if not trials:
                continue
            values = self._rough_values(trials)
            for t in np.argsort(values, kind="stable")[:REFITTED]:
                if values[t] > NEARLY * value:
                    break
                target = value - self.resolution
                if self._reaches(trials[t], target) and self.value(trials[t]) < target:
                    return trials[t], self.value(trials[t])
        return None

    def _proposals(self, support, names, smoothing: float) -> list[np.ndarray]:
        fit = self._scoring_fit(support, names, smoothing)
        if not fit.size:
            return []
        gains = fit.swap_gains()
        self.pool.note(gains.max(axis=0), fit.columns.names)
        n = min(self._tried(self.k), gains.size)
        flat = np.argpartition(-gains, n - 1, axis=None)[:n]
        flat = flat[np.argsort(-gains.ravel()[flat], kind="stable")]
        trials = []
        for i, j in zip(*np.unravel_index(flat, gains.shape), strict=True):
            if gains[i, j] > -np.inf:
                kept = np.delete(fit.columns.names[fit.members], i)
                trials.append(np.sort(np.append(kept, fit.columns.names[j])))
        return trials

    # -- fits -------------------------------------------------------------------------------------

    def _scoring_fit(self, support, names, smoothing: float) -> Fit:
        """Weighted least squares on the support, with the weights of the smoothed loss there."""
        E = self._residual(support)
        size = np.sqrt(np.mean(np.einsum("ij,ij->i", E, E)))
        size = max(smoothing * float(size), self.problem.smoothing_floor)
        h = self.problem.loss.smoothed(size).residual_weights(E)
        root = np.sqrt(h / h.mean())[:, None]
        if names is None:
            columns = Columns.of(self.problem, h / h.mean())
        else:
            names, block = self._block(names, support)
            columns = Columns.of_block(root * block, root * self.F, root * self.problem.Y, names)
        fit = Fit(columns, self.k)
        return fit.with_members(np.searchsorted(columns.names, np.sort(support)))

    def _residual(self, support: np.ndarray) -> np.ndarray:
        """Of the best fit on a support; swaps come back to the same ones."""
        self._reaches(support, np.inf)
        return self._residuals[_key(support)]

    def _reaches(self, support: np.ndarray, value: float) -> bool:
        """Fit the support, unless its loss is known to stay above the value before the fit ends."""
        key = _key(support)
        if key not in self._residuals:
            E = self._fitted(support, value)
            if E is None:
                return False
            if len(self._residuals) >= KEPT:
                self._residuals.clear()
            self._residuals[key] = E
        return True

    def _fitted(self, support: np.ndarray, above: float) -> np.ndarray | None:
        """The residual of the best fit, None where its loss stays above the given value."""
        A = np.hstack([self.F, self.problem.design.take(np.sort(support).astype(int))])
        Y, floor = self.problem.Y, ROUGH_FLOOR * self.problem.residual_scale
        if not A.shape[1]:
            return -Y
        B = fit_unless_above(A, Y, self.problem, floor, above)
        return None if B is None else A @ B - Y

    def _rough_values(self, trials: list[np.ndarray]) -> np.ndarray:
        used, where = np.unique(np.concatenate(trials), return_inverse=True)
        block = self.problem.design.take(used)
        F = np.broadcast_to(self.F, (len(trials), *self.F.shape))
        A = block[:, where.reshape(len(trials), -1)].transpose(1, 0, 2)
        return rough_values(np.concatenate([F, A], axis=2), self.problem.Y, self.problem.loss)

    def _tried(self, k: int) -> int:
        n, m = len(self.problem.Y), k + self.F.shape[1]
        cost = 2.0 * REWEIGHTINGS * n * m * (m + self.problem.Y.shape[1])
        entries = n * (m + self.problem.Y.shape[1])
        return int(np.clip(min(FLOPS / cost, ENTRIES / entries), 3, TRIED))

    def _near(self, support: np.ndarray | None = None) -> np.ndarray:
        chosen = self.pool.chosen | (set() if support is None else set(support.tolist()))
        return np.array(sorted(chosen), dtype=int)

    def _block(self, names: np.ndarray, support: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The named columns, dense; the last block is kept."""
        names = np.union1d(names, support).astype(int)
        if self._pool_block is None or not np.array_equal(self._pool_block[0], names):
            self._pool_block = names, self.problem.design.take(names)
        return self._pool_block


def _key(support: np.ndarray) -> tuple:
    return tuple(sorted(support.tolist()))


def rough_values(A: np.ndarray, Y: np.ndarray, loss: ResidualLoss) -> np.ndarray:
    """The loss of some fit, near the best one, on each of the stacked matrices A (t x n x m)."""
    s = loss.weights(len(Y))
    A = A / np.sqrt(np.einsum("tij,tij->tj", A, A) + 1e-300)[:, None, :]
    h = np.broadcast_to(s, A.shape[:2])
    lowest = np.full(len(A), np.inf)
    smoothing = None
    weighted, E = np.empty_like(A), np.empty((*A.shape[:2], Y.shape[1]))  # new memory is slow
    for _ in range(REWEIGHTINGS):
        np.multiply(A, h[:, :, None], out=weighted)
        G = A.transpose(0, 2, 1) @ weighted
        diagonal = np.einsum("tjj->tj", G)
        diagonal += 1e-10 * diagonal.max(axis=1, keepdims=True)
        np.matmul(A, np.linalg.solve(G, weighted.transpose(0, 2, 1) @ Y), out=E)
        E -= Y
        squares = np.einsum("tij,tij->ti", E, E)
        lowest = np.minimum(lowest, squares ** (loss.r / 2) @ s / (loss.r * len(Y)))
        if smoothing is None:
            smoothing = squares.mean(axis=1, keepdims=True)
        smoothing = np.maximum(0.2 * smoothing, 1e-300)
        squares += smoothing
        h = s * squares ** (loss.r / 2) / squares  # a root is faster than other powers
    return lowest
