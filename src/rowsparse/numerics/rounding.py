"""What rounding leaves of the digits of a double, and how large numbers may be that are multiplied.

Two levels serve everywhere. Where another one would do as well, one of these is used; where a
solver needs its own, it says why.
"""

from __future__ import annotations

import sys

import numpy as np

# Half of the digits, 1.5e-8: what products of columns, and squares, leave of a number.
HALF_THE_DIGITS = float(np.sqrt(np.finfo(float).eps))
# All but the last two, 1.4e-14: what sums of numbers of one size leave.
LAST_DIGITS = 64 * float(np.finfo(float).eps)


def largest_with(others: int) -> float:
    """The largest power of ten of which so many multiplied, and some millions of these summed, are
    still a number.

    >>> largest_with(3)
    1e+100
    """
    return float(10.0 ** ((sys.float_info.max_10_exp - 8) // others))
