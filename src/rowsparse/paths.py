"""Paths of a problem: grids of alpha or p, or down to k rows, each solve warm from the last.

``selection_path`` and ``power_path``, the same for selectors, live above with the selectors and
can be imported from here.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from .penalties.base import Penalty
from .problems.penalised import PenalisedProblem
from .results import Path, Solution, Status
from .solvers.base import Deadline, Reached, Solver, reach, resume
from .solvers.penalised.block_descent import BlockDescent
from .solvers.penalised.bounds import bounded
from .solvers.penalised.exactly_k import exactly_k
from .solvers.penalised.starts import lower, search

COARSE = 0.7  # ratio of neighbouring alphas on the way down to k rows
SMALLEST = 1e-4  # of alpha_max: the end of that way
REFINEMENTS = 6  # halvings of the last coarse step: alpha to within 0.6 %
LOWERINGS = 8  # coarse steps below the alpha at which a path jumped past k: a twentieth of it
SEARCHES = 10  # from every start, however fine the grid: between them the neighbour is the start
ENDED = (Status.INTERRUPTED, Status.TIME_LIMIT, Status.NOT_FINITE)

Init = str | np.ndarray


def __getattr__(name: str) -> Any:
    if name in ("selection_path", "power_path"):
        return vars(importlib.import_module("rowsparse.selectors.paths"))[name]
    raise AttributeError(f"module 'rowsparse.paths' has no attribute {name!r}")


def alpha_path(
    problem: PenalisedProblem, solver: Solver, grid: np.ndarray, init: Init = "best"
) -> Path:
    """The solutions along a decreasing grid of alpha, under one time limit for all.

    Each goes on from what is known at the last two. Where the start matters, ``init`` is tried as
    well at ``SEARCHES`` alphas spread over the grid, and what it finds is followed both ways.
    """
    deadline = Deadline(solver.time_limit)
    found = search(problem.with_alpha(grid[0]), deadline.limited(solver), init)
    solutions = [found.solution]
    before = None
    apart = max(1, len(grid) // SEARCHES)
    for i, alpha in enumerate(grid[1:], start=1):
        if solutions[-1].status in ENDED:
            break
        at = problem.with_alpha(alpha)
        last = found
        found = resume(deadline.limited(solver), at, last, before)
        before = last
        if not problem.convex and (i % apart == 0 or i == len(grid) - 1):
            found = lower(at, deadline.limited(solver), found, init)
        solutions.append(found.solution)
        if found.solution.start != "warm":
            before = None
            _lower_above(problem, solver, grid, solutions, found, deadline)
    return Path(grid[: len(solutions)], tuple(solutions))


def _lower_above(
    problem: PenalisedProblem,
    solver: Solver,
    grid: np.ndarray,
    solutions: list[Solution],
    last: Reached,
    deadline: Deadline,
) -> None:
    """Follow the last solution, which is not the continuation of those above it, back up for as
    long as it is lower than what was found there."""
    for i in range(len(solutions) - 2, -1, -1):
        last = resume(deadline.limited(solver), problem.with_alpha(grid[i]), last)
        trial = last.solution
        if trial.status in ENDED or not trial.objective < solutions[i].objective * (1 - 1e-9):
            break
        solutions[i] = trial


def penalty_path(
    problem: PenalisedProblem,
    solver: Solver,
    penalties: Iterable[Penalty],
    fraction: float | None = None,
) -> Path:
    """The solutions under one penalty after the other, each continued from the one before; with
    ``fraction`` at this share of the alpha_max of each."""
    alphas: list[float] = []
    solutions: list[Solution] = []
    deadline = Deadline(solver.time_limit)
    last = None
    for penalty in penalties:
        at = problem.with_penalty(penalty)
        alphas.append(penalty.alpha if fraction is None else fraction * at.alpha_max())
        at = at.with_alpha(alphas[-1])
        limited = deadline.limited(solver)
        last = search(at, limited, "zero") if last is None else resume(limited, at, last)
        solutions.append(last.solution)
        if last.solution.status in ENDED:
            break
    return Path(np.array(alphas), tuple(solutions))


def path_to_k(
    problem: PenalisedProblem, solver: Solver, k: int, init: Init = "best"
) -> tuple[float, Solution, Path]:
    """Follow alpha down until at least k rows are nonzero, and keep exactly k of them.

    Coarse steps first, then bisection between the last alpha with fewer than k rows and the first
    with enough. Where there are more than k, the problem is solved once more under the constraint
    of at most k rows. Returns that alpha, this solution and every solution seen on the way;
    ``n_iter`` and ``seconds`` of the solution are those of the whole way. If k is not reached by
    ``SMALLEST`` times alpha_max, the last solution is returned as it is; Ctrl-C and the solver's
    time limit, which is for the whole path, end it early.
    """
    walk = _Walk(problem, solver, init)
    alpha, solution = walk.with_k_rows(walk.to(k), k)
    status = solution.status if walk.ended is None else walk.ended
    seconds = walk.deadline.elapsed()
    whole = replace(solution, status=status, n_iter=walk.n_iter, seconds=seconds)
    return alpha, whole, walk.path()


def path_over_k(
    problem: PenalisedProblem, solver: Solver, ks: Iterable[int], init: Init = "best"
) -> Path:
    """For every k in increasing order what ``path_to_k`` finds, in one walk: no alpha is solved
    twice, and the time limit is for all."""
    walk = _Walk(problem, solver, init)
    found: list[tuple[int, float, Solution]] = []
    for k in ks:
        found.append((k, *walk.with_k_rows(walk.to(k), k)))
        if walk.ended is not None:
            found[-1] = (k, found[-1][1], replace(found[-1][2], status=walk.ended))
            break
    counts, alphas, solutions = zip(*found, strict=True)
    return Path(np.array(alphas), solutions, ks=np.array(counts))


class _Walk:
    """Solutions along alpha, each from the one before, under one time limit."""

    def __init__(self, problem: PenalisedProblem, solver: Solver, init: Init):
        self.problem = problem
        self.solver = solver
        self.init = init
        self.deadline = Deadline(solver.time_limit)
        self.top = problem.alpha_max() or 1.0
        # reweighting makes every solve dear, and jumps past k are bridged by the restriction
        self.dear = not (problem.loss.quadratic or problem.convex)
        self.ratio = COARSE**2 if self.dear else COARSE
        self.n_halvings = 1 if self.dear else REFINEMENTS
        self.squared = replace(problem, loss=replace(problem.loss, r=2.0))
        self.known: dict[float, Reached] = {}
        self.lowered: dict[float, Solution] = {}  # below the walk, restricted to k rows
        self.n_iter = 0  # of all solves
        self.ended: str | None = None  # Ctrl-C or the end of the time

    def to(self, k: int) -> float:
        """The largest alpha found with at least k nonzero rows."""
        alpha = self.down(k)
        above = min(alpha / self.ratio, self.top)
        for _ in range(self.n_halvings):
            if self.known[alpha].solution.rows.size <= k or self.ended:
                break
            middle = float(np.sqrt(above * alpha))
            trial = self.visit(middle, self.known[alpha])
            if trial.solution.rows.size >= k:
                alpha = middle
            else:
                above = middle
        return alpha

    def down(self, k: int) -> float:
        """Lower alpha until k rows are in, or as far as it goes."""
        alpha = self.top * self.ratio
        found = self.visit(alpha, None)
        while found.solution.rows.size < k and alpha >= SMALLEST * self.top and not self.ended:
            alpha *= self.ratio
            found = self.visit(alpha, found)
        return alpha

    def visit(self, alpha: float, near: Reached | None) -> Reached:
        """What is reached at alpha, from the neighbour.

        Steps and bisections pass the same alphas, from the same neighbours, for every k: what was
        solved once is looked up.
        """
        if alpha not in self.known:
            found = self._solved(self.problem.with_alpha(alpha), near)
            self.known[alpha] = found
            self.n_iter += found.solution.n_iter
            if found.solution.status in ENDED:
                self.ended = found.solution.status
        return self.known[alpha]

    def _solved(self, problem: PenalisedProblem, near: Reached | None) -> Reached:
        solver = self.deadline.limited(self.solver)
        if self.dear and (near is None or not near.solution.rows.size):
            return reach(solver, problem, self._left_zero(problem), start="warm")
        if near is not None:
            return resume(solver, problem, near)
        return search(problem, solver, "zero" if isinstance(self.init, str) else self.init)

    def _left_zero(self, problem: PenalisedProblem) -> np.ndarray:
        """Squared loss's solution at the same part of alpha_max, where to start from zero rows: a
        null model that hits most samples (two classes, r = 1) has weights that hold it there."""
        alpha = problem.penalty.alpha / self.top * self.squared.alpha_max()
        solver = self.deadline.limited(BlockDescent(time_limit=self.deadline.limit))
        return reach(solver, self.squared.with_alpha(alpha), nested=True).state.W

    def with_k_rows(self, alpha: float, k: int) -> tuple[float, Solution]:
        """The solution if it has at most k rows, else one of the problem restricted to k rows; what
        is proved of the problem without the constraint holds for it too.

        Where the restricted problem wants fewer rows still, alpha is lowered until it has k.
        """
        found = solution = self.known[alpha].solution
        if self.ended or solution.rows.size < k:
            return alpha, solution
        problem = self.problem.with_alpha(alpha)
        proved = 0.0 if solution.gap is None else solution.objective - solution.gap
        if solution.rows.size > k or not self.problem.convex:
            near = solution if not self.dear else self._of_squares(solution, k)
            found = exactly_k(problem, self.deadline.limited(self.solver), near, k)
        for _ in range(LOWERINGS):
            if found.rows.size >= k or found.status in ENDED or self.deadline.passed():
                break
            alpha *= COARSE
            problem = self.problem.with_alpha(alpha)
            proved = 0.0
            found = exactly_k(problem, self.deadline.limited(self.solver), found, k)
            self.lowered[alpha] = found
        if found.status in ENDED:
            self.ended = found.status
        elif found.gap is None and (proved or self._squares_under_a_ridge):
            # for r < 2 it costs several times the way to k (ALLAML, k = 10: 8.8 s against 1.1 s)
            found = bounded(problem, found, proved)
        return alpha, found

    @property
    def _squares_under_a_ridge(self) -> bool:
        return self.problem.ridge > 0 and self.problem.loss.quadratic

    def _of_squares(self, solution: Solution, k: int) -> Solution:
        """The k rows that squared loss selects, where to exchange rows from for r < 2.

        On seven gene sets (r = 1, p = 0.5, k = 10) this led lower than the rows of the walk on six,
        by 0.2 to 19 %, and 1.8 % higher on one.
        """
        limit = self.deadline.left()
        found = path_to_k(self.squared, BlockDescent(time_limit=limit), k)[1]
        if found.status == Status.INTERRUPTED:
            return found
        return replace(found, status=solution.status)

    def path(self) -> Path:
        """The solution at every alpha seen, from the largest to the smallest."""
        seen = {alpha: reached.solution for alpha, reached in self.known.items()} | self.lowered
        order = sorted(seen, reverse=True)
        return Path(np.array(order), tuple(seen[alpha] for alpha in order))
