"""Where to start a non-convex problem, and the best of several starts.

For p < 1 (or r < 1) the start decides which local minimum is found, and no start wins everywhere.
Every start ends with descent on the problem itself, so all results carry the same certificate.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..problem import Problem
from ..results import Solution, Status
from .base import Solver
from .irls import IRLS
from .loop import run

STARTS = ("zero", "irls", "convex")
CONTINUATION = 4  # values of p between the convex problem and the wanted one


def solve(
    problem: Problem, solver: Solver, init: str | np.ndarray | Solution = "best"
) -> Solution:
    """Solve from a named start, an array (features x outputs), a solution, or the best of all.

    ``init="best"`` keeps the lowest objective; ``solution.starts`` tells what each one reached.
    """
    if isinstance(init, Solution):
        return run(solver, problem, _joined(problem, init), start="warm")
    if not isinstance(init, str):
        return run(solver, problem, _with_intercept(problem, np.asarray(init, dtype=float)))
    if problem.convex or isinstance(solver, IRLS):
        return run(solver, problem, start="zero")  # one minimum, or a start of the solver's own
    if init != "best":
        return run(solver, problem, _starting_point(problem, solver, init), start=init)
    return _best_of(problem, solver, STARTS)


def solve_near(
    problem: Problem, solver: Solver, near: Solution | None, init: str | np.ndarray = "best"
) -> Solution:
    """Solve from a neighbour on a path; where the start matters, from ``init`` as well."""
    if near is None:
        return solve(problem, solver, init)
    if isinstance(solver, IRLS):
        return solve(problem, solver)  # rows that reweighting has set to zero cannot come back
    warm = solve(problem, solver, near)
    if problem.convex or warm.status is Status.INTERRUPTED:
        return warm
    cold = solve(problem, solver, init)
    best = min(warm, cold, key=lambda solution: solution.objective)
    return replace(best, starts={**(cold.starts or {cold.start: cold.objective}), "warm": warm.objective})


def _best_of(problem: Problem, solver: Solver, names: tuple[str, ...]) -> Solution:
    solutions: dict[str, Solution] = {}
    for name in names:
        W0 = _starting_point(problem, _remaining(solver, solutions), name)
        solutions[name] = run(_remaining(solver, solutions), problem, W0, start=name)
        if solutions[name].status in (Status.INTERRUPTED, Status.TIME_LIMIT):
            break
    best = min(solutions.values(), key=lambda solution: solution.objective)
    return replace(
        best,
        starts={name: solution.objective for name, solution in solutions.items()},
        seconds=sum(solution.seconds for solution in solutions.values()),
    )


def _remaining(solver: Solver, done: dict[str, Solution]) -> Solver:
    """The solver with what is left of its time limit."""
    if solver.time_limit is None:
        return solver
    used = sum(solution.seconds for solution in done.values())
    return replace(solver, time_limit=max(solver.time_limit - used, 0.0))


def _starting_point(problem: Problem, solver: Solver, name: str) -> np.ndarray | None:
    if name == "zero":
        return None
    rough = replace(solver, tol=max(solver.tol, 1e-4), callback=None)
    if name == "irls":
        if IRLS().supports(problem) is not None:  # p = 0 has no weights: start from a small p
            problem = problem.with_penalty(replace(problem.penalty, p=0.1))
        irls = IRLS(tol=1e-3, max_iter=40, time_limit=solver.time_limit)
        return _joined(problem, run(irls, problem))
    W = None
    p = problem.penalty.p
    for q in np.linspace(1.0, p, CONTINUATION, endpoint=False) if p < 1 else (1.0,):
        relaxed = replace(problem.with_penalty(replace(problem.penalty, p=float(q))))
        if q == 1.0 and not problem.loss.convex:
            relaxed = replace(relaxed, loss=replace(problem.loss, r=1.0))
        W = _joined(problem, run(rough, relaxed, W))
    return W


def _joined(problem: Problem, solution: Solution) -> np.ndarray:
    return np.vstack([solution.W, solution.intercept]) if problem.has_constant else solution.W


def _with_intercept(problem: Problem, W: np.ndarray) -> np.ndarray:
    """A given W with the best intercept the null model knows."""
    return np.vstack([W, problem.null_weights[-1:]]) if problem.has_constant else W
