"""No fit ends above the model without features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...problems.penalised import PenalisedProblem
from ...results import Status
from ..base import Deadline, Reached, Solver, reach
from .block_descent import BlockDescent

ENDED = (Status.INTERRUPTED, Status.TIME_LIMIT, Status.NOT_FINITE)


def not_above_nothing(
    problem: PenalisedProblem, solver: Solver[Any, Any], found: Reached
) -> Reached:
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
