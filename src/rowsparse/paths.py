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

from .numerics.compiling import for_many
from .numerics.rounding import EPSILON
from .penalties.base import Penalty
from .problems.compressed import compressed
from .problems.penalised import PenalisedProblem
from .results import Path, Solution, Status
from .solvers.base import Deadline, Reached, Solver, reach, resume
from .solvers.penalised.block_descent import BlockDescent
from .solvers.penalised.bounds import bounded
from .solvers.penalised.exactly_k import exactly_k, places, truncated
from .solvers.penalised.starts import ENDED, lower, not_above_nothing, search
from .solvers.top_k.search import swapped

__all__ = ["power_path", "selection_path"]  # noqa: F822 (by __getattr__)

COARSE = 0.7  # ratio of neighbouring alphas on the way down to k rows
SMALLEST = 1e-4  # of alpha_max: below it in tenths, for columns of next to no influence
REFINEMENTS = 6  # halvings of the last coarse step: alpha to within 0.6 %
LOWERINGS = 8  # coarse steps below the alpha at which a path jumped past k: a twentieth of it
GUIDING_STEPS = 25  # of a solve that only shows another where to start
SEARCHES = 10  # from every start, however fine the grid: between them the neighbour is the start

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
    with for_many(problem.n_rows, len(grid)):
        return _along(compressed(problem), solver, grid, init, deadline)


