r"""l2-AROM: fit a linear SVM, multiply every feature by its weight, repeat (Weston, Elisseeff,
Schölkopf & Tipping 2003). It approximates the minimum of ``sum_j log(eps + |w_j|)`` under the
margin constraints."""

from __future__ import annotations

import numpy as np

from ..inputs import check_integer, check_memory, check_number
from ..numerics.svm.solve import linear_weights
from ..warn import say_fewer_than
from .base import FIRST_FEWER, Output, check_classes, check_how_many

NEGLIGIBLE = 1e-6  # of the largest factor: such a feature has been multiplied away


def arom(
    X, y, n_features_to_select, *, C=100.0, max_iter=100, task="auto", sample_weight=None
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
    task : {"auto", "classification"}; numbers in y are refused
    sample_weight : array, optional; a weight of 2 is a row that is there twice

    Returns
    -------
    order : array (n_features_to_select,), best first
    scores : array (n_features,): the rounds a feature survived plus its factor, relative to the
        largest, in the last of them; 0 for constant columns
    """
    table = check_classes(X, y, task, sample_weight, "arom")
    k = check_how_many(n_features_to_select, table)
    check_integer("max_iter", max_iter, 1)
    check_number("C", C, 0.0, np.inf, low_open=True)
    usable = np.flatnonzero(table.varying)
    needed = 16.0 * len(table.weights) * usable.size  # the columns, and those rescaled
    check_memory(needed, table.X, "arom", FIRST_FEWER)
    block = table.standardized().take(usable)
    costs = C * table.weights
    scores = np.zeros(table.shape[1])
    for output in table.outputs:
        scores[usable] += _rounds(block, output, costs, k, max_iter) / len(table.outputs)
    if usable.size < k:
        say_fewer_than(k, usable.size)
    return np.argsort(-scores, kind="stable")[: min(k, usable.size)], scores


def _rounds(block, output: Output, costs: np.ndarray, k: int, max_iter: int) -> np.ndarray:
    """For every column of the block the rounds it survived plus its last factor."""
    scores = np.zeros(block.shape[1])
    columns = np.arange(block.shape[1])
    factors = np.ones(columns.size)
    for rounds in range(max_iter):
        scaled = block[:, columns] * factors
        machines = [linear_weights(scaled, signs, costs) for signs in output.signs()]
        # one factor for all classes: a column is in or out for all of them
        weights = np.sqrt(np.mean(np.square(machines), axis=0))
        factors = factors * weights
        largest = factors.max(initial=0.0)
        relative = factors / largest if largest > 0 else factors
        scores[columns] = rounds + (1 - 1e-9) * relative  # the last factor is less than a round
        left = relative > NEGLIGIBLE
        # a weight of one leaves its factor: nothing changes any more
        settled = left.all() and np.abs(weights - 1).max() < 1e-3
        if np.count_nonzero(left) <= k or settled:
            break
        columns = columns[left]
        factors = factors[left]
    return scores
