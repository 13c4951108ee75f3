"""Contingency tables of coded columns: mutual information, and cuts by Fayyad & Irani's rule.

Codes are stored feature by feature (d x n), so that one feature is one contiguous run. The loops
are plain Python; where the work is worth it numba compiles the same source at first use. Without
it, or for little work, mutual information goes through ``bincount``.
"""

from __future__ import annotations

import math

import numpy as np

from .compiling import LazyKernel, numba_is_there
from .memory import CACHE_BYTES

CUTS_COMPILED_FROM = 4e4  # scanned samples of all columns: half a second of plain Python
CODE = np.uint16


def mutual_information(codes, other, weights, n_codes: int, n_other: int, compiled: bool):
    """I(feature; other) in nats for every row of ``codes`` (d x n), from weighted counts."""
    if compiled and numba_is_there():
        out = np.empty(len(codes))
        table = np.empty((n_codes, n_other))
        _INFORMATION(codes, other, weights, table, out)
        return _without_noise(out)
    cells = n_codes * n_other
    step = max(1, CACHE_BYTES // (8 * max(cells, codes.shape[1])))
    parts = []
    for start in range(0, len(codes), step):
        T = _tables(codes[start : start + step], other, weights, n_codes, n_other)
        parts.append(_information_of_tables(T))
    return _without_noise(np.concatenate(parts))


def _without_noise(information):
    """Zero where rounding alone made the difference, so that useless features tie."""
    return np.where(information > 1e-12, information, 0.0)


def _tables(codes, other, weights, n_codes, n_other):
    cells = n_codes * n_other
    n_features = len(codes)
    # every feature has a stretch of cells of its own, so that one count fills all tables
    index = codes.astype(np.intp) * n_other + other
    index += np.arange(n_features)[:, None] * cells
    of_samples = np.tile(weights, n_features)
    counts = np.bincount(index.ravel(), of_samples, minlength=n_features * cells)
    return counts.reshape(n_features, n_codes, n_other)


def _information_of_tables(T):
    total = T[0].sum()  # of the weights, the same for every feature
    joint = _xlogx(T).sum(axis=(1, 2))
    of_other = _xlogx(T.sum(axis=1)).sum(axis=1)
    of_codes = _xlogx(T.sum(axis=2)).sum(axis=1)
    joint -= of_other + of_codes
    return (joint + total * math.log(total)) / total


def _xlogx(values):
    return values * np.log(np.where(values > 0, values, 1.0))


def _information(codes, other, weights, table, out):
    n_codes, n_other = table.shape
    rows = np.empty(n_codes)
    columns = np.empty(n_other)
    for j in range(codes.shape[0]):
        table[:] = 0.0
        rows[:] = 0.0
        columns[:] = 0.0
        for i in range(codes.shape[1]):
            table[codes[j, i], other[i]] += weights[i]
        total = 0.0
        information = 0.0
        for a in range(n_codes):
            for b in range(n_other):
                count = table[a, b]
                if count > 0.0:
                    rows[a] += count
                    columns[b] += count
                    total += count
                    information += count * math.log(count)
        for count in rows:
            information -= _c_log_c(count)
        for count in columns:
            information -= _c_log_c(count)
        out[j] = information / total + math.log(total)


def supervised_cuts(values, classes, weights, n_classes: int, compiled: bool) -> np.ndarray:
    """Where Fayyad & Irani's recursion cuts sorted columns (all arrays d x n, each row sorted by
    value): True at the first sample of every interval but the first."""
    cuts = np.zeros(values.shape, dtype=bool)
    kernel = _SUPERVISED_CUTS if compiled else _supervised_cuts
    kernel(values, classes, weights, n_classes, cuts)
    return cuts


def _supervised_cuts(values, classes, weights, n_classes, cuts):
    n = values.shape[1]
    # a stack of the intervals that may still be cut
    starts = np.empty(n + 1, dtype=np.int64)
    ends = np.empty(n + 1, dtype=np.int64)
    left = np.empty(n_classes)
    right = np.empty(n_classes)
    for j in range(values.shape[0]):
        starts[0] = 0
        ends[0] = n
        waiting = 1
        while waiting > 0:
            waiting -= 1
            a = starts[waiting]
            b = ends[waiting]
            where = _best_cut(values[j], classes[j], weights[j], a, b, left, right)
            if where > 0:
                cuts[j, where] = True
                starts[waiting] = a
                ends[waiting] = where
                starts[waiting + 1] = where
                ends[waiting + 1] = b
                waiting += 2


def _best_cut(values, classes, weights, a, b, left, right):
    """The cut of least entropy inside a..b, or -1 if the description length forbids it.

    Entropies are kept as sums of c log c, so that moving one sample to the left costs one update;
    ``n log n - sum c log c`` is then n times the entropy.
    """
    left[:] = 0.0
    _count(classes, weights, a, b, right)
    n, sum_right, k = _of_counts(right)
    if k < 2 or n <= 1.0:
        return -1
    whole = n * math.log(n) - sum_right
    best = whole
    where = -1
    penalty = 0.0
    n_left = 0.0
    sum_left = 0.0
    k_left = 0
    k_right = k
    for i in range(a, b - 1):
        c = classes[i]
        w = weights[i]
        if left[c] == 0.0:
            k_left += 1
        sum_left -= _c_log_c(left[c])
        sum_right -= _c_log_c(right[c])
        left[c] += w
        right[c] -= w
        if right[c] <= 1e-9 * w:  # rounding of the weights
            right[c] = 0.0
            k_right -= 1
        sum_left += _c_log_c(left[c])
        sum_right += _c_log_c(right[c])
        n_left += w
        if values[i] == values[i + 1]:
            continue
        h_left = _c_log_c(n_left) - sum_left
        h_right = _c_log_c(n - n_left) - sum_right
        if h_left + h_right < best - 1e-10 * whole:  # by more than rounding
            best = h_left + h_right
            where = i + 1
            penalty = k_left * h_left / n_left + k_right * h_right / (n - n_left)
    if where < 0:
        return -1
    cost = math.log(n - 1.0) + _log_choices(k) - k * whole / n + penalty
    return where if whole - best > cost else -1


def _count(classes, weights, a, b, counts):
    """How much weight each class has inside a..b."""
    counts[:] = 0.0
    for i in range(a, b):
        counts[classes[i]] += weights[i]


def _of_counts(counts):
    """Their sum, the sum of c log c, and how many are not zero."""
    total = 0.0
    sum_log = 0.0
    positive = 0
    for count in counts:
        total += count
        sum_log += _c_log_c(count)
        positive += count > 0.0
    return total, sum_log, positive


def _c_log_c(count):
    return count * math.log(count) if count > 0.0 else 0.0


def _log_choices(k):
    """log(3**k - 2): which classes are on which side of a cut."""
    if k < 30:
        return math.log(3.0**k - 2.0)
    return k * math.log(3.0)  # the same to the last digit, and no overflow


_INFORMATION = LazyKernel(_information)
_SUPERVISED_CUTS = LazyKernel(_supervised_cuts)
