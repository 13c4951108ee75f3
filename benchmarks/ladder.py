"""Finding the cheapest rung of the tolerance ladder that reaches the wanted gap.

Everybody climbs the same ladder: half decades from 1e-2 to 1e-16 of the library's own tolerance.
Climbing it rung by rung would eat the wall cap of a slow contestant, so the first rung that
passes is bracketed by leaps (never more than two decades) and then found by bisection.
"""

from __future__ import annotations

import math

RUNGS = [10 ** (-half_decades / 2) for half_decades in range(4, 33)]
LONGEST_LEAP = 4


def first_passing_rung(gap_at, target):
    """Index of the loosest rung with gap_at(rung) <= target, or None when not even the last has."""
    failed, rung, last = -1, 0, len(RUNGS) - 1
    while (gap := gap_at(rung)) > target or math.isnan(gap):
        if rung == last:
            return None
        failed, rung = rung, min(last, rung + _leap(gap, target))
    passed = rung
    while passed - failed > 1:
        middle = (passed + failed) // 2
        if gap_at(middle) <= target:
            passed = middle
        else:
            failed = middle
    return passed


def _leap(gap, target):
    """Rungs to go if the gap falls as fast as the tolerance does."""
    if not math.isfinite(gap):
        return 1
    return min(max(int(2 * math.log10(gap / target)), 1), LONGEST_LEAP)
