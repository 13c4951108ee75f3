"""How well the coefficients of a step of a path answer for the samples they were made from."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from rowsparse.datasets import Dataset
from rowsparse.datasets.registry import target_of
from rowsparse.results import Solution
from rowsparse.targets import Target


class FitOfSteps:
    """The share of samples (of labels, of variance) that each solution gets right."""

    def __init__(self, dataset: Dataset, selector: Any) -> None:
        self.X = dataset.X
        self.target: Target = target_of(dataset, selector.task)
        self.centred = selector.fit_intercept
        self.scaled = selector.standardize

    @property
    def name(self) -> str:
        return "fitted R2" if self.target.kind == "numbers" else "fitted accuracy"

    def of(self, solution: Solution) -> float:
        columns = self._columns(solution.rows)
        predicted = columns @ solution.W[solution.rows] + solution.intercept
        Y = self.target.Y
        if self.target.kind == "multiclass":
            return float(np.mean(predicted.argmax(axis=1) == self.target.codes))
        if self.target.kind != "numbers":
            return float(np.mean((predicted > 0) == (Y > 0)))
        rest = np.sum((Y - predicted) ** 2)
        whole = np.sum((Y - Y.mean(axis=0)) ** 2)
        return float(1 - rest / whole)

    def _columns(self, rows: np.ndarray) -> np.ndarray:
        """As the problem sees them: centred for an intercept, in units of their spread."""
        columns = self.X[:, rows]
        if issparse(columns):
            columns = columns.toarray()
        dense = np.asarray(columns, dtype=float)
        spread = dense.std(axis=0) if self.scaled else np.ones(rows.size)
        if self.centred:
            dense = dense - dense.mean(axis=0)
        return dense / spread
