r"""The l_{2,p} penalty: ``alpha * sum_j |w_j|_2**p``, 0 <= p <= 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..numerics import shrink as maps
from .base import RowNormPenalty


@dataclass(frozen=True)
class L2p(RowNormPenalty):
    """``alpha * sum_j factors_j |w_j|_2**p``; p = 0 counts the nonzero rows."""

    def shrink(self, z: np.ndarray, rho: np.ndarray) -> np.ndarray:
        return maps.shrink(z, rho, self.p)

    def strength_to_zero(self, z: np.ndarray) -> np.ndarray:
        return maps.strength_to_zero(z, self.p)
