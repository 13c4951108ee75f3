r"""A lower bound for penalties that are not convex: possible where there is a ridge.

The penalty is replaced by a convex one below it (``Penalty.envelope``); the gradient of the loss at
the solution of that problem proves a bound on the true one (``PenalisedProblem.lower_bound``). Any
point proves something, so the relaxation need not be solved to many digits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...problems.base import proofs_wanted
from ...problems.penalised import PenalisedProblem
from ...results import Solution, Status
from ..base import run
from .block_descent import ROUGH, BlockDescent

# Of the columns' curvature: below it the relaxation has hundreds of rows and takes longer than the
# fit, for a gap of 20 % and more (MNIST 4 against 9, 800 samples: 2.5 s for a fit of .1 s).
SMALLEST_RIDGE = 0.05


def bounded(problem: PenalisedProblem, solution: Solution, known: float = 0.0) -> Solution:
    """The solution with its lower bound, gap and proof, as far as they can be had.

    ``known`` is a bound that is proved already; a loss is never below zero.
    """
    if not proofs_wanted():
        return solution
    if not problem.design.complete:  # the relaxation, and what is known, may rest on guesses
        known = 0.0
    lower = max(known, 0.0)
    envelope = problem.penalty.envelope(problem.ridge)
    if envelope is not None and problem.loss.convex and _worth_its_time(problem):
        relaxed = problem.with_penalty(envelope)
        W0 = problem.joined(solution.W, solution.intercept)
        # its bound is right to about the square of the tolerance
        found = run(BlockDescent(tol=ROUGH, max_iter=50), relaxed, W0)
        if found.status == Status.INTERRUPTED:  # what it has reached proves something all the same
            solution = replace(solution, status=found.status)
        W = problem.joined(found.W, found.intercept)
        lower = max(lower, problem.lower_bound(W, relaxed.evaluate(W)))
    lower = min(lower, solution.objective)
    return replace(
        solution,
        lower_bound=lower,
        gap=solution.objective - lower,
        proof=_in_words(lower, solution.objective),
    )


def _worth_its_time(problem: PenalisedProblem) -> bool:
    """Whether the ridge counts beside the loss."""
    features = problem.ridges > 0
    curvature = np.mean(problem.sample_curvatures[features])
    units = problem.residual_scale ** (problem.loss.r - 2)
    large = problem.ridge >= SMALLEST_RIDGE * curvature * units
    return bool(large and problem.design.complete)


def _in_words(lower: float, objective: float) -> str:
    """No more than was proved."""
    if lower <= 0:
        return "nothing is proved of the optimum but that it is not negative; a larger ridge helps"
    gap = objective - lower
    return f"at most {gap:.3g} ({gap / objective:.2%}) above the optimum, by a convex relaxation"
