"""The problem on X in blocks where r < 2: what is known of a point comes from one pass over X.

The weights of the samples follow from W, so that a pass makes its own residuals, and forgets them:
with X on the workers of a cluster none of them is ever sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ..designs import ChunkedDesign, HeldTable, View
from ..losses.residual import DualSums, ResidualLoss
from ..numerics.threads import cached_property
from .block_sums import (
    counts_together,
    dual_costs,
    dual_sums,
    median_of,
    model_sums,
    point_sums,
    size_counts,
    sums_and_largest,
    weighted_products,
)
from .compressed import of_passes
from .penalised import Evaluation, PenalisedProblem

NO_ROWS = np.empty(0, dtype=int)


@dataclass(frozen=True, eq=False)
class BlockedProblem(PenalisedProblem):
    """A problem whose residual nobody sees: an ``Evaluation`` has none."""

    table: HeldTable = field(kw_only=True)

    @property
    def own_loss(self) -> ResidualLoss:
        """The loss of samples whose weights are beside them."""
        return replace(self.loss, sample_weight=None)

    @property
    def cap(self) -> float:
        """Of the weight of a sample in the metric of the violation, see ``metric_weights``."""
        quadratic = self.loss.quadratic or not self.penalty.any_metric
        return np.inf if quadratic else self.residual_scale ** (self.loss.r - 2)

    def with_r(self, r: float) -> PenalisedProblem:
        other = replace(self, loss=replace(self.loss, r=r))
        if r != 2:
            return other
        plain = PenalisedProblem(**_facts(other))
        known = in_memory_if_known(plain, self.table.design)
        return other if known is plain else known

    def objective(self, W: np.ndarray) -> float:
        E = self.residual(W)
        return self.evaluate(W).objective if E is None else self.value_of_residual(W, E)

    def residual(self, W: np.ndarray) -> Any:
        """Where no feature is used it is a matter of Y alone."""
        return None if self.split(W)[0].any() else super().residual(W)

    def typical_residual(self, W: np.ndarray, E: Any) -> float:
        if E is not None:
            return super().typical_residual(W, E)
        counts = self.table.total(size_counts, (W,), counts_together)
        return min(median_of(*counts), self.residual_scale)

    def evaluate(self, W: np.ndarray, smoothing: float | None = None) -> Evaluation:
        smoothing = self.smoothing_floor if smoothing is None else smoothing
        value, gradient, squares = self._sums(W, smoothing, self.cap)
        gradient = self._with_ridge(gradient, W)
        scores = self.penalty.violation(W, gradient, self._with_ridges(squares))
        objective = value + self.ridge_value(W) + self.penalty.value(W)
        return Evaluation(objective, gradient, scores / self.violation_scale, None, smoothing)

    def evaluate_residual(
        self,
        W: np.ndarray,
        E: Any,
        smoothing: float | None = None,
        gradient: np.ndarray | None = None,
    ) -> Evaluation:
        return self.evaluate(W, smoothing)

    def majorizer_curvatures(self, W: np.ndarray, E: Any) -> np.ndarray:
        return self._with_ridges(self._sums(W, self.smoothing_floor, np.inf)[2])

    def normal_equations(
        self, W: np.ndarray, columns: np.ndarray, smoothing: float | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """``X'HX`` and ``X'HY`` over n of these columns under the majorizer's weights at W, whose
        other rows are zero; without a smoothing under those of the samples."""
        loss = replace(self.own_loss, r=2.0)
        if smoothing is not None:
            loss = self.own_loss.smoothed(smoothing)
        shared = (W, columns, loss, np.inf, True, NO_ROWS)
        _, gradient, _, _, products, _ = self.table.total(model_sums, shared)
        n = len(self.Y)
        G = products / n
        return G, G @ W[columns] - gradient / n

    def smoothed_loss(self, W: np.ndarray, smoothing: float) -> float:
        """The loss at W under a smoothing."""
        shared = (W, NO_ROWS, self.own_loss.smoothed(smoothing), np.inf, False, NO_ROWS)
        return float(self.table.total(model_sums, shared)[0] / len(self.Y))

    @cached_property
    def null_sums(self) -> tuple[float, np.ndarray, np.ndarray]:
        """What a pass says of the null model, no sample counting for more than typical."""
        cap = np.inf if self.loss.quadratic else self.residual_scale ** (self.loss.r - 2)
        return self._sums(self.null_point, self.smoothing_floor, cap)

    @cached_property
    def null_gradient(self) -> np.ndarray:
        return self._with_ridge(self.null_sums[1], self.null_point)

    @property
    def null_curvatures(self) -> np.ndarray:
        return self._with_ridges(self.null_sums[2])

    def lower_bound(self, W: np.ndarray, evaluation: Evaluation) -> float:
        G = evaluation.gradient - self.ridges[:, None] * W
        free = self._unridged_free_rows
        beta = np.zeros((free.size, W.shape[1]))
        if free.size:
            products = self._products_with_free / len(self.Y)
            beta = np.linalg.lstsq(products[free], G[free], rcond=None)[0]
            G = G - products @ beta
        shared = (W, self.own_loss.smoothed(self.smoothing_floor), free, beta)
        linear, by_weight, squares, largest = self.table.total(dual_sums, shared, sums_and_largest)
        n = len(self.Y)
        cost = 0.0
        if self.loss.r > 1 and largest:
            cost = self.table.total(dual_costs, (*shared, largest))[0] / n
        sizes = by_weight / n**2, squares / n**2
        return self._proved_by(DualSums(self.loss.r, linear / n, largest, cost, *sizes), G)

    @cached_property
    def _products_with_free(self) -> np.ndarray:
        return self.table.total(weighted_products, (self._unridged_free_rows,))[0]

    def _sums(
        self, W: np.ndarray, smoothing: float, cap: float
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """``point_sums`` over the number of samples."""
        shared = (W, self.own_loss.smoothed(smoothing), cap)
        value, gradient, squares = self.table.total(point_sums, shared)
        n = len(self.Y)
        return value / n, gradient / n, squares / n


def blocked(problem: PenalisedProblem, design: ChunkedDesign, view: View) -> PenalisedProblem:
    """The problem on X in blocks, as a view shows it, in the form that takes the fewest passes."""
    if problem.loss.quadratic:
        return in_memory_if_known(problem, design)
    if problem.design.shape[1] > len(problem.Y):
        return problem  # what has n rows is then smaller than W
    weights = problem.loss.weights(len(problem.Y))
    table = HeldTable.of(design, view, problem.Y, weights)
    return BlockedProblem(**_facts(problem), table=table)


def _facts(problem: PenalisedProblem) -> dict[str, Any]:
    """What a problem is made of, wherever X is."""
    return {part.name: getattr(problem, part.name) for part in fields(PenalisedProblem)}


def in_memory_if_known(problem: PenalisedProblem, design: ChunkedDesign) -> PenalisedProblem:
    """A problem of squared loss on few samples, where the products of X are known or one pass makes
    them; else itself."""
    known = of_passes(problem)
    if known is problem and design.knows_products(problem.loss.weights(len(problem.Y)), problem.Y):
        known = of_passes(problem)
    return known
