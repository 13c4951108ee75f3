r"""The largest convex function below ``alpha t**p + ridge/2 t**2``: the relaxation of l_{2,p}.

From 0 to t0 it is a straight line that touches the function at t0, beyond it is the function:

    t0 = (2 alpha (1 - p) / ridge)**(1/(2 - p)),     slope = alpha p t0**(p-1) + ridge t0.

The ridge is on the smooth side of a problem, so the penalty here is this function minus
``ridge/2 t**2``; it is convex only together with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..numerics.rows import shrink
from .families import RowNormPenalty


@dataclass(frozen=True, eq=False)
class Envelope(RowNormPenalty):
    """The penalty above; factors other than 0, 1 and infinity are not its own."""

    p: float = 0.5
    ridge: float = 1.0

    @property
    def convex(self) -> bool:
        return True

    @property
    def knot(self) -> float:
        """Where the line ends."""
        return (2 * self.alpha * (1 - self.p) / self.ridge) ** (1 / (2 - self.p))

    @property
    def slope(self) -> float:
        """Of the line."""
        return self.alpha * self.p * self.knot ** (self.p - 1) + self.ridge * self.knot

    def phi(self, t: np.ndarray) -> np.ndarray:
        line = (self.slope * t - self.ridge / 2 * t**2) / self.alpha
        return np.where(t < self.knot, line, t**self.p)

    def dphi(self, t: np.ndarray) -> np.ndarray:
        beyond = np.maximum(t, self.knot)
        power = self.p * beyond ** (self.p - 1)
        return np.where(t < self.knot, (self.slope - self.ridge * t) / self.alpha, power)

    def d2phi(self, t: np.ndarray) -> np.ndarray:
        beyond = np.maximum(t, self.knot)
        power = self.p * (self.p - 1) * beyond ** (self.p - 2)
        return np.where(t < self.knot, -self.ridge / self.alpha, power)

    def shrink(self, z: np.ndarray, rho: np.ndarray) -> np.ndarray:
        rho = np.broadcast_to(rho, z.shape)
        finite = np.isfinite(rho)
        step = np.where(finite, rho, 0.0) / self.alpha  # one over a curvature that holds the ridge
        room = np.maximum(1 - step * self.ridge, 0.0)
        over = np.maximum(z - step * self.slope, 0.0)
        on_line = over <= room * self.knot
        line = np.divide(over, room, out=np.zeros_like(z), where=room > 0)
        t = np.where(on_line, line, 0.0)
        beyond = finite & ~on_line
        t[beyond] = shrink(z[beyond], rho[beyond], self.p)
        return np.where(finite, t, 0.0)

    def strength_to_zero(self, z: np.ndarray) -> np.ndarray:
        return z * self.alpha / self.slope
