r"""The convex relaxation of "at most k rows" under a ridge, and the lower bound it proves.

In the scale of sums, the unpenalised columns projected out, the problem is

    min over W with at most k nonzero rows of   1/2 |X W - Y|**2 + ridge/2 |W|**2.

Counting row j with a share z_j in [0, 1] at the price ``ridge/2 |w_j|**2 / z_j`` gives

    h(z) = 1/2 <Y, R>,   R = (I + X diag(z) X' / ridge)**-1 Y = Y - X_S W,
    W = (X_S'X_S + ridge diag(1/z_S))**-1 X_S'Y,         S = the rows with a share,

which is convex in z, and the problem itself where all z are 0 or 1. Newton's method minimises it
over ``sum z = k``: with u_j = R'x_j and K = X'(I + X diag(z) X'/ridge)**-1 X

    dh/dz_j = -|u_j|**2 / (2 ridge),      d2h/dz_i dz_j = (u_i'u_j) K_ij / ridge**2.

Whatever z is, a multiple A of its residual R proves

    optimum >= <Y, A> - 1/2 |A|**2 - (sum of the k largest |x_j'A|**2) / (2 ridge),

so an iteration that ends early costs sharpness and never truth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.memory import CACHE_BYTES
from ...numerics.rounding import NEGLIGIBLE
from ...numerics.rows import NEWTON_STEPS, largest, row_squares
from ...numerics.shares import moved_shares
from ...numerics.systems import Cholesky, lifted_cholesky
from .columns import Columns
from .enumeration import PROVED

# Passes over all columns: two are the rule. With no more bounds lose up to 14 % of the objective;
# with 8, or without a limit, those of ISOLET1 (600 samples, k = 20, automatic ridge) gain 4 to 9 %,
# for 1.5 times the time of the whole fit.
ROUNDS = 4
# Columns looked at between two passes over all of them: their products stay in the cache. On
# ALLAML, k = 10, some 50 have a share; without a limit 17 proofs cost 8 % more, and memory where
# pulls are nearly equal.
NEAR = int(np.sqrt(CACHE_BYTES / 8))
# Of the k-th largest squared pull: columns of a smaller one are not looked at. With .9 bounds lose
# up to 6 % of the objective, with .35 they move by 5e-5.
NEAR_PULL = 0.7


@dataclass
class Shares:
    """A point of the relaxation and what it proves."""

    z: np.ndarray
    bound: float
    pulls: np.ndarray  # |x_j'A|**2 of the A that proves the bound; -1 for closed columns
    residual: np.ndarray | None = None  # R at z


@dataclass
class Choice:
    """What has been decided about the columns."""

    chosen: np.ndarray  # mask of those that are in
    closed: np.ndarray  # mask of those that are out

    @classmethod
    def none_of(cls, columns: Columns) -> Choice:
        """Nothing is decided but that columns which vary too little stay out."""
        closed = columns.squares <= 0
        return cls(np.zeros(len(closed), bool), closed)

    @property
    def decided(self) -> np.ndarray:
        """Mask of the columns that are in or out."""
        return self.chosen | self.closed

    def left(self, k: int) -> int:
        """How many may still be chosen."""
        return k - int(np.count_nonzero(self.chosen))

    def with_in(self, column: int) -> Choice:
        """The same, and this column is in."""
        chosen = self.chosen.copy()
        chosen[column] = True
        return Choice(chosen, self.closed)

    def with_out(self, column: int) -> Choice:
        """The same, and this column is out."""
        closed = self.closed.copy()
        closed[column] = True
        return Choice(self.chosen, closed)

    def take(self, kept: np.ndarray) -> Choice:
        return Choice(self.chosen[kept], self.closed[kept])


def first_shares(columns: Columns, support: np.ndarray) -> Shares:
    """One for every column of a support."""
    z = np.zeros(len(columns.C))
    z[columns.positions(support)] = 1.0
    pulls = row_squares(columns.C)
    return Shares(z, 0.0, np.where(columns.squares > 0, pulls, -1.0))


class Relaxation:
    """The relaxation for given columns, ridge (in the scale of sums) and k."""

    def __init__(self, columns: Columns, ridge: float, k: int):
        self.columns = columns
        self.ridge = ridge
        self.k = k
        self.Y = columns.Y

    def solve(
        self, z: np.ndarray, pulls: np.ndarray, choice: Choice, target: float, tol: float
    ) -> Shares:
        """Minimise h from the shares z until its bound is above the target, or nearly as high as
        it can be: within ``tol`` of what is missing to the target.

        ``pulls`` say which columns are near to being chosen; they may be those of another z.
        """
        left = choice.left(self.k)
        best = Shares(z, -np.inf, pulls)
        for _ in range(ROUNDS):
            near = self._near(z, pulls, choice)
            chosen = choice.chosen[near]
            X = self.columns.block(near)
            block = Block.of(X, self.Y, self.ridge, left)
            inner = block.newton(z[near], chosen, target, tol)
            z = np.zeros_like(z)
            z[near] = inner.z
            # from the columns themselves: in what it proves is no rounding of products
            explained = X[:, inner.inside] @ inner.W
            R = self.Y - explained
            found = self._proved(R, z, choice)
            pulls = found.pulls
            if found.bound > best.bound:
                best = found
            best.z = z
            # h at z on few columns is above the relaxation's minimum, the bound is below it
            off = inner.value - best.bound
            missing = max(target - best.bound, 0.0)
            if off <= max(tol * missing, PROVED * inner.value):
                break
        return best

    def _near(self, z: np.ndarray, pulls: np.ndarray, choice: Choice) -> np.ndarray:
        """The columns with a share, and those that are pulled nearly as strongly."""
        open_pulls = np.where(choice.decided, -1.0, pulls)
        least = NEAR_PULL * _kth(open_pulls, choice.left(self.k))
        inside = choice.chosen | (z > 0)
        strong = open_pulls >= least
        near = np.flatnonzero(inside | strong)
        most = int(np.count_nonzero(inside)) + NEAR
        if near.size <= most:
            return near
        scores = np.where(inside, np.inf, open_pulls)
        return np.sort(largest(scores, most))

    def _proved(self, R: np.ndarray, z: np.ndarray, choice: Choice) -> Shares:
        """The bound that a residual proves: the one pass over all columns."""
        U = self.columns.pull_exactly(R)
        squares = row_squares(U)
        squares[choice.closed] = -1.0
        top = _most(squares, choice.chosen, choice.left(self.k))
        gain = float(np.vdot(self.Y, R))
        length = float(np.vdot(R, R))
        cost = length + top / self.ridge
        bound, multiple = _best_multiple(gain, cost)
        pulls = multiple**2 * squares
        return Shares(z, bound, pulls, R)


def _kth(values: np.ndarray, k: int) -> float:
    """The k-th largest value."""
    place = len(values) - k
    return float(np.partition(values, place)[place])


def _most(squares: np.ndarray, chosen: np.ndarray, left: int) -> float:
    """The sum over the chosen columns and the ``left`` largest others."""
    inside = float(squares[chosen].sum())
    if left <= 0:
        return inside
    others = np.where(chosen, -1.0, squares)
    first = len(others) - left
    top = np.partition(others, first)[first:]
    counted = np.maximum(top, 0.0)  # closed columns are -1
    return inside + float(counted.sum())


def _best_multiple(gain: float, cost: float) -> tuple[float, float]:
    """The largest ``t gain - t**2/2 cost`` and its t."""
    if gain <= 0 or cost <= 0:
        return 0.0, 0.0
    t = gain / cost
    return t * gain / 2, t  # no square of the gain, which is a square itself


@dataclass
class _Point:
    """Shares of few columns and what follows from them."""

    z: np.ndarray
    inside: np.ndarray  # positions with a share
    factor: Cholesky  # of X_S'X_S + ridge / z_S
    W: np.ndarray  # of those inside
    U: np.ndarray  # X'R
    value: float


class Block:
    """The relaxation on few columns: G = X'X, B = X'Y and ``|Y|**2`` are all it needs."""

    def __init__(self, G: np.ndarray, B: np.ndarray, total: float, ridge: float, left: int):
        self.G = G
        self.B = B
        self.total = total
        self.ridge = ridge
        self.left = left

    @classmethod
    def of(cls, X: np.ndarray, Y: np.ndarray, ridge: float, left: int) -> Block:
        """Dense columns and the target."""
        G = X.T @ X
        B = X.T @ Y
        total = float(np.vdot(Y, Y))
        return cls(G, B, total, ridge, left)

    def at(self, z: np.ndarray) -> _Point:
        """What is known at z: W, U = B - G W and h = (|Y|**2 - <W, B>) / 2."""
        inside = np.flatnonzero(z > 0)
        B = self.B[inside]
        among = self.G[np.ix_(inside, inside)]
        prices = self.ridge / z[inside]
        factor = lifted_cholesky(among, prices)
        W = factor(B)
        U = self.B - self.G[:, inside] @ W
        explained = float(np.vdot(W, B))
        value = (self.total - explained) / 2
        return _Point(z, inside, factor, W, U, value)

    def newton(self, z: np.ndarray, chosen: np.ndarray, target: float, tol: float) -> _Point:
        """Newton steps until the bound on these columns alone is as good as is asked for."""
        point = self.at(z)
        best = -np.inf
        for _ in range(NEWTON_STEPS):
            squares = row_squares(point.U)
            bound = self._proved(point, squares, chosen)
            best = max(best, bound)
            off = point.value - best
            missing = target - best
            if off <= max(tol * missing, PROVED * point.value):
                break
            new = self._step(point, squares, chosen, off)
            if new is None:
                break
            point = new
        return point

    def _proved(self, point: _Point, squares: np.ndarray, chosen: np.ndarray) -> float:
        """The bound of the residual at a point, by products alone: ``<Y, R>`` is twice the value,
        and ``|R|**2 = <Y, R> - <W, U>``."""
        gain = 2 * point.value
        U = point.U[point.inside]
        length = gain - float(np.vdot(point.W, U))
        top = _most(squares, chosen, self.left)
        cost = length + top / self.ridge
        bound, _ = _best_multiple(gain, cost)
        return bound

    def _step(
        self, point: _Point, squares: np.ndarray, chosen: np.ndarray, off: float
    ) -> _Point | None:
        """The minimiser of the quadratic model, or a point on the way to it; None if no lower."""
        open_squares = np.where(chosen, -1.0, squares)
        # shares go to the columns that are pulled most
        promising = squares >= _kth(open_squares, self.left)
        movable = ~chosen & (promising | (point.z > 0))
        rows = np.flatnonzero(movable)
        slopes = -squares[rows] / (2 * self.ridge)
        H = self.hessian(point, rows)
        z = point.z[rows]
        # no more exact than the model: a part of what is missing, shared among the k
        accuracy = 0.02 * off / self.left
        end = moved_shares(H, slopes, z, accuracy, 10 * rows.size)
        for length in (1.0, 0.3, 0.1, 0.03):  # the model is trusted less and less
            shares = point.z.copy()
            shares[rows] = z + length * (end - z)
            shares = np.minimum(shares, 1.0)
            shares[shares < NEGLIGIBLE] = 0.0  # they would only make the system larger
            new = self.at(shares)
            if new.value < point.value:
                return new
        return None

    def hessian(self, point: _Point, rows: np.ndarray) -> np.ndarray:
        """The second derivatives of h in the shares of the named columns, ``(U U') * K / ridge**2``
        entry by entry, where ``K = G_rr - G_rS (G_SS + ridge diag(1/z_S))**-1 G_Sr``."""
        across = self.G[np.ix_(point.inside, rows)]
        half = point.factor.forward(across)
        among = self.G[np.ix_(rows, rows)]
        K = among - half.T @ half
        U = point.U[rows]
        return (U @ U.T) * K / self.ridge**2

    def best_branch(self, z: np.ndarray, chosen: np.ndarray) -> int | None:
        """The fractional column whose decision raises the bound most, by the quadratic model: the
        product of what 0 and 1 would cost, all other shares free to adapt. None if none is
        fractional."""
        between = (z > NEGLIGIBLE) & (z < 1 - NEGLIGIBLE)
        fractional = np.flatnonzero(between & ~chosen)
        if not fractional.size:
            return None
        if fractional.size == 1:
            return int(fractional[0])
        shares = z[fractional]
        H = self.hessian(self.at(z), fractional)
        H[np.diag_indices_from(H)] *= 1 + 1e-9  # equal columns leave it singular
        try:
            inverse = np.linalg.inv(H)
        except np.linalg.LinAlgError:
            halfway = np.argmin(np.abs(shares - 0.5))
            return int(fractional[halfway])
        # moving share j by t costs t**2 / (2 free_j), the sum of all shares held
        sums = inverse.sum(axis=1)
        free = np.diag(inverse) - sums**2 / sums.sum()
        cost = shares * (1 - shares) / np.maximum(free, 1e-300)
        dearest = np.argmax(cost)
        return int(fractional[dearest])
