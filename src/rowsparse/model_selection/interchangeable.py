"""Columns that can stand in for each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inputs import check_number
from ..values import ByValue
from .readout import columns_of
from .stability_result import Stability


@dataclass(frozen=True, eq=False)
class CorrelatedGroup(ByValue):
    """Columns correlated with their most frequent one, which comes first.

    Attributes
    ----------
    columns, names : indices and names
    probabilities : share of half-samples on which each of them was selected
    probability : of at least one of them

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from rowsparse import TopKSelector
    >>> from rowsparse.model_selection import StabilitySelector
    >>> X, y = load_wine(return_X_y=True)
    >>> X = np.hstack([X, X[:, [6]] + 1e-3])  # a column and its double
    >>> stable = StabilitySelector(TopKSelector(3), n_pairs=5, random_state=0).fit(X, y)
    >>> [sorted(group.columns.tolist()) for group in stable.interchangeable(X, correlation=0.99)]
    [[6, 13]]
    """

    columns: np.ndarray
    probabilities: np.ndarray  # of each column
    probability: float  # of at least one of them
    names: tuple[str, ...] = ()


def correlated_groups(
    stability: Stability, X: Any, correlation: float, least: float
) -> list[CorrelatedGroup]:
    """Around the most frequent column those correlated with it, then around the next that is
    left; groups of one column are not listed."""
    check_number("correlation", correlation, 0.0, 1.0, low_open=True)
    check_number("least", least, 0.0, 1.0)
    shape = np.shape(X)
    if len(shape) != 2 or shape[1] != stability.n_features:
        raise ValueError(
            f"Expected X with the {stability.n_features} columns that were fitted, got shape "
            f"{shape}."
        )
    probabilities = stability.probabilities
    candidates = np.flatnonzero(probabilities >= max(least, 1e-9))
    candidates = candidates[np.argsort(-probabilities[candidates], kind="stable")]
    A = _unit_columns(X, np.arange(X.shape[0]), candidates)
    left = np.ones(candidates.size, dtype=bool)
    groups = []
    for i in range(candidates.size):
        if not left[i]:
            continue
        alike = left & (np.abs(A[:, i] @ A) >= correlation)
        alike[i] = True
        left &= ~alike
        if alike.sum() > 1:
            groups.append(_group(stability, candidates[alike], probabilities))
    return sorted(groups, key=lambda group: -group.probability)


def correlations_between(X: Any, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Of some columns with each other, on some samples."""
    A = _unit_columns(X, rows, columns)
    return A.T @ A


def _unit_columns(X: Any, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Centred, of length one; zero where they are constant."""
    A = columns_of(X, rows, columns)
    A = A - A.mean(axis=0)
    size = np.linalg.norm(A, axis=0)
    return A / np.where(size > 0, size, 1.0)


def _group(stability: Stability, columns: np.ndarray, probabilities: np.ndarray) -> CorrelatedGroup:
    names = tuple(stability.names[j] for j in columns) if stability.names else ()
    any_of = stability.probability_of_any(columns)
    return CorrelatedGroup(columns, probabilities[columns], any_of, names)
