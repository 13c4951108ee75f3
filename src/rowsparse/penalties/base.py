"""The contract of a penalty, and what every function of row norms shares.

A penalty is ``sum_j strength_j phi(size of w_j)`` with ``strength_j = alpha * factors_j``: a factor
of 0 leaves a row free (always in), infinity keeps it out. ``RowPenalty`` is that for any norm of
the rows as their size; ``RowNormPenalty`` for the Euclidean one, where four scalar functions are
enough. Everything else, the zero row included, is decided here once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

import numpy as np

from ..numerics.rows import nonzero_rows, row_norms

P = TypeVar("P", bound="RowPenalty")


class Penalty(ABC):
    """A function of the rows of W; ``factors`` None means one for every row."""

    factors: np.ndarray | None

    @property
    @abstractmethod
    def convex(self) -> bool:
        """Whether the penalty is convex."""

    @abstractmethod
    def value(self, W: np.ndarray) -> float:
        """The penalty of W; infinite where W is not allowed."""

    @abstractmethod
    def prox(self, W: np.ndarray, step: np.ndarray | float) -> np.ndarray:
        """argmin over U of ``1/2 |U - W|**2`` plus ``step`` (one per row) times the penalty."""

    @abstractmethod
    def violation(self, W: np.ndarray, G: np.ndarray, L: np.ndarray) -> np.ndarray:
        """Per row, ``sqrt(L_j)`` times what exact minimisation over that row alone would change,
        given the gradient G of the smooth part and its curvature L along each row."""

    @property
    def limit(self) -> int | None:
        """How many of the counted rows may be nonzero; None for any number."""
        return None

    @property
    def any_metric(self) -> bool:
        """Whether a violation of zero means the same whatever the curvatures L > 0 are."""
        return self.convex

    def free(self, n_rows: int) -> np.ndarray:
        """Rows that are not penalised."""
        return np.zeros(n_rows, bool) if self.factors is None else self.factors == 0

    def excluded(self, n_rows: int) -> np.ndarray:
        """Rows that stay zero."""
        return np.zeros(n_rows, bool) if self.factors is None else np.isinf(self.factors)


@dataclass(frozen=True)
class RowPenalty(Penalty):
    """``alpha * sum_j factors_j phi(size(w_j))``, where phi(t) = t**p and size is a norm."""

    alpha: float = 1.0
    factors: np.ndarray | None = None  # None: all ones
    p: float = 1.0

    clipped: ClassVar[bool] = False  # the prox clips a row at one level, else it keeps directions
    reweightable: ClassVar[bool] = False  # some quadratic in W touches it and lies above it
    starts: ClassVar[tuple[str, ...]] = ("zero", "ridge", "convex")  # worth trying for p < 1

    @abstractmethod
    def sizes(self, W: np.ndarray) -> np.ndarray:
        """The norm of every row that is penalised."""

    @abstractmethod
    def dual_sizes(self, G: np.ndarray) -> np.ndarray:
        """Its dual norm: the largest inner product of a row with rows of size one."""

    @abstractmethod
    def prox_rows(self, Z: np.ndarray, rho: np.ndarray) -> np.ndarray:
        """Row-wise argmin of ``1/2 |u - z_j|**2 + rho_j phi(size(u))``, globally; ties go to zero,
        and an infinite rho removes a row."""

    @abstractmethod
    def strength_to_remove(self, Z: np.ndarray) -> np.ndarray:
        """The smallest rho per row at which ``prox_rows`` is zero."""

    def phi(self, t: np.ndarray) -> np.ndarray:
        """``t**p`` for sizes t >= 0; p = 0 counts the positive ones."""
        return np.where(t > 0, t**self.p, 0.0)

    def dphi(self, t: np.ndarray) -> np.ndarray:
        """The derivative of phi."""
        with np.errstate(divide="ignore"):  # infinite at zero for p < 1
            return self.p * t ** (self.p - 1)

    @property
    def convex(self) -> bool:
        """Whether phi is convex."""
        return self.p == 1

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

    def value(self, W: np.ndarray) -> float:
        """The penalty of W; infinite if an excluded row is not zero."""
        used = np.flatnonzero(nonzero_rows(W))  # mostly few
        return float(np.sum(self.strength(len(W))[used] * self.phi(self.sizes(W[used]))))

    def prox(self, W: np.ndarray, step: np.ndarray | float) -> np.ndarray:
        """Row-wise argmin of ``1/2 |u - w_j|**2 + step_j strength_j phi(size(u))``."""
        return self.prox_rows(W, self._scaled_strength(len(W), step))

    def _scaled_strength(self, n_rows: int, step: np.ndarray | float) -> np.ndarray:
        """Per row, step times strength; a step of zero never frees an excluded row."""
        if self.factors is None:
            return np.full(n_rows, self.alpha * step)
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(self.factors), np.inf, step * self.alpha * self.factors)

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
        """Row weights of a quadratic that touches the penalty at W and lies above it."""
        raise TypeError(f"{type(self).__name__} has no quadratic majorizer.")

    def alpha_max(self, G0: np.ndarray, L: np.ndarray) -> float:
        """The smallest alpha at which no single row leaves zero, given the gradient there."""
        factors = np.ones(len(G0)) if self.factors is None else self.factors
        used = (L > 0) & (factors > 0) & np.isfinite(factors)
        if not used.any():
            return 0.0
        L, factors = L[used], factors[used]
        needed = L * self.strength_to_remove(G0[used] / L[:, None]) / factors
        # the last digits of a gradient depend on how it was summed: keep the zero at alpha_max
        return float(needed.max()) * (1 + 1e-12)


@dataclass(frozen=True)
class RowNormPenalty(RowPenalty):
    """A function of the Euclidean norms of the rows, which keeps their directions."""

    reweightable: ClassVar[bool] = True
    starts: ClassVar[tuple[str, ...]] = ("zero", "irls", "convex")

    @abstractmethod
    def shrink(self, z: np.ndarray, rho: np.ndarray) -> np.ndarray:
        """argmin over t >= 0 of ``1/2 (t - z)**2 + rho phi(t)``, globally; ties go to zero."""

    @abstractmethod
    def strength_to_zero(self, z: np.ndarray) -> np.ndarray:
        """The smallest rho with ``shrink(z, rho) == 0``."""

    def sizes(self, W: np.ndarray) -> np.ndarray:
        return row_norms(W)

    def dual_sizes(self, G: np.ndarray) -> np.ndarray:
        return row_norms(G)

    def prox_rows(self, Z: np.ndarray, rho: np.ndarray) -> np.ndarray:
        norms = row_norms(Z)
        shrunk = self.shrink(norms, rho)
        factors = np.divide(shrunk, norms, out=np.zeros_like(norms), where=norms > 0)
        return Z * factors[:, None]

    def violation(self, W: np.ndarray, G: np.ndarray, L: np.ndarray) -> np.ndarray:
        """As above, and quicker: a zero row, and most are, moves by its shrunk norm."""
        curved = L > 0
        step = np.divide(1.0, L, out=np.zeros_like(L), where=curved)
        Z = W - G * step[:, None]
        norms = row_norms(Z)
        moves = self.shrink(norms, self._scaled_strength(len(W), step))
        used = np.flatnonzero(nonzero_rows(W))
        factors = moves[used] / np.where(norms[used] > 0, norms[used], 1.0)
        moves[used] = row_norms(W[used] - Z[used] * factors[:, None])
        return np.where(curved, np.sqrt(L) * moves, 0.0)

    def strength_to_remove(self, Z: np.ndarray) -> np.ndarray:
        return self.strength_to_zero(row_norms(Z))

    def weights(self, W: np.ndarray, smoothing: float = 0.0) -> np.ndarray:
        """Row weights q of the quadratic ``1/2 sum_j q_j |w_j|**2`` that touches the penalty at W
        and lies above it: ``strength_j phi'(t_j) / t_j``, ``t_j**2 = |w_j|**2 + smoothing**2``."""
        norms = np.sqrt(row_norms(W) ** 2 + smoothing**2)
        return self.strength(len(W)) * self.dphi(norms) / norms
