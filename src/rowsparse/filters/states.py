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
    half = 0.5 * np.sqrt(table.X.squares(w, means) / w.sum())
    coded = [np.eye(label.n_classes)[label.values] * w[:, None] for label in labels]
    above = table.X.total(_above, (means - half, means + half), (np.hstack(coded),))
    starts = np.cumsum([part.shape[1] for part in coded])[:-1]
    scores = np.zeros(table.shape[1])
    for part, counts in zip(coded, np.split(above, starts, axis=2), strict=True):
        scores += _information(counts, part.sum(axis=0))
    return np.where(table.varying, scores / len(labels), 0.0)


def _above(block: Any, low: np.ndarray, high: np.ndarray, coded: np.ndarray) -> np.ndarray:
    """The weight of every class above the lower and above the upper cut of every column."""
    total = np.zeros((2, block.shape[1], coded.shape[1]))
    for rows, part in dense_parts(block, block.shape[1]):
        total[0] += (part > low).T @ coded[rows]
        total[1] += (part > high).T @ coded[rows]
    return total


def _information(above: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """In nats, from the weights above the two cuts and those of the classes."""
    between = above[0] - above[1]
    states = np.stack([classes - above[0], between, above[1]], axis=1)  # columns, states, classes
    p = np.maximum(states, 0.0) / classes.sum()
    apart = p.sum(axis=1, keepdims=True) * p.sum(axis=2, keepdims=True)
    logarithms = np.log(np.divide(p, apart, out=np.ones_like(p), where=p > 0))
    return np.asarray((p * logarithms).sum(axis=(1, 2)))
