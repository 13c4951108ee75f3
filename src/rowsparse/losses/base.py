"""The contract of a loss."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np


class Loss(ABC):
    """A function of Z and Y (both n x c), averaged over the samples."""

    sample_weight: np.ndarray | None

    def weights(self, n: int) -> np.ndarray:
        """The sample weights, ones if none were given."""
        return np.ones(n) if self.sample_weight is None else self.sample_weight

    @abstractmethod
    def value(self, Z: np.ndarray, Y: np.ndarray) -> float:
        """The loss of predictions Z."""

    @abstractmethod
    def gradient(self, Z: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Its gradient in Z (n x c)."""

    @abstractmethod
    def majorizer(self, Z: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights h and targets T such that ``1/(2n) sum_i h_i |z_i - t_i|**2`` plus a constant
        touches the loss at Z and lies above it everywhere."""

    @property
    @abstractmethod
    def convex(self) -> bool:
        """Whether the loss is convex in Z."""

    def prox(self, Z: np.ndarray, Y: np.ndarray, step: float) -> np.ndarray:
        """argmin over U of ``1/2 |U - Z|**2 + step * L(U)``, for losses that have it in closed
        form or nearly so."""
        raise TypeError(f"{type(self).__name__} has no proximal map; use a ResidualLoss.")
