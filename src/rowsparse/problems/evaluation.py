"""What one pass over X says about a point of a penalised problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..values import ByValue


@dataclass(frozen=True, eq=False)
class Evaluation(ByValue):
    """What one pass over X says about W."""

    objective: float  # of the true problem, without smoothing
    gradient: np.ndarray  # of the (smoothed) loss, one row per feature
    scores: np.ndarray  # violation of every row, in units of the data
    residual: Any  # E = X W - Y, an array; None of X in blocks, which sees it in passes alone
    smoothing: float  # of the loss whose gradient this is

    @property
    def violation(self) -> float:
        """The largest score."""
        return float(self.scores.max(initial=0.0))
