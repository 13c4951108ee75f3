r"""The l_{2,0} constraint: at most k rows of W are nonzero."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..numerics.rows import largest, nonzero_rows, row_norms
from .base import Penalty


@dataclass(frozen=True, eq=False)
class Cardinality(Penalty):
    """0 where at most k rows with a factor other than 0 are nonzero, infinite elsewhere.

    It has no strength: ``alpha``, ``alpha_max`` and the like refuse with a sentence.
    A row with factor 0 (the intercept, a feature that is always in) is free and not counted; one
    with factor infinity stays zero; other factors mean nothing to a constraint.
    """

    k: int
    factors: np.ndarray | None = None  # None: all ones

    @property
    def convex(self) -> bool:
        return False

    @property
    def limit(self) -> int:
        return self.k

    @property
    def any_metric(self) -> bool:
        return True  # with the other rows held, an allowed row is unconstrained

    def with_factors(self, factors: np.ndarray) -> Cardinality:
        return replace(self, factors=factors)

    def counted(self, n_rows: int) -> np.ndarray:
        """Rows that may be nonzero and count."""
        return ~(self.free(n_rows) | self.excluded(n_rows))

    def value(self, W: np.ndarray) -> float:
        used = nonzero_rows(W)
        outside = np.any(used & self.excluded(len(W)))
        too_many = np.sum(used & self.counted(len(W))) > self.k
        return np.inf if outside or too_many else 0.0

    def prox(self, W: np.ndarray, step: np.ndarray | float) -> np.ndarray:
        """The projection: free rows and the k largest others stay, ties to the lower index.

        A constraint has no strength, so the step does not matter.
        """
        n_rows = len(W)
        scores = np.where(self.counted(n_rows), row_norms(W), -1.0)
        most = min(self.k, int(np.sum(scores >= 0)))
        kept = self.free(n_rows)
        kept[largest(scores, most)] = True
        return np.where(kept[:, None], W, 0.0)

    def conjugate(self, G: np.ndarray, ridges: np.ndarray) -> float:
        """Free rows and the k counted ones that pull most."""
        n_rows = len(G)
        gains = np.zeros(n_rows)
        np.divide(row_norms(G) ** 2, 2 * ridges, out=gains, where=ridges > 0)
        counted = np.where(self.counted(n_rows), gains, 0.0)
        of_free = gains[self.free(n_rows)].sum()
        of_best = counted[largest(counted, self.k)].sum()
        return float(of_free + of_best)

    def violation(self, W: np.ndarray, G: np.ndarray, L: np.ndarray) -> np.ndarray:
        """``|g_j| / sqrt(L_j)`` for the rows that may change while all others are held: the free
        and nonzero ones, and every allowed row while there are fewer than k."""
        used = nonzero_rows(W)
        counted = self.counted(len(W))
        may_change = self.free(len(W)) | (used & counted)
        # once there are k, a row may enter only where another leaves
        if np.sum(used & counted) < self.k:
            may_change |= counted
        scores = np.divide(row_norms(G), np.sqrt(L), out=np.zeros_like(L), where=L > 0)
        return np.where(may_change, scores, 0.0)
