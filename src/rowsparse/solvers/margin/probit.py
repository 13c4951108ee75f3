"""The EM algorithm of Huang, King and Lyu for the probit model, any norm from 0 to 2."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...designs.base import Design
from ...designs.storages import as_design
from ...designs.wrappers import WithConstant
from ...numerics.rounding import NEGLIGIBLE
from ...numerics.systems import ridge
from .alive import Alive, Image
from .reweighting import Reweighted


@dataclass
class ProbitEM(Reweighted):
    """E step: latent values ``z_i = m_i + y_i N(m_i) / Phi(y_i m_i)`` with m = X w + b.
    M step: ``(X'SX + (2/C) Lambda) w = X'S z``, in the smaller of feature and sample space.

    Both steps together are one majorizer of ``C sum_i s_i -log Phi(y_i m_i) + (2/p) sum |w_j|**p``.
    EM takes the curvature of every sample to be 1, which it never exceeds and often is far below;
    a Newton step with the true curvatures is taken instead wherever it leads lower.

    Parameters
    ----------
    tol : float
        Bound on the change of any row's part in the margins, relative to the largest part; with
        columns that are always in also on the root of what a step gains, relative to the objective.
    max_iter : int
        Most steps.
    time_limit, callback : as in ``Solver``
    keep : int, optional
        End when at most so many rows are left, and keep those that lived longest.
    cut : bool
        If it converges with more rows than ``keep``, take the largest of them.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import ProbitSelector
    >>> from rowsparse.solvers import ProbitEM
    >>> int(ProbitSelector(3, solver=ProbitEM(time_limit=60)).fit(X, y).support_.sum())
    3
    """

    loss: ClassVar[str] = "probit"

    tol: float = 1e-4
    max_iter: int = 500

    def image_of(self, alive: Alive, scales: np.ndarray, last: Image) -> Image:
        Z = alive.matmul(last.rows) + last.intercept
        step = _Ridge(alive, scales)
        em = step.em_step(Z)
        newton = step.newton_step(Z)
        of_em = _value(alive, scales, em)
        of_newton = _value(alive, scales, newton)
        lowest = min(of_em, of_newton)
        before = _value(alive, scales, last)
        # neither step rises but in systems beyond rounding: then none is any good
        if not np.isfinite(lowest) or lowest > before * (1 + NEGLIGIBLE):
            return replace(last, gap=1.0)
        image = newton if of_newton < of_em else em
        gain = _gain(alive, before, lowest)
        return replace(image, gain=gain)


def _gain(alive: Alive, before: float, after: float) -> float:
    """The root of what a step gains, as a fraction: near a minimum it goes with what has changed.

    Unlike the hinge's, one step does not find the best free rows or the best constant alone, and
    whether those still move is seen by nothing else.
    """
    asked = alive.index.size > 0 and not alive.free.any()
    if asked or not before > after:
        return 0.0
    before = min(before, np.finfo(float).max)
    size = max(before, alive.problem.negligible)
    return float(np.sqrt((before - after) / size))


def _value(alive: Alive, scales: np.ndarray, image: Image) -> float:
    """The loss plus the quadratic in place of the penalty; infinite if it overflows."""
    u = np.zeros_like(image.rows)
    with np.errstate(over="ignore", invalid="ignore"):
        Z = alive.matmul(image.rows) + image.intercept
        loss = alive.problem.loss_sum(Z)
        np.divide(image.rows, scales, out=u, where=scales > 0)
        value = loss + float(np.vdot(u, u))
    return value if np.isfinite(value) else np.inf


class _Ridge:
    """``min C/2 sum_i h_i |x_i'w + b - t_i|**2 + |u|**2`` with w = scale u; free rows and b are not
    penalised."""

    def __init__(self, alive: Alive, scales: np.ndarray):
        self.alive = alive
        self.problem = alive.problem
        self.X = _with_constant(alive)
        m, n_scales = scales.shape
        self.ridges = np.full((m + 1, n_scales), np.inf)  # the last of the constant
        squares = scales**2  # may underflow: such a row is as good as fixed at zero
        np.divide(2 / self.problem.C, squares, out=self.ridges[:m], where=squares > 0)
        self.ridges[:m][alive.free] = 0.0
        self.ridges[m] = 0.0

    def em_step(self, Z: np.ndarray) -> Image:
        """All outputs of a sample have one curvature: those that share the scales are solved at
        once."""
        problem = self.problem
        h, targets = problem.loss.majorizer(Z, problem.Y)
        if self.ridges.shape[1] > 1:
            same = np.tile(h[:, None], Z.shape[1])
            return self._by_output(same, targets)
        W = ridge(self.X, targets, h, self.ridges[:, 0])
        return Image(W[:-1], W[-1])

    def newton_step(self, Z: np.ndarray) -> Image:
        """Every output has curvatures of its own: weights ``s_i phi''(m_i)`` and targets
        ``z_i - phi'(m_i) y_i / phi''(m_i)`` of the margins ``m = y z``."""
        loss = self.problem.loss
        Y = self.problem.Y
        margins = Y * Z
        # of at most 1; far on the right side it underflows, and the step would be endless
        curvatures = np.maximum(loss.curvature(margins), NEGLIGIBLE)
        slopes = Y * loss.dphi(margins)
        weighted = self.problem.weights[:, None] * curvatures
        targets = Z - slopes / curvatures
        return self._by_output(weighted, targets)

    def _by_output(self, H: np.ndarray, targets: np.ndarray) -> Image:
        n_outputs = targets.shape[1]
        ridges = np.broadcast_to(self.ridges, (len(self.ridges), n_outputs))
        W = np.empty(ridges.shape)
        for k in range(n_outputs):
            target = targets[:, [k]]
            W[:, [k]] = ridge(self.X, target, H[:, k], ridges[:, k])
        return Image(W[:-1], W[-1])


def _with_constant(alive: Alive) -> Design:
    """The columns that are alive and one of ones; few are copied once for all outputs."""
    block = alive.columns.block
    if block is None or block.shape[1] > len(block):
        return WithConstant(alive.columns.X)
    ones = np.ones(len(block))
    rows = np.vstack([block.T, ones])  # transposed: columns in one piece each
    return as_design(rows.T)
