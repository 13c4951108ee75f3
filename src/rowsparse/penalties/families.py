"""The families of row penalties: functions of Euclidean norms, powers of a size, L2p and LpInf."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from ..numerics import clip
from ..numerics import rows as maps
from ..numerics.rows import nonzero_rows, resized_rows, row_norms
from .base import Penalty, RowPenalty
from .local_model import LocalModel
from .newton_levels import newton_on_levels
from .newton_norms import newton_on_norms, newton_on_smoothed_norms


@dataclass(frozen=True, eq=False)
class RowNormPenalty(RowPenalty):
    """``alpha * sum_j factors_j phi(|w_j|_2)`` with a concave phi; it keeps the rows' directions.

    A subclass gives ``phi``, ``dphi``, ``d2phi``, ``convex`` and the two functions below. For
    concave phi the quadratic with ``q_j = strength_j phi'(t_j) / t_j`` lies above the penalty.
    """

    starts: ClassVar[tuple[str, ...]] = ("zero", "irls")

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

    def strength_to_remove(self, Z: np.ndarray) -> np.ndarray:
        return self.strength_to_zero(row_norms(Z))

    def prox_rows(self, Z: np.ndarray, rho: np.ndarray) -> np.ndarray:
        norms = row_norms(Z)
        return resized_rows(Z, norms, self.shrink(norms, rho))

    def violation(self, W: np.ndarray, G: np.ndarray, L: np.ndarray) -> np.ndarray:
        curved = L > 0
        step = np.divide(1.0, L, out=np.zeros_like(L), where=curved)
        Z = W - G * step[:, None]
        norms = row_norms(Z)
        shrunk = self.shrink(norms, self._scaled_strength(len(W), step))
        # a zero row, as most are, moves by its shrunk norm: no product of rows is needed for it
        moves = shrunk
        used = np.flatnonzero(nonzero_rows(W))
        reached = resized_rows(Z[used], norms[used], shrunk[used])
        moves[used] = row_norms(W[used] - reached)
        return np.where(curved, np.sqrt(L) * moves, 0.0)

    def newton(self, model: LocalModel, tol: float, finishing: bool) -> bool:
        newton_on_norms(model, self, tol, finishing)
        return False

    @property
    def reweighting_refusal(self) -> str | None:
        return None

    @property
    def judges_pairs(self) -> bool:
        return True

    def gains(self, pulls: np.ndarray, L: np.ndarray) -> np.ndarray:
        strength = np.broadcast_to(self.strength(pulls.shape[-1]), pulls.shape)
        used = np.isfinite(strength) & (L > 0)
        strength = strength[used]
        L = L[used]
        # a zero row goes where its quadratic, L/2 (t - z)**2, and the penalty lead: along the pull
        z = pulls[used] / L
        t = self.shrink(z, strength / L)
        of_loss = L * t * (z - t / 2)
        of_penalty = strength * self.phi(t)
        gains = np.zeros(pulls.shape)
        gains[used] = of_loss - of_penalty
        return gains

    def quadratic_above(self, W: np.ndarray, smoothing: float = 0.0) -> np.ndarray:
        norms = np.sqrt(row_norms(W) ** 2 + smoothing**2)
        strength = self.strength(len(W))
        with np.errstate(invalid="ignore"):  # inf * 0: excluded rows where phi is flat
            q = strength * self.dphi(norms) / norms
        return np.where(np.isinf(strength), np.inf, q)

    def smoothed_value(self, W: np.ndarray, smoothing: float) -> float:
        strength = self.strength(len(W))
        counted = np.isfinite(strength)
        norms = np.hypot(row_norms(W)[counted], smoothing)
        with np.errstate(over="ignore"):  # an infinite objective: the run ends as not finite
            return float(strength[counted] @ self.phi(norms))


@dataclass(frozen=True, eq=False)
class Envelope(RowNormPenalty):
    r"""The largest convex function below ``alpha t**p + ridge/2 t**2``, minus the ridge.

    From 0 to t0 it is a line that touches the function at t0, beyond it is the function:

        t0 = (2 alpha (1 - p) / ridge)**(1/(2 - p)),     slope = alpha p t0**(p-1) + ridge t0.

    It is convex only together with the ridge. Factors other than 0, 1 and infinity are not its own.
    """

    p: float = 0.5
    ridge: float = 1.0

    @property
    def convex(self) -> bool:
        return True

    @property
    def knot(self) -> float:
        """Where the line ends."""
        return float(maps.smallest_output(self.alpha / self.ridge, self.p))

    @property
    def slope(self) -> float:
        """Of the line."""
        return self.alpha * self.p * self.knot ** (self.p - 1) + self.ridge * self.knot

    def phi(self, t: np.ndarray) -> np.ndarray:
        line = (self.slope * t - self.ridge / 2 * t**2) / self.alpha
        power = t**self.p
        return np.where(t < self.knot, line, power)

    def dphi(self, t: np.ndarray) -> np.ndarray:
        line = (self.slope - self.ridge * t) / self.alpha
        beyond = np.maximum(t, self.knot)
        power = self.p * beyond ** (self.p - 1)
        return np.where(t < self.knot, line, power)

    def d2phi(self, t: np.ndarray) -> np.ndarray:
        beyond = np.maximum(t, self.knot)
        power = self.p * (self.p - 1) * beyond ** (self.p - 2)
        return np.where(t < self.knot, -self.ridge / self.alpha, power)

    def shrink(self, z: np.ndarray, rho: np.ndarray) -> np.ndarray:
        rho = np.broadcast_to(rho, z.shape)
        finite = np.isfinite(rho)  # excluded rows are zero
        step = np.where(finite, rho, 0.0) / self.alpha  # one over a curvature that holds the ridge
        curvature = np.maximum(1 - step * self.ridge, 0.0)  # of the quadratic that is left there
        # along the line the objective is a quadratic; where its minimum lies beyond the knot, the
        # prox is that of the power
        excess = np.maximum(z - step * self.slope, 0.0)
        on_line = excess <= curvature * self.knot
        line = np.divide(excess, curvature, out=np.zeros_like(z), where=curvature > 0)
        t = np.where(finite & on_line, line, 0.0)
        beyond = finite & ~on_line
        t[beyond] = maps.shrink(z[beyond], rho[beyond], self.p)
        return t

    def strength_to_zero(self, z: np.ndarray) -> np.ndarray:
        return z * self.alpha / self.slope


@dataclass(frozen=True, eq=False)
class PowerPenalty(RowPenalty):
    """``alpha * sum_j factors_j size(w_j)**p``; p = 0 counts the nonzero rows."""

    p: float = 1.0

    clipped: ClassVar[bool]  # whether the prox clips a row's entries, or shrinks the row

    @property
    def convex(self) -> bool:
        return self.p == 1 or self.alpha == 0

    @property
    def compiled(self) -> tuple[float, bool]:
        return self.p, self.clipped

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


@dataclass(frozen=True, eq=False)
class L2p(PowerPenalty, RowNormPenalty):
    """``alpha * sum_j factors_j |w_j|_2**p``, 0 <= p <= 1; p = 0 counts the nonzero rows."""

    clipped: ClassVar[bool] = False
    starts: ClassVar[tuple[str, ...]] = ("zero", "irls", "convex")

    def shrink(self, z: np.ndarray, rho: np.ndarray) -> np.ndarray:
        return maps.shrink(z, rho, self.p)

    def strength_to_zero(self, z: np.ndarray) -> np.ndarray:
        return maps.strength_to_zero(z, self.p)

    @property
    def reweighting_refusal(self) -> str | None:
        return None if self.p > 0 else "reweighting needs p > 0, got p = 0"

    def newton(self, model: LocalModel, tol: float, finishing: bool) -> bool:
        if model.stuck and self._has_corners(model):
            # A norm of one number is its magnitude: then the structure is followed to its end. From
            # the first round on this made ALLAML /100 twice as slow, .19 s against .08 s of CPU.
            newton_on_levels(model, self, tol)
        else:
            newton_on_norms(model, self, tol, finishing)
        return False

    def settle(self, model: LocalModel, tol: float) -> None:
        if self.convex and not self._has_corners(model):
            newton_on_smoothed_norms(model, self, tol)

    def _has_corners(self, model: LocalModel) -> bool:
        """Whether minima lie where the structure ends. With more nonzero rows than that takes, each
        of its steps costs a large system: r = p = 1, ALLAML at .16 of alpha_max, 5.4 s with them
        and 1.0 s without."""
        if not self.convex or model.W.shape[1] > 1:
            return False
        return bool(np.count_nonzero(nonzero_rows(model.W)) <= model.enough_rows)

    def envelope(self, ridge: float) -> Penalty | None:
        ordinary = self.factors is None or np.isin(self.factors, (0.0, 1.0, np.inf)).all()
        if self.convex or not (ordinary and ridge > 0 and self.alpha > 0):
            return None
        return Envelope(self.alpha, self.factors, p=self.p, ridge=ridge)

    def reweightable_relative(self) -> L2p:
        # a power as small as this ranks rows nearly as p = 0 does, and has a quadratic above it
        return self if self.p > 0 else replace(self, p=0.1)


@dataclass(frozen=True, eq=False)
class LpInf(PowerPenalty):
    """``alpha * sum_j factors_j (max_k |W_jk|)**p``, 0 <= p <= 1 (Kong & Ding).

    p = 0 counts the nonzero rows. The prox clips a row's entries at one level, so the largest
    entries of a row tie: the penalty has kinks at the very points where solutions lie.
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

    def newton(self, model: LocalModel, tol: float, finishing: bool) -> bool:
        return newton_on_levels(model, self, tol)

    def newton_flops(self, model: LocalModel, n_rows: int) -> float:
        return 2.0 * model.W.shape[1] * n_rows**3

    def envelope(self, ridge: float) -> Penalty | None:
        """p = 1 with the slope of the line that touches ``alpha t**p + ridge/2 t**2``: a row has at
        least the square of its largest entry, so this lies below."""
        if self.convex or not (ridge > 0 and self.alpha > 0):
            return None
        knot = maps.smallest_output(self.alpha / ridge, self.p)
        slope = self.alpha * self.p * knot ** (self.p - 1) + ridge * knot / 2
        return replace(self, alpha=float(slope), p=1.0)
