"""Points of the dual: made orthogonal to free columns, the multiple that proves most, and what
rounding takes from it."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from ..designs.base import Design
from ..losses.residual import ResidualLoss
from ..numerics.rows import row_squares
from ..penalties.base import Penalty

ROUNDING = 2e-16  # of one operation; the floor of the smoothing rests on it for small r
UNITS = 8  # of it in a product of two columns, which is a sum of some partial sums, and centred


def best_multiple(
    loss: ResidualLoss,
    penalty: Penalty,
    ridges: np.ndarray,
    Y: np.ndarray,
    Theta: np.ndarray,
    G: np.ndarray,
) -> float:
    """The largest bound that a multiple of Theta proves (G is X'Theta); it is concave in the
    multiple."""
    longest = min(loss.longest_dual(Theta), 2.0)

    def proved(t: float) -> float:
        return loss.dual_value(t * Theta, Y) - penalty.conjugate(t * G, ridges)

    # near a solution the multiple is one, to twice as many digits as a search can find it
    found = minimize_scalar(lambda t: -proved(t), bounds=(0.0, longest), method="bounded")
    return max(proved(min(1.0, longest)), -float(found.fun), 0.0)


def orthogonal(Theta: np.ndarray, F: np.ndarray, loss: ResidualLoss) -> tuple[np.ndarray, float]:
    """Theta without its part along the columns F, in the metric of the sample weights, and the size
    of what was taken away."""
    SF = F * loss.weights(len(F))[:, None]
    correction = np.linalg.lstsq(F.T @ SF, F.T @ Theta, rcond=None)[0]
    return Theta - SF @ correction, float(np.abs(correction).max())


def rounding(
    design: Design, loss: ResidualLoss, curvatures: np.ndarray, Theta: np.ndarray
) -> np.ndarray:
    """How far the rows of X'Theta, as they are computed, may be from the true ones: some units in
    the last place of the sizes of both, by Cauchy and Schwarz; ``curvatures`` are of X."""
    n, n_outputs = Theta.shape
    s = loss.weights(n)
    squares = row_squares(Theta)
    used = s > 0
    varying = np.sqrt(n * curvatures * np.sum(squares[used] / s[used]))
    centring = np.sqrt(n * squares.sum()) * design.offsets
    return UNITS * ROUNDING * np.sqrt(n_outputs) * (varying + centring)
