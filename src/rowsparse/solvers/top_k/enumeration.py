r"""The best one or two rows, by comparing all of them.

- k = 1, r = 2: every column's gain is known in closed form.
- k = 1, 1 <= r < 2: every column is fitted by reweighted least squares. The weighted residual
  ``Theta = h E / n`` of such a fit is orthogonal to the columns, hence a point of the dual, and
  bounds that column's loss from below; columns whose bound passes the best value drop out.
- k = 2, r = 2: all pairs, from blocks of the correlation matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...losses.few_columns import StackedFits
from ...losses.residual import ResidualLoss
from ...problems.penalised import PenalisedProblem
from ..base import OutOfTime
from .support_fit import Columns, Fit, closed_rows

PROVED = 1e-6  # relative distance of bound and objective that counts as none
PAIR_BLOCK = 256  # columns whose correlations, in single precision, stay inside the cache


@dataclass(frozen=True)
class Bound:
    """No support of the allowed size has a lower objective than ``value``."""

    value: float
    how: str
    support: np.ndarray | None = None  # one that attains it, where enumeration found it


# -- one row --------------------------------------------------------------------------------------


def best_single(problem: PenalisedProblem, out_of_time: OutOfTime) -> Bound:
    """The best single row."""
    if problem.loss.quadratic:
        fit = Fit(Columns.of(problem), 1)
        gains = fit.gains()
        j = int(np.argmax(gains))
        least = fit.value - max(float(gains[j]), 0.0)
        value = max(least, 0.0) / (2 * len(problem.Y))
        return Bound(value, "all columns compared", np.array([j]))
    race = _Race(problem)
    while race.open.size and race.steps < 400 and not out_of_time():
        race.advance(4 if race.steps < 8 else 8)
    if race.open.size:
        return Bound(min(race.bound, race.open_bound), "all columns compared, some only bounded")
    return Bound(race.bound, "all columns compared", np.array([race.best]))


class _Race:
    """All single columns at once; those that cannot win any more drop out."""

    def __init__(self, problem: PenalisedProblem):
        self.problem = problem
        self.F = problem.design.take(np.flatnonzero(problem.penalty.free(problem.n_rows)))
        self.open = np.flatnonzero(~closed_rows(problem))
        self.squares = np.empty((self.open.size, len(problem.Y)))  # of the residuals, so far
        self.steps = 0
        self.lowest = np.inf  # loss of any column
        self.best = int(self.open[0])
        self.bound = np.inf  # of all columns that dropped out
        self.open_bound = 0.0  # of the others

    def advance(self, steps: int) -> None:
        """Some reweightings of every open column, then drop those that are decided."""
        n, c = self.problem.Y.shape
        entries = n * (c + 2 * self.F.shape[1] + 4)
        size = max(1, int(3e5 / entries))  # arrays of 2.4 MB stay inside the cache
        lower = np.empty(self.open.size)
        for start in range(0, self.open.size, size):
            part = slice(start, start + size)
            lower[part] = self._reweight(part, steps)
        self.steps += steps
        decided = lower >= self.lowest * (1 - PROVED)
        self.bound = float(lower[decided].min(initial=self.bound))
        self.open_bound = float(lower[~decided].min(initial=np.inf))
        self.open = self.open[~decided]
        self.squares = self.squares[~decided]

    def _reweight(self, part: slice, steps: int) -> np.ndarray:
        """Lower bounds on the losses of some open columns."""
        names = self.open[part]
        loss = self.problem.loss
        columns = self.problem.design.take(names).T[:, :, None]
        F = np.broadcast_to(self.F, (names.size, *self.F.shape))
        A = np.concatenate([F, columns], axis=2)
        fits = StackedFits(A, self.problem.Y, loss, 0.5, self.problem.smoothing_floor)
        fits.resume(self.steps, self.squares[part])
        lower = np.zeros(names.size)
        for _ in range(steps):
            h = fits.step()
            lower = np.maximum(lower, dual_bounds(h, fits.squares, loss))
            values = fits.values()
            j = int(np.argmin(values))
            if values[j] < self.lowest:
                self.lowest = float(values[j])
                self.best = int(names[j])
        self.squares[part] = fits.squares
        return lower


def dual_bounds(h: np.ndarray, squares: np.ndarray, loss: ResidualLoss) -> np.ndarray:
    """Lower bounds on the loss, from the residuals of weighted fits with sample weights h (t x n).

    ``Theta = h E / n`` is orthogonal to the columns, so ``t <Theta, E>`` minus the conjugate at
    ``t Theta`` bounds the loss for every t >= 0; the best t is taken.
    """
    n = h.shape[1]
    shares = loss.weights(n) / n
    gain = np.einsum("ti,ti->t", h, squares) / n
    norms = h * np.sqrt(squares) / n
    if loss.r == 1:
        longest = (norms / shares).max(axis=1)
        return np.divide(gain, longest, out=np.zeros_like(gain), where=longest > 0)
    q = loss.r / (loss.r - 1)
    cost = (shares ** (1 - q) * norms**q).sum(axis=1)  # q times the conjugate
    ratio = np.divide(gain, cost, out=np.zeros_like(gain), where=cost > 0)
    t = ratio ** (1 / (q - 1))
    return t * gain - t**q * cost / q


# -- two rows -------------------------------------------------------------------------------------


def best_pair(
    problem: PenalisedProblem, out_of_time: OutOfTime, objective: float = np.inf
) -> Bound | None:
    """The best two rows for squared loss; None where time runs out.

    ``objective``, of any two rows, spares work. Pairs are screened in single precision; those that
    its rounding leaves in doubt are scored in double precision.
    """
    columns = Columns.of(problem)
    pairs = _Pairs(columns)
    total = float(np.vdot(columns.Y, columns.Y))
    known = total * (1 - 1e-9) - 2 * len(problem.Y) * objective
    pairs.most = max(pairs.most, known)
    parts = [slice(a, a + PAIR_BLOCK) for a in range(0, pairs.rows.size, PAIR_BLOCK)]
    for start in range(0, len(parts), 8):  # eight blocks are kept while all others pass by
        group = [(first, pairs.block(first)) for first in parts[start : start + 8]]
        for second in parts[start:]:
            if out_of_time():
                return None
            right = pairs.block(second)
            for first, left in group:
                if first.start <= second.start:
                    pairs.compare(first, left, second, right)
    value = max(total - pairs.most, 0.0) / (2 * len(problem.Y))
    return Bound(value, "all pairs of columns compared", np.sort(pairs.rows[pairs.best]))


class _Pairs:
    """The pair of columns that explains most, of those compared so far.

    With unit columns of correlation rho, ``B = X'Y`` and g = |b|**2, a pair explains

        (g_i + g_j - 2 rho b_i'b_j) / (1 - rho**2),

    which is more than M where ``g_i + g_j - M + rho (M rho - 2 b_i'b_j) > 0``.
    """

    def __init__(self, columns: Columns):
        self.columns = columns
        self.rows = np.flatnonzero(columns.squares > 0)
        self.lengths = np.sqrt(columns.squares[self.rows])
        self.B = columns.C[self.rows] / self.lengths[:, None]
        self.single = np.einsum("ij,ij->i", self.B, self.B)
        self.best = np.array([int(np.argmax(self.single))])
        self.most = float(self.single.max())
        n = len(columns.Y)
        self.slack = 4 * (n + 16) * float(np.finfo(np.float32).eps)  # of rho, with room to spare
        self._B = self.B.astype(np.float32)
        self._single = self.single.astype(np.float32)
        self._scratch = np.empty((3, PAIR_BLOCK * PAIR_BLOCK), dtype=np.float32)

    def block(self, part: slice) -> np.ndarray:
        """Unit columns in single precision."""
        block = self.columns.block(self.rows[part])
        block /= self.lengths[part]
        return block.astype(np.float32)

    def compare(self, first: slice, left: np.ndarray, second: slice, right: np.ndarray) -> None:
        """All pairs of two parts of the columns, given their blocks."""
        shape = left.shape[1], right.shape[1]
        size = shape[0] * shape[1]
        rho, test, product = (memory[:size].reshape(shape) for memory in self._scratch)
        np.matmul(left.T, right, out=rho)
        np.matmul(-2 * self._B[first], self._B[second].T, out=test)
        test += np.multiply(rho, np.float32(self.most), out=product)
        test *= rho
        test += self._single[second]
        least = self.most * (1 - self.slack) - self.single[first]
        doubtful = np.flatnonzero(test.max(axis=1) >= least)
        if not doubtful.size:
            return
        i, j = np.nonzero(test[doubtful] >= least[doubtful, None])
        i = doubtful[i]
        # what the pair explains at most, were rho off by the slack
        apart = 1 - rho[i, j].astype(float) ** 2
        upper = test[i, j] + self.single[first][i] + self.most * (apart - 1 + self.slack)
        apart -= self.slack
        upper = np.divide(upper, apart, out=np.full(i.size, np.inf), where=apart > 0)
        self._score(first.start + i, second.start + j, upper)

    def _score(self, i: np.ndarray, j: np.ndarray, upper: np.ndarray) -> None:
        """Doubtful pairs in double precision, the most promising first."""
        order = np.argsort(-upper, kind="stable")
        for start in range(0, order.size, PAIR_BLOCK):
            part = order[start : start + PAIR_BLOCK]
            if upper[part[0]] <= self.most:
                return
            explained = self._explained(i[part], j[part])
            t = int(np.argmax(explained))
            if explained[t] > self.most:
                self.most = float(explained[t])
                self.best = np.array([i[part[t]], j[part[t]]])

    def _explained(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """What pairs explain; minus infinity where one column depends on the other."""
        left = self.columns.block(self.rows[a]) / self.lengths[a]
        right = self.columns.block(self.rows[b]) / self.lengths[b]
        rho = np.einsum("ij,ij->j", left, right)
        joint = self.single[a] + self.single[b]
        joint -= 2 * rho * np.einsum("ij,ij->i", self.B[a], self.B[b])
        apart = 1 - rho**2
        independent = apart > self.columns.dependent
        return np.divide(joint, apart, out=np.full(a.size, -np.inf), where=independent)
