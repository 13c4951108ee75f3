"""From statistics whose signs are coin flips for false columns to a selection."""

from __future__ import annotations

import numpy as np


def knockoff_threshold(statistics: np.ndarray, fdr: float) -> float:
    """The knockoff+ threshold of Barber & Candès (2015); infinite where there is none.

    T = min { t > 0 :  (1 + #{W_j <= -t}) / max(1, #{W_j >= t})  <=  fdr }
    """
    sizes = np.abs(statistics)
    # ascending: the first that keeps the ratio is the smallest
    for t in np.unique(sizes[sizes > 0]):
        false = 1 + np.count_nonzero(statistics <= -t)
        chosen = np.count_nonzero(statistics >= t)
        if false <= fdr * max(1, int(chosen)):
            return float(t)
    return float("inf")


def e_values(statistics: np.ndarray, fdr: float) -> np.ndarray:
    """Of one draw (Ren & Barber 2024): d 1{W_j >= T} / (1 + #{W_j <= -T})."""
    T = knockoff_threshold(statistics, fdr)
    false = 1 + np.count_nonzero(statistics <= -T)
    each = statistics.size / false
    return np.where(statistics >= T, each, 0.0)


def largest_e_values(values: np.ndarray, fdr: float) -> tuple[np.ndarray, float]:
    """The Benjamini-Hochberg rule for e-values: the k largest are selected, k the largest with
    e_(k) >= d / (fdr k). Gives the mask and the smallest e-value that is in."""
    ordered = np.sort(values)[::-1]
    k = np.arange(1, values.size + 1)
    # of one draw the two sides are equal at the limit: rounding must not decide
    least = values.size * (1 - 1e-12)
    enough = np.flatnonzero(fdr * k * ordered >= least)
    if not enough.size:
        return np.zeros(values.size, dtype=bool), float("inf")
    # the largest k that has enough: all before it are selected, too
    cut = float(ordered[enough[-1]])
    return values >= cut, cut
