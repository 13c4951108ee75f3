"""Where to start a non-convex problem, and the best of several starts.

For p < 1 (or r < 1) the start decides which local minimum is found, and no start wins everywhere.
Every start ends with descent on the problem itself, so all results carry the same certificate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...problems.penalised import PenalisedProblem
from ...results import Solution, Status
from ..base import Solver
from ..loop import Deadline, run
from .irls import IRLS
from .proximal_gradient import ProximalGradient
from .ridge_start import ridge_weights
from .row_exchange import exchange_rows

CONTINUATION = 4  # problems between the convex one and the wanted one
ROUGH = 1e-4  # tolerance of what is only a start
RIDGE_TOL, RIDGE_STEPS = 1e-2, 200


def solve(
    problem: PenalisedProblem, solver: Solver, init: str | np.ndarray | Solution = "best"
) -> Solution:
    """Solve from a named start, an array (features x outputs), a solution, or the best of all.

    ``init="best"`` runs every start, tries to exchange rows of what each one finds, and keeps the
    lowest objective; ``solution.starts`` tells what each reached.
    """
    if isinstance(init, Solution):
        return run(solver, problem, _joined(problem, init), start="warm")
    if not isinstance(init, str):
        return run(solver, problem, _with_intercept(problem, np.asarray(init, dtype=float)))
    if isinstance(solver, IRLS) or problem.convex:
        return run(solver, problem, start="zero")  # a start of the solver's own, or one minimum
    names = problem.penalty.starts if init == "best" else (init,)
    exchange = init == "best" and problem.loss.convex and not problem.penalty.convex
    return _best_of(problem, solver, names, exchange)


def solve_near(
    problem: PenalisedProblem,
    solver: Solver,
    near: Solution | None,
    init: str | np.ndarray = "best",
) -> Solution:
    """Solve from a neighbour on a path; where the start matters, from ``init`` as well."""
    if near is None or isinstance(solver, IRLS):
        return solve(problem, solver, init)  # rows that reweighting has zeroed cannot come back
    deadline = Deadline(solver.time_limit)
    warm = solve(problem, solver, near)
    if problem.convex or warm.status in (Status.INTERRUPTED, Status.TIME_LIMIT):
        return warm
    solver = deadline.limited(solver)
    if isinstance(init, str):
        names = problem.penalty.starts if init == "best" else (init,)
        cold = _best_of(problem, solver, names, exchange=False)
    else:
        cold = solve(problem, solver, init)
    best = min(warm, cold, key=lambda solution: solution.objective)
    if cold.status in (Status.INTERRUPTED, Status.TIME_LIMIT):
        best = replace(best, status=cold.status)
    starts = cold.starts or {cold.start: cold.objective}
    return replace(best, starts={**starts, "warm": warm.objective})


def _best_of(
    problem: PenalisedProblem, solver: Solver, names: tuple[str, ...], exchange: bool
) -> Solution:
    """The lowest of several starts; Ctrl-C or the end of the time keeps what there is."""
    deadline = Deadline(solver.time_limit)
    solutions: dict[str, Solution] = {}
    reached: dict[str, float] = {}  # objective from each start before rows were exchanged
    try:
        for name in names:
            W0 = _starting_point(problem, solver, name, deadline)
            if exchange:
                rough = deadline.limited(replace(solver, tol=max(solver.tol, ROUGH)))
                found = run(rough, problem, W0, nested=True)
                same = [n for n, value in reached.items() if np.isclose(value, found.objective)]
                if same:  # this minimum has been found and left before
                    solutions[name] = replace(solutions[same[0]], start=name)
                    continue
                reached[name] = found.objective
                W0 = exchange_rows(problem, _joined(problem, found), deadline.passed)
            solutions[name] = run(deadline.limited(solver), problem, W0, start=name)
            if solutions[name].status in (Status.INTERRUPTED, Status.TIME_LIMIT):
                break
    except KeyboardInterrupt:
        if not solutions:
            solutions["zero"] = run(replace(solver, max_iter=0), problem, start="zero")
        best = min(solutions.values(), key=lambda solution: solution.objective)
        return replace(best, status=Status.INTERRUPTED, seconds=deadline.elapsed())
    best = min(solutions.values(), key=lambda solution: solution.objective)
    starts = {name: solution.objective for name, solution in solutions.items()}
    return replace(best, starts=starts, seconds=deadline.elapsed())


def _starting_point(
    problem: PenalisedProblem, solver: Solver, name: str, deadline: Deadline
) -> np.ndarray | None:
    if name == "zero":
        return None
    if name == "irls":
        relative = problem.penalty.reweightable_relative()
        problem = problem if relative is None else problem.with_penalty(relative)
        irls = IRLS(tol=1e-3, max_iter=40, callback=solver.callback)
        return _joined(problem, run(deadline.limited(irls), problem, nested=True))
    if name == "ridge":  # Kong & Ding: proximal gradient from the ridge solution
        gradient = ProximalGradient(tol=RIDGE_TOL, max_iter=RIDGE_STEPS, callback=solver.callback)
        W0 = ridge_weights(problem)
        if gradient.supports(problem) is not None:
            return W0
        return _joined(problem, run(deadline.limited(gradient), problem, W0, nested=True))
    W = None
    rough = replace(solver, tol=max(solver.tol, ROUGH))
    fraction = problem.penalty.alpha / (problem.alpha_max() or 1.0)
    for relaxed in _towards(problem):
        relaxed = relaxed.with_alpha(fraction * relaxed.alpha_max())
        W = _joined(problem, run(deadline.limited(rough), relaxed, W, nested=True))
    return W


def _towards(problem: PenalisedProblem) -> Iterator[PenalisedProblem]:
    """From the convex problem (r >= 1, p = 1) to the wanted one, without it."""
    for share in np.arange(CONTINUATION) / CONTINUATION:
        penalty = problem.penalty.relaxed(float(share))
        relaxed = problem if penalty is None else problem.with_penalty(penalty)
        r = problem.loss.r
        if r < 1:
            relaxed = replace(relaxed, loss=replace(problem.loss, r=float(1 + share * (r - 1))))
        yield relaxed


def _joined(problem: PenalisedProblem, solution: Solution) -> np.ndarray:
    return np.vstack([solution.W, solution.intercept]) if problem.has_constant else solution.W


def _with_intercept(problem: PenalisedProblem, W: np.ndarray) -> np.ndarray:
    """A given W with the best intercept the null model knows."""
    return np.vstack([W, problem.null_point[-1:]]) if problem.has_constant else W
