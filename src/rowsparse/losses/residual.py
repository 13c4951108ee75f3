r"""The l_{2,r} loss of the residual, robust to outlying samples for r < 2."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..numerics.rows import residual_shrink, resized_rows, row_norms, row_squares
from .base import Loss

# Of the residual's size, what is left of the smoothing at the end: a sample fitted as closely as
# this counts as fitted exactly, and its weight for r = 1, 1e7, still leaves a system nine digits.
SMOOTHING_FLOOR = 1e-7


@dataclass(frozen=True)
class ResidualLoss(Loss):
    r"""``L(Z) = 1/(r n) sum_i s_i (|z_i - y_i|_2**2 + smoothing**2)**(r/2)``, 0 < r <= 2.

    ``sample_weight`` s has mean one (None: all ones). The loss itself has ``smoothing=0``; solvers
    work on smoothed copies, since for r < 2 it is not differentiable (r <= 1) or has unbounded
    curvature at a residual of zero.
    """

    r: float = 2.0
    sample_weight: np.ndarray | None = None
    smoothing: float = 0.0

    def smoothed(self, smoothing: float) -> ResidualLoss:
        """The same loss with another smoothing; r = 2 needs none."""
        return self if self.quadratic else replace(self, smoothing=smoothing)

    @property
    def convex(self) -> bool:
        return self.r >= 1

    @property
    def quadratic(self) -> bool:
        """Whether the majorizer is the loss itself."""
        return self.r == 2

    @property
    def plain(self) -> bool:
        """Whether it is the mean of squares, all samples counting alike."""
        return self.quadratic and self.sample_weight is None

    def value(self, Z: np.ndarray, Y: np.ndarray) -> float:
        return self.value_of_residual(Z - Y)

    def value_of_residual(self, E: np.ndarray) -> float:
        """The loss as a function of E = Z - Y."""
        return self.total_of_residual(E) / len(E)

    def total_of_residual(self, E: np.ndarray) -> float:
        """The same summed over the samples: that of many is the sum of those of some."""
        powers = self._squares(E) ** (self.r / 2)
        if self.sample_weight is not None:  # a vector of ones would cost a pass of its own
            powers = self.sample_weight * powers
        return float(powers.sum() / self.r)

    def size_of_residual(self, E: np.ndarray) -> float:
        """Its root mean square over the weighted samples, whatever r is."""
        return float(np.sqrt(2 * ResidualLoss(2.0, self.sample_weight).value_of_residual(E)))

    def gradient(self, Z: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return self.slopes(Z - Y)

    def slopes(self, E: np.ndarray) -> np.ndarray:
        """The gradient as a function of E = Z - Y."""
        if self.plain:
            return E / len(E)
        return E * (self.residual_weights(E) / len(E))[:, None]

    def majorizer(self, Z: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.residual_weights(Z - Y), Y

    def prox(self, Z: np.ndarray, Y: np.ndarray, step: float) -> np.ndarray:
        """Row-wise ``y + t (z - y)/|z - y|``, t the global minimiser of
        ``1/2 (t - |z - y|)**2 + step s/(r n) t**r``; of the loss without smoothing."""
        E = Z - Y
        norms = row_norms(E)
        rho = step / (self.r * len(E)) * self.weights(len(E))
        return Y + resized_rows(E, norms, residual_shrink(norms, rho, self.r))

    def residual_weights(self, E: np.ndarray) -> np.ndarray:
        """``h_i = s_i (|e_i|**2 + smoothing**2)**((r-2)/2)``; a zero residual gets weight zero
        where the power is infinite (its minimum-norm subgradient)."""
        if self.quadratic:
            return self.weights(len(E))
        squares = self._squares(E)
        powers = np.zeros_like(squares)
        np.power(squares, (self.r - 2) / 2, out=powers, where=squares > 0)
        return powers if self.sample_weight is None else self.sample_weight * powers

    def radial_loss_of_curvature(self, E: np.ndarray) -> np.ndarray:
        """``kappa_i`` in the Hessian ``h_i/n (I - kappa_i e e'/|e|**2)`` of sample i."""
        squares = row_squares(E)
        total = squares + self.smoothing**2
        shares = np.divide(squares, total, out=np.zeros_like(total), where=total > 0)
        return (2 - self.r) * shares

    def dual_value(self, Theta: np.ndarray, Y: np.ndarray) -> float:
        """``-L*(Theta)`` for the loss without smoothing: minus infinity outside the domain.

        Theta is a point of the dual, at the optimum the gradient of the loss in Z (n x c).
        Only for convex losses (r >= 1).
        """
        return self.dual_sums(Theta, Y).value()

    def dual_sums(self, Theta: np.ndarray, Y: np.ndarray) -> DualSums:
        """What is to be known of Theta for the dual values of all its multiples."""
        linear = float(np.vdot(Theta, Y))
        shares = self.weights(len(Theta)) / len(Theta)
        used = shares > 0
        if Theta[~used].any():
            return DualSums(self.r, linear, np.inf, 1.0, np.inf, np.inf)
        squares = row_squares(Theta[used])
        by_weight = float(np.sum(squares / shares[used])) / len(Theta)
        sizes = row_norms(Theta[used]) / shares[used]
        largest = float(sizes.max(initial=0.0))
        cost = self.dual_cost(sizes, shares[used], largest)
        return DualSums(self.r, linear, largest, cost, by_weight, float(squares.sum()))

    def dual_cost(self, sizes: np.ndarray, shares: np.ndarray, largest: float) -> float:
        """``sum_i shares_i (size_i / largest)**(r / (r - 1))``; r = 1 has an edge in its place."""
        if self.r == 1 or largest == 0:
            return 0.0
        return float(shares @ (sizes / largest) ** (self.r / (self.r - 1)))

    def _squares(self, E: np.ndarray) -> np.ndarray:
        return row_squares(E) + self.smoothing**2


@dataclass(frozen=True)
class DualSums:
    """A point Theta of the dual of the loss, as far as its multiples are asked for.

    At the optimum the sizes ``|theta_i| n / s_i`` are powers of residuals: their own powers stay
    within the range of floats if they are taken in units of the largest.
    """

    r: float
    linear: float  # <Theta, Y>
    largest: float  # of the sizes; infinite where a sample that does not count has one
    cost: float  # ``ResidualLoss.dual_cost``
    squares_by_weight: float  # sum of |theta_i|**2 / s_i
    squares: float  # sum of |theta_i|**2

    def value(self, t: float = 1.0) -> float:
        """``-L*(t Theta)``: minus infinity outside the domain."""
        if self.r == 1:
            inside = t * self.largest <= 1 + 1e-12  # rounding of a multiple that ends at one
            return -t * self.linear if inside else -np.inf
        q = self.r / (self.r - 1)
        with np.errstate(over="ignore"):  # an infinite cost proves nothing, and says so
            cost = self.cost * float(np.float64(t * self.largest) ** q) / q
        return -t * self.linear - cost

    @property
    def longest(self) -> float:
        """The largest t for which ``t Theta`` is in the domain; only r = 1 has an edge."""
        return 1.0 / self.largest if self.r == 1 and self.largest > 0 else np.inf

    def best(self, longest: float) -> float:
        """The largest value of the multiples ``t Theta``, 0 <= t <= longest."""
        gain = -self.linear
        if gain <= 0 or self.largest == 0:
            return 0.0
        # t * gain - t**q * cost is concave: its top has a closed form, for r = 1 it has an edge
        best = 1.0  # in units of 1 / largest
        if self.r > 1:
            best = (gain / self.largest / self.cost) ** (self.r - 1)
        return self.value(min(longest, best / self.largest))
