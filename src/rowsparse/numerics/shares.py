r"""A quadratic over shares, ``min g'z + 1/2 z'Hz`` with ``0 <= z <= 1`` and a fixed sum of z.

Each move takes from one share what it gives to another, the pair that gains most: the constraint
holds at every moment, and a start near the end makes few moves.
"""

from __future__ import annotations

import numpy as np

from .compiling import LazyKernel
from .rounding import LAST_DIGITS


def moved_shares(
    H: np.ndarray, slopes: np.ndarray, z: np.ndarray, tol: float, max_moves: int
) -> np.ndarray:
    """The shares after at most so many moves from z; ``slopes`` is the gradient at z.

    Ends when no pair of slopes invites a move by more than ``tol``.
    """
    z = z.copy()
    _MOVE(H, slopes.copy(), z, tol, max_moves)
    return z


def _move(H, slopes, z, tol, max_moves):
    m = len(z)
    for _ in range(max_moves):
        gaining = -1
        lowest = np.inf
        highest = -np.inf
        for a in range(m):
            if z[a] < 1.0 and slopes[a] < lowest:
                lowest = slopes[a]
                gaining = a
            if z[a] > 0.0 and slopes[a] > highest:
                highest = slopes[a]
        if gaining < 0 or highest - lowest <= tol:
            return
        losing = -1
        curvature = 1.0
        best = 0.0
        for a in range(m):
            apart = slopes[a] - lowest
            if z[a] > 0.0 and apart > 0.0:
                bend = H[gaining, gaining] + H[a, a] - 2.0 * H[gaining, a]
                bend = max(bend, LAST_DIGITS)  # equal columns have none: the whole share moves
                if apart * apart / bend > best:
                    best = apart * apart / bend
                    losing = a
                    curvature = bend
        if losing < 0:
            return
        step = min((slopes[losing] - lowest) / curvature, 1.0 - z[gaining], z[losing])
        z[gaining] += step
        z[losing] -= step
        for a in range(m):
            slopes[a] += step * (H[a, gaining] - H[a, losing])


_MOVE = LazyKernel(_move)
