r"""Newton steps for functions of the rows' Euclidean norms, on the rows that are not zero.

There the objective is smooth, and a few such steps finish what sweeps would need thousands of
rounds for. With t_j = |w_j| and u_j = w_j / t_j the system is

    H D = -gradient,   H: D -> loss''(D) + a_j (D_j - b_j u_j u_j' D_j),
    a_j = strength_j phi'(t_j) / t_j,      b_j = 1 - t_j phi''(t_j) / phi'(t_j),

where b_j is the part that the curvature lacks along the row itself: 2 - p for t**p. With norms
t_j = sqrt(|w_j|**2 + s**2) all of it holds with the same t_j in the place of |w_j|. For a quadratic
loss it is solved exactly, for others by conjugate gradients; every step is accepted by the true
objective.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..numerics.rounding import LAST_DIGITS
from ..numerics.rows import nonzero_rows, row_norms
from ..numerics.systems import conjugate_gradients, lifted_cholesky
from .base import RowPenalty
from .local_model import LocalModel, Solve

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
        size = rows.size()
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


def newton_on_smoothed_norms(model: LocalModel, penalty: RowPenalty, tol: float) -> None:
    """Newton steps on the nonzero rows for sqrt(|w_j|**2 + s**2) instead of |w_j|, from a large s
    to one that is next to nothing.

    Where columns are nearly equal, rows that Newton's step sends through zero come back with the
    next sweep, too short to have a say, and are sent through it again: for ever. Smoothed norms
    have derivatives at zero, so rows pass it together. 23 x 19 columns equal up to 1e-4 with four
    outputs, ten alphas down to k = 5, take .1 s with this and 9.3 s without.
    """
    support = np.flatnonzero(nonzero_rows(model.W) & (model.curvatures > 0))
    if not support.size:
        return
    W = model.W.copy()
    image = model.image.copy()
    before = model.loss_value() + penalty.value(W)
    largest = float(row_norms(W).max())
    smoothing = largest
    while smoothing > LAST_DIGITS * largest:
        _descend_smoothed(model, penalty, support, smoothing, tol)
        smoothing /= 10
    # rows that are zero but for the smoothing become zero: at it they would count as nonzero
    model.sweep(penalty, support, 1, tol)
    after = model.loss_value() + penalty.value(model.W)
    if not after < before:
        model.place(W, image)


def _descend_smoothed(
    model: LocalModel, penalty: RowPenalty, support: np.ndarray, smoothing: float, tol: float
) -> None:
    for _ in range(NEWTON_STEPS):
        model.focus(support)
        rows = _Rows.at(model, penalty, smoothing)
        if rows is None or rows.size() <= tol / 2:
            return
        if rows.move_along(rows.step(undamped=1.0, accuracy=0.1), finishing=False) == 0:
            return


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
    smoothing: float

    @classmethod
    def at(cls, model: LocalModel, penalty: RowPenalty, smoothing: float = 0.0) -> _Rows | None:
        """None where a row is zero and nothing smoothes its norm: the penalty has no derivatives
        there."""
        strength = penalty.strength(len(model.W))[model.support]
        W = model.W[model.support]
        norms = np.hypot(row_norms(W), smoothing)
        if not norms.all():
            return None
        slope = strength * penalty.dphi(norms) / norms
        lost = penalty.lost_curvature(norms)
        gradient = model.gradient()[model.support] + slope[:, None] * W
        return cls(model, penalty, strength, W, norms, gradient, slope, lost, smoothing)

    def size(self) -> float:
        """Of the gradient, in the metric of the violation."""
        sizes = row_norms(self.gradient) / np.sqrt(self.model.metric[self.model.support])
        return float(np.max(sizes))

    def step(self, undamped: float, accuracy: float) -> np.ndarray:
        """The Newton step (``undamped`` = 1), or one towards reweighting (0)."""
        directions = self.W / self.norms[:, None]
        lost = undamped * self.lost
        G = self.model.small_gram()
        solve = None if G is None else _inverse(G, self.slope, lost, directions)
        if G is not None and solve is not None and self.model.quadratic:
            if self.smoothing:
                return solve(-self.gradient)
            return self._within_orthant(G, lost, directions, solve)
        if solve is None:
            # of the curvature along a row, which is one of c directions, its average is taken away
            share = 1 - lost / directions.shape[1]
            solve = self.model.preconditioner(self.slope * np.maximum(share, 0.0))

        def times(D: np.ndarray) -> np.ndarray:
            out = self.model.hessian_times(D, undamped)
            radial = lost * np.einsum("ij,ij->i", directions, D)
            out += self.slope[:, None] * (D - radial[:, None] * directions)
            return out

        return conjugate_gradients(times, solve, -self.gradient, accuracy, CG_STEPS)

    def _within_orthant(
        self, G: np.ndarray, lost: np.ndarray, directions: np.ndarray, solve: Solve
    ) -> np.ndarray:
        """The step, or, where rows would cross zero on it, what is best for the others if those go
        to zero: beyond it the system does not hold, and the others would follow it there. Without
        this the 50 alphas of ISOLET1, p = 1, take 276 steps, with it 162."""
        D = solve(-self.gradient)
        stays = np.ones(len(D), bool)
        while True:  # fewer rows stay each time
            growth = self._relative_growth(D)
            crosses = stays & (growth < -1) & (self.slope > 0)
            if not crosses.any() or _has_no_length(growth):
                return D
            stays &= ~crosses
            D = np.where(stays[:, None], 0.0, -self.W)
            within = np.ix_(stays, stays)
            solve_rest = _inverse(G[within], self.slope[stays], lost[stays], directions[stays])
            if solve_rest is not None:
                pulled = G[np.ix_(stays, ~stays)] @ D[~stays]
                D[stays] = solve_rest(-self.gradient[stays] - pulled)

    def _relative_growth(self, D: np.ndarray) -> np.ndarray:
        """Of every row's length along D: it crosses zero at -1."""
        return np.einsum("ij,ij->i", D, self.W) / self.norms**2

    def move_along(self, D: np.ndarray, finishing: bool) -> int:
        """Search along D; a row that would cross zero on the way stops there.

        Returns the number of step lengths tried, 0 if none lowered the objective.
        """
        model, phi = self.model, self.penalty.phi
        if np.vdot(self.gradient, D) >= 0:
            D = -self.gradient / model.curvatures[model.support][:, None]
        before = self.strength @ phi(self.norms)
        of_penalty = float(np.finfo(float).eps * before)  # rounding of a difference of such sums
        growth = self._relative_growth(D)  # crosses zero at t = -1 / growth
        for trial, t in enumerate(_step_lengths(growth, finishing), start=1):
            stops = (1 + t * growth <= 0) & (self.smoothing == 0)
            step = np.where(stops[:, None], -self.W, t * D)
            slope = float(np.vdot(self.gradient, step))
            norms = np.hypot(row_norms(self.W + step), self.smoothing)
            after = self.strength @ phi(norms)
            change = model.along(step) + after - before
            # Armijo's condition, as far as rounding lets one see it
            rounding = model.rounding + of_penalty
            if change < 1e-4 * min(slope, 0.0) + rounding:
                model.move(step)
                return trial
        return 0


