r"""The problem of a margin loss with a norm.

F(W, b) = C sum_i s_i loss(y_i (x_i'W + b)) + penalty(W)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..designs.base import Design
from ..losses.margin import MarginLoss
from ..numerics.rounding import NEGLIGIBLE
from ..numerics.rows import nonzero_rows, row_norms
from ..numerics.threads import cached_property
from ..penalties.margin_norm import MarginNorm
from ..values import ByValue
from .base import MARGIN

# Of a column: errors that a coefficient undoes, over what it costs. The costs leave no digits then.
OUT_OF_REACH = 1 / NEGLIGIBLE


@dataclass(frozen=True, eq=False)
class Certificate(ByValue):
    """What is known about a point: objective, multipliers."""

    objective: float
    violation: float | None = None  # there is no such certificate for margin losses
    dual: np.ndarray | None = None  # n x c, signed: X'dual is the gradient of the penalty
    smoothing: float = 0.0
    gradient: None = None  # of a hinge it says little


@dataclass(frozen=True, eq=False)
class MarginProblem(ByValue):
    """Data, loss and penalty; the last row of W is the intercept, which is not penalised."""

    design: Design
    Y: np.ndarray  # n x c, entries ±1
    loss: MarginLoss
    C: float
    penalty: MarginNorm
    smoothing_floor: float = 0.0

    kind: ClassVar[str] = MARGIN

    @property
    def n_rows(self) -> int:
        """Rows of W, the intercept's included."""
        return self.design.shape[1] + 1

    @property
    def weights(self) -> np.ndarray:
        """The sample weights."""
        return self.loss.weights(len(self.Y))

    @property
    def null_point(self) -> np.ndarray:
        """W = 0: solvers take it as the wish for their own start."""
        return np.zeros((self.n_rows, self.Y.shape[1]))

    @property
    def norm(self) -> float:
        """p of the penalty."""
        return self.penalty.norm

    @property
    def factors(self) -> np.ndarray:
        """Of the penalty, one per feature."""
        return self.penalty.factors

    @property
    def free(self) -> np.ndarray:
        """Features without penalty."""
        return self.penalty.free(self.factors.size)

    @cached_property
    def sizes_of_columns(self) -> np.ndarray:
        """Root mean square of every column: what turns a coefficient into a part of the margin."""
        return np.sqrt(self.design.squares(self.weights) / self.weights.sum())

    @property
    def attainable_violation(self) -> float:
        """float32 data carry about five digits of it."""
        return 1e-4 if self.design.dtype == np.float32 else 0.0

    @property
    def negligible(self) -> float:
        """An objective that is nothing beside that of W = 0; separable samples may cost nothing."""
        return NEGLIGIBLE * self.C * float(self.weights.sum())

    def split(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows of the features and the intercept."""
        return W[:-1], W[-1]

    def with_C(self, C: float) -> MarginProblem:
        """The same problem with another weight of the loss."""
        other = replace(self, C=C)
        other.__dict__["sizes_of_columns"] = self.sizes_of_columns  # a pass over X
        return other

    def only(self, rows: np.ndarray) -> MarginProblem:
        """The same problem with these rows, all others excluded."""
        factors = np.full(self.factors.size, np.inf)
        factors[rows] = self.factors[rows]
        return replace(self, penalty=self.penalty.with_factors(factors))

    def places(self, W: np.ndarray) -> int:
        """How many of k places its features take: those without penalty do even where zero."""
        return int(np.count_nonzero(nonzero_rows(W) | self.free))

    def largest_rows(self, W: np.ndarray, k: int) -> np.ndarray:
        """Those k that may be used and are largest, after those without penalty."""
        order = np.lexsort((-row_norms(W), ~self.free, np.isinf(self.factors)))
        return np.sort(order[:k])

    def objective(self, W: np.ndarray) -> float:
        """F of a W with the intercept in its last row."""
        return self.loss_sum(self.design.matmul(W[:-1]) + W[-1]) + self.penalty.value(W[:-1])

    def loss_sum(self, Z: np.ndarray) -> float:
        """``C sum_i s_i loss``."""
        return self.C * len(Z) * self.loss.value(Z, self.Y)

    def evaluate(self, W: np.ndarray) -> Certificate:
        """The objective; multipliers come from a step of a solver."""
        return Certificate(self.objective(W))

    def duality_gap(self, W: np.ndarray, certificate: Certificate) -> float | None:
        """F minus a lower bound on it where F is convex and multipliers are known.

        With multipliers A (0 <= A <= C s, free columns orthogonal to them) and G = X'A the bound
        is ``sum |A|`` minus the penalty's conjugate at G; the best multiple of A is taken.
        """
        A = certificate.dual
        if A is None or not 1 <= self.norm <= 2:
            return None
        gain = float(np.abs(A).sum())
        G = self.design.rmatmul_exactly(A)
        with_free = np.abs(G[self.free]).max(axis=1, initial=0.0)
        sizes = np.maximum(self.sizes_of_columns[self.free], 1e-300)
        with_columns = (with_free / sizes).max(initial=0.0)
        with_ones = np.abs(A.sum(axis=0)).max()
        # of the sum of all multipliers: what is left of a product with a free column
        rounding = max(NEGLIGIBLE, 10 * float(np.finfo(self.design.dtype).eps))
        if max(with_columns, with_ones) > rounding * gain:
            return certificate.objective  # no objective is below zero
        return max(certificate.objective - self.penalty.dual_value(gain, G), 0.0)
