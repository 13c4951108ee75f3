"""SFS, sparse feature selection by projected gradient (Luo, Ding & Huang 2010), for comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...problems.base import AT_MOST_K
from ...problems.penalised import PenalisedProblem
from ..base import OutOfTime, Solver, State

POWER_STEPS = 50


@dataclass(kw_only=True)
class _State(State):
    L: float


@dataclass
class SFS(Solver[PenalisedProblem, _State]):
    """``W <- the k largest rows of W - gradient / L`` for squared loss.

    L is the largest eigenvalue of X'SX/n, so the objective never increases. ``TopKSelector`` starts
    it from the MTFS (l_{2,1}) solution, as the papers do. Converged means that a step moves W by at
    most ``tol`` in units of the data; the point is then stationary on its support.
    """

    solves: ClassVar[tuple[str, ...]] = (AT_MOST_K,)
    from_random_points: ClassVar[bool] = False

    tol: float = 1e-6
    max_iter: int = 5000

    def refusal(self, problem: PenalisedProblem) -> str | None:
        return None if problem.loss.quadratic else "SFS is for squared loss, r = 2."

    def attainable_tol(self, problem: PenalisedProblem) -> float:
        return 1e3 * super().attainable_tol(problem)  # of the gradient: steps are shorter than it

    def start(self, problem: PenalisedProblem, W: np.ndarray) -> _State:
        W = problem.penalty.prox(W, 1.0)
        return _State(W=W, objective=problem.objective(W), criterion=np.inf, L=_largest(problem))

    def step(self, problem: PenalisedProblem, state: _State, out_of_time: OutOfTime) -> _State:
        W = problem.penalty.prox(state.W - problem.gradient(state.W) / state.L, 1 / state.L)
        moved = np.sqrt(state.L) * float(np.linalg.norm(W - state.W)) / problem.violation_scale
        return _State(
            W=W, objective=problem.objective(W), criterion=moved, L=state.L,
            converged=moved <= self.tol,
        )  # fmt: skip


def _largest(problem: PenalisedProblem) -> float:
    """The largest eigenvalue of X'SX/n, a little too large rather than too small."""
    n = len(problem.Y)
    s = problem.loss.weights(n)[:, None] / n
    v = np.sqrt(problem.sample_curvatures)[:, None]
    for _ in range(POWER_STEPS):
        v = problem.design.rmatmul(s * problem.design.matmul(v / np.linalg.norm(v)))
    return 1.02 * float(np.linalg.norm(v))
