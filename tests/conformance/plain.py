"""The documented mathematics in plain NumPy, independent of the package.

min over W of  1/(r n) sum_i s_i |e_i|**r + alpha sum_j f_j size(w_j)**p,   E = A W - Y

where the size of a row is its Euclidean norm ("l2") or its largest magnitude ("max").
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.optimize import brentq


def norms(A):
    return np.sqrt((np.asarray(A, dtype=float) ** 2).sum(axis=1))


def loss(E, r, s):
    return float(s @ norms(E) ** r) / (r * len(E))


def sizes(W, size="l2"):
    return norms(W) if size == "l2" else np.abs(W).max(axis=1)


def penalty(W, p, strength, size="l2"):
    t = sizes(W, size)
    used = t > 0
    return float(np.sum(strength[used] * t[used] ** p))


def objective(A, Y, W, r, p, s, strength, size="l2"):
    return loss(A @ W - Y, r, s) + penalty(W, p, strength, size)


def lowest(z, rho, p):
    """argmin over t >= 0 of 1/2 (t - z)**2 + rho t**p, by bracketing the larger root."""
    if z == 0 or np.isinf(rho):
        return 0.0
    if p in (0, 1) or rho == 0:
        candidate = z - rho * p
        if candidate <= 0:
            return 0.0
    else:
        turn = (rho * p * (1 - p)) ** (1 / (2 - p))  # where the slope is lowest
        slope = lambda t: t - z + rho * p * t ** (p - 1)  # noqa: E731
        if turn >= z or slope(turn) >= 0:
            return 0.0
        candidate = brentq(slope, turn, z, xtol=1e-15 * z, rtol=1e-15)
    height = 0.5 * (candidate - z) ** 2 + rho * candidate**p
    return candidate if height < 0.5 * z**2 else 0.0


def level(z, rho, p):
    """argmin over t in [0, max|z|] of 1/2 sum_k max(|z_k| - t, 0)**2 + rho t**p, piece by piece."""
    b = np.abs(z)
    if not b.any() or np.isinf(rho):
        return 0.0

    def slope(t):
        return rho * p * t ** (p - 1) - np.maximum(b - t, 0).sum()

    def height(t):
        return 0.5 * np.sum(np.maximum(b - t, 0) ** 2) + (rho * t**p if t > 0 else 0.0)

    ends = np.unique(np.append(b, 0.0))
    candidates = [0.0, *ends[1:]]
    for low, high in pairwise(ends):
        above = np.count_nonzero(b >= high)
        turn = (rho * p * (1 - p) / above) ** (1 / (2 - p)) if rho > 0 else low
        turn = max(min(turn, high), low, 1e-15 * high)
        if slope(turn) < 0 < slope(high):
            candidates.append(brentq(slope, turn, high, xtol=1e-16, rtol=1e-15))
    return min(candidates, key=height)


def prox(Z, rho, p, size="l2"):
    if size == "max":
        t = np.array([level(z, strength, p) for z, strength in zip(Z, rho, strict=True)])[:, None]
        return np.clip(Z, -t, t)
    norm = norms(Z)
    shrunk = np.array([lowest(z, t, p) for z, t in zip(norm, rho, strict=True)])
    return Z * np.divide(shrunk, norm, out=np.zeros_like(norm), where=norm > 0)[:, None]


def violation(W, G, L, strength, p, size="l2"):
    """The largest ``sqrt(L_j) |w_j - prox(w_j - g_j / L_j)|``."""
    used = L > 0
    W, G, L, strength = W[used], G[used], L[used], strength[used]
    moved = prox(W - G / L[:, None], strength / L, p, size)
    return float((np.sqrt(L) * norms(W - moved)).max())
