r"""What can be proved about the best k rows: enumeration for k = 1 and 2, lower bounds beyond.

- k = 1, r = 2: every column's gain is known in closed form.
- k = 1, 1 <= r < 2: every column is fitted by reweighted least squares. The weighted residual
  ``Theta = h E / n`` of such a fit is orthogonal to the columns, hence a point of the dual, and
  bounds that column's loss from below; columns whose bound passes the best value drop out.
- k = 2, r = 2: all pairs, from blocks of the correlation matrix.
- any k, r = 2, fewer columns than samples: leaving column i out of all of them costs at least
  ``|w_i|**2 / (G^-1)_ii``, and any k columns leave out one of the k + 1 that cost most. Branch
  and bound on which columns stay sharpens it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...losses.residual import ResidualLoss
from ...problems.penalised import PenalisedProblem
from .candidates import Columns, closed_rows
from .support_fit import Fit

PAIRS_UP_TO = 10_000  # columns
PAIR_FLOPS = 2e11
PAIR_BLOCK = 256
PAIR_GROUP = 8  # blocks that are kept while all others pass by
CHUNK_ENTRIES = 3e5  # of arrays that stay inside the cache
REWEIGHTINGS = 400
PROVED = 1e-6  # relative distance of bound and objective that counts as none
ROOT_FLOPS = 1e9  # of the Gram matrix of all columns, to be spent on a bound
BRANCH_UP_TO = 64  # columns
MAX_NODES = 3000


@dataclass(frozen=True)
class Bound:
    """No support of the allowed size has a lower objective than ``value``."""

    value: float
    how: str
    support: np.ndarray | None = None  # one that attains it, where enumeration found it


def bound(
    problem: PenalisedProblem,
    k: int,
    objective: float,
    out_of_time: Callable[[], bool] = lambda: False,
    max_nodes: int = MAX_NODES,
) -> Bound | None:
    """The best bound that is cheap for this problem; None where nothing but 0 is known."""
    rows = np.flatnonzero(~closed_rows(problem))
    if k == 1 and problem.loss.r >= 1:
        return best_single(problem, out_of_time)
    if not problem.loss.quadratic:
        return None
    n = len(problem.Y)
    if k == 2 and rows.size <= PAIRS_UP_TO and n * rows.size**2 <= PAIR_FLOPS:
        return best_pair(problem, out_of_time, objective)
    if rows.size < n and n * rows.size**2 <= ROOT_FLOPS and k < rows.size:
        return leave_out(problem, k, objective, out_of_time, max_nodes)
    return None


# -- one row --------------------------------------------------------------------------------------


def best_single(problem: PenalisedProblem, out_of_time: Callable[[], bool]) -> Bound | None:
    """The best single row, by enumeration."""
    n = len(problem.Y)
    if problem.loss.quadratic:
        fit = Fit(Columns.of(problem), 1)
        gains = fit.gains()
        j = int(np.argmax(gains))
        value = max(fit.value - max(float(gains[j]), 0.0), 0.0) / (2 * n)
        return Bound(value, "all columns compared", np.array([j]))
    race = _Race(problem)
    while race.open.size and not out_of_time() and race.reweightings < REWEIGHTINGS:
        race.advance(4 if race.reweightings < 8 else 8)
    if race.open.size:
        reached = min(race.bound, race.open_bound)
        return Bound(reached, "all columns compared, some only bounded")
    return Bound(float(race.bound), "all columns compared", np.array([race.best]))


class _Race:
    """All single columns at once; those that cannot win any more drop out."""

    def __init__(self, problem: PenalisedProblem):
        self.problem = problem
        self.F = problem.design.take(np.flatnonzero(problem.penalty.free(problem.n_rows)))
        self.open = np.flatnonzero(~closed_rows(problem))
        self.lowest = np.inf
        self.best = int(self.open[0])
        self.bound = np.inf  # of all columns that dropped out
        self.open_bound = 0.0  # of the others
        self.reweightings = 0
        self.squares: dict[int, np.ndarray] = {}  # squared residuals of open columns

    def advance(self, reweightings: int) -> None:
        """Some reweightings of every open column, then drop those that are decided."""
        entries = len(self.problem.Y) * (self.problem.Y.shape[1] + 2 * self.F.shape[1] + 4)
        size = max(1, int(CHUNK_ENTRIES / entries))
        lower = np.empty(self.open.size)
        for start in range(0, self.open.size, size):
            part = self.open[start : start + size]
            lower[start : start + size] = self._reweight(part, reweightings)
        self.reweightings += reweightings
        decided = lower >= self.lowest * (1 - PROVED)
        self.bound = min(self.bound, lower[decided].min(initial=np.inf))
        self.open = self.open[~decided]
        self.open_bound = float(lower[~decided].min(initial=np.inf))
        self.squares = {j: self.squares[j] for j in self.open.tolist()}

    def _reweight(self, part: np.ndarray, reweightings: int) -> np.ndarray:
        loss, Y = self.problem.loss, self.problem.Y
        columns = self.problem.design.take(part).T[:, :, None]
        F = np.broadcast_to(self.F, (part.size, *self.F.shape))
        A = np.concatenate([F, columns], axis=2)
        squares = np.array([self.squares[j] for j in part.tolist()]) if self.reweightings else None
        floor = self.problem.smoothing_floor**2
        lower = np.zeros(part.size)
        for i in range(reweightings):
            h = np.broadcast_to(loss.weights(len(Y)), A.shape[:2])
            if squares is not None:
                faded = 0.5 ** (self.reweightings + i) * squares.mean(axis=1, keepdims=True)
                h = h * (squares + np.maximum(faded, floor)) ** (loss.r / 2 - 1)
            squares = _weighted_squares(A, Y, h)
            lower = np.maximum(lower, dual_bounds(h, squares, loss))
            values = squares ** (loss.r / 2) @ loss.weights(len(Y)) / (loss.r * len(Y))
            j = int(np.argmin(values))
            if values[j] < self.lowest:
                self.lowest, self.best = float(values[j]), int(part[j])
        assert squares is not None
        self.squares.update(zip(part.tolist(), squares, strict=True))
        return lower


def _weighted_squares(A: np.ndarray, Y: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Squared residuals of the weighted fit on each stacked matrix; collinear columns share.

    The columns, few, are made orthonormal one after the other, in all matrices at once.
    """
    root = np.sqrt(h)
    E = root[:, :, None] * Y
    basis: list[np.ndarray] = []
    for j in range(A.shape[2]):
        q = root * A[:, :, j]
        length = np.sqrt(np.einsum("ti,ti->t", q, q))
        for known in basis * 2:  # twice is enough
            q -= np.einsum("ti,ti->t", known, q)[:, None] * known
        rest = np.sqrt(np.einsum("ti,ti->t", q, q))
        q *= np.divide(1.0, rest, out=np.zeros_like(rest), where=rest > 1e-8 * length)[:, None]
        E -= q[:, :, None] * np.einsum("ti,tij->tj", q, E)[:, None, :]
        basis.append(q)
    return np.einsum("tij,tij->ti", E, E) / np.maximum(h, 1e-300)


