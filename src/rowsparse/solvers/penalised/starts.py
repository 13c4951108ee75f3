"""Which solver for which problem, where to start it, and the best of several starts.

For a penalty that is not convex (or r < 1) the start decides which local minimum is found, and no
start wins everywhere. Every start ends with descent on the problem itself, so all results carry
the same certificate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...designs.wrappers import Subset
from ...numerics.systems import ridge
from ...problems.penalised import PenalisedProblem
from ...results import Solution, Status
from ..base import Deadline, Solver, run
from .block_descent import BlockDescent
from .irls import IRLS
from .proximal_gradient import ProximalGradient
from .row_exchange import ROUGH, exchange_rows

CONTINUATION = 4  # problems between the convex one and the wanted one

AnySolver = Solver[Any, Any]


def choose(problem: PenalisedProblem) -> tuple[AnySolver, str]:
    """The solver that ``solver="auto"`` uses for this problem, and the reason."""
    solver = BlockDescent()
    if problem.loss.quadratic:
        reason = "squared loss: working sets, block sweeps and Newton steps on a Gram matrix."
    else:
        reason = "r < 2: the same on reweighted samples, with a smoothing that vanishes."
    return solver, reason


def solve(
    problem: PenalisedProblem, solver: AnySolver, init: str | np.ndarray | Solution = "best"
) -> Solution:
    """Solve from a named start, an array (features x outputs), a solution, or the best of all.

    ``init="best"`` runs every start, tries to exchange rows of what each one finds, and keeps the
    lowest objective; ``solution.starts`` tells what each reached.
    """
    if isinstance(init, Solution):
        return run(solver, problem, _joined(problem, init), start="warm")
    if not isinstance(init, str):
        return run(solver, problem, _with_intercept(problem, np.asarray(init, dtype=float)))
    names = _named_starts(problem, init)
    if isinstance(solver, IRLS) or problem.convex:
        return run(solver, problem, start="zero")  # a start of the solver's own, or one minimum
    exchange = init == "best" and problem.loss.convex and not problem.penalty.convex
    return _best_of(problem, solver, names, exchange)


def solve_near(
    problem: PenalisedProblem,
    solver: AnySolver,
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
        cold = _best_of(problem, solver, _named_starts(problem, init), exchange=False)
    else:
        cold = solve(problem, solver, init)
    best = _lowest([warm, cold])
    if cold.status in (Status.INTERRUPTED, Status.TIME_LIMIT):
        best = replace(best, status=cold.status)
    starts = cold.starts or {cold.start: cold.objective}
    return replace(best, starts={**starts, "warm": warm.objective})


def _named_starts(problem: PenalisedProblem, init: str) -> tuple[str, ...]:
    known = problem.penalty.starts
    if init not in (*known, "best"):
        names = ", ".join(map(repr, known))
        raise ValueError(f"Expected init to be {names}, 'best' or an array, got {init!r}.")
    return known if init == "best" else (init,)


def _lowest(solutions: list[Solution]) -> Solution:
    return min(solutions, key=lambda solution: solution.objective)


def _best_of(
    problem: PenalisedProblem, solver: AnySolver, names: tuple[str, ...], exchange: bool
) -> Solution:
    """The lowest of several starts; Ctrl-C or the end of the time keeps what there is."""
    deadline = Deadline(solver.time_limit)
    solutions: dict[str, Solution] = {}
    reached: dict[str, float] = {}  # objective from each start before rows were exchanged
    try:
        for name in names:
            W0 = _starting_point(problem, solver, name, deadline)
            if exchange:
                rough = deadline.limited(_roughly(solver))
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
        best = _lowest(list(solutions.values()))
        return replace(best, status=Status.INTERRUPTED, seconds=deadline.elapsed())
    best = _lowest(list(solutions.values()))
    starts = {name: solution.objective for name, solution in solutions.items()}
    return replace(best, starts=starts, seconds=deadline.elapsed())


def _roughly(solver: AnySolver) -> AnySolver:
    """The solver for what is only a start."""
    return replace(solver, tol=max(solver.tol, ROUGH))


def _starting_point(
    problem: PenalisedProblem, solver: AnySolver, name: str, deadline: Deadline
) -> np.ndarray | None:
    """The W of a named start; None stands for the null model."""
    if name == "irls":
        return _by_reweighting(problem, solver, deadline)
    if name == "ridge":
        return _from_ridge(problem, solver, deadline)
    if name == "convex":
        return _from_convex(problem, solver, deadline)
    return None


def _by_reweighting(
    problem: PenalisedProblem, solver: AnySolver, deadline: Deadline
) -> np.ndarray | None:
    relative = problem.penalty.reweightable_relative()
    if relative is None:
        return None
    # a few steps are enough to tell which rows matter
    irls = IRLS(tol=1e-3, max_iter=40, callback=solver.callback)
    solution = run(deadline.limited(irls), problem.with_penalty(relative), nested=True)
    return _joined(problem, solution)


def _from_ridge(problem: PenalisedProblem, solver: AnySolver, deadline: Deadline) -> np.ndarray:
    """Proximal gradient from the ridge solution, the start of Kong & Ding."""
    W0 = ridge_point(problem)
    gradient = ProximalGradient(tol=1e-2, max_iter=200, callback=solver.callback)
    if gradient.supports(problem) is not None:
        return W0
    return _joined(problem, run(deadline.limited(gradient), problem, W0, nested=True))


def _from_convex(
    problem: PenalisedProblem, solver: AnySolver, deadline: Deadline
) -> np.ndarray | None:
    """From the convex problem along a way to the wanted one, at the same part of alpha_max."""
    W = None
    rough = _roughly(solver)
    fraction = problem.penalty.alpha / (problem.alpha_max() or 1.0)
    for relaxed in _towards(problem):
        relaxed = relaxed.with_alpha(fraction * relaxed.alpha_max())
        W = _joined(problem, run(deadline.limited(rough), relaxed, W, nested=True))
    return W


def _towards(problem: PenalisedProblem) -> Iterator[PenalisedProblem]:
    """From the convex problem (r >= 1, a convex penalty) to the wanted one, without it."""
    r = problem.loss.r
    for share in np.arange(CONTINUATION) / CONTINUATION:
        penalty = problem.penalty.relaxed(float(share))
        relaxed = problem if penalty is None else problem.with_penalty(penalty)
        if r < 1:
            relaxed = replace(relaxed, loss=replace(problem.loss, r=float(1 + share * (r - 1))))
        yield relaxed


def ridge_point(problem: PenalisedProblem) -> np.ndarray:
    """argmin of ``1/(2n) sum_i s_i |x_i'W - y_i|**2 + sum_j strength_j |w_j|**2``.

    Excluded rows are zero.
    """
    penalty = problem.penalty
    n_rows = problem.n_rows
    W = np.zeros((n_rows, problem.Y.shape[1]))
    used = np.flatnonzero((problem.sample_curvatures > 0) & ~penalty.excluded(n_rows))
    design = problem.design if used.size == n_rows else Subset(problem.design, used)
    free = penalty.free(n_rows)[used]
    # a strength of zero on more rows than samples would leave the system singular
    lowest = 1e-10 * float(problem.sample_curvatures.max(initial=0.0))
    q = np.where(free, 0.0, np.maximum(2 * penalty.strength(n_rows)[used], lowest))
    n = len(problem.Y)
    W[used] = ridge(design, problem.Y, problem.loss.weights(n) / n, q)
    return W


def _joined(problem: PenalisedProblem, solution: Solution) -> np.ndarray:
    return np.vstack([solution.W, solution.intercept]) if problem.has_constant else solution.W


def _with_intercept(problem: PenalisedProblem, W: np.ndarray) -> np.ndarray:
    """A given W with the best intercept the null model knows."""
    return np.vstack([W, problem.null_point[-1:]]) if problem.has_constant else W