def _along(
    problem: PenalisedProblem, solver: Solver, grid: np.ndarray, init: Init, deadline: Deadline
) -> Path:
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
        from_init = i % apart == 0 or i == len(grid) - 1
        going_on = found.solution.status != Status.INTERRUPTED
        if from_init and going_on and not problem.convex:
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
        if trial.status == Status.INTERRUPTED:  # ends the whole path
            solutions[-1] = replace(solutions[-1], status=trial.status)
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
    problem = compressed(problem)
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
    ``EPSILON`` times alpha_max, the last solution is returned as it is; Ctrl-C and the solver's
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
        self.deadline = Deadline(solver.time_limit)
        self.problem = problem = compressed(problem)
        self.solver = solver
        self.init = init
        self.top = problem.alpha_max() or 1.0
        # reweighting makes every solve dear, and jumps past k are bridged by the restriction
        dear = not (problem.loss.quadratic or problem.convex)
        self.ratio = COARSE**2 if dear else COARSE
        self.n_halvings = 1 if dear else REFINEMENTS
        self.squares = self._of_squares() if dear else None
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
        # more rows than samples need not enter at all; p = 0 and noise of 1e-5 of the signal need
        # 1e-10
        last = self.top * (EPSILON if k <= len(self.problem.Y) else SMALLEST)
        while found.solution.rows.size < k and alpha >= last and not self.ended:
            alpha *= self.ratio if alpha >= SMALLEST * self.top else 0.1
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
        if self.squares is not None:
            share = problem.penalty.alpha / self.top
            above = self.squares.known.get(min(self.squares.known, default=0.0))
            led = self.squares.visit(share * self.squares.top, above)
            self.squares.hand_on_an_interrupt()
            found = reach(solver, problem, led.state.W, start="warm")
            return not_above_nothing(problem, solver, found)
        if near is not None:
            return resume(solver, problem, near)
        return search(problem, solver, "zero" if isinstance(self.init, str) else self.init)

    def _of_squares(self) -> _Walk:
        """The way of squared loss, which shows one of r < 2 where to start at every alpha.

        Continued from its own neighbour, that one holds on to rows whose residuals have vanished:
        LUNG (r = 1, p = 0.5) has one row down to 6e-4 of alpha_max and 598 below; from squares 8 at
        0.24 and 15 at 0.17. The k rows of squares are also where to exchange rows from: on seven
        gene sets (k = 10) that led lower than the walk's own on six, by 0.2 to 19 %.
        """
        squared = self.problem.with_r(2.0)
        # what is not reached by then is a start all the same; 59 columns that are equal up to 1e-4
        # took 500 steps and 35 s at one small alpha, nine times over
        guide = BlockDescent(max_iter=GUIDING_STEPS, time_limit=self.deadline.left())
        return _Walk(squared, guide, "zero")

    def with_k_rows(self, alpha: float, k: int) -> tuple[float, Solution]:
        """``restricted``, with what is proved of it."""
        reached, found = self.restricted(alpha, k)
        if self.ended or found.gap is not None or found.rows.size < k:
            return reached, found
        proved = 0.0
        whole = self.known[alpha].solution
        if reached == alpha and whole.gap is not None:
            proved = whole.objective - whole.gap  # which holds under a constraint too
        # for r < 2 it costs several times the way to k (ALLAML, k = 10: 8.8 s against 1.1 s)
        if proved or (self.problem.ridge > 0 and self.problem.loss.quadratic):
            found = bounded(self.problem.with_alpha(reached), found, proved)
            self._end_if_interrupted(found)
        return reached, found

    def restricted(self, alpha: float, k: int) -> tuple[float, Solution]:
        """The solution if it has at most k rows, else one of the problem restricted to k rows.

        Where the restricted problem wants fewer rows still, alpha is lowered until it has k.
        """
        found = self.known[alpha].solution
        taken = places(self.problem, found)
        if self.ended and taken > k:
            return alpha, truncated(self.problem.with_alpha(alpha), found, k)
        if self.ended or taken < k or (taken == k and self.problem.convex):
            return alpha, found
        if self.squares is not None:
            led = self.squares.restricted(self.squares.to(k), k)[1]
            self.squares.hand_on_an_interrupt()
            found = replace(led, status=found.status)
        for lowerings in range(LOWERINGS + 1):
            if lowerings:
                alpha *= COARSE
            problem = self.problem.with_alpha(alpha)
            found = exactly_k(problem, self.deadline.limited(self.solver), found, k)
            if lowerings:
                self.lowered[alpha] = found
            if places(self.problem, found) >= k or found.status in ENDED or self.deadline.passed():
                break
        if found.status in ENDED:
            self.ended = found.status
        elif found.rows.size == k and self.tries_swaps:
            found = self._or_from_swaps(self.problem.with_alpha(alpha), found, k)
        return alpha, found

    @property
    def tries_swaps(self) -> bool:
        """Whether all starts are wanted, and scoring swaps exactly is cheap."""
        return isinstance(self.init, str) and self.init == "best" and self.problem.loss.quadratic

    def _or_from_swaps(self, problem: PenalisedProblem, found: Solution, k: int) -> Solution:
        """The solution, or what the k rows lead to that no swap improves without the penalty, if
        that is lower: in 4 of 15 cases (USPS, LUNG, Prostate_GE, sc_pbmc68k_reduced and ALLAML at
        k = 5, 10, 20, no ridge)."""
        W, intercept = problem.split(swapped(problem, k, self.deadline.passed))
        start = replace(found, W=W, intercept=intercept, start="swaps")
        other = exactly_k(problem, self.deadline.limited(self.solver), start, k)
        self._end_if_interrupted(other)
        lower = other.objective < found.objective * (1 - 1e-9)
        return other if lower and other.rows.size == k else found

    def _end_if_interrupted(self, found: Solution) -> None:
        """Ctrl-C is told also where the solution that it came in is not the one that is kept."""
        if found.status == Status.INTERRUPTED:
            self.ended = found.status

    def hand_on_an_interrupt(self) -> None:
        """Ctrl-C on a walk that only leads another ends that one too."""
        if self.ended == Status.INTERRUPTED:
            raise KeyboardInterrupt

    def path(self) -> Path:
        """The solution at every alpha seen, from the largest to the smallest."""
        seen = {alpha: reached.solution for alpha, reached in self.known.items()} | self.lowered
        order = sorted(seen, reverse=True)
        return Path(np.array(order), tuple(seen[alpha] for alpha in order))