def dual_bounds(h: np.ndarray, squares: np.ndarray, loss: ResidualLoss) -> np.ndarray:
    """Lower bounds on the loss, from the residuals of weighted fits with weights h (t x n).

    ``Theta = h E / n`` is orthogonal to the columns, so ``t <Theta, E>`` minus the conjugate at
    ``t Theta`` bounds the loss for every t >= 0; the best t is taken.
    """
    n = h.shape[1]
    s = loss.weights(n)
    gain = np.einsum("ti,ti->t", h, squares) / n
    norms = h * np.sqrt(squares) / n
    if loss.r == 1:
        longest = (norms * n / s).max(axis=1)
        return np.divide(gain, longest, out=np.zeros_like(gain), where=longest > 0)
    q = loss.r / (loss.r - 1)
    cost = ((s / n) ** (1 - q) * norms**q).sum(axis=1)  # q times the conjugate
    t = np.divide(gain, cost, out=np.zeros_like(gain), where=cost > 0) ** (1 / (q - 1))
    return t * gain - t**q * cost / q


# -- two rows -------------------------------------------------------------------------------------


def best_pair(
    problem: PenalisedProblem, out_of_time: Callable[[], bool], objective: float = np.inf
) -> Bound | None:
    """The best two rows for squared loss, by enumeration of all pairs.

    ``objective``, of any two rows, spares work. Pairs are screened in single precision; those that
    its rounding leaves in doubt are scored in double precision.
    """
    columns = Columns.of(problem)
    pairs = _Pairs(columns)
    total = float(np.vdot(columns.Y, columns.Y))
    pairs.most = max(pairs.most, total * (1 - 1e-9) - 2 * len(problem.Y) * objective)
    parts = [slice(a, a + PAIR_BLOCK) for a in range(0, pairs.rows.size, PAIR_BLOCK)]
    for start in range(0, len(parts), PAIR_GROUP):
        group = [(first, pairs.block(first)) for first in parts[start : start + PAIR_GROUP]]
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
        self._rough = self.B.astype(np.float32), self.single.astype(np.float32)
        self._scratch = np.empty((3, PAIR_BLOCK * PAIR_BLOCK), dtype=np.float32)

    def compare(self, first: slice, left, second: slice, right) -> None:
        """All pairs of two parts of the columns, given their blocks."""
        shape = left.shape[1], right.shape[1]
        rho, test, product = (a[: shape[0] * shape[1]].reshape(shape) for a in self._scratch)
        B, single = self._rough
        np.matmul(left.T, right, out=rho)
        np.matmul(-2 * B[first], B[second].T, out=test)
        test += np.multiply(rho, np.float32(self.most), out=product)
        test *= rho
        test += single[second]
        least = self.most * (1 - self.slack) - self.single[first]
        doubtful = np.flatnonzero(test.max(axis=1) >= least)
        if doubtful.size:
            i, j = np.nonzero(test[doubtful] >= least[doubtful, None])
            i = doubtful[i]
            rest = 1 - rho[i, j].astype(float) ** 2
            upper = test[i, j] + self.single[first][i] + self.most * (rest - 1 + self.slack)
            rest -= self.slack
            upper = np.divide(upper, rest, out=np.full(i.size, np.inf), where=rest > 0)
            self._score(first.start + i, second.start + j, upper)

    def _score(self, i: np.ndarray, j: np.ndarray, upper: np.ndarray) -> None:
        """Doubtful pairs in double precision, the most promising first."""
        order = np.argsort(-upper, kind="stable")
        for start in range(0, order.size, PAIR_BLOCK):
            part = order[start : start + PAIR_BLOCK]
            if upper[part[0]] <= self.most:
                return
            a, b = i[part], j[part]
            left = self.columns.block(self.rows[a]) / self.lengths[a]
            right = self.columns.block(self.rows[b]) / self.lengths[b]
            rho = np.einsum("ij,ij->j", left, right)
            joint = self.single[a] + self.single[b]
            joint -= 2 * rho * np.einsum("ij,ij->i", self.B[a], self.B[b])
            rest = 1 - rho**2
            apart = rest > self.columns.dependent  # else they explain no more than one of them
            joint = np.divide(joint, rest, out=np.full(part.size, -np.inf), where=apart)
            t = int(np.argmax(joint))
            if joint[t] > self.most:
                self.most, self.best = float(joint[t]), np.array([a[t], b[t]])

    def block(self, part: slice) -> np.ndarray:
        """Unit columns in single precision."""
        block = self.columns.block(self.rows[part])
        block /= self.lengths[part]
        return block.astype(np.float32)


