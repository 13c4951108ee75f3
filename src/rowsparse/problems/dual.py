"""Points of the dual: made orthogonal to free columns, the multiple that proves most, and what
rounding takes from it."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from ..designs.base import Design
from ..losses.residual import DualSums, ResidualLoss
from ..numerics.rounding import EPSILON
from ..penalties.base import Penalty

# In the last place, of a product of two columns, which is a sum of some partial sums, and centred.
UNITS = 8


def best_bound(sums: DualSums, penalty: Penalty, ridges: np.ndarray, G: np.ndarray) -> float:
    """What the multiples of a point of the dual prove; G is its product with X'."""
    if ridges.any():
        return best_multiple(sums, penalty, ridges, G)
    strength = penalty.strength(len(G))
    bound = (strength > 0) & np.isfinite(strength)
    excess = (penalty.dual_sizes(G[bound]) / strength[bound]).max(initial=0.0)
    return sums.best(1.0 / excess if excess > 0 else np.inf)


def best_multiple(sums: DualSums, penalty: Penalty, ridges: np.ndarray, G: np.ndarray) -> float:
    """The largest bound that a multiple of Theta proves, whose sums these are (G is X'Theta); it is
    concave in the multiple."""
    longest = min(sums.longest, 2.0)

    def proved(t: float) -> float:
        return sums.value(t) - penalty.conjugate(t * G, ridges)

    # near a solution the multiple is one, to twice as many digits as a search can find it
    found = minimize_scalar(lambda t: -proved(t), bounds=(0.0, longest), method="bounded")
    return max(proved(min(1.0, longest)), -float(found.fun), 0.0)


def without_columns(
    columns: np.ndarray,
    Theta: np.ndarray,
    G: np.ndarray,
    design: Design,
    loss: ResidualLoss,
    negligible: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Theta without its part along some columns, those that are neither penalised nor ridged, in
    the metric of the sample weights, and G = X'Theta."""
    if not columns.size:
        return Theta, G
    F = design.take(columns)
    SF = F * loss.weights(len(F))[:, None]
    correction = np.linalg.lstsq(F.T @ SF, F.T @ Theta, rcond=None)[0]
    Theta = Theta - SF @ correction
    # a pass over X, needed only where the null model's fit has left more than rounding
    needed = np.abs(correction).max() > negligible
    return Theta, design.rmatmul_exactly(Theta) if needed else G


def rounding(design: Design, curvatures: np.ndarray, sums: DualSums, n_outputs: int) -> np.ndarray:
    """How far the rows of X'Theta, as they are computed, may be from the true ones: some units in
    the last place of the sizes of both, by Cauchy and Schwarz; ``curvatures`` are of X."""
    n = design.shape[0]
    varying = np.sqrt(n * curvatures * sums.squares_by_weight)
    centring = np.sqrt(n * sums.squares) * design.offsets
    return UNITS * EPSILON * np.sqrt(n_outputs) * (varying + centring)
