"""The EM algorithm of Huang, King and Lyu for the probit model, any norm from 0 to 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...designs.base import Design
from ...designs.convert import as_design
from ...designs.wrappers import Subset, WithConstant
from ...losses.margin import ProbitLoss
from ...numerics.systems import ridge
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

    loss: ClassVar[str] = "probit"

    tol: float = 1e-4
    max_iter: int = 500

    def image_of(self, problem: MarginProblem, columns: Columns, scales, last: Image) -> Image:
        Z = columns.matmul(last.rows) + last.intercept
        h, targets = problem.loss.majorizer(Z, problem.Y)
        outputs = [slice(None)] if problem.joint else [[k] for k in range(problem.Y.shape[1])]
        X = _with_constant(columns)
        free = problem.free[columns.index]
        plain = [_ridge(problem, X, free, _of(scales, k), h, targets[:, k]) for k in outputs]
        em = Image(np.hstack([w for w, _ in plain]), np.concatenate([b for _, b in plain]))
        newton = self._newton(problem, X, free, scales, Z)
        values = [_value(problem, columns, scales, image) for image in (em, newton)]
        return newton if values[1] < values[0] else em

    def _newton(self, problem: MarginProblem, X: Design, free, scales, Z) -> Image:
        assert isinstance(problem.loss, ProbitLoss)
        margins = problem.Y * Z
        curvatures = np.maximum(problem.loss.curvature(margins), FLATTEST)
        targets = Z - problem.Y * problem.loss.dphi(margins) / curvatures
        found = [
            _ridge(problem, X, free, _of(scales, [k]), h, targets[:, [k]])
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


def _with_constant(columns: Columns) -> Design:
    """The columns that are alive and one of ones; few are copied once for all outputs."""
    if columns.block is None:
        return WithConstant(Subset(columns.design, columns.index))
    n, m = columns.block.shape
    if m > n:
        return WithConstant(as_design(columns.block))
    return as_design(np.vstack([columns.block.T, np.ones(n)]).T)


def _ridge(problem: MarginProblem, X: Design, free: np.ndarray, scale: np.ndarray, h, T):
    """``min C/2 sum_i h_i |x_i'w + b - t_i|**2 + |u|**2`` with w = scale u; free rows and b are not
    penalised."""
    q = np.full(scale.size + 1, np.inf)
    np.divide(2 / problem.C, scale**2, out=q[:-1], where=scale**2 > 0)
    q[:-1][free] = 0.0
    q[-1] = 0.0
    W = ridge(X, T, h, q)
    return W[:-1], W[-1]
