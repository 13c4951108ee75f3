r"""The best W on a given support, under the true loss.

r = 2 is least squares; r < 2 takes Newton steps under a falling smoothing (``newton``). Columns are
made orthonormal first, so that collinear ones do no harm; among equal fits the W of least norm is
returned.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.systems import cholesky_solver
from ...problems.penalised import PenalisedProblem
from .few_columns import minimise

REGULAR = 1e-2  # ratio of the pivots down to which normal equations are solved


@dataclass(frozen=True)
class Certificate:
    """Objective and violation of a refitted W."""

    objective: float
    violation: float
    smoothing: float


def refit(problem: PenalisedProblem, support: np.ndarray) -> np.ndarray:
    """W with the named rows (and the free ones) at their best, all others zero."""
    free = np.flatnonzero(problem.penalty.free(problem.n_rows))
    rows = np.union1d(free, support).astype(int)
    W = np.zeros((problem.n_rows, problem.Y.shape[1]))
    if rows.size:
        W[rows] = fit_columns(problem.design.take(rows), problem.Y, problem)
    return W


def certificate(problem: PenalisedProblem, support: np.ndarray, W: np.ndarray) -> Certificate:
    """Objective and violation of a refitted W.

    While the constraint is full only the rows of the support can change, and their few columns are
    at hand in double precision whatever X is stored in.
    """
    if len(support) < problem.limit:
        evaluation = problem.evaluate(W)
        return Certificate(evaluation.objective, evaluation.violation, problem.smoothing_floor)
    rows = np.union1d(np.flatnonzero(problem.penalty.free(problem.n_rows)), support).astype(int)
    A = problem.design.take(rows)
    E = A @ W[rows] - problem.Y
    h = problem.loss.smoothed(problem.smoothing_floor).residual_weights(E)
    G = A.T @ (h[:, None] * E) / len(E)
    L = problem.metric_weights(h) @ A**2 / len(E)
    scores = np.sqrt(np.einsum("ij,ij->i", G, G) / np.where(L > 0, L, np.inf))
    return Certificate(
        problem.loss.value_of_residual(E),
        float(scores.max(initial=0.0)) / problem.violation_scale,
        problem.smoothing_floor,
    )


def fit_columns(
    A: np.ndarray, Y: np.ndarray, problem: PenalisedProblem, floor: float | None = None
) -> np.ndarray:
    """The coefficients of few dense columns that minimise the problem's loss."""
    B = fit_unless_above(A, Y, problem, floor)
    assert B is not None
    return B


def fit_unless_above(
    A: np.ndarray,
    Y: np.ndarray,
    problem: PenalisedProblem,
    floor: float | None,
    above: float = np.inf,
) -> np.ndarray | None:
    """The same, or None where the loss cannot be brought down to the given value (r < 2)."""
    loss = problem.loss
    floor = problem.smoothing_floor if floor is None else floor
    scale = np.sqrt(np.einsum("ij,ij->j", A, A))
    scale[scale == 0] = 1.0
    if loss.quadratic:
        A = A / scale
        if loss.sample_weight is not None:
            root = np.sqrt(loss.sample_weight)[:, None]
            A, Y = root * A, root * Y
        return least_squares(A, Y) / scale[:, None]
    U, values, Vt = np.linalg.svd(A / scale, full_matrices=False)
    kept = values > 1e-11 * values[0]
    P = np.ascontiguousarray(U[:, kept])
    B = minimise(P, Y, loss, floor, above)
    return None if B is None else (Vt[kept].T / values[kept]) @ B / scale[:, None]


def least_squares(A: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The least-squares solution of least norm; the columns of A have similar lengths.

    Normal equations with refinement where these reach the accuracy of orthogonal methods.
    """
    try:
        factor = cholesky_solver(A.T @ A)
    except np.linalg.LinAlgError:
        factor = None
    if factor is not None and factor.L.diagonal().min() > REGULAR * factor.L.diagonal().max():
        B = factor(A.T @ Y)
        for _ in range(2):
            B += factor(A.T @ (Y - A @ B))
        return B
    return np.linalg.lstsq(A, Y, rcond=1e-11)[0]
