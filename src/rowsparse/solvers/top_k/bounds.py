r"""What can be proved about the best k rows: enumeration for k = 1 and 2, lower bounds beyond.

For squared loss and fewer columns than samples, leaving column i out of all of them costs at least
``|w_i|**2 / (G^-1)_ii``, and any k columns leave out one of the k + 1 that cost most. Branch and
bound on which columns stay sharpens it.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from ...numerics.rounding import LAST_DIGITS
from ...numerics.rows import row_squares
from ...problems.penalised import PenalisedProblem
from ..base import OutOfTime, never
from .columns import Columns, closed_rows
from .enumeration import PROVED, Bound, best_pair, best_single, best_single_robust

__all__ = ["PROVED", "Bound", "bound", "leave_out"]

# What a proof may cost: about as long as the search it is about.
PAIR_FLOPS = 2e11  # of all pairs of columns: some seconds
ROOT_FLOPS = 1e9  # of the Gram matrix of all columns
# Columns; beyond, the tree is too large for its bound to move: USPS (500 samples, 256 columns,
# k = 10) has a gap of 69.2 % after sixty nodes, 69.4 without, in 3.7 times the time of the fit.
BRANCH_UP_TO = 64
# Where no time is given for a proof: this takes about as long as the search (Sonar, k = 3, 5, 10:
# .02 s, gaps of 22, 22, 9 %; with 3000 nodes .11 to .17 s, gaps of 7, 17, 9 %). Up to 13 columns
# are proved in a hundred.
FEW_NODES = 300


def bound(
    problem: PenalisedProblem,
    k: int,
    objective: float,
    out_of_time: OutOfTime = never,
    columns: Columns | None = None,
    max_nodes: float = FEW_NODES,
) -> Bound | None:
    """The best bound that is cheap for this problem; None where nothing but 0 is known."""
    n = len(problem.Y)
    d = np.count_nonzero(~closed_rows(problem))
    if not problem.loss.quadratic:
        single = k == 1 and problem.loss.convex
        return best_single_robust(problem, out_of_time) if single else None
    columns = columns or Columns.of(problem)
    if _few_digits(problem, columns):
        return None
    if k == 1:
        return best_single(columns, n)
    if not problem.design.complete:  # more is about products of all columns
        return None
    if k == 2 and d <= 10_000 and n * d**2 <= PAIR_FLOPS:
        return best_pair(columns, n, out_of_time)
    if k < d < n and n * d**2 <= ROOT_FLOPS:
        nodes = max_nodes if d <= BRANCH_UP_TO else 1
        return leave_out(columns, n, k, objective, out_of_time, nodes)
    return None


def _few_digits(problem: PenalisedProblem, columns: Columns) -> bool:
    """Whether some column lies so nearly in the span of the free ones that what is left of it is
    rounding: nothing is then known of what it explains."""
    own = len(problem.Y) * problem.sample_curvatures
    few = columns.squares <= columns.dependent * own
    usable = ~closed_rows(problem)
    return bool(few[usable].any())


def leave_out(
    columns: Columns,
    n: int,
    k: int,
    objective: float,
    out_of_time: OutOfTime,
    max_nodes: float,
) -> Bound | None:
    """Branch and bound from the fit on all columns, for at least as many samples as columns."""
    rows = np.flatnonzero(columns.squares > 0)
    A = columns.block(rows)
    A /= np.sqrt(columns.squares[rows])
    G = A.T @ A
    np.fill_diagonal(G, 1.0)  # the squares hold the ridge
    if not _is_regular(G, columns.dependent):
        return None  # inverses of such a matrix have too few digits to prove anything
    B = A.T @ columns.Y
    tree = _Tree(G, B, columns.total, k)
    per_value = 2 * n
    wanted = per_value * objective * (1 - PROVED)
    lowest, visited = tree.search(wanted, max_nodes, out_of_time)
    value = max(lowest.bound, 0.0) / per_value
    how = f"branch and bound, {visited} nodes" if visited > 1 else "the fit on all columns"
    if lowest.branch is not None:
        return Bound(value, how)
    names = columns.names[rows]
    return Bound(value, how, np.sort(names[lowest.kept]))


def _is_regular(G: np.ndarray, dependent: float) -> bool:
    """Whether no unit column lies nearly in the span of those before it."""
    try:
        pivots = np.linalg.cholesky(G).diagonal()
    except np.linalg.LinAlgError:
        return False
    return bool(pivots.min() ** 2 > dependent)


class _Node(NamedTuple):
    """Supports that keep some columns for sure and may keep others; compared by their bound."""

    bound: float
    number: int  # breaks ties
    kept: list[int]
    possible: list[int]
    # the column to decide next; None in a leaf, whose bound is the value of kept
    branch: int | None


class _Tree:
    """The sums of squares on subsets of columns with Gram matrix G and products B with Y."""

    def __init__(self, G: np.ndarray, B: np.ndarray, total: float, k: int):
        self.G = G
        self.B = B
        self.total = total
        self.k = k

    def search(self, wanted: float, max_nodes: float, out_of_time: OutOfTime) -> tuple[_Node, int]:
        """The node of least bound of all that are left, once that is high enough or time is up; and
        how many nodes were looked at. A leaf is the best of all supports."""
        everything = list(range(len(self.G)))
        heap = [self._node(0, [], everything, 0.0)]
        visited = 1
        while heap[0].bound < wanted and visited < max_nodes and not out_of_time():
            node = heap[0]
            if node.branch is None:
                break  # no other node can hold anything better than this support
            heapq.heappop(heap)
            others = [j for j in node.possible if j != node.branch]
            with_it = [*node.kept, node.branch]
            for kept in (node.kept, with_it):
                child = self._node(visited, kept, others, node.bound)
                heapq.heappush(heap, child)
                visited += 1
        return heap[0], visited

    def _node(self, number: int, kept: list[int], possible: list[int], least: float) -> _Node:
        """All supports between ``kept`` and ``kept + possible``; a parent's bound holds too.

        With A the inverse of the Gram matrix among them and W = A B the fit on all of them, leaving
        out column i costs at least ``|w_i|**2 / A_ii``.
        """
        room = self.k - len(kept)
        used = [*kept, *possible] if room else kept
        among = self.G[np.ix_(used, used)]
        inverse = np.linalg.inv(among)
        B = self.B[used]
        W = inverse @ B
        explained = float(np.vdot(W, B))
        # a system loses as many digits as its condition has
        rounding = LAST_DIGITS * self.total * float(inverse.diagonal().sum())
        rest = max(self.total - explained - rounding, 0.0)
        if room == 0 or room >= len(possible):
            return _Node(max(rest, least), number, used, [], None)
        costs = row_squares(W) / inverse.diagonal()
        of_possible = costs[len(kept) :]
        dearest_first = np.argsort(-of_possible, kind="stable")
        # of the room + 1 columns that cost most one is left out
        left_out = dearest_first[room]
        at_least = rest + float(of_possible[left_out])
        bound = max(at_least, least)
        # the column that costs most is kept in most good supports: that branch soon ends
        branch = possible[dearest_first[0]]
        return _Node(bound, number, kept, possible, branch)
