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
from .columns import Columns, closed_rows
from .support_fit import Fit

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
    if not problem.loss.quadratic:
        return _best_single_robust(problem, out_of_time)
    fit = Fit(Columns.of(problem), 1)
    gains = fit.gains()
    j = int(np.argmax(gains))
    least = fit.value - max(float(gains[j]), 0.0)
    value = max(least, 0.0) / (2 * len(problem.Y))
    return Bound(value, "all columns compared", np.array([j]))


def _best_single_robust(problem: PenalisedProblem, out_of_time: OutOfTime) -> Bound:
    """A race of all columns: those that cannot win any more drop out."""
    racing = np.flatnonzero(~closed_rows(problem))
    best = int(racing[0])
    lowest = np.inf  # loss of any column
    proved = np.inf  # bound of all columns that dropped out
    still = 0.0  # bound of the others
    steps = 4  # few decide most columns; the others get twice as many in every round
    while racing.size and steps < 512 and not out_of_time():
        lower, values = _reweighted(problem, racing, steps)
        j = int(np.argmin(values))
        if values[j] < lowest:
            lowest = float(values[j])
            best = int(racing[j])
        decided = lower >= lowest * (1 - PROVED)
        proved = float(lower[decided].min(initial=proved))
        racing = racing[~decided]
        still = float(lower[~decided].min(initial=np.inf))
        steps *= 2
    if racing.size:
        return Bound(min(proved, still), "all columns compared, some only bounded")
    return Bound(proved, "all columns compared", np.array([best]))


def _reweighted(
    problem: PenalisedProblem, names: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Lower bounds on the losses of single columns, and losses that were reached."""
    free = np.flatnonzero(problem.penalty.free(problem.n_rows))
    F = problem.design.take(free)
    n, c = problem.Y.shape
    lower = np.zeros(names.size)
    values = np.full(names.size, np.inf)
    entries = n * (c + 2 * free.size + 4)
    size = max(1, int(3e5 / entries))  # arrays of 2.4 MB stay inside the cache
    for start in range(0, names.size, size):
        part = slice(start, start + size)
        columns = problem.design.take(names[part]).T[:, :, None]
        shared = np.broadcast_to(F, (len(columns), *F.shape))
        A = np.concatenate([shared, columns], axis=2)
        fits = StackedFits(A, problem.Y, problem.loss, 0.5, problem.smoothing_floor)
        for _ in range(steps):
            h = fits.step()
            bounds = dual_bounds(h, fits.squares, problem.loss)
            lower[part] = np.maximum(lower[part], bounds)
            values[part] = np.minimum(values[part], fits.values())
    return lower, values


def dual_bounds(h: np.ndarray, squares: np.ndarray, loss: ResidualLoss) -> np.ndarray:
    """Lower bounds on the loss, from the residuals of weighted fits with sample weights h (t x n).

    ``Theta = h E / n`` is orthogonal to the columns, so ``t <Theta, E>`` minus the conjugate at
    ``t Theta`` bounds the loss for every t >= 0; the best t is taken.
    """
    n = h.shape[1]
    shares = loss.weights(n) / n
    gain = np.einsum("ti,ti->t", h, squares) / n
    norms = h * np.sqrt(squares) / n
    nothing = np.zeros_like(gain)
    if loss.r == 1:
        longest = (norms / shares).max(axis=1)
        return np.divide(gain, longest, out=nothing, where=longest > 0)
    q = loss.r / (loss.r - 1)
    cost = (shares ** (1 - q) * norms**q).sum(axis=1)  # q times the conjugate
    ratio = np.divide(gain, cost, out=nothing, where=cost > 0)
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
    total = float(np.vdot(columns.Y, columns.Y))
    known = total * (1 - 1e-9) - 2 * len(problem.Y) * objective
    pairs = _Pairs(columns, known)
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

    def __init__(self, columns: Columns, known: float):
        self.columns = columns
        self.rows = np.flatnonzero(columns.squares > 0)
        self.lengths = np.sqrt(columns.squares[self.rows])
        self.B = columns.C[self.rows] / self.lengths[:, None]
        self.single = np.einsum("ij,ij->i", self.B, self.B)
        self.best = np.array([int(np.argmax(self.single))])
        self.most = max(float(self.single.max()), known)
        n = len(columns.Y)
        self.slack = 4 * (n + 16) * float(np.finfo(np.float32).eps)  # of rho, with room to spare
        self._B = self.B.astype(np.float32)
        self._single = self.single.astype(np.float32)

    def block(self, part: slice) -> np.ndarray:
        """Unit columns in single precision."""
        block = self.columns.block(self.rows[part])
        block /= self.lengths[part]
        return block.astype(np.float32)

    def compare(self, first: slice, left: np.ndarray, second: slice, right: np.ndarray) -> None:
        """All pairs of two parts of the columns, given their blocks."""
        rho = left.T @ right
        test = rho * np.float32(self.most)
        test -= (2 * self._B[first]) @ self._B[second].T
        test *= rho
        test += self._single[second]
        least = self.most * (1 - self.slack) - self.single[first]
        doubtful = np.flatnonzero(test.max(axis=1) >= least)
        i, j = np.nonzero(test[doubtful] >= least[doubtful, None])
        i = doubtful[i]
        for start in range(0, i.size, PAIR_BLOCK):
            part = slice(start, start + PAIR_BLOCK)
            self._score(first.start + i[part], second.start + j[part])

    def _score(self, a: np.ndarray, b: np.ndarray) -> None:
        """Pairs in double precision, those of a column that depends on the other left out."""
        left = self.columns.block(self.rows[a]) / self.lengths[a]
        right = self.columns.block(self.rows[b]) / self.lengths[b]
        rho = np.einsum("ij,ij->j", left, right)
        products = np.einsum("ij,ij->i", self.B[a], self.B[b])
        joint = self.single[a] + self.single[b] - 2 * rho * products
        apart = 1 - rho**2
        # under a ridge a column would gain from standing beside itself
        independent = (apart > self.columns.dependent) & (a != b)
        explained = np.divide(joint, apart, out=np.full(a.size, -np.inf), where=independent)
        t = int(np.argmax(explained))
        if explained[t] > self.most:
            self.most = float(explained[t])
            self.best = np.array([a[t], b[t]])
