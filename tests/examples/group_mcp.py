r"""Group MCP on rows (Zhang 2010; Huang, Breheny & Ma 2012): rows beyond gamma are not shrunk.

phi(t) = t - t**2 / (2 gamma)  up to gamma,   gamma / 2  beyond
"""

from dataclasses import dataclass

import numpy as np

from rowsparse.penalties import RowNormPenalty


@dataclass(frozen=True, eq=False)
class GroupMCP(RowNormPenalty):
    """``alpha * sum_j factors_j phi(|w_j|_2)``."""

    gamma: float = 3.0

    @property
    def convex(self) -> bool:
        return False

    def phi(self, t: np.ndarray) -> np.ndarray:
        inside = np.minimum(t, self.gamma)
        return inside - inside**2 / (2 * self.gamma)

    def dphi(self, t: np.ndarray) -> np.ndarray:
        return np.maximum(1 - t / self.gamma, 0.0)

    def d2phi(self, t: np.ndarray) -> np.ndarray:
        return np.where(t < self.gamma, -1 / self.gamma, 0.0)

    def shrink(self, z: np.ndarray, rho: np.ndarray) -> np.ndarray:
        # from rho = gamma on the sum is concave up to gamma: its minimum is at zero or beyond gamma
        concave = rho >= self.gamma
        bend = np.where(concave, 1.0, 1 - rho / self.gamma)
        inside = np.where(concave, 0.0, np.maximum(z - rho, 0.0) / bend)
        beyond = np.where(concave, np.sqrt(rho * self.gamma), self.gamma)
        return np.where(z > beyond, z, inside)

    def strength_to_zero(self, z: np.ndarray) -> np.ndarray:
        return np.maximum(z, z**2 / self.gamma)
