"""SFS, sparse feature selection by projected gradient (Luo, Ding & Huang 2010), for comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...problems.penalised import PenalisedProblem
from ..base import OutOfTime, State
from .multistart import Job, Start, TopKSolver


@dataclass(kw_only=True)
class _State(State):
    L: float


@dataclass
class SFS(TopKSolver[_State]):
    """``W <- the k largest rows of W - gradient / L`` for squared loss.

    L is the largest eigenvalue of X'SX/n plus the ridge, so the objective never increases.
    ``TopKSelector`` starts it from the MTFS (l_{2,1}) solution, as the papers do. Converged means
    that a step moves W by at most ``tol`` in units of the data; the point is then stationary on its
    support.

    Parameters
    ----------
    tol : float
        Bound on the move of W in the last step, in units of the data.
    max_iter : int
        Most steps.
    time_limit, callback : as in ``Solver``

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import TopKSelector
    >>> from rowsparse.solvers import SFS
    >>> int(TopKSelector(3, solver=SFS()).fit(X, y).support_.sum())
    3
    """

    tol: float = 1e-6
    max_iter: int = 5000

    def refusal(self, problem: PenalisedProblem) -> str | None:
        return None if problem.loss.quadratic else "SFS is for squared loss, r = 2."

    def attainable_tol(self, problem: PenalisedProblem) -> float:
        return 1e3 * super().attainable_tol(problem)  # of the gradient: steps are shorter than it

    def starts(self, job: Job) -> Iterator[Start]:
        """From the l_{2,1} solution."""
        yield job.reached_from("convex", job.convex_point())

    def start(self, problem: PenalisedProblem, W: np.ndarray) -> _State:
        W = problem.penalty.prox(W, 1.0)
        L = _largest_eigenvalue(problem) + problem.ridge
        return _State(W=W, objective=problem.objective(W), criterion=np.inf, L=L)

    def step(self, problem: PenalisedProblem, state: _State, out_of_time: OutOfTime) -> _State:
        L = state.L
        W = problem.penalty.prox(state.W - problem.gradient(state.W) / L, 1 / L)
        moved = np.sqrt(L) * float(np.linalg.norm(W - state.W)) / problem.violation_scale
        return _State(
            W=W,
            objective=problem.objective(W),
            criterion=moved,
            converged=moved <= self.tol,
            L=L,
        )


def _largest_eigenvalue(problem: PenalisedProblem) -> float:
    """Of X'SX/n, by power steps; a little too large rather than too small."""
    n = len(problem.Y)
    shares = problem.loss.weights(n)[:, None] / n
    v = np.sqrt(problem.sample_curvatures)[:, None]
    for _ in range(50):
        v = v / np.linalg.norm(v)
        v = problem.design.rmatmul(shares * problem.design.matmul(v))
    return 1.02 * float(np.linalg.norm(v))
