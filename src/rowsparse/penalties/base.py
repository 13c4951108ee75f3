"""The contract of a penalty, and what every function of row norms shares.

A penalty is ``sum_j strength_j phi(|w_j|)`` with ``strength_j = alpha * factors_j``: a factor of 0
leaves a row free (always in), infinity keeps it out. A row-norm penalty gives four scalar
functions; everything else, the zero row included, is decided here once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ..numerics.rows import row_norms

P = TypeVar("P", bound="RowNormPenalty")


@dataclass(frozen=True)
class RowNormPenalty(ABC):
    """``alpha * sum_j factors_j phi(|w_j|_2)``, where phi has an order p."""

    alpha: float = 1.0
    factors: np.ndarray | None = None  # None: all ones
    p: float = 1.0

    @abstractmethod
    def phi(self, t: np.ndarray) -> np.ndarray:
        """The penalty of a row of norm t, before alpha."""

    @abstractmethod
    def dphi(self, t: np.ndarray) -> np.ndarray:
        """Its derivative, for t > 0."""

    @abstractmethod
    def shrink(self, z: np.ndarray, rho: np.ndarray) -> np.ndarray:
        """argmin over t >= 0 of ``1/2 (t - z)**2 + rho phi(t)``, globally; ties go to zero."""

    @abstractmethod
    def strength_to_zero(self, z: np.ndarray) -> np.ndarray:
        """The smallest rho with ``shrink(z, rho) == 0``."""

    @property
    @abstractmethod
    def convex(self) -> bool:
        """Whether phi is convex."""

    def with_alpha(self: P, alpha: float) -> P:
        """The same penalty at another strength."""
        return replace(self, alpha=alpha)

    def take(self: P, rows: np.ndarray) -> P:
        """The penalty of the named rows only."""
        return self if self.factors is None else replace(self, factors=self.factors[rows])

    def strength(self, n_rows: int) -> np.ndarray:
        """alpha times the factor of every row; 0 * inf is a row kept out."""
        if self.factors is None:
            return np.full(n_rows, float(self.alpha))
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(self.factors), np.inf, self.alpha * self.factors)

    def free(self, n_rows: int) -> np.ndarray:
        """Rows that are not penalised."""
        return np.zeros(n_rows, bool) if self.factors is None else self.factors == 0

    def excluded(self, n_rows: int) -> np.ndarray:
        """Rows that stay zero."""
        return np.zeros(n_rows, bool) if self.factors is None else np.isinf(self.factors)

    def value(self, W: np.ndarray) -> float:
        """The penalty of W; infinite if an excluded row is not zero."""
        norms = row_norms(W)
        used = norms > 0
        return float(np.sum(self.strength(len(W))[used] * self.phi(norms[used])))

    def prox(self, W: np.ndarray, step: np.ndarray | float) -> np.ndarray:
        """Row-wise argmin of ``1/2 |u - w_j|**2 + step_j strength_j phi(|u|)``."""
        norms = row_norms(W)
        strength = self.strength(len(W))
        with np.errstate(invalid="ignore"):  # a step of zero never frees an excluded row
            rho = np.where(np.isinf(strength), np.inf, step * strength)
        shrunk = self.shrink(norms, rho)
        factors = np.divide(shrunk, norms, out=np.zeros_like(norms), where=norms > 0)
        return W * factors[:, None]

    def violation(self, W: np.ndarray, G: np.ndarray, L: np.ndarray) -> np.ndarray:
        """Per row, ``sqrt(L_j) |w_j - prox(w_j - g_j/L_j, strength_j/L_j)|``.

        G is the gradient of the smooth part, L its curvature along each row; a row without
        curvature (a constant column) cannot be improved and has violation zero.
        """
        curved = L > 0
        step = np.divide(1.0, L, out=np.zeros_like(L), where=curved)
        moved = self.prox(W - G * step[:, None], step)
        return np.where(curved, np.sqrt(L) * row_norms(W - moved), 0.0)

    def weights(self, W: np.ndarray, smoothing: float = 0.0) -> np.ndarray:
        """Row weights q of the quadratic ``1/2 sum_j q_j |w_j|**2`` that touches the penalty at W
        and lies above it: ``strength_j phi'(t_j) / t_j``, ``t_j**2 = |w_j|**2 + smoothing**2``."""
        norms = np.sqrt(row_norms(W) ** 2 + smoothing**2)
        return self.strength(len(W)) * self.dphi(norms) / norms

    def alpha_max(self, G0: np.ndarray, L: np.ndarray) -> float:
        """The smallest alpha at which no single row leaves zero, given the gradient there."""
        factors = np.ones(len(G0)) if self.factors is None else self.factors
        used = (L > 0) & (factors > 0) & np.isfinite(factors)
        if not used.any():
            return 0.0
        L, factors = L[used], factors[used]
        needed = L * self.strength_to_zero(row_norms(G0[used]) / L) / factors
        # the last digits of a gradient depend on how it was summed: keep the zero at alpha_max
        return float(needed.max()) * (1 + 1e-12)
