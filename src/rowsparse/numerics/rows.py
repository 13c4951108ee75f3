"""Norms of the rows of a matrix, and the largest of them."""

from __future__ import annotations

import numpy as np


def row_norms(W: np.ndarray) -> np.ndarray:
    """Euclidean norm of every row; exact for entries from 1e-300 to 1e300.

    Squares of entries near the ends of the range under- or overflow, so each row is first divided
    by its largest entry whenever the plain sum of squares is not safely inside the range.
    """
    W = np.asarray(W)
    if W.shape[1] == 1:
        return np.abs(W[:, 0])
    squares = np.einsum("ij,ij->i", W, W)
    tiny, huge = 1e-280, 1e280
    if W.dtype == np.float32:
        tiny, huge = 1e-30, 1e30
    norms = np.sqrt(squares)
    unsafe = (squares < tiny) | (squares > huge)
    unsafe[unsafe] = nonzero_rows(W[unsafe])
    if unsafe.any():
        rows = W[unsafe]
        largest = np.abs(rows).max(axis=1)
        scaled = rows / largest[:, None]
        norms[unsafe] = largest * np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    return norms


def nonzero_rows(W: np.ndarray) -> np.ndarray:
    """Which rows of W have a nonzero entry; column by column, since rows are short."""
    mask = W[:, 0] != 0
    for k in range(1, W.shape[1]):
        mask |= W[:, k] != 0
    return mask


def largest_first(scores: np.ndarray) -> np.ndarray:
    """Indices from the largest score to the smallest; equal scores keep the lower index first."""
    return np.argsort(-np.asarray(scores, dtype=float), kind="stable")


def largest(scores: np.ndarray, k: int) -> np.ndarray:
    """The indices of the k largest scores in increasing order; ties go to the lower index."""
    scores = np.asarray(scores, dtype=float)
    if not 0 < k < scores.size:
        return np.sort(largest_first(scores)[: max(k, 0)])
    least = -np.partition(-scores, k - 1)[k - 1]
    if np.isnan(least):  # NaN is smaller than every number
        return np.sort(largest_first(scores)[:k])
    above = np.flatnonzero(scores > least)
    ties = np.flatnonzero(scores == least)[: k - above.size]
    return np.sort(np.concatenate([above, ties]))
