"""The contract of a penalty, and what all functions of single rows share.

``Penalty`` is all that problems and solvers ask. Most penalties are a ``RowPenalty``,

    sum_j strength_j phi(size of w_j),      strength_j = alpha * factors_j,

where a factor of 0 leaves a row free (always in) and infinity keeps it out. Which norm is the size
of a row, and which function phi, is the penalty's own; everything that follows from them, the zero
row included, is decided here once. ``RowNormPenalty`` does the same for Euclidean norms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from ..numerics.rows import nonzero_rows, row_norms, row_squares
from ..values import ByValue
from .local_model import LocalModel


class Penalty(ByValue, ABC):
    """A function of the rows of W; ``factors`` None means one for every row.

    Subclasses are frozen dataclasses with ``eq=False``: penalties are equal by value.
    """

    factors: np.ndarray | None
    starts: ClassVar[tuple[str, ...]] = ("zero",)  # that a non-convex problem is worth trying from

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

    def entering(self, G: np.ndarray, L: np.ndarray) -> np.ndarray:
        """How strongly every row, were it zero, would leave zero, given gradient and curvatures:
        ``|g_j| / sqrt(L_j)``, whose square is twice what it would gain; 0 if it may not."""
        allowed = (L > 0) & ~self.excluded(len(G))
        return np.divide(row_norms(G), np.sqrt(L), out=np.zeros_like(L), where=allowed)

    @property
    def compiled(self) -> tuple[float, bool] | None:
        """The power p and whether rows are clipped or shrunk, for the compiled sweeps; None where
        these do not know the prox, and rows are swept by it in NumPy."""
        return None

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

    def take(self, rows: np.ndarray) -> Self:
        """The penalty of the named rows only."""
        return self if self.factors is None else self.with_factors(self.factors[rows])

    @abstractmethod
    def with_factors(self, factors: np.ndarray) -> Self:
        """The same penalty with other factors."""

    # What only a penalty with a strength has; a constraint refuses it.

    @property
    def alpha(self) -> float:
        """The strength of a row whose factor is one."""
        raise self._no_strength()

    def with_alpha(self, alpha: float) -> Self:
        """The same penalty at another strength."""
        raise self._no_strength()

    def strength(self, n_rows: int) -> np.ndarray:
        """alpha times the factor of every row; 0 * inf is a row kept out."""
        raise self._no_strength()

    def row_values(self, W: np.ndarray) -> np.ndarray:
        """The penalty of every row by itself; they add up to ``value``."""
        raise self._no_strength()

    def dual_sizes(self, G: np.ndarray) -> np.ndarray:
        """The dual norm of every row: its largest inner product with rows of size one."""
        raise self._no_strength()

    def alpha_max(self, G0: np.ndarray, L: np.ndarray) -> float:
        """The smallest alpha at which no single row leaves zero, given the gradient there."""
        raise self._no_strength()

    def conjugate(self, G: np.ndarray, ridges: np.ndarray) -> float:
        """``max over W of <G, W> - sum_j ridges_j/2 |w_j|**2 - penalty(W)``; rows without a ridge
        are left out."""
        raise self._no_strength()

    def envelope(self, ridge: float) -> Penalty | None:
        """A convex function below penalty plus ridge, the largest where it is known, minus the
        ridge; None where there is none of use."""
        return None

    def newton(self, model: LocalModel, tol: float, finishing: bool) -> bool:
        """Newton steps on the nonzero rows, where the penalty is smooth; none unless overridden.

        ``finishing`` says that the point is nearly right and only digits are missing. Returns
        whether steps were cut short because sweeps have not found yet where it is smooth.
        """
        return False

    def settle(self, model: LocalModel, tol: float) -> None:
        """Another way down, where rounds of sweeps and Newton steps go in a circle; none unless
        overridden. The objective never rises."""

    def newton_flops(self, model: LocalModel, n_rows: int) -> float:
        """Operations of such a step on so many rows: sweeps before it take a share of them."""
        return model.newton_flops(n_rows)

    def _no_strength(self) -> ValueError:
        kind = type(self).__name__
        return ValueError(
            f"Expected a penalty with a strength alpha, got {kind}, a constraint; "
            "use L2p or LpInf, or a solver for at most k rows."
        )

    # Relatives of a penalty from which a non-convex problem may be started.

    def relaxed(self, share: float) -> Self | None:
        """A penalty on the way from the convex relative (share 0) to this one (share 1); None
        where there is no such way."""
        return None

    @property
    def reweighting_refusal(self) -> str | None:
        """Why no quadratic in the rows lies above the penalty and touches it; None if one does."""
        return f"no quadratic lies above {type(self).__name__} and touches it"

    def reweightable_relative(self) -> Self | None:
        """This penalty or one like it with such a quadratic; None where there is none."""
        return self if self.reweighting_refusal is None else None

    @property
    def judges_pairs(self) -> bool:
        """Whether ``quadratic_above`` (for nonzero rows) and ``gains`` tell what exchanges do."""
        return False

    def gains(self, pulls: np.ndarray, L: np.ndarray) -> np.ndarray:
        """What zero rows take from the objective at their best, given norms of the gradient and
        curvatures (cases x rows, or one case)."""
        raise ValueError(f"Expected a penalty of Euclidean norms, got {type(self).__name__}.")

    def quadratic_above(self, W: np.ndarray, smoothing: float = 0.0) -> np.ndarray:
        """The q_j of the quadratic ``1/2 sum_j q_j |w_j|**2`` that (up to a constant) touches the
        smoothed penalty at W and lies above it."""
        raise ValueError(f"Expected a penalty for reweighting: {self.reweighting_refusal}.")

    def smoothed_value(self, W: np.ndarray, smoothing: float) -> float:
        """The penalty of rows of size ``sqrt(|w_j|**2 + smoothing**2)``, excluded ones left out."""
        raise ValueError(f"Expected a penalty for reweighting: {self.reweighting_refusal}.")


@dataclass(frozen=True, eq=False)
class RowPenalty(Penalty):
    """``alpha * sum_j factors_j phi(size(w_j))``, where phi grows from 0 and size is a norm."""

    alpha: float = 1.0
    factors: np.ndarray | None = None  # None: all ones

    @abstractmethod
    def sizes(self, W: np.ndarray) -> np.ndarray:
        """The norm of every row that is penalised."""

    @abstractmethod
    def dual_sizes(self, G: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def phi(self, t: np.ndarray) -> np.ndarray:
        """The penalty of rows of size t >= 0 and strength one."""

    @abstractmethod
    def dphi(self, t: np.ndarray) -> np.ndarray:
        """The derivative of phi at t > 0."""

    @abstractmethod
    def d2phi(self, t: np.ndarray) -> np.ndarray:
        """The second derivative of phi at t > 0."""

    def lost_curvature(self, t: np.ndarray) -> np.ndarray:
        """``1 - t phi''(t) / phi'(t)``: what the curvature along a row lacks of phi'(t)/t, the one
        across it; zero where phi is flat."""
        slope = self.dphi(t)
        return np.divide(slope - t * self.d2phi(t), slope, out=np.zeros_like(t), where=slope > 0)

    @abstractmethod
    def prox_rows(self, Z: np.ndarray, rho: np.ndarray) -> np.ndarray:
        """Row-wise argmin of ``1/2 |u - z_j|**2 + rho_j phi(size(u))``, globally; ties go to zero,
        and an infinite rho removes a row."""

    @abstractmethod
    def strength_to_remove(self, Z: np.ndarray) -> np.ndarray:
        """The smallest rho per row at which ``prox_rows`` is zero."""

    def with_alpha(self, alpha: float) -> Self:
        return replace(self, alpha=alpha)

    def with_factors(self, factors: np.ndarray) -> Self:
        return replace(self, factors=factors)

    def strength(self, n_rows: int) -> np.ndarray:
        return self._scaled_strength(n_rows, 1.0)

    def _scaled_strength(self, n_rows: int, step: np.ndarray | float) -> np.ndarray:
        """Per row, step times strength; a step of zero never frees an excluded row."""
        if self.factors is None:
            return np.full(n_rows, self.alpha * step)
        with np.errstate(invalid="ignore"):  # 0 * inf
            return np.where(np.isinf(self.factors), np.inf, step * self.alpha * self.factors)

    def value(self, W: np.ndarray) -> float:
        return float(np.sum(self.row_values(W)))

    def row_values(self, W: np.ndarray) -> np.ndarray:
        used = np.flatnonzero(nonzero_rows(W))  # mostly few
        values = np.zeros(len(W))
        values[used] = self.strength(len(W))[used] * self.phi(self.sizes(W[used]))
        return values

    def prox(self, W: np.ndarray, step: np.ndarray | float) -> np.ndarray:
        """Row-wise argmin of ``1/2 |u - w_j|**2 + step_j strength_j phi(size(u))``."""
        return self.prox_rows(W, self._scaled_strength(len(W), step))

    def violation(self, W: np.ndarray, G: np.ndarray, L: np.ndarray) -> np.ndarray:
        """Per row, ``sqrt(L_j) |w_j - prox(w_j - g_j/L_j, strength_j/L_j)|``.

        A row without curvature (a constant column) cannot be improved and has violation zero.
        """
        curved = L > 0
        step = np.divide(1.0, L, out=np.zeros_like(L), where=curved)
        moved = self.prox(W - G * step[:, None], step)
        return np.where(curved, np.sqrt(L) * row_norms(W - moved), 0.0)

    def entering(self, G: np.ndarray, L: np.ndarray) -> np.ndarray:
        """The smallest alpha at which each row, were it zero, would stay there; 0 for rows that are
        free, excluded or without curvature."""
        factors = np.ones(len(G)) if self.factors is None else self.factors
        used = (L > 0) & (factors > 0) & np.isfinite(factors)
        needed = np.zeros(len(G))
        if used.any():
            L = L[used]
            needed[used] = L * self.strength_to_remove(G[used] / L[:, None]) / factors[used]
        return needed

    def conjugate(self, G: np.ndarray, ridges: np.ndarray) -> float:
        strength = self.strength(len(G))
        used = (ridges > 0) & np.isfinite(strength)
        ridge = ridges[used]
        # the maximiser is the prox at G / ridge
        W = self.prox_rows(G[used] / ridge[:, None], strength[used] / ridge)
        inner = float(np.vdot(G[used], W)) - float(ridge @ row_squares(W)) / 2
        return inner - float(strength[used] @ self.phi(self.sizes(W)))

    def alpha_max(self, G0: np.ndarray, L: np.ndarray) -> float:
        """The smallest alpha at which no single row leaves zero, given the gradient there."""
        # the last digits of a gradient depend on how it was summed: keep the zero at alpha_max
        return float(self.entering(G0, L).max(initial=0.0)) * (1 + 1e-12)
