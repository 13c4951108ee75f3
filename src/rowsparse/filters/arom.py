r"""l2-AROM: fit a linear SVM, multiply every feature by its weight, repeat (Weston, Elisseeff,
Schölkopf & Tipping 2003). It approximates the minimum of ``sum_j log(eps + |w_j|)`` under the
margin constraints."""

from __future__ import annotations

import warnings

import numpy as np

from ..inputs import check_number
from ..numerics.svm.solve import linear_weights
from .base import Output, Table, check_count, check_table
from .margins import one_vs_rest, standardised

SETTLED = 1e-3  # weights this close to one change nothing any more
NEGLIGIBLE = 1e-6  # of the largest factor: such a feature has been multiplied away


def arom(
    X, y, n_features_to_select, *, C=100.0, max_iter=100, sample_weight=None
) -> tuple[np.ndarray, np.ndarray]:
    """Rank features by the order in which rescaling removes them.

    Parameters
    ----------
    X : array, sparse matrix or data frame, (n_samples, n_features); scaled to unit variance
    y : class labels, or a 0/1 label-indicator matrix
        More than two classes: one-vs-rest machines; factors are root mean squares of their weights.
    n_features_to_select : int
        The iteration ends when no more are left, or when nothing changes any more.
    C : float > 0
        Of the SVMs; large, since the method was made for a hard margin.
    max_iter : int
    sample_weight : array, optional; a weight of 2 is a row that is there twice

    Returns
    -------
    order : array (n_features_to_select,), best first
    scores : array (n_features,): the rounds a feature survived plus its factor, relative to the
        largest, in the last of them; 0 for constant columns
    """
    table = check_table(X, y, "classification", sample_weight)
    d = table.shape[1]
    k = check_count("n_features_to_select", n_features_to_select, 1, d, " (the columns of X)")
    check_count("max_iter", max_iter, 1, None)
    check_number("C", C, 0.0, np.inf, low_open=True)
    found = np.mean([_rounds(table, output, k, C, max_iter) for output in table.outputs], axis=0)
    order = np.argsort(-found, kind="stable")[:k]
    usable = int(np.count_nonzero(table.varying))
    if usable < k:
        warnings.warn(
            f"Expected {k} features, got {usable}: the other columns of X are constant.",
            stacklevel=2,
        )
    return order[: min(k, usable)], found


def _rounds(table: Table, output: Output, k: int, C: float, max_iter: int) -> np.ndarray:
    """Rounds survived plus the last factor."""
    columns, factors = np.flatnonzero(table.varying), np.ones(int(table.varying.sum()))
    block = standardised(table, columns)
    scores = np.zeros(table.shape[1])
    for rounds in range(max_iter):
        weights = _weights(block * factors, output, table, C)
        factors = factors * weights
        largest = factors.max(initial=0.0)
        relative = factors / largest if largest > 0 else factors
        scores[columns] = rounds + (1 - 1e-9) * relative
        left = relative > NEGLIGIBLE
        settled = left.all() and np.abs(weights - 1).max() < SETTLED
        if np.count_nonzero(left) <= k or columns.size <= k or settled:
            break
        block, columns, factors = block[:, left], columns[left], relative[left] * largest
    return scores


def _weights(block: np.ndarray, output: Output, table: Table, C: float) -> np.ndarray:
    costs = C * table.weights
    squares = [linear_weights(block, signs, costs) ** 2 for signs in one_vs_rest(output)]
    return np.sqrt(np.mean(squares, axis=0))
