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
from ...numerics.memory import CACHE_BYTES
from ...numerics.rounding import LAST_DIGITS
from ...numerics.rows import row_squares
from ...problems.penalised import PenalisedProblem
from ..base import OutOfTime
from .columns import Columns, closed_rows

PROVED = 1e-6  # relative distance of bound and objective that counts as none
# Columns that meet as many others at once: three numbers of every pair stay in the cache. TOX_171
# and BASEHOCK (sparse, dense block by block) take .24 and 1.5 s with 256, .23 and 1.4 with 512.
PAIR_BLOCK = int(np.sqrt(CACHE_BYTES / (3 * 8)))


@dataclass(frozen=True)
class Bound:
    """No support of the allowed size has a lower objective than ``value``."""

    value: float
    how: str
    support: np.ndarray | None = None  # one that attains it, where enumeration found it


def left_of(total: float, explained: float) -> float:
    """What is left of a sum of squares for sure: no more than rounding allows to tell."""
    return max(total - explained - LAST_DIGITS * total, 0.0)


# -- one row --------------------------------------------------------------------------------------


def best_single(columns: Columns, n: int) -> Bound:
    """The best single row of n samples for squared loss; one explains ``|c_j|**2 / |x_j|**2``."""
    usable = columns.squares > 0
    squares = np.where(usable, columns.squares, np.inf)
    explained = row_squares(columns.C) / squares
    best = int(np.argmax(explained))
    most = float(explained[best])
    left = left_of(columns.total, most)
    return Bound(left / (2 * n), "all columns compared", np.array([best]))


def best_single_robust(problem: PenalisedProblem, out_of_time: OutOfTime) -> Bound:
    """A race of all columns: those that cannot win any more drop out."""
    racing = np.flatnonzero(~closed_rows(problem))
    best = int(racing[0])
    lowest = np.inf  # loss of any column
    proved = np.inf  # bound of all columns that dropped out
    still = 0.0  # bound of the others
    steps = 4  # few decide most columns; the others get twice as many in every round
    while racing.size and steps < 512 and not out_of_time():
        lower, values = _reweighted(problem, racing, steps)
        leader = int(np.argmin(values))
        if values[leader] < lowest:
            lowest = float(values[leader])
            best = int(racing[leader])
        # a column whose bound is as high as the best loss cannot win any more
        decided = lower >= lowest * (1 - PROVED)
        undecided = ~decided
        proved = float(lower[decided].min(initial=proved))
        still = float(lower[undecided].min(initial=np.inf))
        racing = racing[undecided]
        steps *= 2
    if racing.size:
        return Bound(min(proved, still), "all columns compared, some only bounded")
    return Bound(proved, "all columns compared", np.array([best]))


