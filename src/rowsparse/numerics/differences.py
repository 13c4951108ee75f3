"""Differences between the rows of a block of columns, pair by pair, for neighbour-based scores.

``diff(a, b)`` is ``|a - b|`` for numbers and ``a != b`` for discrete columns. BLAS has no l1
distance; these loops reach about a third of its speed because several rows share each pass.

Small problems go through SciPy and NumPy, larger ones through numba (compiled at first use and
cached). The caller decides by the size of the whole problem, so equal calls give equal bits.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from .compiling import REORDERED, LazyKernel, numba_is_there

_TILE = 8  # rows that stay in the cache while all others pass by


def add_distances(A, rows, D, discrete: bool, compiled: bool) -> None:
    """``D[r, j] += sum_f diff(A[rows[r], f], A[j, f])`` for a C-contiguous float64 block A."""
    if compiled and numba_is_there():
        _ADD[discrete](A, rows, D)
    elif discrete:
        D += cdist(A[rows], A, "hamming") * A.shape[1]
    else:
        D += cdist(A[rows], A, "cityblock")


def nearest(D, members, count: int, compiled: bool) -> np.ndarray:
    """For every row of D the ``count`` members of smallest distance; ties by lower position."""
    if compiled and numba_is_there():
        out = np.empty((len(D), count), dtype=np.intp)
        _NEAREST(D, members, out, np.empty(count))
        return out
    return members[np.argsort(D[:, members], axis=1, kind="stable")[:, :count]]


def weighted_differences(A, rows, partners, weights, discrete: bool, compiled: bool) -> np.ndarray:
    """Per column f: ``sum_{r,p} weights[r,p] diff(A[rows[r], f], A[partners[r,p], f])``."""
    out = np.zeros(A.shape[1])
    if compiled and numba_is_there():
        _WEIGHTED[discrete](A, rows, partners, weights, out)
        return out
    for i, others, w in zip(rows, partners, weights, strict=True):
        differences = A[others] != A[i] if discrete else np.abs(A[others] - A[i])
        out += w @ differences
    return out


def _add_absolute(A, rows, D):
    n, width = A.shape
    for start in range(0, rows.size, _TILE):
        stop = min(start + _TILE, rows.size)
        for j in range(n):
            for r in range(start, stop):
                i = rows[r]
                total = 0.0
                for f in range(width):
                    total += abs(A[i, f] - A[j, f])
                D[r, j] += total


def _add_mismatches(A, rows, D):
    n, width = A.shape
    for start in range(0, rows.size, _TILE):
        stop = min(start + _TILE, rows.size)
        for j in range(n):
            for r in range(start, stop):
                i = rows[r]
                total = 0
                for f in range(width):
                    total += A[i, f] != A[j, f]
                D[r, j] += total


def _nearest(D, members, out, held):
    """Insertion into a short sorted list; only strictly nearer ones displace, so ties keep order"""
    count = held.size
    for r in range(out.shape[0]):
        filled = 0
        for j in members:
            distance = D[r, j]
            if filled == count and distance >= held[count - 1]:
                continue
            if filled < count:
                filled += 1
            place = filled - 1
            while place > 0 and held[place - 1] > distance:
                held[place] = held[place - 1]
                out[r, place] = out[r, place - 1]
                place -= 1
            held[place] = distance
            out[r, place] = j


def _weighted_absolute(A, rows, partners, weights, out):
    for r in range(rows.size):
        i = rows[r]
        for p in range(partners.shape[1]):
            w = weights[r, p]
            j = partners[r, p]
            if w != 0.0:
                for f in range(A.shape[1]):
                    out[f] += w * abs(A[i, f] - A[j, f])


def _weighted_mismatches(A, rows, partners, weights, out):
    for r in range(rows.size):
        i = rows[r]
        for p in range(partners.shape[1]):
            w = weights[r, p]
            j = partners[r, p]
            if w != 0.0:
                for f in range(A.shape[1]):
                    out[f] += w * (A[i, f] != A[j, f])


_ADD = {False: LazyKernel(_add_absolute, REORDERED), True: LazyKernel(_add_mismatches, REORDERED)}
_NEAREST = LazyKernel(_nearest, REORDERED)
_WEIGHTED = {
    False: LazyKernel(_weighted_absolute, REORDERED),
    True: LazyKernel(_weighted_mismatches, REORDERED),
}
