"""The EM algorithm of Huang, King and Lyu for the probit model, any norm from 0 to 2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...losses.margin import ProbitLoss
from ...numerics.systems import ridge_by_samples, solve_positive
from ...problems.margin import MarginProblem
from .reweighting import Columns, Image, Reweighted

FLATTEST = 1e-4  # curvature of a sample in a Newton step, of at most 1


@dataclass
class ProbitEM(Reweighted):
    """E step: latent values ``z_i = m_i + y_i N(m_i) / Phi(y_i m_i)`` with m = X w + b.
    M step: ``(X'SX + (2/C) Lambda) w = X'S z``, in the smaller of feature and sample space.

    Both steps together are one majorizer of ``C sum_i s_i -log Phi(y_i m_i) + (2/p) sum |w_j|**p``.
    EM takes the curvature of every sample to be 1, which it never exceeds and often is far below;
    a Newton step with the true curvatures is taken instead wherever it leads lower.
    """

    tol: float = 1e-4
    max_iter: int = 500

    def image_of(self, problem: MarginProblem, columns: Columns, scales, last: Image) -> Image:
        Z = columns.matmul(last.rows) + last.intercept
        h, targets = problem.loss.majorizer(Z, problem.Y)
        outputs = [slice(None)] if problem.joint else [[k] for k in range(problem.Y.shape[1])]
        plain = [_ridge(problem, columns, _of(scales, k), h, targets[:, k]) for k in outputs]
        em = Image(np.hstack([w for w, _ in plain]), np.concatenate([b for _, b in plain]))
        newton = self._newton(problem, columns, scales, Z)
        values = [_value(problem, columns, scales, image) for image in (em, newton)]
        return newton if values[1] < values[0] else em

    def _newton(self, problem: MarginProblem, columns: Columns, scales, Z) -> Image:
        assert isinstance(problem.loss, ProbitLoss)
        margins = problem.Y * Z
        curvatures = np.maximum(problem.loss.curvature(margins), FLATTEST)
        targets = Z - problem.Y * problem.loss.dphi(margins) / curvatures
        found = [
            _ridge(problem, columns, _of(scales, [k]), h, targets[:, [k]])
            for k, h in enumerate((problem.weights[:, None] * curvatures).T)
        ]
        return Image(np.hstack([w for w, _ in found]), np.concatenate([b for _, b in found]))


def _of(scales: np.ndarray, output) -> np.ndarray:
    """The scales of an output, or of all if they share them."""
    return scales[:, 0] if scales.shape[1] == 1 else scales[:, output][:, 0]


def _value(problem: MarginProblem, columns: Columns, scales, image: Image) -> float:
    """The loss plus the quadratic in place of the penalty."""
    Z = columns.matmul(image.rows) + image.intercept
    u = np.divide(image.rows, scales, out=np.zeros_like(image.rows), where=scales > 0)
    return problem.loss_sum(Z) + float(np.vdot(u, u))


def _ridge(problem: MarginProblem, columns: Columns, scale: np.ndarray, h, T):
    """``min C/2 sum_i h_i |x_i'w + b - t_i|**2 + |u|**2`` with w = scale u; free rows and b are not
    penalised."""
    n, free = len(T), problem.free[columns.index]
    F = np.ones((n, 1))
    if free.any():
        F = np.hstack([F, columns.design.take(columns.index[free])])
    rows = np.zeros((columns.index.size, T.shape[1]))
    if n <= np.count_nonzero(scale):
        K = problem.C / 2 * columns.outer(scale)
        theta, beta = ridge_by_samples(K, h, F, T)
        rows += (problem.C / 2 * scale**2)[:, None] * columns.rmatmul(theta)
    else:
        used = scale > 0
        B = np.hstack([columns.dense()[:, used] * scale[used], F])
        weighted = B * h[:, None]
        A = B.T @ weighted
        A[np.diag_indices(int(used.sum()))] += 2 / problem.C
        solved = solve_positive(A, weighted.T @ T)
        rows[used] = scale[used, None] * solved[: -F.shape[1]]
        beta = solved[-F.shape[1] :]
    rows[free] = beta[1:]
    return rows, beta[0]
