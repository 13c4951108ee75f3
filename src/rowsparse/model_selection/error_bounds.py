r"""Bounds on the expected number of falsely selected columns (PFER) of stability selection.

q columns are selected on every one of 2 B half-samples of B complementary pairs, of d columns; a
column is stable if its share of selections is at least the threshold t. Counted is the expected
number of stable columns among those with a selection probability of at most q/d, what columns
drawn at random have.

"worst-case" (Meinshausen & Bühlmann 2010; Shah & Samworth 2013, theorem 1, without assumptions):

    q**2 / ((2 t - 1) d)

"unimodal" and "r-concave" (Shah & Samworth 2013, sections 3.3 and 3.4) bound the tail of the share
of pairs in which *both* halves select the column, whose mean is at most (q/d)**2, and which is at
least 2 t - 1 where the share of selections is t. The first assumes that this share has a unimodal
distribution on 0, 1/B, …, 1. The second assumes a (-1/2)-concave one, and a (-1/4)-concave one for
the share of selections itself, which has the mean q/d; the smaller bound holds.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

from ..numerics.rounding import HALF_THE_DIGITS

BOUNDS = ("unimodal", "r-concave", "worst-case")


def pfer_bound(threshold: float, q: int, d: int, n_pairs: int, bound: str) -> float:
    """The bound at a threshold above 1/2 for q of d columns."""
    # the others assume more, and are not always below it
    worst = worst_case(threshold, q, d)
    if bound == "worst-case":
        return worst
    share = q / d
    # the smallest share that can occur: a threshold that is above one by rounding is this one
    t = float(np.ceil(2 * n_pairs * threshold - HALF_THE_DIGITS)) / (2 * n_pairs)
    if bound == "unimodal":
        return min(worst, d * unimodal_tail(share**2, t, n_pairs))
    both = concave_tail(share**2, 2 * t - 1, n_pairs, -0.5)
    alone = concave_tail(share, t, 2 * n_pairs, -0.25)
    return min(worst, d * min(both, alone))


def worst_case(threshold: float, q: int, d: int) -> float:
    """q**2 / ((2 t - 1) d)"""
    return q**2 / ((2 * threshold - 1) * d)


def unimodal_tail(mean: float, t: float, B: int) -> float:
    r"""The largest P(U >= 2 t - 1) of a unimodal U on 0, 1/B, …, 1 with this mean.

    Shah & Samworth's theorem 2, for mean = (q/d)**2 <= 1/3:

        mean / (2 (2 t - 1 - 1/(2 B)))              for  min(1/2 + mean, 1/2 + 1/(2B) + 3/4 mean) < t <= 3/4
        mean * 4 (1 - t + 1/(2B)) / (1 + 1/B)       for  3/4 < t <= 1
    """  # noqa: E501
    lowest = min(0.5 + mean, 0.5 + 1 / (2 * B) + 0.75 * mean)
    if mean > 1 / 3 or t <= lowest:
        return 1.0
    if t <= 0.75:
        return mean / (2 * (2 * t - 1 - 1 / (2 * B)))
    return mean * 4 * (1 - t + 1 / (2 * B)) / (1 + 1 / B)


@lru_cache(maxsize=4096)  # a table of thresholds asks for the same again
def concave_tail(mean: float, t: float, B: int, r: float) -> float:
    """The largest P(U >= t) of an r-concave U (r < 0) on 0, 1/B, …, 1 with at most this mean.

    f is r-concave where f**r is convex between the ends of its support. With one condition (the
    mean) the largest tail is reached where f**r is linear: f_i proportional to (a + i)**(1/r) on
    0 … m, for some last point m. For every m the mean gives a; the best m is taken.
    """
    first = int(np.ceil(B * t - HALF_THE_DIGITS))
    if first <= 0 or mean >= first / (2 * B):  # even the uniform distribution allows this mean
        return 1.0
    return max(_tail_up_to(m, mean * B, first, r) for m in range(first, B + 1))


def _tail_up_to(m: int, mean: float, first: int, r: float) -> float:
    i = np.arange(m + 1)

    def shape(log_a: float) -> np.ndarray:
        # in logarithms: powers of a near zero leave the range of floats
        log_f = np.log(np.exp(log_a) + i) / r
        f = np.exp(log_f - log_f.max())
        return f / f.sum()

    def excess(log_a: float) -> float:
        return float(shape(log_a) @ i) - mean

    low, high = -60.0, 40.0  # all mass at 0; as good as uniform
    if excess(high) <= 0:
        return float(shape(high)[first:].sum())
    if excess(low) >= 0:
        return 0.0
    return float(shape(brentq(excess, low, high, xtol=1e-12))[first:].sum())


def completed(
    threshold: float | None, q: int | None, pfer: float | None, d: int, n_pairs: int, bound: str
) -> tuple[float, int, float]:
    """Threshold, q and the bound on the PFER, where any two of the three are given.

    A missing q is the largest, a missing threshold the smallest that keeps the bound.
    """
    if q is None:
        assert threshold is not None
        assert pfer is not None
        q = _largest_q(threshold, pfer, d, n_pairs, bound)
    if threshold is None:
        assert pfer is not None
        threshold = smallest_threshold(q, pfer, d, n_pairs, bound)
    return threshold, q, pfer_bound(threshold, q, d, n_pairs, bound)


def smallest_threshold(q: int, pfer: float, d: int, n_pairs: int, bound: str) -> float:
    """The smallest share above 1/2, of those that can occur, that keeps the bound."""
    shares = np.arange(n_pairs + 1, 2 * n_pairs + 1) / (2 * n_pairs)
    for share in shares:
        if pfer_bound(float(share), q, d, n_pairs, bound) <= pfer:
            return float(share)
    best = pfer_bound(1.0, q, d, n_pairs, bound)
    raise ValueError(
        f"Expected a pfer that some threshold keeps, got pfer={pfer:g} with q={q} of {d} columns, "
        f"for which even threshold=1 only promises {best:.3g}; lower q, raise pfer or n_pairs."
    )


def _largest_q(threshold: float, pfer: float, d: int, n_pairs: int, bound: str) -> int:
    low = 0  # the bound grows with q
    high = d
    while low < high:
        # rounded up: low is always one that keeps the bound
        middle = (low + high + 1) // 2
        if pfer_bound(threshold, middle, d, n_pairs, bound) <= pfer:
            low = middle
        else:
            high = middle - 1
    if low == 0:
        least = pfer_bound(threshold, 1, d, n_pairs, bound)
        raise ValueError(
            f"Expected a pfer that some q keeps, got pfer={pfer:g} with threshold={threshold:g} "
            f"and {d} columns, for which even q=1 only promises {least:.3g}; raise one of them."
        )
    return low
