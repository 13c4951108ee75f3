r"""Branch and bound over which columns are in, for squared loss with a ridge.

A node has decided about some columns; its relaxation (``relaxation.py``) bounds all that can still
come of it. The node of lowest bound is split on the column whose decision is worth most. On the
way, columns decide themselves: with the bound ``b`` and the pulls p_j behind it, forcing in a
column outside the k largest would raise the bound by (p_(k) - p_j) / (2 ridge), forcing out one
inside them by (p_j - p_(k+1)) / (2 ridge); whatever lifts it above the best known objective is
decided the other way.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...numerics.memory import COPY_BYTES
from ...numerics.rows import largest
from ...problems.penalised import PenalisedProblem
from ..base import OutOfTime
from .columns import Columns
from .enumeration import PROVED
from .relaxation import Block, Choice, Relaxation, Shares, first_shares
from .search import Found
from .search_robust import REWEIGHTINGS

# A relaxation is sharpened until so much of what its bound lacks to the target could be gained.
SHARPNESS = 0.1
# Of the smoothing in each reweighting of a bound for r < 2: with .85 up to 6 % of the objective are
# lost (ALLAML, breast cancer and wine, ridge .5), with .5 up to 1.3.
SMOOTHING_FALLS = 0.7

Polish = Callable[[np.ndarray], Found]  # from a support to a better one


@dataclass(order=True)
class _Node:
    """Decisions, and the bound on what can come of them; nodes are compared by it."""

    bound: float
    number: int
    columns: Columns = field(compare=False)
    choice: Choice = field(compare=False)
    shares: Shares = field(compare=False)


class Tree:
    """The search for one problem; ``support`` and ``value`` are the best known throughout.

    Values are ``1/2 |R|**2 + ridge/2 |W|**2`` in the scale of sums.
    """

    def __init__(
        self, columns: Columns, ridge: float, k: int, support: np.ndarray, value: float,
        polish: Polish,
    ):  # fmt: skip
        self.columns = columns
        self.ridge = ridge
        self.k = k
        self.support = support
        self.value = value
        self.polish = polish
        self.nodes = 0  # relaxations solved
        self.heap: list[_Node] = []
        self.dropped = np.inf  # the least bound of what was not looked at any more

    @property
    def bound(self) -> float:
        """What is proved: no k columns have a lower value."""
        waiting = self.heap[0].bound if self.heap else np.inf
        return min(waiting, self.dropped, self.value)

    def root(self) -> None:
        """The relaxation of all columns, which screens them."""
        columns = self.columns
        shares = first_shares(columns, self.support)
        # sharper than other nodes: what it screens is gone for all of them
        undecided = Choice.none_of(columns)
        self._visit(columns, undecided, shares, tol=1e-3)

    def run(self, out_of_time: OutOfTime) -> None:
        """Split nodes until the best support is proved optimal or time is up."""
        if not out_of_time():  # all that follows looks at the same columns again and again
            self.heap = [self._compact(node) for node in self.heap]
        while self.heap and not out_of_time():
            node = heapq.heappop(self.heap)
            if self._dropped(node.bound):  # nor can any other win: this one had the lowest bound
                self.heap.clear()
                return
            column = self._branch(node)
            with_it = node.choice.with_in(column)
            without_it = node.choice.with_out(column)
            for choice in (with_it, without_it):
                self._visit(node.columns, choice, node.shares, SHARPNESS, node.bound)

    def _dropped(self, bound: float) -> bool:
        """Whether nothing under this bound is better than the best known; then that is noted."""
        if bound < self.value * (1 - PROVED):
            return False
        self.dropped = min(self.dropped, bound)
        return True

    def _branch(self, node: _Node) -> int:
        """The column to split a node on: a fractional one, else the open one of largest pull."""
        choice = node.choice
        z = node.shares.z
        positive = z > 0
        inside = np.flatnonzero(positive | choice.chosen)
        chosen = choice.chosen[inside]
        X = node.columns.block(inside)
        block = Block.of(X, node.columns.Y, self.ridge, 1)
        place = block.best_branch(z[inside], chosen)
        if place is not None:
            return int(inside[place])
        open_pulls = np.where(choice.decided, -np.inf, node.shares.pulls)
        return int(np.argmax(open_pulls))

    def _visit(
        self, columns: Columns, choice: Choice, near: Shares, tol: float, least: float = 0.0
    ) -> None:
        """Solve the relaxation of a node and keep it if it may hold something better."""
        self.nodes += 1
        left = choice.left(self.k)
        if left <= 0:  # a leaf: the support is decided
            self._try(columns, np.flatnonzero(choice.chosen))
            return
        candidates = np.flatnonzero(~choice.closed)
        if candidates.size <= self.k:  # a leaf too: all that are left fit in
            self._try(columns, candidates)
            return
        relaxation = Relaxation(columns, self.ridge, self.k)
        z = _spread(near.z, choice, left, near.pulls)
        target = self.value * (1 - PROVED)
        shares = relaxation.solve(z, near.pulls, choice, target, tol)
        bound = max(shares.bound, least)
        if self._dropped(bound):
            return
        # what the relaxation likes best is a support that may be better than the best known
        open_shares = np.where(choice.closed, -1.0, shares.z)
        rounded = largest(open_shares, self.k)
        self._try(columns, rounded)
        decided = self._decide(choice, shares)
        if decided.left(self.k) >= 0:
            self._keep(bound, columns, decided, shares)

    def _try(self, columns: Columns, members: np.ndarray) -> None:
        """Compare a support with the best known; a better one is polished first."""
        value = ridge_value(columns, members, self.ridge)
        if not self._dropped(value):
            names = columns.names[members]
            self.support, self.value = self.polish(names)

    def _decide(self, choice: Choice, shares: Shares) -> Choice:
        """What the bound decides about single columns."""
        left = choice.left(self.k)
        pulls = np.where(choice.decided, -1.0, shares.pulls)
        n_lower = pulls.size - left - 1
        partitioned = np.partition(pulls, n_lower)
        top = np.sort(partitioned[n_lower:])
        first_out, last_in = top[:2]  # p_(k+1) and p_(k) among the open columns
        first_out = max(first_out, 0.0)
        # in units of pulls: a column that would raise the bound by more is decided
        target = self.value * (1 - PROVED)
        missing = 2 * self.ridge * (target - shares.bound)
        open_ = ~choice.decided
        among_k = open_ & (pulls >= last_in)
        if_in = last_in - pulls
        if_out = pulls - first_out
        out = open_ & ~among_k & (if_in > missing)
        inside = among_k & (if_out > missing)
        raised = min(if_in[out].min(initial=np.inf), if_out[inside].min(initial=np.inf))
        self.dropped = min(self.dropped, shares.bound + raised / (2 * self.ridge))
        chosen = choice.chosen | inside
        closed = choice.closed | out
        return Choice(chosen, closed)

    def _keep(self, bound: float, columns: Columns, choice: Choice, shares: Shares) -> None:
        node = _Node(bound, self.nodes, columns, choice, shares)
        n_closed = np.count_nonzero(choice.closed)
        if 2 * n_closed > choice.closed.size:  # most of what every step would read
            node = self._compact(node)
        heapq.heappush(self.heap, node)

    def _compact(self, node: _Node) -> _Node:
        """The node with its open columns copied together, where there is room for them."""
        kept = np.flatnonzero(~node.choice.closed)
        n_bytes = 8 * kept.size * len(self.columns.Y)
        if n_bytes > COPY_BYTES:
            return node
        columns = node.columns.take(kept)
        choice = node.choice.take(kept)
        z = node.shares.z[kept]
        pulls = node.shares.pulls[kept]
        shares = Shares(z, node.shares.bound, pulls)
        return _Node(node.bound, node.number, columns, choice, shares)


def robust_bound(problem: PenalisedProblem, support: np.ndarray, k: int, objective: float) -> float:
    """A bound for 1 <= r < 2: the relaxation on reweighted samples leads to a dual point.

    Each round weighs the samples by the majorizer at the last residual; the best bound is kept.
    """
    n = len(problem.Y)
    ridge = n * problem.ridge
    W = problem.refitted(support)
    E = problem.design.matmul(W) - problem.Y
    best = 0.0
    smoothing = problem.residual_scale  # nearly squared loss at first, as its relaxation is known
    near: Shares | None = None
    for _ in range(REWEIGHTINGS):
        smoothing = max(SMOOTHING_FALLS * smoothing, problem.smoothing_floor)
        loss = problem.loss.smoothed(smoothing)
        h = loss.residual_weights(E)
        columns = Columns.of(problem, h, ridge)
        if near is None:
            near = first_shares(columns, support)
        relaxation = Relaxation(columns, ridge, k)
        # the target cannot be reached: shares are found to a hundredth of what is missing
        undecided = Choice.none_of(columns)
        near = relaxation.solve(near.z, near.pulls, undecided, n * objective, 0.01)
        assert near.residual is not None
        roots = np.sqrt(h)[:, None]
        E = -near.residual[:n] / roots  # back from the scale of the weights
        slopes = loss.slopes(E)
        bound = problem.bound_from(slopes)
        best = max(best, bound)
    return best


def ridge_value(columns: Columns, members: np.ndarray, ridge: float) -> float:
    """``min 1/2 |X_S W - Y|**2 + ridge/2 |W|**2`` over W on the members."""
    whole = np.ones(len(members))  # h is the problem itself where every share is one
    X = columns.block(members)
    block = Block.of(X, columns.Y, ridge, 1)
    return block.at(whole).value


def _spread(z: np.ndarray, choice: Choice, left: int, pulls: np.ndarray) -> np.ndarray:
    """Shares that obey the decisions and add up to k, near the given ones."""
    open_ = ~choice.decided
    z = np.where(open_, z, 0.0)
    total = float(z.sum())
    if total > left:
        z *= left / total
    elif total < left:
        z = _raised(z, open_, left - total, pulls)
    return np.where(choice.chosen, 1.0, z)


def _raised(z: np.ndarray, open_: np.ndarray, missing: float, pulls: np.ndarray) -> np.ndarray:
    """Shares of open columns that add up to more: those that have one take more, as far as one
    whole each, and new columns take the rest, the strongest first."""
    room = np.where(z > 0, 1 - z, 0.0)
    whole_room = max(float(room.sum()), 1e-300)
    part_of_room = min(1.0, missing / whole_room)
    taken = part_of_room * room
    z = z + taken
    missing -= float(taken.sum())
    rounding = 1e-12
    if missing > rounding:
        empty = np.where(open_ & (z == 0), pulls, -1.0)
        n_new = int(np.ceil(missing - rounding))
        new = largest(empty, n_new)
        z[new] = missing / new.size
    return z
