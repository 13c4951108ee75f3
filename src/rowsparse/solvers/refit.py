r"""The best W on a given support, under the true loss.

r = 2 is least squares. For r < 2 the loss is smoothed, ``(|e|**2 + sigma**2)**(r/2)``, and sigma
falls to the floor of the problem; at every sigma Newton steps

    H D = -gradient,   H = sum_i h_i/n (I - kappa_i u_i u_i') (x) x_i x_i',   u_i = e_i / |e_i|

bring the point back to the minimum. Columns are made orthonormal first, so that collinear ones do
no harm; among equal fits the W of least norm is returned.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..losses.residual import ResidualLoss
from ..problem import Problem

LOWERING = 0.1  # of the smoothing
NEWTON_STEPS = 60  # at one smoothing
DIRECT = 400  # unknowns up to which the Newton system is factorised
CG_STEPS = 50


def refit(problem: Problem, support: np.ndarray) -> np.ndarray:
    """W with the named rows (and the free ones) at their best, all others zero."""
    free = np.flatnonzero(problem.penalty.free(problem.n_rows))
    rows = np.union1d(free, support).astype(int)
    W = np.zeros((problem.n_rows, problem.Y.shape[1]))
    if rows.size:
        W[rows] = fit_columns(problem.design.take(rows), problem.Y, problem)
    return W


def certificate(problem: Problem, support: np.ndarray, W: np.ndarray) -> tuple[float, float]:
    """Objective and violation of a refitted W.

    While the constraint is full only the rows of the support can change, and their few columns are
    at hand in double precision whatever X is stored in.
    """
    if len(support) < problem.penalty.k:  # type: ignore[attr-defined]
        evaluation = problem.evaluate(W)
        return evaluation.objective, evaluation.violation
    rows = np.union1d(np.flatnonzero(problem.penalty.free(problem.n_rows)), support).astype(int)
    A = problem.design.take(rows)
    E = A @ W[rows] - problem.Y
    h = problem.loss.smoothed(problem.smoothing_floor).residual_weights(E)
    G = A.T @ (h[:, None] * E) / len(E)
    L = problem.metric_weights(h) @ A**2 / len(E)
    scores = np.sqrt(np.einsum("ij,ij->i", G, G) / np.where(L > 0, L, np.inf))
    return problem.loss.value_of_residual(E), float(
        scores.max(initial=0.0)
    ) / problem.violation_scale


def fit_columns(
    A: np.ndarray, Y: np.ndarray, problem: Problem, floor: float | None = None
) -> np.ndarray:
    """The coefficients of few dense columns that minimise the problem's loss."""
    loss = problem.loss
    floor = problem.smoothing_floor if floor is None else floor
    root = np.sqrt(loss.weights(len(Y)))[:, None]
    scale = np.sqrt(np.einsum("ij,ij->j", A, A))
    scale[scale == 0] = 1.0
    if loss.quadratic:
        return np.linalg.lstsq(root * (A / scale), root * Y, rcond=1e-11)[0] / scale[:, None]
    U, values, Vt = np.linalg.svd(A / scale, full_matrices=False)
    kept = values > 1e-11 * values[0]
    P = np.ascontiguousarray(U[:, kept])
    B = minimise(P, Y, loss, floor)
    return (Vt[kept].T / values[kept]) @ B / scale[:, None]


def minimise(
    P: np.ndarray,
    Y: np.ndarray,
    loss: ResidualLoss,
    floor: float,
    B: np.ndarray | None = None,
) -> np.ndarray:
    """argmin over B of the loss of ``P B``, smoothed to the floor; P has orthonormal columns."""
    root = np.sqrt(loss.weights(len(Y)))[:, None]
    if B is None:
        B = np.linalg.lstsq(root * P, root * Y, rcond=None)[0]
    size = np.sqrt(2 * ResidualLoss(2.0, loss.sample_weight).value_of_residual(P @ B - Y))
    smoothing = max(0.3 * float(size), floor)
    while True:
        B = _newton(P, Y, loss.smoothed(smoothing), B, precise=smoothing <= floor)
        if smoothing <= floor:
            return B
        smoothing = max(LOWERING * smoothing, floor)


def _newton(P, Y, loss: ResidualLoss, B: np.ndarray, precise: bool) -> np.ndarray:
    """Newton steps at one smoothing; damped towards the reweighted step, which never overshoots."""
    E = P @ B - Y
    value, damping = loss.value_of_residual(E), 0.0
    for _ in range(NEWTON_STEPS):
        h = loss.residual_weights(E) / len(E)
        gradient = P.T @ (h[:, None] * E)
        D = _direction(P, E, h, loss, gradient, 1 - damping)
        slope = float(np.vdot(gradient, D))
        PD = P @ D
        if -slope <= (1e-16 * value if precise else 1e-2 * loss.smoothing**loss.r / len(E)):
            return B
        for t in 0.5 ** np.arange(6):
            new = loss.value_of_residual(E + t * PD)
            if new <= value + 1e-4 * t * slope:
                B, E, value = B + t * D, E + t * PD, new
                break
        else:
            if damping == 1:
                return B
            t = 0.0
        damping = damping / 4 if t == 1 else min(1.0, max(4 * damping, 0.1))
    return B


def _direction(P, E, h, loss: ResidualLoss, gradient, undamped: float) -> np.ndarray:
    m, c = gradient.shape
    kappa = undamped * loss.radial_loss_of_curvature(E)
    squares = np.einsum("ij,ij->i", E, E)
    lost = np.sqrt(h * kappa / np.where(squares > 0, squares, 1.0))[:, None] * E
    base = P.T @ (h[:, None] * P)
    base[np.diag_indices_from(base)] += 1e-13 * np.trace(base)
    if m * c > DIRECT:
        return _conjugate_gradients(P, h, lost, base, gradient)
    J = np.einsum("ij,ik->ijk", P, lost).reshape(len(P), m * c)
    H = np.kron(base, np.eye(c)) if c > 1 else base
    H -= J.T @ J
    try:
        D = cho_solve(cho_factor(H, check_finite=False), gradient.ravel(), check_finite=False)
    except np.linalg.LinAlgError:  # r < 1: not convex; r = 1: flat along some direction
        root = np.sqrt(h)[:, None]
        return -np.linalg.lstsq(root * P, root * E, rcond=None)[0]  # the reweighted step
    return -D.reshape(m, c)


def _conjugate_gradients(P, h, lost, base, gradient) -> np.ndarray:
    """The Newton system by conjugate gradients, preconditioned by the reweighted one."""
    factor = cho_factor(base, check_finite=False)
    D, residual = np.zeros_like(gradient), -gradient
    z = cho_solve(factor, residual, check_finite=False)
    direction, rz = z, float(np.vdot(residual, z))
    target = 1e-6 * rz
    for _ in range(CG_STEPS):
        PD = P @ direction
        Hd = P.T @ (h[:, None] * PD - lost * np.einsum("ij,ij->i", lost, PD)[:, None])
        curvature = float(np.vdot(direction, Hd))
        if curvature <= 0:
            break
        D = D + (rz / curvature) * direction
        residual = residual - (rz / curvature) * Hd
        z = cho_solve(factor, residual, check_finite=False)
        rz, before = float(np.vdot(residual, z)), rz
        if rz <= target:
            break
        direction = z + (rz / before) * direction
    return D if D.any() else z
