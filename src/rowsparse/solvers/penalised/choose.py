"""Which solver for which problem; public, and it says why."""

from __future__ import annotations

from ...problems.penalised import PenalisedProblem
from ..base import Solver
from .block_descent import BlockDescent


def choose(problem: PenalisedProblem) -> tuple[Solver, str]:
    """The solver that ``solver="auto"`` uses for this problem, and the reason."""
    solver = BlockDescent()
    if problem.loss.quadratic:
        reason = "squared loss: working sets, block sweeps and Newton steps on a Gram matrix."
    else:
        reason = "r < 2: the same on reweighted samples, with a smoothing that vanishes."
    return solver, reason