# -- any number of rows ---------------------------------------------------------------------------


def leave_out(
    problem: PenalisedProblem,
    k: int,
    objective: float,
    out_of_time: Callable[[], bool],
    max_nodes: int = MAX_NODES,
) -> Bound | None:
    """Branch and bound from the fit on all columns, for at least as many samples as columns."""
    columns = Columns.of(problem)
    rows = np.flatnonzero(columns.squares > 0)
    A = columns.block(rows)
    A /= np.sqrt(columns.squares[rows])
    tree = _Tree(A.T @ A, A.T @ columns.Y, float(np.vdot(columns.Y, columns.Y)), k)
    if not tree.regular:
        return None
    nodes = max_nodes if rows.size <= BRANCH_UP_TO else 1
    wanted = 2 * len(problem.Y) * objective * (1 - PROVED)
    reached, visited = tree.search(wanted, nodes, out_of_time)
    how = f"branch and bound, {visited} nodes" if visited > 1 else "the fit on all columns"
    return Bound(max(reached, 0.0) / (2 * len(problem.Y)), how)


class _Tree:
    """Nodes say which columns stay for sure and which are still possible."""

    def __init__(self, G: np.ndarray, B: np.ndarray, total: float, k: int):
        self.G, self.B, self.total, self.k = G, B, total, k
        self.regular = bool(np.linalg.eigvalsh(G)[0] > 1e-8)

    def search(self, wanted: float, max_nodes: int, out_of_time) -> tuple[float, int]:
        """The least bound of all nodes that are left, once it is high enough or time is up."""
        m = len(self.G)
        first, branch = self._bound((), tuple(range(m)))
        heap = [(first, 0, (), tuple(range(m)), branch)]
        visited, count = 1, 0
        while heap[0][0] < wanted and visited < max_nodes and not out_of_time():
            value, _, kept, possible, branch = heapq.heappop(heap)
            if branch is None:  # a leaf: its value is that of a support
                heapq.heappush(heap, (value, -1, kept, possible, None))
                break
            without_it = tuple(j for j in possible if j != branch)
            for child in ((kept, without_it), ((*kept, branch), without_it)):
                bound, next_branch = self._bound(*child)
                count += 1
                heapq.heappush(heap, (max(bound, value), count, *child, next_branch))
            visited += 2
        return heap[0][0], visited

    def _bound(self, kept: tuple, possible: tuple) -> tuple[float, int | None]:
        """A bound on all supports between ``kept`` and ``kept + possible``, where to branch."""
        room = self.k - len(kept)
        leaf = room == 0 or room >= len(possible)
        used = list(kept) if room == 0 else [*kept, *possible]
        if not used:
            return self.total, None
        inverse = np.linalg.inv(self.G[np.ix_(used, used)])
        W = inverse @ self.B[used]
        rest = self.total - float(np.vdot(W, self.B[used]))
        if leaf:
            return rest, None
        costs = np.einsum("ij,ij->i", W, W) / inverse.diagonal()
        own = costs[len(kept) :]
        order = np.argsort(-own, kind="stable")
        return rest + float(own[order[room]]), possible[int(order[0])]
