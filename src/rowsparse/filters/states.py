"""Information gain of X in blocks: three states around the mean, counted in one more pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..designs.moments import dense_parts
from .base import Output, Table


def three_state_scores(table: Table, labels: list[Output]) -> np.ndarray:
    """Mutual information of every column's state (below mean - sd/2, between, above mean + sd/2)
    with the classes, averaged over labels; the first pass has left means and spreads."""
    w = table.weights
    means = table.X.means(w)
    variances = table.X.squares(w, means) / w.sum()
    half = 0.5 * np.sqrt(variances)
    # one column per class of every label, so that a single pass counts them all
    members = [_weighted_members(label, w) for label in labels]
    above = table.X.total(_above, (means - half, means + half), (np.hstack(members),))
    scores = np.zeros(table.shape[1])
    start = 0
    for of_label in members:
        n_classes = of_label.shape[1]
        counts = above[:, :, start : start + n_classes]
        scores += _information(counts, of_label.sum(axis=0))
        start += n_classes
    # rounding alone may put the entries of a constant column into several states
    return np.where(table.varying, scores / len(labels), 0.0)


def _weighted_members(label: Output, weights: np.ndarray) -> np.ndarray:
    """The weight of every sample in the column of its class."""
    indicator = np.eye(label.n_classes)[label.values]
    return indicator * weights[:, None]


def _above(block: Any, low: np.ndarray, high: np.ndarray, members: np.ndarray) -> np.ndarray:
    """The weight of every class above the lower and above the upper cut of every column."""
    d = block.shape[1]
    total = np.zeros((2, d, members.shape[1]))
    for rows, part in dense_parts(block, d):
        of_rows = members[rows]
        total[0] += (part > low).T @ of_rows
        total[1] += (part > high).T @ of_rows
    return total


def _information(above: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """In nats, from the weights above the two cuts and those of the classes."""
    above_low, above_high = above
    states = [classes - above_low, above_low - above_high, above_high]
    counts = np.stack(states, axis=1)  # columns, states, classes
    p = np.maximum(counts, 0.0) / classes.sum()  # differences of sums: rounding may go below zero
    of_states = p.sum(axis=2, keepdims=True)
    of_classes = p.sum(axis=1, keepdims=True)
    independent = of_states * of_classes
    # an empty cell has ratio one, hence no information
    ratios = np.divide(p, independent, out=np.ones_like(p), where=p > 0)
    return np.asarray((p * np.log(ratios)).sum(axis=(1, 2)))