def _reweighted(
    problem: PenalisedProblem, names: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Lower bounds on the losses of single columns, and losses that were reached, each the best of
    so many reweightings."""
    free = np.flatnonzero(problem.penalty.free(problem.n_rows))
    F = problem.design.take(free)
    n, c = problem.Y.shape
    lower = np.zeros(names.size)
    values = np.full(names.size, np.inf)
    # residuals, the columns twice, weights and squares of one fit
    bytes_of_one = 8 * n * (c + 2 * free.size + 4)
    size = max(1, CACHE_BYTES // bytes_of_one)
    for start in range(0, names.size, size):
        part = slice(start, start + size)
        fits = _single_fits(problem, F, names[part])
        for _ in range(steps):
            h = fits.step()
            bounds = dual_bounds(h, fits.squares, problem.loss)
            reached = fits.values()
            # a later fit need not be the better one: the smoothing falls on the way
            lower[part] = np.maximum(lower[part], bounds)
            values[part] = np.minimum(values[part], reached)
    return lower, values


def _single_fits(problem: PenalisedProblem, F: np.ndarray, names: np.ndarray) -> StackedFits:
    """Fits on the free columns F and one of the named columns each, all at once."""
    own = problem.design.take(names)
    columns = own.T[:, :, None]  # each a matrix of one column
    shape = (len(columns), *F.shape)
    shared = np.broadcast_to(F, shape)
    A = np.concatenate([shared, columns], axis=2)
    return StackedFits(A, problem.Y, problem.loss, 0.5, problem.smoothing_floor)


def dual_bounds(h: np.ndarray, squares: np.ndarray, loss: ResidualLoss) -> np.ndarray:
    """Lower bounds on the loss, from the residuals of weighted fits with sample weights h (t x n).

    ``Theta = h E / n`` is orthogonal to the columns, so ``t <Theta, E>`` minus the conjugate at
    ``t Theta`` bounds the loss for every t >= 0; the best t is taken. With q = r / (r - 1) and the
    shares s_i / n the conjugate is ``sum_i (s_i/n)**(1 - q) |theta_i|**q / q``; for r = 1 it is
    zero where all ``|theta_i|`` are at most s_i / n, infinite elsewhere.
    """
    n = h.shape[1]
    shares = loss.weights(n) / n
    gain = np.einsum("ti,ti->t", h, squares) / n  # <Theta, E>
    norms = h * np.sqrt(squares) / n  # |theta_i|
    nothing = np.zeros_like(gain)
    if loss.r == 1:
        longest = (norms / shares).max(axis=1)  # 1 / t at the edge of the domain
        return np.divide(gain, longest, out=nothing, where=longest > 0)
    q = loss.r / (loss.r - 1)
    costs_of_samples = shares ** (1 - q) * norms**q
    cost = costs_of_samples.sum(axis=1)  # q times the conjugate
    # t gain - t**q cost / q has its maximum at t**(q - 1) = gain / cost
    ratio = np.divide(gain, cost, out=nothing, where=cost > 0)
    t = ratio ** (1 / (q - 1))
    return t * gain - t**q * cost / q


# -- two rows -------------------------------------------------------------------------------------


def best_pair(columns: Columns, n: int, out_of_time: OutOfTime) -> Bound | None:
    """The best two rows for squared loss; None where time runs out, or columns are so nearly equal
    that correlations do not tell what they explain together."""
    pairs = _Pairs(columns)
    n_columns = pairs.rows.size
    for first in range(0, n_columns, PAIR_BLOCK):
        others = pairs.unit(first)
        # columns behind these meet them when their own turn comes
        for start in range(0, first + 1, PAIR_BLOCK):
            block = pairs.unit(start)
            if out_of_time() or not pairs.compare(start, block, first, others):
                return None
    left = left_of(columns.total, pairs.most)
    return Bound(left / (2 * n), "all pairs of columns compared", np.sort(pairs.best))


class _Pairs:
    """The pair of columns that explains most, of those compared so far.

    With unit columns of correlation rho, ``B = X'Y`` and g = |b|**2, a pair explains
    ``(g_i + g_j - 2 rho b_i'b_j) / (1 - rho**2)``.
    """

    def __init__(self, columns: Columns):
        rows = np.flatnonzero(columns.squares > 0)
        lengths = np.sqrt(columns.squares[rows])
        B = columns.C[rows] / lengths[:, None]
        self.columns = columns
        self.rows = rows
        self.lengths = lengths
        self.B = B
        self.single = row_squares(B)
        best = np.argmax(self.single)
        self.best = rows[[best]]
        self.most = float(self.single[best])

    def unit(self, first: int) -> np.ndarray:
        """A block of columns of length one; a sparse X is dense here, block by block."""
        part = slice(first, first + PAIR_BLOCK)
        block = self.columns.block(self.rows[part])
        block /= self.lengths[part]
        return block

    def compare(self, i: int, left: np.ndarray, j: int, right: np.ndarray) -> bool:
        """All pairs of two blocks of unit columns that begin at i and at j; whether all could be
        told, which near pairs can only where they are equal."""
        dependent = self.columns.dependent
        a = slice(i, i + left.shape[1])
        b = slice(j, j + right.shape[1])
        # the formula in place: new memory would cost more than the arithmetic on it
        rho = right.T @ left
        explained = self.B[b] @ (-2 * self.B[a].T)
        explained *= rho
        explained += self.single[a]
        explained += self.single[b, None]
        rho *= rho
        apart = np.subtract(1.0, rho, out=rho)
        near = apart <= dependent
        explained[near] = 0.0
        if i == j:  # under a ridge a column would gain from standing beside itself
            np.fill_diagonal(explained, 0.0)
            np.fill_diagonal(near, False)
        if not _all_equal(right, left, near):
            return False
        explained /= np.maximum(apart, dependent, out=apart)
        self._note_best_of(explained, i, j)
        return True

    def _note_best_of(self, explained: np.ndarray, i: int, j: int) -> None:
        """The best pair of two blocks that begin at i (columns of the matrix) and at j (rows)."""
        place = np.argmax(explained)
        row, column = np.unravel_index(place, explained.shape)
        most = float(explained[row, column])
        if most > self.most:
            self.most = most
            self.best = self.rows[[i + column, j + row]]


def _all_equal(A: np.ndarray, B: np.ndarray, pairs: np.ndarray) -> bool:
    """Whether the unit columns of these pairs are equal but for sign: two are then worth one."""
    j, i = np.nonzero(pairs)
    size = max(1, CACHE_BYTES // (8 * len(A)))  # there may be very many
    for start in range(0, j.size, size):
        part = slice(start, start + size)
        left = A[:, j[part]]
        right = B[:, i[part]]
        difference = np.abs(left - right)
        total = np.abs(left + right)  # zero where one is minus the other
        same = difference.max(axis=0)
        opposite = total.max(axis=0)
        apart = np.minimum(same, opposite)
        if not apart.max() < LAST_DIGITS:
            return False
    return True
