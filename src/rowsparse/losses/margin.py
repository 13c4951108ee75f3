"""Losses of the margin ``m = y z`` with y = ±1: hinge and probit."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import erfcx, log_ndtr

from .base import Loss


@dataclass(frozen=True)
class MarginLoss(Loss):
    """``1/n sum_i s_i sum_k phi(y_ik z_ik)``, a sum over the outputs."""

    name: ClassVar[str]  # by which a solver says for which of them it is

    sample_weight: np.ndarray | None = None

    def value(self, Z: np.ndarray, Y: np.ndarray) -> float:
        return float(self.weights(len(Z)) @ self.phi(Y * Z).sum(axis=1)) / len(Z)

    def gradient(self, Z: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return (self.weights(len(Z)) / len(Z))[:, None] * Y * self.dphi(Y * Z)

    @property
    def convex(self) -> bool:
        return True

    @abstractmethod
    def phi(self, m: np.ndarray) -> np.ndarray:
        """The loss of a margin."""

    @abstractmethod
    def dphi(self, m: np.ndarray) -> np.ndarray:
        """Its derivative; at a kink one of its subgradients."""

    @abstractmethod
    def curvature(self, m: np.ndarray) -> np.ndarray:
        """Its second derivative where it has one."""


@dataclass(frozen=True)
class HingeLoss(MarginLoss):
    """``max(0, 1 - m)``."""

    name: ClassVar[str] = "hinge"

    def phi(self, m: np.ndarray) -> np.ndarray:
        return np.maximum(1.0 - m, 0.0)

    def dphi(self, m: np.ndarray) -> np.ndarray:
        return -(m < 1.0).astype(float)

    def curvature(self, m: np.ndarray) -> np.ndarray:
        return np.zeros_like(m)

    def majorizer(self, Z: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """One sample's outputs share a weight: the largest curvature among them.

        ``max(0, u) = (u + |u|)/2`` and ``|u| <= u**2 / (2|u0|) + |u0|/2``: curvature 1/(2|u0|).
        """
        u = np.maximum(np.abs(1.0 - Y * Z), 1e-12)
        h = (1 / (2 * u)).max(axis=1)
        targets = Z - Y * self.dphi(Y * Z) / h[:, None]
        return self.weights(len(Z)) * h, targets


@dataclass(frozen=True)
class ProbitLoss(MarginLoss):
    """``-log Phi(m)`` with the normal distribution function Phi, in log-cdf arithmetic: exact to
    rounding for every margin a float can hold, where Phi itself underflows at m = -38."""

    name: ClassVar[str] = "probit"

    def phi(self, m: np.ndarray) -> np.ndarray:
        return -log_ndtr(m)

    def dphi(self, m: np.ndarray) -> np.ndarray:
        # N(m) / Phi(m) without a quotient of two numbers that both underflow
        return -np.sqrt(2 / np.pi) / erfcx(-m / np.sqrt(2))

    def curvature(self, m: np.ndarray) -> np.ndarray:
        """The second derivative, between 0 and 1."""
        slope = -self.dphi(m)
        return np.clip(slope * (slope + m), 0.0, 1.0)

    def majorizer(self, Z: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The E step: its curvature is at most 1, so the targets are the expected latent values
        ``z + y N(m) / Phi(m)``."""
        return self.weights(len(Z)), Z - Y * self.dphi(Y * Z)
