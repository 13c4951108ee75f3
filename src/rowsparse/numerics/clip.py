r"""The row prox of the l_{p,inf} penalty: clip the entries of a row at one level, found globally.

For a row z with magnitudes b = |z|, rho >= 0 and p in [0, 1] the problem

    min over u of  1/2 |u - z|**2 + rho (max_k |u_k|)**p

is solved by ``u_k = sign(z_k) min(|z_k|, t)``, where t is the global minimiser over [0, max b] of

    phi(t) = Q(t) + rho t**p,      Q(t) = 1/2 sum_k max(b_k - t, 0)**2.

For 0 < p < 1 phi may have several local minima. With b in descending order and S_k its partial
sums, ``phi'(t) = k t - S_k + rho p t**(p-1)`` on the piece [b_{k+1}, b_k]. That is convex in t, so
Newton from the right end of a piece falls monotonically onto the only local minimum the piece can
have, and stepping past the left end proves that it has none. Pieces are scanned from the right
until Q alone exceeds the best value seen; the winner is then compared with t = 0, ties going to
zero. Magnitudes are divided by the largest first, so no square or power leaves the range.

The loops are plain Python over NumPy rows; from ``COMPILED_FROM`` rows on numba compiles the same
source (at first use, never at import).
"""

from __future__ import annotations

import numpy as np

from .compiling import COMPILED_FROM, LazyKernel, compiled_as, worth_compiling
from .rows import NEWTON_STEPS


def clip_rows(Z: np.ndarray, rho, p: float) -> np.ndarray:
    """Row-wise argmin of ``1/2 |u - z_j|**2 + rho_j max_k |u_k|**p``; rho_j may be infinite.

    >>> clip_rows(np.array([[5.0, 4.0, -3.0, 2.0, 1.0]]), 1.5, 1.0)
    array([[ 3.75,  3.75, -3.  ,  2.  ,  1.  ]])
    """
    Z = np.asarray(Z, dtype=float)
    t = clip_levels(Z, rho, p)[:, None]
    return np.clip(Z, -t, t) + 0.0  # no negative zeros


def clip_levels(Z: np.ndarray, rho, p: float) -> np.ndarray:
    """The level t at which ``clip_rows`` clips every row; its largest magnitude afterwards."""
    Z = np.asarray(Z, dtype=float)
    rho = np.ascontiguousarray(np.broadcast_to(np.asarray(rho, dtype=float), len(Z)))
    levels = np.empty(len(Z))
    kernel = _KERNEL if worth_compiling(len(Z), COMPILED_FROM) else _clip_levels
    magnitudes = np.sort(np.abs(Z), axis=1)
    with np.errstate(over="ignore", under="ignore"):  # a strength beyond the range: zero or all
        kernel(magnitudes, rho, float(p), levels)
    return levels


def clip_strength_to_zero(Z: np.ndarray, p: float) -> np.ndarray:
    """Per row the smallest rho with ``clip_rows(z, rho, p) == 0``.

    It is the largest value of ``(Q(0) - Q(t)) / t**p``, on each piece a quadratic over a power,
    whose only inner maximum is the larger root of
    ``k (1 - p/2) t**2 - (1 - p) S_k t + p/2 sum_{i>k} b_i**2 = 0``.
    """
    B = np.abs(np.asarray(Z, dtype=float))
    if p == 1:
        return B.sum(axis=1)
    top = B.max(axis=1, initial=0.0)
    B = np.sort(np.divide(B, top[:, None], out=np.zeros_like(B), where=top[:, None] > 0))
    tails = np.cumsum(B**2, axis=1) / 2  # of the k-th largest and all smaller ones
    scaled = tails[:, -1]
    if p > 0:
        scaled = _largest_ratio(B[:, ::-1], tails[:, ::-1], p)
    with np.errstate(over="ignore", under="ignore"):
        return top * top ** (1 - p) * scaled


def _largest_ratio(B: np.ndarray, tails: np.ndarray, p: float) -> np.ndarray:
    """max over t of (Q(0) - Q(t)) / t**p per row of B (descending, largest 1 or 0)."""
    k = np.arange(1, B.shape[1] + 1)
    sums = np.cumsum(B, axis=1)
    beyond = np.zeros_like(B)
    beyond[:, :-1] = tails[:, 1:]
    left = np.zeros_like(B)  # ends of the pieces, whose right ends are B
    left[:, :-1] = B[:, 1:]
    middle = (1 - p) * sums
    leading = k * (1 - p / 2)
    discriminant = middle**2 - 4 * leading * p * beyond
    larger_root = (middle + np.sqrt(np.maximum(discriminant, 0.0))) / (2 * leading)
    best = np.zeros(len(B))
    for t in (np.clip(larger_root, left, B), B):
        gain = beyond + t * (sums - k * t / 2)
        ratio = np.divide(gain, t**p, out=np.zeros_like(gain), where=t > 0)
        best = np.maximum(best, ratio.max(axis=1, initial=0.0))
    return best


