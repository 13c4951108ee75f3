r"""The problem of a margin loss with a norm from 0 to 2, or the largest coefficient.

    F(W, b) = C sum_i s_i loss(y_i (x_i'W + b)) + (2/p) sum_j f_j |w_j|_2**p          0 < p <= 2

At p = 0 the penalty counts the nonzero rows, ``sum over nonzero rows of f_j``; at p = inf it is
``max_jk f_j |w_jk|``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..designs.base import Design
from ..losses.margin import MarginLoss
from ..numerics.rows import row_norms
from ..values import ByValue
from .base import MARGIN


@dataclass(frozen=True, eq=False)
class Certificate(ByValue):
    """What is known about a point: objective, multipliers."""

    objective: float
    violation: float | None = None  # there is no such certificate for margin losses
    dual: np.ndarray | None = None  # n x c, signed: X'dual is the gradient of the penalty
    smoothing: float = 0.0


@dataclass(frozen=True, eq=False)
class MarginProblem(ByValue):
    """Data, loss and norm; the last row of W is the intercept, which is not penalised.

    ``joint``: a row of W is one feature for all outputs and |w_j| its Euclidean norm. Otherwise
    every entry has its own weight, and a row lives as long as one of its entries.
    """

    design: Design
    Y: np.ndarray  # n x c, entries ±1
    loss: MarginLoss
    C: float
    norm: float
    factors: np.ndarray
    joint: bool = True
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

    @cached_property
    def free(self) -> np.ndarray:
        """Features without penalty."""
        return self.factors == 0

    @cached_property
    def equal_scales(self) -> np.ndarray:
        """``1 / sqrt(f_j)`` as a column, the scales of the plain machine; 0 without penalty."""
        f = self.factors[:, None]
        return np.divide(1.0, np.sqrt(f), out=np.zeros_like(f), where=f > 0)

    @cached_property
    def sizes_of_columns(self) -> np.ndarray:
        """Root mean square of every column: what turns a coefficient into a part of the margin."""
        return np.sqrt(self.design.squares(self.weights) / self.weights.sum())

    @property
    def attainable_violation(self) -> float:
        """float32 data carry about five digits of it."""
        return 1e-4 if self.design.dtype == np.float32 else 0.0

    def split(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows of the features and the intercept."""
        return W[:-1], W[-1]

    def with_C(self, C: float) -> MarginProblem:
        """The same problem with another weight of the loss."""
        other = replace(self, C=C)
        for name in ("free", "equal_scales", "sizes_of_columns"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    def magnitudes(self, W: np.ndarray) -> np.ndarray:
        """|w_j| as the penalty sees it: row norms (m x 1), or entries (m x c) if not joint."""
        return row_norms(W)[:, None] if self.joint else np.abs(W)

    def penalty(self, W: np.ndarray, rows: np.ndarray) -> float:
        """Of the given rows of W; all others are zero."""
        f, size = self.factors[rows, None], self.magnitudes(W)
        if np.isinf(self.norm):  # of single entries, over all outputs or for each
            largest = (f * np.abs(W)).max(axis=0, initial=0.0)
            return float(largest.max() if self.joint else largest.sum())
        if self.norm == 0:
            return float((f * (size > 0)).sum())
        return 2 / self.norm * float((f * size**self.norm).sum())

    def objective(self, W: np.ndarray) -> float:
        """F of a W with the intercept in its last row."""
        rows = np.flatnonzero(row_norms(W[:-1]))
        Z = self.design.matmul(W[:-1]) + W[-1]
        return self.loss_sum(Z) + self.penalty(W[rows], rows)

    def loss_sum(self, Z: np.ndarray) -> float:
        """``C sum_i s_i loss``."""
        return self.C * len(Z) * self.loss.value(Z, self.Y)

    def evaluate(self, W: np.ndarray) -> Certificate:
        """The objective; multipliers come from a step of a solver."""
        return Certificate(self.objective(W))

    def duality_gap(self, W: np.ndarray, certificate: Certificate) -> float | None:
        """F minus a lower bound on it where F is convex and multipliers are known.

        With multipliers A (0 <= A <= C s, free columns orthogonal to them) and g = X'A the bound
        is ``sum |A| - sum_j h_j(g_j)``, h_j the conjugate of the penalty of row j; the best
        multiple of A is taken.
        """
        A = certificate.dual
        if A is None or not 1 <= self.norm <= 2:
            return None
        bound = self.factors[:, None]
        counted = np.isfinite(self.factors) & ~self.free
        G = self.magnitudes(self.design.rmatmul(A))[counted] / (2 * bound[counted])
        gain = float(np.abs(A).sum())
        if self.norm == 1:
            dual = gain / max(1.0, float(G.max(initial=0.0)))
        else:
            q = self.norm / (self.norm - 1)
            cost = (2 - 2 / self.norm) * float((bound[counted] * G**q).sum())
            length = min(1.0, (gain / (q * cost)) ** (1 / (q - 1))) if cost > 0 else 1.0
            dual = length * gain - length**q * cost
        return max(certificate.objective - dual, 0.0)
