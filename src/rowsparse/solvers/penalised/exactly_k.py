r"""Exactly k rows: the penalised problem under the constraint of at most k of them.

Where a path passes from fewer than k rows to more, or a given alpha lets in more, the k largest are
kept and descended on, all others held at zero; then members are exchanged for outsiders as long as
that lowers the objective.
What is returned is one W: its support, coefficients, objective and certificate belong together.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...numerics.rows import largest, nonzero_rows, row_norms
from ...penalties.base import Penalty
from ...problems.penalised import PenalisedProblem
from ...results import Solution, Status
from ..base import Deadline, Solver, reach, run
from .block_descent import BlockDescent
from .bounds import bounded
from .row_exchange import exchange_rows
from .starts import not_above_nothing, solve


def exactly_k(problem: PenalisedProblem, solver: Solver, solution: Solution, k: int) -> Solution:
    """The best W found with at most k nonzero rows (those that are always in counted), near a
    solution with any number of them."""
    deadline = Deadline(solver.time_limit)
    W = problem.joined(solution.W, solution.intercept)
    members = _largest_rows(problem, solution, k)
    W = np.where(members[:, None], W, 0.0)
    if problem.loss.convex:
        limit = int(np.count_nonzero(members))
        W = exchange_rows(problem, W, deadline.passed, limit)
    members = members_of(problem, W)
    of_members = _only(problem.penalty, members)
    restricted = problem.with_penalty(of_members)
    # exchanges end in descent, and only descent goes on from what they reach
    descent = solver if isinstance(solver, BlockDescent) else BlockDescent()
    finisher = deadline.limited(descent)
    reached = reach(finisher, restricted, W)
    found = not_above_nothing(restricted, finisher, reached).solution
    # a solution cut short says so, unless it was the last descent that ended early
    last_word = solution.converged or found.status == Status.INTERRUPTED
    return _told_like(solution, found, found.status if last_word else solution.status)


def at_most_k(
    problem: PenalisedProblem, solver: Solver, init: str | np.ndarray, k: int | None
) -> Solution:
    """The solution at this alpha if no more than k features are in it, or k is None; else one of
    the problem restricted to k of them. The time limit is for both, and what is proved of all W
    holds for those of k rows."""
    deadline = Deadline(solver.time_limit)
    whole = solve(problem, solver, init)
    if k is None:
        return whole
    if places(problem, whole) <= k:
        return whole
    found = exactly_k(problem, deadline.limited(solver), whole, k)
    n_iter = whole.n_iter + found.n_iter
    found = replace(found, n_iter=n_iter, seconds=deadline.elapsed())
    return found if whole.gap is None else bounded(problem, found, whole.objective - whole.gap)


def truncated(problem: PenalisedProblem, solution: Solution, k: int) -> Solution:
    """The k largest rows of a solution whose solver was ended early, with its status. One step
    adapts them to the loss of the others: a certificate needs a pass over X anyway."""
    W = problem.joined(solution.W, solution.intercept)
    members = _largest_rows(problem, solution, k)
    of_members = _only(problem.penalty, members)
    restricted = problem.with_penalty(of_members)
    kept = np.where(members[:, None], W, 0.0)
    found = run(BlockDescent(max_iter=1), restricted, kept)
    return _told_like(solution, found, solution.status)


def _told_like(solution: Solution, found: Solution, status: str) -> Solution:
    """What was found for k rows, with the story of the solution that it comes from."""
    return replace(
        found,
        status=status,
        start=solution.start,
        starts=solution.starts,
        gap=None,
        solver=solution.solver,
    )


def places(problem: PenalisedProblem, solution: Solution) -> int:
    """How many of k places a solution takes: features that are free do even where zero."""
    W = problem.joined(solution.W, solution.intercept)
    return int(np.count_nonzero(members_of(problem, W)[: len(solution.W)]))


def members_of(problem: PenalisedProblem, W: np.ndarray) -> np.ndarray:
    """The rows that are not zero, and the free ones."""
    return nonzero_rows(W) | problem.penalty.free(len(W))


def _largest_rows(problem: PenalisedProblem, solution: Solution, k: int) -> np.ndarray:
    """A mask of the free rows and the largest others, k features in all."""
    features = problem.penalty.free(problem.n_rows)[: len(solution.W)]
    norms = np.where(features, np.inf, row_norms(solution.W))
    members = problem.penalty.free(problem.n_rows)
    members[largest(norms, k)] = True
    return members


def _only(penalty: Penalty, members: np.ndarray) -> Penalty:
    """The penalty with all other rows kept out."""
    factors = np.ones(len(members)) if penalty.factors is None else penalty.factors
    kept = np.where(members, factors, np.inf)
    return penalty.with_factors(kept)
