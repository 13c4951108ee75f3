r"""The l_{2,p} penalty: ``alpha * sum_j |w_j|_2**p``, 0 <= p <= 1."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..numerics import rows as maps
from .families import PowerPenalty, RowNormPenalty

SMALL_POWER = 0.1  # of the relative of p = 0 from which reweighting may start


@dataclass(frozen=True, eq=False)
class L2p(PowerPenalty, RowNormPenalty):
    """``alpha * sum_j factors_j |w_j|_2**p``; p = 0 counts the nonzero rows."""

    clipped: ClassVar[bool] = False
    starts: ClassVar[tuple[str, ...]] = ("zero", "irls", "convex")

    def shrink(self, z: np.ndarray, rho: np.ndarray) -> np.ndarray:
        return maps.shrink(z, rho, self.p)

    def strength_to_zero(self, z: np.ndarray) -> np.ndarray:
        return maps.strength_to_zero(z, self.p)

    @property
    def reweighting_refusal(self) -> str | None:
        return None if self.p > 0 else "reweighting needs p > 0, got p = 0"

    def reweightable_relative(self) -> L2p:
        return self if self.p > 0 else replace(self, p=SMALL_POWER)
