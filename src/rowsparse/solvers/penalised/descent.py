r"""Descent on a working set: block sweeps with the exact prox, then Newton on the nonzero rows.

Sweeps find which rows are zero; once they do, the objective is smooth in the nonzero rows and a
few Newton steps finish what sweeps would need thousands of rounds for. The Newton system

    H D = -gradient,   H: D -> loss''(D) + a_j (D_j - (2 - p) u_j u_j' D_j),
    a_j = strength_j p |w_j|**(p-2),  u_j = w_j / |w_j|

is solved by conjugate gradients with a two-level preconditioner, and every step is accepted by
the true objective. Where the penalty clips rows (l_{p,inf}), ``clipped`` has its Newton step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...numerics.rows import nonzero_rows, row_norms
from ...numerics.sweep import COMPILED_FROM
from ...numerics.threads import one_blas_thread
from ...penalties.base import RowPenalty
from .extrapolation import extrapolated_sweeps
from .model import Model
from .newton_levels import newton_on_levels, newton_on_levels_flops

SWEEPS = 3
QUICK = 0.3  # a round of sweeps that leaves less of the violation needs no Newton step
SETTLING = 0.1  # nor does one whose moves on the nonzero rows fall below this part of the first
NEWTON_OVERHEAD = 1e7  # of a Newton step on few rows, in units of BLAS flops
SWEEP_SHARE = 1 / 12  # of a Newton step: what sweeps before it may cost
LARGE = 1e8  # flops of a Newton step that is worth twice as many sweeps
NEWTON_STEPS = 10
CG_STEPS = 60
PATIENCE = 20  # conjugate-gradient steps before the preconditioner is made anew
MAX_ROUNDS = 200


def descend(
    model: Model,
    penalty: RowPenalty,
    tol: float,
    out_of_time: Callable[[], bool] = lambda: False,
    finishing: bool = False,
) -> float:
    """Lower the objective on the working set until no row moves by more than ``tol``.

    ``tol`` is in the scale of the violation before division by the data; ``finishing`` says that
    the point is nearly right and only digits are missing. Returns the violation that was reached;
    the model holds the rows.
    """
    strength = penalty.strength(len(model.W))
    everything = np.arange(len(model.W))
    reached = np.inf
    with one_blas_thread():
        for _ in range(MAX_ROUNDS):
            before = reached
            first = model.sweep(penalty, everything, SWEEPS, tol / 10)
            support = np.flatnonzero(nonzero_rows(model.W))
            n_sweeps = _sweeps(model, penalty, support.size)
            last = extrapolated_sweeps(model, penalty, support, n_sweeps, tol / 10)
            reached = _violation(model, penalty)
            if reached <= tol or out_of_time():
                break
            if reached <= QUICK * before < np.inf or last <= SETTLING * first:
                continue  # well-conditioned: sweeps alone are quick
            if penalty.clipped:
                newton_on_levels(model, penalty, strength, tol)
            else:
                _newton(model, penalty, strength, tol, finishing)
            reached = _violation(model, penalty)
            if reached <= tol or out_of_time():
                break
    return reached


def _sweeps(model: Model, penalty: RowPenalty, n_rows: int) -> int:
    """How often to sweep over the nonzero rows: for a part of the time that a Newton step takes."""
    if len(model.W) < COMPILED_FROM or n_rows == 0:
        return SWEEPS
    newton = NEWTON_OVERHEAD
    if penalty.clipped:
        newton += newton_on_levels_flops(n_rows, model.W.shape[1])
    else:
        newton += model.newton_flops(n_rows)
    share = SWEEP_SHARE if newton < LARGE else 2 * SWEEP_SHARE
    return int(np.clip(share * newton / model.sweep_flops(n_rows), 1, 50))


def _violation(model: Model, penalty: RowPenalty) -> float:
    scores = penalty.violation(model.W, model.gradient(), model.metric)
    return float(scores.max(initial=0.0))


def _newton(model: Model, penalty: RowPenalty, strength, tol: float, finishing: bool) -> None:
    """Newton steps on the nonzero rows until their gradient is small or no step helps.

    Where the full Newton step overshoots, part of the curvature that loss and penalty lose along
    their own directions is put back: ``damping`` = 1 is the reweighted least-squares step of the
    papers, which never overshoots, and 0 is Newton's.
    """
    support = np.flatnonzero(nonzero_rows(model.W) & (model.curvatures > 0))
    if not support.size:
        return
    strength = strength[support]
    first, damping = None, 0.0
    for _ in range(NEWTON_STEPS):
        model.focus(support)
        W = model.W[support]
        norms = row_norms(W)
        if not norms.all():
            return  # a row has died: sweeps decide about it
        slope = strength * penalty.dphi(norms) / norms  # a_j
        gradient = model.gradient()[support] + slope[:, None] * W
        size = float(np.max(row_norms(gradient) / np.sqrt(model.metric[support])))
        if size <= tol / 2:
            return
        first = size if first is None else first
        system = _NewtonSystem(model, slope, W / norms[:, None], penalty.p, 1 - damping)
        D = system.solve(gradient, accuracy=min(0.1, size / first))
        trials = _accept(model, penalty, strength, W, norms, gradient, D, finishing)
        if trials == 0 and damping == 1:
            return
        if trials == 1:
            damping = damping / 4 if damping > 0.01 else 0.0
        else:
            damping = min(1.0, max(4 * damping, 0.1)) if trials else 1.0


@dataclass
class _NewtonSystem:
    """The Hessian on the focused rows: ``undamped`` = 1 for Newton, 0 for reweighting."""

    model: Model
    slope: np.ndarray
    directions: np.ndarray
    p: float
    undamped: float

    def times(self, D: np.ndarray) -> np.ndarray:
        out = self.model.hessian_times(D, self.undamped)
        radial = (self.undamped * (2 - self.p)) * np.einsum("ij,ij->i", self.directions, D)
        out += self.slope[:, None] * (D - radial[:, None] * self.directions)
        return out

    def solve(self, gradient: np.ndarray, accuracy: float) -> np.ndarray:
        """Truncated preconditioned conjugate gradients; negative curvature ends the search."""
        precondition = self._two_level()
        D = np.zeros_like(gradient)
        residual = -gradient
        z = precondition(residual)
        direction = z
        rz = float(np.vdot(residual, z))
        target = accuracy**2 * rz
        for taken in range(CG_STEPS):
            Hd = self.times(direction)
            curvature = float(np.vdot(direction, Hd))
            if curvature <= 1e-14 * rz:
                return D if D.any() else direction
            step = rz / curvature
            D = D + step * direction
            residual = residual - step * Hd
            z = precondition(residual)
            rz, previous = float(np.vdot(residual, z)), rz
            if rz <= target:
                break
            direction = z + (rz / previous) * direction
            if taken == PATIENCE:
                self.model.forget_radial_solver()
        return D

    def _two_level(self):
        """Inverse of the Hessian without its radial terms, plus its inverse on radial directions.

        Along a row's own direction the penalty has next to no curvature (p = 1: none), so the
        first part alone is far off there; that space has one dimension per row: solved exactly.
        """
        model, directions, c = self.model, self.directions, self.directions.shape[1]
        lost = self.undamped * (2 - self.p)
        if lost == 0:
            return model.preconditioner(self.slope)
        try:
            solve_radial = model.radial_solver(directions, self.slope * (1 - lost))
        except np.linalg.LinAlgError:  # p < 1 away from a minimum: the Hessian is indefinite
            solve_radial = model.radial_solver(directions, self.slope * max(1 - lost, 0.0))
        if solve_radial is None:  # the average over directions of the penalty's curvature
            return model.preconditioner(self.slope * max(1 - lost / c, 0.0))
        if c == 1:
            return lambda R: solve_radial((R * directions)[:, 0])[:, None] * directions
        solve_all = model.preconditioner(self.slope)

        def solve(R):
            radial = np.einsum("ij,ij->i", R, directions)
            return solve_all(R) + solve_radial(radial)[:, None] * directions

        return solve


def _accept(model, penalty, strength, W, norms, gradient, D, finishing) -> int:
    """Search along D; a row that would cross zero on the way stops there.

    Returns the number of step lengths tried, 0 if none lowered the objective.
    """
    if np.vdot(gradient, D) >= 0:
        D = -gradient / model.curvatures[model.support][:, None]
    before = strength @ penalty.phi(norms)
    radial = np.einsum("ij,ij->i", D, W) / norms**2  # crosses zero at t = -1 / radial
    for trial, t in enumerate(_step_lengths(radial, finishing), start=1):
        stops = (1 + t * radial <= 0)[:, None]
        step = np.where(stops, -W, t * D)
        slope = float(np.vdot(gradient, step))
        change = model.along(step) + strength @ penalty.phi(row_norms(W + step)) - before
        if change < 1e-4 * min(slope, 0.0) + model.rounding:
            model.move(step)
            return trial
    return 0


def _step_lengths(radial: np.ndarray, finishing: bool) -> np.ndarray:
    """The full step and shorter ones; ``radial`` is the relative change of every row's length.

    Where the Hessian is singular (p = 1 and as many rows as samples) the direction has no length
    of its own. While many rows are still wrong that is left to damping; at the end the way to go
    is to the first row that dies, as in the simplex method.
    """
    if finishing and np.median(np.abs(radial)) > 1e3 and radial.min() < 0:
        return -1 / radial.min() * np.array([1 + 1e-12, 0.1])
    return 3.0 ** -np.arange(8)
