r"""The l_{2,r} loss, r < 2, on few dense columns: Newton steps under a smoothing that falls.

The loss is smoothed, ``(|e|**2 + sigma**2)**(r/2)``, and sigma falls to a floor. At every sigma
Newton steps

    H D = -gradient,   H = sum_i h_i (I - kappa_i u_i u_i') (x) x_i x_i',   u_i = e_i / |e_i|

bring the point back to the minimum, and the minima at the last two sigmas point to the next one.
"""

from __future__ import annotations

import numpy as np

from ...losses.residual import ResidualLoss
from ...numerics.systems import LIFTS, conjugate_gradients, lifted_cholesky

LOWERING = 0.1  # of the smoothing
NEWTON_STEPS = 60  # at one smoothing
DIRECT = 400  # unknowns up to which the Newton system is factorised
CG_STEPS = 50


def minimise(
    P: np.ndarray, Y: np.ndarray, loss: ResidualLoss, floor: float, above: float = np.inf
) -> np.ndarray | None:
    """argmin over B of the loss of ``P B``, smoothed to the floor; P has orthonormal columns.

    None as soon as the minimum is known to lie above the given value: the loss is never below the
    smoothed one minus ``sigma**r / r`` (sample weights have mean one).
    """
    root = np.sqrt(loss.weights(len(Y)))[:, None]
    B = np.linalg.lstsq(root * P, root * Y, rcond=None)[0]
    size = np.sqrt(2 * ResidualLoss(2.0, loss.sample_weight).value_of_residual(P @ B - Y))
    sigma, before = max(0.3 * float(size), floor), None
    while True:
        at = _Smoothed(P, Y, loss, sigma)
        B, value = at.newton(B, precise=sigma <= floor)
        if sigma <= floor:
            return B
        if value - 1.01 * sigma**loss.r / loss.r > above:
            return None
        lower = max(LOWERING * sigma, floor)
        B, before = _next_start(P, Y, loss, lower, B, before, sigma), (B, sigma)
        sigma = lower


def _next_start(P, Y, loss: ResidualLoss, lower: float, B, before, sigma: float) -> np.ndarray:
    """The last minimum, or the line through the last two where that is lower."""
    if before is None:
        return B
    ahead = B + ((sigma - lower) / (before[1] - sigma)) * (B - before[0])
    smoothed = loss.smoothed(lower)
    better = smoothed.value_of_residual(P @ ahead - Y) < smoothed.value_of_residual(P @ B - Y)
    return ahead if better else B


class _Smoothed:
    """The smoothed loss of ``P B - Y`` as a function of B."""

    def __init__(self, P: np.ndarray, Y: np.ndarray, loss: ResidualLoss, sigma: float):
        self.P, self.Y, self.r, self.sigma = P, Y, loss.r, sigma
        self.weights = loss.weights(len(Y)) / len(Y)

    def newton(self, B: np.ndarray, precise: bool) -> tuple[np.ndarray, float]:
        """Newton steps, damped towards the reweighted step, which never overshoots."""
        P, damping = self.P, 0.0
        E = P @ B - self.Y
        squares, value = self._value(E)
        for _ in range(NEWTON_STEPS):
            h = self._residual_weights(squares)
            hE = h[:, None] * E
            gradient = P.T @ hE
            D = self._direction(E, h, squares, gradient, 1 - damping)
            slope = float(np.vdot(gradient, D))
            if -slope <= (1e-16 * value if precise else 1e-2 * self.sigma**self.r / len(E)):
                break
            PD, t = P @ D, 1.0
            while t > 0.02:
                trial = E + t * PD
                new_squares, new = self._value(trial)
                if new <= value + 1e-4 * t * slope:
                    B, E, squares, value = B + t * D, trial, new_squares, new
                    break
                t /= 2
            else:
                if damping == 1:
                    break
                t = 0.0
            damping = damping / 4 if t == 1 else min(1.0, max(4 * damping, 0.1))
        return B, value

    def _value(self, E: np.ndarray) -> tuple[np.ndarray, float]:
        squares = np.einsum("ij,ij->i", E, E)
        squares += self.sigma**2
        return squares, float(self.weights @ squares ** (self.r / 2)) / self.r

    def _residual_weights(self, squares: np.ndarray) -> np.ndarray:
        return self.weights * np.maximum(squares, 1e-300) ** (self.r / 2 - 1)

    def _direction(self, E, h, squares, gradient, undamped: float) -> np.ndarray:
        P, (m, c) = self.P, gradient.shape
        kappa = undamped * (2 - self.r) * h / np.maximum(squares, 1e-300)
        lost = np.sqrt(kappa)[:, None] * E
        base = P.T @ (h[:, None] * P)
        if m * c > DIRECT:
            return _newton_direction(P, h, lost, base, gradient)
        J = (P[:, :, None] * lost[:, None, :]).reshape(len(P), m * c)
        H = J.T @ J
        np.negative(H, out=H)
        blocks = H.reshape(m, c, m, c)
        for a in range(c):
            blocks[:, a, :, a] += base
        try:
            return -lifted_cholesky(H, lifts=LIFTS[:1])(gradient.ravel()).reshape(m, c)
        except np.linalg.LinAlgError:  # r < 1: not convex; r = 1: flat along some direction
            root = np.sqrt(h)[:, None]
            return -np.linalg.lstsq(root * P, root * E, rcond=None)[0]  # the reweighted step


def _newton_direction(P, h, lost, base, gradient) -> np.ndarray:
    """The Newton system by conjugate gradients, preconditioned by the reweighted one."""

    def times(D: np.ndarray) -> np.ndarray:
        PD = P @ D
        return P.T @ (h[:, None] * PD - lost * np.einsum("ij,ij->i", lost, PD)[:, None])

    return conjugate_gradients(times, lifted_cholesky(base), -gradient, 1e-3, CG_STEPS)
