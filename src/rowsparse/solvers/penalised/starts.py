"""Which solver for which problem, where to start it, and the best of several starts.

For a penalty that is not convex (or r < 1) the start decides which local minimum is found; none
wins everywhere. Every start ends with descent on the problem itself: one certificate for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...designs.wrappers import Subset
from ...numerics.rounding import NEGLIGIBLE
from ...numerics.systems import ridge
from ...problems.compressed import compressed
from ...problems.penalised import PenalisedProblem
from ...results import Solution, Status
from ..base import Deadline, Reached, Solver, reach, resume, run
from .block_descent import ROUGH, BlockDescent
from .irls import IRLS
from .proximal_gradient import ProximalGradient
from .row_exchange import exchange_rows

# Starts that solve systems; with more samples and features than this, minutes and gigabytes each.
OF_A_SYSTEM = ("irls", "ridge")
LARGEST_SYSTEM = 10_000
# Of the way from the convex problem to the wanted one: where it is solved. With .25 and .75 as well
# 18 fits (synthetic, TOX_171, GLIOMA, singh, USPS) end .25 % above the best known on average, with
# these .29 %, in two thirds of the time.
WAY = (0.0, 0.5)
DIGITS = 1e-4  # of the tolerance: scikit-learn asks 1e-9 of what weights and repetition predict
# Told apart from all else that a solver may say: nothing is solved after it.
ENDED = (Status.INTERRUPTED, Status.TIME_LIMIT, Status.NOT_FINITE)

AnySolver = Solver[Any, Any]


def choose(problem: PenalisedProblem) -> tuple[AnySolver, str]:
    """The solver that ``solver="auto"`` uses for this problem, and the reason.

    Parameters
    ----------
    problem : PenalisedProblem

    Returns
    -------
    solver, reason : a Solver and a sentence

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import L2pSelector
    >>> from rowsparse.solvers import choose
    >>> problem, _ = L2pSelector(alpha=0.1).problem_and_solver(X, y)
    >>> choose(problem)[1]
    'squared loss: working sets, block sweeps and Newton steps on a Gram matrix.'
    """
    reason = "r < 2: the same on reweighted samples, with a smoothing that vanishes."
    if problem.loss.quadratic:
        reason = "squared loss: working sets, block sweeps and Newton steps on a Gram matrix."
    return BlockDescent(), reason


def solve(
    problem: PenalisedProblem, solver: AnySolver, init: str | np.ndarray | Solution = "best"
) -> Solution:
    """Solve from a named start, an array (features x outputs), a solution, or the best of all.

    ``init="best"`` runs every start, tries to exchange rows of what each one finds, and keeps the
    lowest objective; ``solution.starts`` tells what each reached.

    Parameters
    ----------
    problem : PenalisedProblem
    solver : Solver
    init : the name of a start, "best", an array or a Solution

    Returns
    -------
    Solution

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import L2pSelector
    >>> from rowsparse.solvers import BlockDescent, solve
    >>> problem, _ = L2pSelector(alpha=0.1, p=0.5).problem_and_solver(X, y)
    >>> solution = solve(problem, BlockDescent())
    >>> solution.n_best_starts >= 1
    True
    """
    if isinstance(init, Solution):
        return run(solver, problem, problem.joined(init.W, init.intercept), start="warm")
    return search(problem, solver, init).solution


def search(
    problem: PenalisedProblem,
    solver: AnySolver,
    init: str | np.ndarray = "best",
    exchange: bool = True,
    but: str = "",
) -> Reached:
    """``solve``, with what a neighbour may go on from; rows are exchanged only if asked for, and
    of the starts of "best" the one named in ``but`` is left out."""
    if not isinstance(init, str):
        # the best intercept that the null model knows
        W0 = problem.joined(np.asarray(init, dtype=float), problem.null_point[-1])
        return not_above_nothing(problem, solver, reach(solver, problem, W0))
    names = tuple(name for name in _named_starts(problem, init) if name != but)
    if isinstance(solver, IRLS) or problem.convex:
        found = reach(solver, problem, start="zero")  # a start of its own, or one minimum
        return not_above_nothing(problem, solver, found)
    problem = compressed(problem)
    exchange = exchange and init == "best" and problem.loss.convex
    return not_above_nothing(problem, solver, _best_of(problem, solver, names, exchange))


def lower(
    problem: PenalisedProblem, solver: AnySolver, found: Reached, init: str | np.ndarray
) -> Reached:
    """The lower of what was found, on a path that began at the null model, and what is found from
    ``init``."""
    # For r < 2 the null model, from which the path has come, is the dearest start: without it
    # r = .5, p = 1 on ALLAML takes 16 s, not 28, and ends at the same objectives.
    known = isinstance(init, str) and init == "best" and not problem.loss.quadratic
    # for r < 2 exchanges at every alpha would cost more than the rest of a path
    exchange = problem.loss.quadratic
    cold = search(problem, solver, init, exchange, but="zero" if known else "")
    best = min(found, cold, key=_objective)
    status = cold.solution.status
    starts = cold.solution.starts or {cold.solution.start: cold.solution.objective}
    starts = {**starts, found.solution.start: found.solution.objective}
    cut_short = status in (Status.INTERRUPTED, Status.TIME_LIMIT)
    status = status if cut_short else best.solution.status
    return replace(best, solution=replace(best.solution, starts=starts, status=status))


def not_above_nothing(problem: PenalisedProblem, solver: AnySolver, found: Reached) -> Reached:
    """What was found, or what descent finds from the null model where that alone is lower.

    Where the problem is not convex some local minima are above it.
    """
    solution = found.solution
    if problem.convex or solution.status in ENDED:
        return found
    null = problem.value_of_residual(problem.null_point, -problem.unexplained)
    if not solution.objective > null:
        return found
    deadline = Deadline(solver.time_limit)
    deadline.began -= solution.seconds
    descent = solver if isinstance(solver, BlockDescent) else BlockDescent(callback=solver.callback)
    other = reach(deadline.limited(descent), problem, start="zero")
    starts = {solution.start: solution.objective, **solution.starts}
    starts |= {other.solution.start: other.solution.objective}
    return replace(other, solution=replace(other.solution, starts=starts))


def _named_starts(problem: PenalisedProblem, init: str) -> tuple[str, ...]:
    known = problem.penalty.starts
    if init not in (*known, "best"):
        names = ", ".join(map(repr, known))
        raise ValueError(f"Expected init to be {names}, 'best' or an array, got {init!r}.")
    if init != "best":
        return (init,)
    # Of squared loss, "convex" and "zero" with their exchanges end as low as with "irls" too
    enough = problem.loss.quadratic and "convex" in known and problem.penalty.judges_pairs
    large = enough or min(problem.design.shape) > LARGEST_SYSTEM
    return tuple(name for name in known if not (large and name in OF_A_SYSTEM))


def _objective(reached: Reached) -> float:
    return reached.solution.objective


def _best_of(
    problem: PenalisedProblem, solver: AnySolver, names: tuple[str, ...], exchange: bool
) -> Reached:
    """The lowest of several starts, of which only that one is solved for to the last digit; Ctrl-C
    or the end of the time keeps what there is."""
    deadline = Deadline(solver.time_limit)
    starts: dict[str, float] = {}
    seen: list[float] = []  # objectives before rows were exchanged
    lowest = problem.null_point
    n_iter = {"zero": 0}
    interrupted = False
    try:
        for name in sorted(names, key="zero".__eq__):
            W = _starting_point(problem, solver, name, deadline)
            n_iter[name] = 0
            if len(names) > 1 or exchange:
                rough = run(deadline.limited(_roughly(solver)), problem, W, nested=True)
                W = problem.joined(rough.W, rough.intercept)
                known = np.isclose(seen, rough.objective)
                seen.append(rough.objective)
                n_iter[name] = rough.n_iter
                if exchange and not known.any():
                    W = exchange_rows(problem, W, deadline.passed)
            W = problem.null_point if W is None else W
            value = problem.objective(W)
            if not starts or value < min(starts.values()):
                lowest = W
            starts[name] = value
            if deadline.passed():
                break
    except KeyboardInterrupt:
        interrupted = True
    best = min(starts, key=starts.__getitem__, default="zero")
    finisher = replace(solver, max_iter=0 if interrupted else solver.max_iter)
    found = reach(deadline.limited(finisher), problem, lowest, start=best)
    if exchange and found.solution.converged:
        found = _with_more_digits(problem, deadline.limited(solver), found)
    solution = found.solution
    status = Status.INTERRUPTED if interrupted else solution.status
    # to the last digit only the winner is known
    starts = {name: max(value, solution.objective) for name, value in starts.items()}
    starts[best] = solution.objective
    n_steps = n_iter[best] + solution.n_iter
    whole = replace(solution, status=status, starts=starts, n_iter=n_steps)
    return replace(found, solution=replace(whole, seconds=deadline.elapsed()))


def _with_more_digits(problem: PenalisedProblem, solver: AnySolver, best: Reached) -> Reached:
    """The winner once more, to a small part of the tolerance: a step of Newton's or two. Starts end
    anywhere below the tolerance, and a sample given twice is to lead where one of weight two does.
    """
    exacting = replace(solver, tol=DIGITS * solver.tol, max_iter=min(3, solver.max_iter))
    finer = resume(exacting, problem, best).solution
    told = best.solution
    if finer.status == Status.INTERRUPTED:
        return replace(best, solution=replace(told, status=finer.status))
    if not finer.converged or finer.objective > told.objective:
        return best
    finer = replace(finer, tol=told.tol, start=told.start, n_iter=told.n_iter + finer.n_iter)
    return replace(best, solution=finer)


def _roughly(solver: AnySolver) -> AnySolver:
    """The solver for what is only a start."""
    return replace(solver, tol=max(solver.tol, ROUGH))


def _starting_point(
    problem: PenalisedProblem, solver: AnySolver, name: str, deadline: Deadline
) -> np.ndarray | None:
    """The W of a named start; None stands for the null model."""

    def reached(by: AnySolver, on: PenalisedProblem, W0: np.ndarray | None) -> np.ndarray:
        found = run(deadline.limited(by), on, W0, nested=True)
        return problem.joined(found.W, found.intercept)

    W = None
    if name == "irls":
        relative = problem.penalty.reweightable_relative()
        # a few steps are enough to tell which rows matter
        irls = IRLS(tol=1e-3, max_iter=40, callback=solver.callback)
        if relative is not None:
            W = reached(irls, problem.with_penalty(relative), None)
    elif name == "ridge":  # proximal gradient from the ridge solution: the start of Kong & Ding
        W = ridge_point(problem)
        gradient = ProximalGradient(tol=1e-2, max_iter=200, callback=solver.callback)
        if gradient.supports(problem) is None:
            W = reached(gradient, problem, W)
    elif name == "convex":
        # along a way from the convex problem to the wanted one, at the same part of alpha_max
        fraction = problem.penalty.alpha / (problem.alpha_max() or 1.0)
        for relaxed in _towards(problem):
            at = relaxed.with_alpha(fraction * relaxed.alpha_max())
            W = reached(_roughly(solver), at, W)
    return W


def _towards(problem: PenalisedProblem) -> Iterator[PenalisedProblem]:
    """Problems on the way from the convex one (r >= 1, a convex penalty) to the wanted one; where
    r < 2, that of squared loss comes first."""
    r = problem.loss.r
    for share in WAY:
        penalty = problem.penalty.relaxed(share)
        relaxed = problem if penalty is None else problem.with_penalty(penalty)
        if r < 1:
            relaxed = relaxed.with_r(1 + share * (r - 1))
        if share == 0.0 and not problem.loss.quadratic:
            # where alpha leaves samples without residual, r = p = 1 takes 5 to 20 s from zero
            # (ALLAML, .16 to .02 of alpha_max) and .2 to .3 s from squares
            yield relaxed.with_r(2.0)
        yield relaxed


def ridge_point(problem: PenalisedProblem) -> np.ndarray:
    """argmin of ``1/(2n) sum_i s_i |x_i'W - y_i|**2 + sum_j strength_j |w_j|**2``.

    Excluded rows are zero.
    """
    penalty = problem.penalty
    n_rows = problem.n_rows
    n, n_outputs = problem.Y.shape
    curvatures = problem.sample_curvatures
    usable = (curvatures > 0) & ~penalty.excluded(n_rows)
    used = np.flatnonzero(usable)
    design = problem.design if used.size == n_rows else Subset(problem.design, used)
    free = penalty.free(n_rows)[used]
    # a strength of zero on more rows than samples would leave the system singular
    lowest = NEGLIGIBLE * float(curvatures.max(initial=0.0))
    strength = penalty.strength(n_rows)[used]
    q = np.maximum(2 * strength, lowest)
    q[free] = 0.0
    q += problem.ridges[used]
    shares = problem.loss.weights(n) / n
    W = np.zeros((n_rows, n_outputs))
    W[used] = ridge(design, problem.Y, shares, q)
    return W