def _clip_levels(B, rho, p, levels):
    for j in range(B.shape[0]):
        levels[j] = clip_level(B[j], rho[j], p, True)


def clip_level(b, rho, p, ascending):
    """The level of a row of magnitudes b, which is overwritten; unsorted rows are sorted here."""
    top = 0.0
    total = 0.0
    for k in range(b.size):
        total += b[k]
        top = max(top, b[k])
    if rho == 0.0 or top == 0.0:
        return top
    if p == 1.0:
        if total <= rho:
            return 0.0
        if not ascending:
            _sort(b)
        return _level_convex(b, rho)
    rho = rho / top * top ** (p - 1.0)
    half_squares = 0.0
    for k in range(b.size):
        b[k] /= top
        half_squares += 0.5 * b[k] * b[k]
    if rho == 0.0:  # beyond the range
        return top
    if p == 0.0:
        return top if half_squares > rho else 0.0
    # Q(0) - Q(t) <= min(t sum b, Q(0)): from here on zero is lowest, and no sorting is needed
    if rho >= (total / top) ** p * half_squares ** (1.0 - p):
        return 0.0
    if not ascending:
        _sort(b)
    return top * _level_between(b, rho, p)


def _sort_loops(b):
    """Shell's sort: rows are short."""
    gap = b.size
    while gap > 1:
        gap = max((5 * gap - 1) // 11, 1)
        for i in range(gap, b.size):
            value = b[i]
            j = i
            while j >= gap and b[j - gap] > value:
                b[j] = b[j - gap]
                j -= gap
            b[j] = value


@compiled_as(_sort_loops)
def _sort(b):
    b.sort()


def _level_convex(b, rho):
    """p = 1, b ascending, rho below their sum: the level at which rho is cut off in total."""
    total = 0.0
    level = 0.0
    for k in range(1, b.size + 1):
        total += b[b.size - k]
        level = (total - rho) / k
        if k == b.size or level >= b[b.size - k - 1]:
            break
    return max(level, 0.0)


def _level_between(b, rho, p):
    """0 < p < 1, b ascending with largest 1: the best local minimum of all pieces, or zero."""
    best = 0.0
    lowest = np.inf
    total = 0.0
    q = 0.0  # Q at the right end of the piece
    above = True  # phi' > 0 at the right end of the last piece and no minimum inside it
    k = 0
    for i in range(b.size - 1, -1, -1):
        right = b[i]
        left = b[i - 1] if i > 0 else 0.0
        total += right
        k += 1
        if right == left:
            continue  # a piece without length
        if q >= lowest or right == 0.0:
            break
        excess = max(total - k * right, 0.0)
        power = rho * p * right ** (p - 1.0)
        t = -1.0
        if power > excess:
            t = _newton(right, excess, left, k, power - excess, rho, p, power / right)
            above = t < 0.0
        elif above:  # rounding hid a minimum at the joint of two pieces
            t = right
            above = False
        if t > 0.0:
            value = q + (right - t) * (excess + 0.5 * k * (right - t)) + rho * t**p
            if value < lowest:
                lowest = value
                best = t
        q += (right - left) * (excess + 0.5 * k * (right - left))
    return best if best > 0.0 and _gain(b, best) > rho * best**p else 0.0


def _newton(right, excess, left, k, slope, rho, p, power):
    """The larger root of phi' in [left, right], from the right end, or -1 if there is none.

    ``slope`` is phi' at the right end (positive) and ``power`` is rho p right**(p-2).
    """
    t = right
    for _ in range(NEWTON_STEPS):
        curvature = k - (1.0 - p) * power
        if curvature <= 0.0:
            return -1.0
        step = slope / curvature
        t -= step
        if t < left or t <= 0.0:
            return -1.0
        if step <= 2e-16 * t:
            break
        power = rho * p * t ** (p - 2.0)
        slope = power * t - excess - k * (right - t)
        if slope <= 0.0:  # rounding: the root is here
            break
    return t


def _gain(b, t):
    """Q(0) - Q(t) without cancellation."""
    total = 0.0
    for k in range(b.size):
        cut = min(b[k], t)
        total += cut * (b[k] - 0.5 * cut)
    return total


_KERNEL = LazyKernel(_clip_levels)
