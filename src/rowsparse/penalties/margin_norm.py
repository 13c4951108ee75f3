r"""The norm of a margin problem, from 0 to 2, or the largest coefficient.

    (2/p) sum_j f_j |w_j|_2**p        0 < p <= 2

At p = 0 it counts the nonzero rows, ``sum over nonzero rows of f_j``; at p = inf it is
``max_jk f_j |w_jk|``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..numerics.rows import nonzero_rows, row_norms
from ..numerics.threads import cached_property
from .base import Penalty


@dataclass(frozen=True, eq=False)
class MarginNorm(Penalty):
    """The penalty above, ``norm`` being p; a factor of 0 leaves a row free, infinity keeps it out.

    ``joint``: a row of W is one feature for all outputs and |w_j| its Euclidean norm. Otherwise
    every entry is penalised by itself, and a row lives as long as one of its entries.
    """

    norm: float
    factors: np.ndarray
    joint: bool = True

    @property
    def convex(self) -> bool:
        return self.norm >= 1

    def with_factors(self, factors: np.ndarray) -> MarginNorm:
        return replace(self, factors=factors)

    def magnitudes(self, W: np.ndarray) -> np.ndarray:
        """|w_j| as the penalty sees it: row norms (m x 1), or entries (m x c) if not joint."""
        return row_norms(W)[:, None] if self.joint else np.abs(W)

    def value(self, W: np.ndarray) -> float:
        used = np.flatnonzero(nonzero_rows(W))  # 0 * inf of an excluded row would be NaN
        W = W[used]
        f = self.factors[used, None]
        if np.isinf(self.norm):  # of single entries, over all outputs or for each
            largest = (f * np.abs(W)).max(axis=0, initial=0.0)
            return float(largest.max() if self.joint else largest.sum())
        sizes = self.magnitudes(W)
        # 2/p t**p has no limit at p = 0: there the nonzero rows count
        if self.norm == 0:
            return float((f * (sizes > 0)).sum())
        return 2 / self.norm * float((f * sizes**self.norm).sum())

    @cached_property
    def equal_scales(self) -> np.ndarray:
        """``1 / sqrt(f_j)`` as a column, the scales of the plain machine; 0 without penalty."""
        f = self.factors[:, None]
        return np.divide(1.0, np.sqrt(f), out=np.zeros_like(f), where=f > 0)

    def scales(self, W: np.ndarray, norm: float | None = None) -> np.ndarray:
        """``|w_j|**((2-p)/2) / sqrt(f_j)``: |w / scale|**2 is the quadratic that touches the
        penalty at W and lies above it. Rows without penalty have no scale (0)."""
        p = self.norm if norm is None else norm
        return self.magnitudes(W) ** ((2 - p) / 2) * self.equal_scales

    def dual_value(self, gain: float, G: np.ndarray) -> float:
        """max over t in [0, 1] of ``t gain - sum_j h_j(t g_j)``, h_j the conjugate of the penalty
        of row j, for a norm from 1 to 2."""
        counted = np.isfinite(self.factors) & (self.factors > 0)
        f = self.factors[counted, None]
        slopes = self.magnitudes(G)[counted] / (2 * f)
        if self.norm == 1:  # the conjugate is 0 up to a slope of one, then infinite
            return gain / max(1.0, float(slopes.max(initial=0.0)))
        q = self.norm / (self.norm - 1)
        cost = (2 - 2 / self.norm) * float((f * slopes**q).sum())
        best = (gain / (q * cost)) ** (1 / (q - 1)) if cost > 0 else 1.0
        t = min(1.0, best)  # multipliers are at most C s_i: no multiple above one is feasible
        return t * gain - t**q * cost

    def prox(self, W: np.ndarray, step: np.ndarray | float) -> np.ndarray:
        raise self._only_for_margins("proximal map")

    def violation(self, W: np.ndarray, G: np.ndarray, L: np.ndarray) -> np.ndarray:
        raise self._only_for_margins("violation")

    def _only_for_margins(self, missing: str) -> TypeError:
        return TypeError(
            f"MarginNorm has no {missing}: it is for the solvers of margin losses; use L2p or "
            "LpInf with the others."
        )
