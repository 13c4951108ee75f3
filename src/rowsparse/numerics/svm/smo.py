r"""Sequential minimal optimisation of the dual of a support vector machine, in a given kernel.

    max over a of  sum_i t_i a_i - 1/2 sum_ij (y a)_i K_ij (y a)_j   with 0 <= a <= c and y'a = -h

Each step moves the pair of multipliers that violates the conditions most, the second of the two
chosen by what the step gains (Fan, Chen & Lin 2005), until no pair violates them by more than
``tol`` in the scale of margins. Unlike libsvm it starts from given multipliers and keeps K in full
precision, which pays where one machine after the other differs a little from the last.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiling import LazyKernel
from ..rounding import EPSILON


def pairwise(
    K: np.ndarray,
    y: np.ndarray,
    c: np.ndarray,
    near: np.ndarray | None,
    tol: float,
    max_steps: int,
    target: np.ndarray | float = 1.0,
    balance: float = 0.0,
) -> tuple[np.ndarray, float, float]:
    """Multipliers, bias, and by how much the worst pair violates the conditions.

    ``near`` is where to start, scaled into the box and spread where y'a is not -h. At the optimum
    every v_i of a multiplier that may rise is at most the bias, of one that may fall at least; the
    bias is in the middle of what the worst pair leaves open.
    """
    s = _start(y, c, near, balance)
    v = y * target - K @ s
    highest, lowest = _MOVES(np.ascontiguousarray(K), y, c, s, v, tol, max_steps)
    # one of them is infinite where all multipliers are at a bound
    ends = [end for end in (highest, lowest) if math.isfinite(end)]
    bias = sum(ends) / len(ends)
    multipliers = np.clip(y * s, 0.0, c)
    return multipliers, bias, highest - lowest


def _start(y: np.ndarray, c: np.ndarray, near: np.ndarray | None, balance: float) -> np.ndarray:
    """s = y a inside the box; its sum is -h where h is not zero."""
    s = np.zeros(len(y))
    if near is not None:
        inside = near > 0
        room = c[inside] / near[inside]
        scale = room.min(initial=1.0)
        s = y * near * scale
    if not balance:
        return s
    excess = s.sum() + balance
    if not excess:  # there may be no room, either: all at their bounds
        return s
    bounds = np.where(y * excess > 0, 0.0, y * c)
    room = np.abs(s - bounds)
    largest_move = max(room.sum(), abs(excess))
    return s - excess * room / largest_move


def _moves(K, y, c, s, v, tol, max_steps):
    """Change s = y a and v = y t - K s in place; the bounds that the last pair sets to the bias.

    The pair is i of the highest v that may rise and, of those that may fall, the j whose move
    gains most: ``(v_i - v_j)**2 / (K_ii + K_jj - 2 K_ij)``. The move ends at the box.
    """
    n = len(y)
    highest = math.inf
    lowest = -math.inf
    for _ in range(max_steps):
        i = -1
        highest = -math.inf
        for t in range(n):
            may_rise = s[t] < c[t] if y[t] > 0.0 else s[t] < 0.0
            if may_rise and v[t] > highest:
                i = t
                highest = v[t]
        j = -1
        lowest = math.inf
        best = 0.0
        for t in range(n):
            may_fall = s[t] > 0.0 if y[t] > 0.0 else s[t] > -c[t]
            if may_fall:
                lowest = min(lowest, v[t])
                apart = highest - v[t]
                if apart > 0.0:
                    gain = apart * apart / _curvature_of_pair(K, i, t)
                    if gain > best:
                        j = t
                        best = gain
        if j < 0 or highest - lowest <= tol:
            break
        move = (highest - v[j]) / _curvature_of_pair(K, i, j)
        up = c[i] - s[i] if y[i] > 0.0 else -s[i]
        down = s[j] if y[j] > 0.0 else s[j] + c[j]
        move = min(move, up, down)
        s[i] += move
        s[j] -= move
        if move == up:  # exactly on the edge, whatever rounding says
            s[i] = c[i] if y[i] > 0.0 else 0.0
        if move == down:
            s[j] = 0.0 if y[j] > 0.0 else -c[j]
        for t in range(n):
            v[t] -= move * (K[i, t] - K[j, t])
    return highest, lowest


def _curvature_of_pair(K, i, j):
    """Along a move of two multipliers; equal samples have none but
    rounding, and the move ends at the box."""
    whole = K[i, i] + K[j, j]
    return max(whole - 2.0 * K[i, j], EPSILON * whole, 1e-300)


_MOVES = LazyKernel(_moves)
