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

# Rows that stay in the cache while all others pass by. One at a time takes up to 1.9 times as long,
# 32 the same (600 x 2,000 and 2,000 x 300).
_TILE = 8


def add_distances(A, rows, D, discrete: bool, compiled: bool) -> None:
    """``D[r, j] += sum_f diff(A[rows[r], f], A[j, f])`` for a C-contiguous float64 block A."""
    if compiled and numba_is_there():
        _ADD_DISTANCES(A, rows, D, discrete)
    elif discrete:
        shares = cdist(A[rows], A, "hamming")  # SciPy gives the share of columns that differ
        D += shares * A.shape[1]
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
        _ADD_WEIGHTED(A, rows, partners, weights, out, discrete)
        return out
    for i, others, w in zip(rows, partners, weights, strict=True):
        differences = A[others] != A[i] if discrete else np.abs(A[others] - A[i])
        out += w @ differences
    return out


def _add_distances(A, rows, D, discrete):
    n = len(A)
    for start in range(0, rows.size, _TILE):
        stop = min(start + _TILE, rows.size)
        for j in range(n):
            for r in range(start, stop):
                if discrete:
                    D[r, j] += _mismatches(A[rows[r]], A[j])
                else:
                    D[r, j] += _absolute(A[rows[r]], A[j])


def _absolute(x, y):
    total = 0.0
    for f in range(x.size):
        total += abs(x[f] - y[f])
    return total


def _mismatches(x, y):
    total = 0
    for f in range(x.size):
        total += x[f] != y[f]
    return total


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


def _add_weighted(A, rows, partners, weights, out, discrete):
    for r in range(rows.size):
        own = A[rows[r]]
        for p in range(partners.shape[1]):
            w = weights[r, p]
            if w == 0.0:
                continue
            other = A[partners[r, p]]
            if discrete:
                for f in range(out.size):
                    out[f] += w * (own[f] != other[f])
            else:
                for f in range(out.size):
                    out[f] += w * abs(own[f] - other[f])


_ADD_DISTANCES = LazyKernel(_add_distances, REORDERED)
_NEAREST = LazyKernel(_nearest, REORDERED)
_ADD_WEIGHTED = LazyKernel(_add_weighted, REORDERED)
