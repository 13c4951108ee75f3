r"""The l_{p,inf} penalty of Kong & Ding: ``alpha * sum_j (max_k |W_jk|)**p``, 0 <= p <= 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..numerics import clip
from .base import LocalModel
from .families import PowerPenalty
from .newton_levels import newton_on_levels, newton_on_levels_flops


@dataclass(frozen=True, eq=False)
class LpInf(PowerPenalty):
    """``alpha * sum_j factors_j (max_k |W_jk|)**p``; p = 0 counts the nonzero rows.

    Its prox clips a row's entries at one level, so the largest entries of a row tie: the penalty
    has kinks at the very points where solutions lie.
    """

    clipped: ClassVar[bool] = True
    starts: ClassVar[tuple[str, ...]] = ("zero", "ridge", "convex")

    def sizes(self, W: np.ndarray) -> np.ndarray:
        return np.abs(W).max(axis=1, initial=0.0)

    def dual_sizes(self, G: np.ndarray) -> np.ndarray:
        return np.abs(G).sum(axis=1)

    def prox_rows(self, Z: np.ndarray, rho: np.ndarray) -> np.ndarray:
        return clip.clip_rows(Z, rho, self.p)

    def strength_to_remove(self, Z: np.ndarray) -> np.ndarray:
        return clip.clip_strength_to_zero(Z, self.p)

    def newton(self, model: LocalModel, tol: float, finishing: bool) -> None:
        newton_on_levels(model, self, tol)

    def newton_flops(self, model: LocalModel, n_rows: int) -> float:
        return newton_on_levels_flops(n_rows, model.W.shape[1])
