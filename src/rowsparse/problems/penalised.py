"""The optimisation problem: X, Y, a loss and a penalty, and the certificate of any W."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..designs.base import Design
from ..designs.wrappers import WithConstant
from ..losses import few_columns
from ..losses.residual import SMOOTHING_FLOOR, DualSums, ResidualLoss
from ..numerics.rounding import EPSILON
from ..numerics.rows import longer_rows, row_norms
from ..numerics.threads import blas_threads_for, cached_property
from ..penalties.base import Penalty
from ..penalties.cardinality import Cardinality
from ..results import Solution
from ..values import ByValue
from .base import AT_MOST_K, PENALTY
from .dual import best_bound, rounding, without_columns
from .evaluation import Evaluation

# What is computed once and depends on the data alone, and on them and on which rows are free.
_OF_DATA = ("sample_curvatures",)
_OF_FREE_ROWS = ("null_point", "unexplained", "residual_scale", "null_gradient", "null_sums")

__all__ = ["Evaluation", "PenalisedProblem"]


@dataclass(frozen=True, eq=False)
class PenalisedProblem(ByValue):
    r"""``min over W of  L_r(X W - Y) + ridge/2 |W|**2 + penalty(W)``.

    The ridge is part of the smooth side: gradients, curvatures and Gram matrices hold it, and
    penalties know nothing of it. The intercept is never ridged, features that are always in are.
    With ``has_constant`` the last column of the design is a column of ones and the last row of W
    the intercept: an unpenalised row like any other. Build one with ``PenalisedProblem.build``.
    """

    design: Design
    Y: np.ndarray
    loss: ResidualLoss
    penalty: Penalty
    has_constant: bool = False
    ridge: float = 0.0

    @classmethod
    def build(
        cls,
        design: Design,
        Y: np.ndarray,
        loss: ResidualLoss,
        penalty: Penalty,
        fit_intercept: bool = True,
        ridge: float = 0.0,
    ) -> PenalisedProblem:
        """Add the intercept as a free row of W where one is wanted."""
        if not fit_intercept:
            return cls(design, Y, loss, penalty, ridge=ridge)
        factors = np.ones(design.shape[1]) if penalty.factors is None else penalty.factors
        penalty = penalty.with_factors(np.append(factors, 0.0))
        return cls(WithConstant(design), Y, loss, penalty, has_constant=True, ridge=ridge)

    @property
    def kind(self) -> str:
        """Of the contract: a penalty, or a constraint on the number of rows."""
        return PENALTY if self.penalty.limit is None else AT_MOST_K

    @property
    def limit(self) -> int:
        """How many rows may be nonzero beside the free ones."""
        return self.n_rows if self.penalty.limit is None else self.penalty.limit

    @property
    def n_rows(self) -> int:
        """Rows of W, the intercept's included."""
        return self.design.shape[1]

    @cached_property
    def ridges(self) -> np.ndarray:
        """The ridge of every row: none of the intercept's."""
        ridges = np.full(self.n_rows, self.ridge)
        if self.has_constant:
            ridges[-1] = 0.0
        return ridges

    def ridge_value(self, W: np.ndarray) -> float:
        """``ridge/2 |W|**2``."""
        features = self.split(W)[0]
        return self.ridge / 2 * float(np.vdot(features, features)) if self.ridge else 0.0

    def split(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows of the features and the intercept (zeros if there is none)."""
        return (W[:-1], W[-1]) if self.has_constant else (W, np.zeros(W.shape[1]))

    def joined(self, features: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """The W of which these are the parts."""
        return np.vstack([features, intercept]) if self.has_constant else features

    @property
    def may_enter(self) -> np.ndarray:
        """Features whose row may be nonzero: not constant and not excluded."""
        rows = (self.sample_curvatures > 0) & ~self.penalty.excluded(self.n_rows)
        return rows[:-1] if self.has_constant else rows

    def entering(self, solution: Solution) -> np.ndarray:
        """How nearly the zero row of every feature would leave zero, all others held; see
        ``Penalty.entering``. The curvatures are those of residuals of typical size."""
        G = solution.gradient
        if G is None:
            W = self.joined(solution.W, solution.intercept)
            G = self.evaluate(W).gradient[: len(solution.W)]
        L = self.sample_curvatures[: len(G)] * self.residual_scale ** (self.loss.r - 2)
        L = np.where(L > 0, L + self.ridge, 0.0)
        return self.penalty.take(np.arange(len(G))).entering(G, L)

    def with_penalty(self, penalty: Penalty) -> PenalisedProblem:
        """The same data under another penalty; what was computed about the data is kept."""
        other = replace(self, penalty=penalty)
        same_free = np.array_equal(self.penalty.free(self.n_rows), penalty.free(self.n_rows))
        for name in _OF_DATA + (_OF_FREE_ROWS if same_free else ()):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    def with_alpha(self, alpha: float) -> PenalisedProblem:
        """The same problem at another strength of the penalty."""
        return self.with_penalty(self.penalty.with_alpha(alpha))

    def with_limit(self, k: int) -> PenalisedProblem:
        """The same data under the constraint of at most k rows."""
        return self.with_penalty(Cardinality(k, self.penalty.factors))

    def with_r(self, r: float) -> PenalisedProblem:
        """The same under a loss of another order."""
        return replace(self, loss=replace(self.loss, r=r))

    @property
    def convex(self) -> bool:
        """Whether every local minimum is global."""
        return self.loss.convex and self.penalty.convex

    def objective(self, W: np.ndarray) -> float:
        """The value that is minimised, without smoothing."""
        return self.value_of_residual(W, self.residual(W))

    def residual(self, W: np.ndarray) -> Any:
        """E = X W - Y, as an ``Evaluation`` has it."""
        return self.design.matmul(W) - self.Y

    def value_of_residual(self, W: np.ndarray, E: np.ndarray) -> float:
        """``objective(W)`` by the residual E = X W - Y."""
        return self.loss.value_of_residual(E) + self.ridge_value(W) + self.penalty.value(W)

    def gradient(self, W: np.ndarray, smoothing: float = 0.0) -> np.ndarray:
        """Gradient of the (smoothed) loss and the ridge in W."""
        slopes = self.loss.smoothed(smoothing).gradient(self.design.matmul(W), self.Y)
        return self._with_ridge(self.design.rmatmul(slopes), W)

    def evaluate(self, W: np.ndarray, smoothing: float | None = None) -> Evaluation:
        """Objective, gradient and violation of W. For r < 2 the violation is that of the quadratic
        majorizer at W with ``smoothing`` (default: the floor); it is measured in units of the data,
        so 1e-6 means the same for all."""
        with blas_threads_for(2.0 * self.Y.size * self.n_rows):
            E = self.design.matmul(W)
            E -= self.Y
            known = self.loss.quadratic and np.array_equal(W, self.null_point)
            return self.evaluate_residual(W, E, smoothing, self.null_gradient if known else None)

    def evaluate_residual(
        self,
        W: np.ndarray,
        E: np.ndarray,
        smoothing: float | None = None,
        gradient: np.ndarray | None = None,
    ) -> Evaluation:
        """``evaluate(W)`` where the residual E = X W - Y, and perhaps the gradient, is known."""
        smoothing = self.smoothing_floor if smoothing is None else smoothing
        h = self.loss.smoothed(smoothing).residual_weights(E)
        if gradient is None:
            gradient = self._with_ridge(self._pulled_back(E, h), W)
        L = self.curvatures(self.metric_weights(h))
        scores = self.penalty.violation(W, gradient, L) / self.violation_scale
        return Evaluation(self.value_of_residual(W, E), gradient, scores, E, smoothing)

    def _pulled_back(self, E: np.ndarray, h: np.ndarray) -> np.ndarray:
        """``X' diag(h / n) E``; where h is one, without a copy of E."""
        n = len(E)
        plain = self.loss.plain
        return self.design.rmatmul(E) / n if plain else self.design.rmatmul(E * (h / n)[:, None])

    def _with_ridge(self, gradient: np.ndarray, W: np.ndarray) -> np.ndarray:
        return gradient + self.ridges[:, None] * W if self.ridge else gradient

    def curvatures(self, h: np.ndarray) -> np.ndarray:
        """``sum_i h_i x_ij**2 / n + ridge`` per column: the curvature of the majorizer along each
        row; a constant column has none."""
        if self.loss.quadratic:
            return self._with_ridges(self.sample_curvatures)
        return self._with_ridges(self.design.squares(h) / len(h))

    def _with_ridges(self, L: np.ndarray) -> np.ndarray:
        return np.where(L > 0, L + self.ridges, L) if self.ridge else L

    def majorizer_curvatures(self, W: np.ndarray, E: Any) -> np.ndarray:
        """Those of the majorizer at W, where the residual is E."""
        return self.curvatures(self.loss.smoothed(self.smoothing_floor).residual_weights(E))

    def typical_residual(self, W: np.ndarray, E: Any) -> float:
        """The size of the residual E of W: a median, and no more than that of the null model."""
        return min(float(np.median(row_norms(E))), self.residual_scale)

    def metric_weights(self, h: np.ndarray) -> np.ndarray:
        """The sample weights in which the violation is measured, given those of the majorizer.

        For p < 1 they must be the majorizer's. For a convex penalty any metric certifies, and one
        of weights that vanishing residuals have driven to 1e7 would be blind: they are capped.
        """
        return self._capped(h) if self.penalty.any_metric else h

    def _capped(self, h: np.ndarray) -> np.ndarray:
        if self.loss.quadratic:
            return h
        return np.minimum(h, self.residual_scale ** (self.loss.r - 2) * self.loss.weights(len(h)))

    @cached_property
    def sample_curvatures(self) -> np.ndarray:
        """The curvatures under the plain sample weights."""
        s = self.loss.weights(len(self.Y))
        return self.design.squares(s) / len(s)

    @cached_property
    def null_point(self) -> np.ndarray:
        """The best W whose penalised rows are all zero."""
        W = np.zeros((self.n_rows, self.Y.shape[1]))
        free = self._free_rows
        if free.size:
            columns = self.design.take(free)
            W[free] = few_columns.null_fit(columns, self.Y, self.loss, self.ridges[free])
        if self.has_constant and not self.loss.convex:
            constant = np.zeros_like(W)
            constant[-1] = few_columns.best_constant(self.Y, self.loss)
            return min(W, constant, key=self.objective)
        return W

    def refitted(self, support: np.ndarray) -> np.ndarray:
        """The best W whose rows are zero but for the support and the free ones."""
        rows = np.union1d(self._free_rows, support).astype(int)
        W = np.zeros((self.n_rows, self.Y.shape[1]))
        if rows.size:
            columns = self.design.take(rows)
            floor = self.smoothing_floor
            W[rows] = few_columns.fit(columns, self.Y, self.loss, floor, self.ridges[rows])
        return W

    @property
    def _free_rows(self) -> np.ndarray:
        return np.flatnonzero(self.penalty.free(self.n_rows))

    @property
    def _unridged_free_rows(self) -> np.ndarray:
        return self._free_rows[self.ridges[self._free_rows] == 0]

    @cached_property
    def residual_scale(self) -> float:
        """Root mean square of the null model's residual: the size of what is to be explained."""
        size = self.loss.size_of_residual(self.unexplained)
        return size if size > 0 else 1.0  # also where it is NaN: the gradient will say so

    @property
    def smoothing_floor(self) -> float:
        """The smoothing under which results are certified. For small r the weight of a vanishing
        residual multiplies rounding errors: it keeps them below 1e-6."""
        from_rounding = (1e6 * EPSILON) ** (1 / (2 - min(self.loss.r, 1.0)))
        return max(SMOOTHING_FLOOR, from_rounding) * self.residual_scale

    @property
    def attainable_violation(self) -> float:
        """What rounding leaves of the violation: float32 carries about five digits of it."""
        stored = 1e-5 if self.design.dtype == np.float32 else 0.0
        if self.loss.quadratic:
            return stored
        relative = self.smoothing_floor / self.residual_scale
        return max(stored, EPSILON * relative ** (self.loss.r - 2))

    @property
    def violation_scale(self) -> float:
        """What makes ``sqrt(L_j) |dw_j|`` a pure number."""
        return self.residual_scale ** (self.loss.r / 2)

    @cached_property
    def unexplained(self) -> np.ndarray:
        """``Y - X W`` at the null model."""
        W = self.null_point
        return self.Y - self.design.matmul(W) if W.any() else self.Y

    @cached_property
    def null_gradient(self) -> np.ndarray:
        """Gradient of the loss and the ridge at the null model."""
        loss = self.loss.smoothed(self.smoothing_floor)
        pulled = -self._pulled_back(self.unexplained, loss.residual_weights(self.unexplained))
        return self._with_ridge(pulled, self.null_point)

    @property
    def null_curvatures(self) -> np.ndarray:
        """Those of the majorizer at the null model, no sample counting for more than typical."""
        loss = self.loss.smoothed(self.smoothing_floor)
        return self.curvatures(self._capped(loss.residual_weights(self.unexplained)))

    def alpha_max(self) -> float:
        """The smallest alpha at which no single penalised row leaves zero.

        For convex problems the solution is zero from here on. For p < 1 and r = 2 zero is then
        optimal in every single row; for p < 1 and r < 2 this holds for a quadratic in place of
        the loss, whose curvature is that of samples with residuals of typical size.
        """
        margin = 0.0 if self.loss.quadratic else 1e-7  # else solvers see few digits of its gradient
        return (1 + margin) * self.penalty.alpha_max(self.null_gradient, self.null_curvatures)

    def duality_gap(self, W: np.ndarray, evaluation: Evaluation) -> float | None:
        """Objective minus the lower bound that W proves; None where the problem is not convex."""
        bounded = self.convex and (self.penalty.alpha > 0 or self.ridge > 0)
        if not (bounded and np.isfinite(evaluation.objective)):
            return None
        return max(evaluation.objective - self.lower_bound(W, evaluation), 0.0)

    def lower_bound(self, W: np.ndarray, evaluation: Evaluation) -> float:
        """No W has a lower objective. With ``A = -t`` times the loss's gradient at this W, and a
        convex loss, the optimum is at least
        ``<Y, A> - L*(A) - sum_j max over w of (<x_j'A, w> - ridge/2 |w|**2 - penalty_j(w))``.
        """
        slopes = self.loss.smoothed(self.smoothing_floor).slopes(evaluation.residual)
        # the gradient is X'Theta where it has all digits
        G = None if self.design.rounds_products else self._with_ridge(evaluation.gradient, -W)
        return self.bound_from(slopes, G)

    def bound_from(self, Theta: np.ndarray, G: np.ndarray | None = None) -> float:
        """What any matrix of the shape of Y proves of the optimum; G is X'Theta."""
        G = self.design.rmatmul_exactly(Theta) if G is None else G
        negligible = 1e-14 * self.residual_scale ** (self.loss.r - 1)
        free = self._unridged_free_rows
        Theta, G = without_columns(free, Theta, G, self.design, self.loss, negligible)
        return self._proved_by(self.loss.dual_sums(Theta, self.Y), G)

    def _proved_by(self, sums: DualSums, G: np.ndarray) -> float:
        """With rows as long as rounding allows them to be in truth: bounds fall with them."""
        off = rounding(self.design, self.sample_curvatures, sums, self.Y.shape[1])
        return best_bound(sums, self.penalty, self.ridges, longer_rows(G, off))
