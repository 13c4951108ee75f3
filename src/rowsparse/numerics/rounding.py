"""What rounding leaves of the digits of a double, and how large numbers may be that are multiplied.

Few levels serve everywhere. Where another one would do as well, one of these is used; where a
solver needs its own, it says why.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import DTypeLike

EPSILON = float(np.finfo(float).eps)  # what one operation leaves of its result, 2e-16
# Of the digits of a number, those that may be lost: of what is left the others are its own.
MAY_BE_LOST = 0.6
# Half of the digits, 1.5e-8: what products of columns, and squares, leave of a number.
HALF_THE_DIGITS = float(np.sqrt(np.finfo(float).eps))
# All but the last two, 1.4e-14: what sums of numbers of one size leave.
LAST_DIGITS = 64 * float(np.finfo(float).eps)


def negligible(dtype: DTypeLike) -> float:
    """Of a column's square in the span of others, of a margin, of what is to be orthogonal: the
    part below which it is rounding. 4e-10, and 7e-5 in single precision."""
    return float(np.finfo(dtype).eps ** MAY_BE_LOST)


NEGLIGIBLE = negligible(float)


def largest_with(others: int) -> float:
    """The largest power of ten of which so many multiplied, and some millions of these summed, are
    still a number.

    >>> largest_with(3)
    1e+100
    """
    return float(10.0 ** ((sys.float_info.max_10_exp - 8) // others))
