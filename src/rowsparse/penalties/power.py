"""What the penalties of the papers share: phi(t) = t**p, 0 <= p <= 1, and compiled sweeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from ..numerics.sweep import sweep_gram, sweep_samples
from .base import RowPenalty


@dataclass(frozen=True, eq=False)
class PowerPenalty(RowPenalty):
    """``alpha * sum_j factors_j size(w_j)**p``; p = 0 counts the nonzero rows."""

    p: float = 1.0

    clipped: ClassVar[bool]  # which of two steps the compiled sweeps take: clip a row, or shrink it

    @property
    def convex(self) -> bool:
        return self.p == 1

    def relaxed(self, share: float) -> Self:
        return replace(self, p=1 + share * (self.p - 1))

    def phi(self, t: np.ndarray) -> np.ndarray:
        return np.where(t > 0, t**self.p, 0.0)

    def dphi(self, t: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):  # infinite at zero for p < 1
            return self.p * t ** (self.p - 1)

    def d2phi(self, t: np.ndarray) -> np.ndarray:
        return (self.p - 1) * self.dphi(t) / t

    def lost_curvature(self, t: np.ndarray) -> np.ndarray:
        return np.full_like(t, 2 - self.p)

    def sweep_gram(
        self, G: np.ndarray, Q: np.ndarray, W: np.ndarray, rows: np.ndarray, n_sweeps: int,
        tol: float,
    ) -> float:  # fmt: skip
        strength = self.strength(len(W))
        return sweep_gram(G, Q, W, strength, self.p, rows, n_sweeps, tol, self.clipped)

    def sweep_samples(
        self, X: np.ndarray, E: np.ndarray, W: np.ndarray, curvatures: np.ndarray,
        rows: np.ndarray, n_sweeps: int, tol: float,
    ) -> float:  # fmt: skip
        strength = self.strength(len(W))
        return sweep_samples(
            X, E, W, curvatures, strength, self.p, rows, n_sweeps, tol, self.clipped
        )