def _step_lengths(growth: np.ndarray, finishing: bool) -> np.ndarray:
    """The full step and shorter ones; ``growth`` is the relative one of every row's length.

    While many rows are still wrong a direction without a length is left to damping; at the end the
    way to go is to the first row that dies, as in the simplex method.
    """
    if finishing and _has_no_length(growth) and growth.min() < 0:
        first_death = -1 / growth.min()
        return first_death * np.array([1 + 1e-12, 0.1])
    return 3.0 ** -np.arange(8)


def _has_no_length(growth: np.ndarray) -> bool:
    """Whether the Hessian is singular (p = 1 and as many rows as samples): a direction has no
    length of its own then, and rows grow by whatever rounding left of it."""
    return bool(np.median(np.abs(growth)) > 1e3)


def _inverse(
    G: np.ndarray, slope: np.ndarray, lost: np.ndarray, directions: np.ndarray
) -> Solve | None:
    """Solves with the Hessian; where that is not positive definite, with the one in which the
    penalty is replaced by its tangent along each row; None where that is singular too."""
    for share in (lost, np.minimum(lost, 1.0)):
        try:
            return _woodbury(G, slope, share, directions)
        except np.linalg.LinAlgError:
            continue
    return None


def _woodbury(G: np.ndarray, slope: np.ndarray, lost: np.ndarray, directions: np.ndarray) -> Solve:
    """Solves with ``D -> A D - slope_j lost_j u_j u_j' D_j``, where A = G + diag(slope).

    All outputs share A, and what the rows' own directions u_j lack is one number per row: with
    U their columns and s_j**2 = slope_j lost_j the inverse is

        A^-1 + A^-1 U s (I - s U' A^-1 U s)^-1 s U' A^-1,    U' A^-1 U = A^-1 * (u_i'u_j).
    """
    if directions.shape[1] == 1:
        return lifted_cholesky(G, slope * (1 - lost * directions[:, 0] ** 2))
    inverse = lifted_cholesky(G, slope).inverse()
    scaled = directions * np.sqrt(slope * lost)[:, None]
    left = scaled @ scaled.T
    left *= -inverse
    solve_radial = lifted_cholesky(left, 1.0)

    def solve(R: np.ndarray) -> np.ndarray:
        plain = inverse @ R
        radial = np.einsum("ij,ij->i", scaled, plain)
        return plain + inverse @ (scaled * solve_radial(radial)[:, None])

    return solve
