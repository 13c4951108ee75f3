r"""Newton steps for functions of the rows' Euclidean norms, on the rows that are not zero.

There the objective is smooth, and a few such steps finish what sweeps would need thousands of
rounds for. With t_j = |w_j| and u_j = w_j / t_j the system is

    H D = -gradient,   H: D -> loss''(D) + a_j (D_j - b_j u_j u_j' D_j),
    a_j = strength_j phi'(t_j) / t_j,      b_j = 1 - t_j phi''(t_j) / phi'(t_j),

solved by conjugate gradients with a two-level preconditioner; every step is accepted by the true
objective. For t**p the part b_j that the curvature lacks along the row itself is 2 - p.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..numerics.rows import nonzero_rows, row_norms
from ..numerics.systems import conjugate_gradients
from .base import LocalModel, RowPenalty, Solve

NEWTON_STEPS = 10  # before sweeps look at which rows are zero
CG_STEPS = 60  # of a system that is solved to a tenth at the least


def newton_on_norms(model: LocalModel, penalty: RowPenalty, tol: float, finishing: bool) -> None:
    """Newton steps on the nonzero rows until their gradient is small or no step helps.

    Where the full Newton step overshoots, part of the curvature that loss and penalty lack along
    their own directions is put back: ``damping`` = 1 is the reweighted least-squares step of the
    papers, which never overshoots, and 0 is Newton's.
    """
    support = np.flatnonzero(nonzero_rows(model.W) & (model.curvatures > 0))
    if not support.size:
        return
    first = None
    damping = 0.0
    for _ in range(NEWTON_STEPS):
        model.focus(support)
        rows = _Rows.at(model, penalty)
        if rows is None:
            return  # a row has died: sweeps decide about it
        sizes = row_norms(rows.gradient) / np.sqrt(model.metric[support])
        size = float(np.max(sizes))
        if size <= tol / 2:
            return
        if first is None:
            first = size
        # as accurate as the steps have come near: early ones are left again
        D = rows.step(undamped=1 - damping, accuracy=min(0.1, size / first))
        trials = rows.move_along(D, finishing)
        if trials == 0 and damping == 1:
            return
        damping = _next_damping(damping, trials)


def _next_damping(damping: float, trials: int) -> float:
    """Less after a full step, more after a shortened one, all of it after none."""
    if trials == 0:
        return 1.0
    if trials == 1:
        return damping / 4 if damping > 0.01 else 0.0
    return min(1.0, max(4 * damping, 0.1))


@dataclass
class _Rows:
    """The rows in focus, and the derivatives of the objective in them."""

    model: LocalModel
    penalty: RowPenalty
    strength: np.ndarray
    W: np.ndarray
    norms: np.ndarray
    gradient: np.ndarray
    slope: np.ndarray  # a_j
    lost: np.ndarray  # b_j

    @classmethod
    def at(cls, model: LocalModel, penalty: RowPenalty) -> _Rows | None:
        """None where a row is zero: the penalty has no derivatives there."""
        strength = penalty.strength(len(model.W))[model.support]
        W = model.W[model.support]
        norms = row_norms(W)
        if not norms.all():
            return None
        slope = strength * penalty.dphi(norms) / norms
        lost = penalty.lost_curvature(norms)
        gradient = model.gradient()[model.support] + slope[:, None] * W
        return cls(model, penalty, strength, W, norms, gradient, slope, lost)

    def step(self, undamped: float, accuracy: float) -> np.ndarray:
        """The Newton step (``undamped`` = 1), or one towards reweighting (0)."""
        directions = self.W / self.norms[:, None]
        lost = undamped * self.lost

        def times(D: np.ndarray) -> np.ndarray:
            out = self.model.hessian_times(D, undamped)
            radial = lost * np.einsum("ij,ij->i", directions, D)
            out += self.slope[:, None] * (D - radial[:, None] * directions)
            return out

        precondition = self._two_level(directions, lost)
        return conjugate_gradients(times, precondition, -self.gradient, accuracy, CG_STEPS)

    def _two_level(self, directions: np.ndarray, lost: np.ndarray) -> Solve:
        """Inverse of the Hessian without its radial terms, plus its inverse on radial directions.

        Along a row's own direction the penalty has next to no curvature (p = 1: none), so the
        first part alone is far off there; that space has one dimension per row: solved exactly.
        """
        model = self.model
        c = directions.shape[1]
        if not lost.any():
            return model.preconditioner(self.slope)
        try:
            solve_radial = model.radial_solver(directions, self.slope * (1 - lost))
        except np.linalg.LinAlgError:  # concave, away from a minimum: the Hessian is indefinite
            left = self.slope * np.maximum(1 - lost, 0.0)
            solve_radial = model.radial_solver(directions, left)
        if solve_radial is None:  # the average over directions of the penalty's curvature
            return model.preconditioner(self.slope * np.maximum(1 - lost / c, 0.0))
        if c == 1:
            return lambda R: solve_radial((R * directions)[:, 0])[:, None] * directions
        solve_all = model.preconditioner(self.slope)

        def solve(R: np.ndarray) -> np.ndarray:
            radial = np.einsum("ij,ij->i", R, directions)
            return solve_all(R) + solve_radial(radial)[:, None] * directions

        return solve

    def move_along(self, D: np.ndarray, finishing: bool) -> int:
        """Search along D; a row that would cross zero on the way stops there.

        Returns the number of step lengths tried, 0 if none lowered the objective.
        """
        model, phi = self.model, self.penalty.phi
        if np.vdot(self.gradient, D) >= 0:
            D = -self.gradient / model.curvatures[model.support][:, None]
        before = self.strength @ phi(self.norms)
        radial = np.einsum("ij,ij->i", D, self.W) / self.norms**2  # crosses zero at t = -1 / radial
        for trial, t in enumerate(_step_lengths(radial, finishing), start=1):
            stops = 1 + t * radial <= 0
            step = np.where(stops[:, None], -self.W, t * D)
            slope = float(np.vdot(self.gradient, step))
            after = self.strength @ phi(row_norms(self.W + step))
            change = model.along(step) + after - before
            # Armijo's condition, as far as rounding lets one see it
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
    without_length = np.median(np.abs(radial)) > 1e3
    if finishing and without_length and radial.min() < 0:
        first_death = -1 / radial.min()
        return first_death * np.array([1 + 1e-12, 0.1])
    return 3.0 ** -np.arange(8)
