"""The documented mathematics in plain NumPy, independent of the package.

min over W of  1/(r n) sum_i s_i |e_i|**r + alpha sum_j f_j |w_j|**p,   E = A W - Y
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq


def norms(A):
    return np.sqrt((np.asarray(A, dtype=float) ** 2).sum(axis=1))


def loss(E, r, s):
    return float(s @ norms(E) ** r) / (r * len(E))


def penalty(W, p, strength):
    size = norms(W)
    used = size > 0
    return float(np.sum(strength[used] * size[used] ** p))


def objective(A, Y, W, r, p, s, strength):
    return loss(A @ W - Y, r, s) + penalty(W, p, strength)


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


def prox(Z, rho, p):
    size = norms(Z)
    shrunk = np.array([lowest(z, t, p) for z, t in zip(size, rho, strict=True)])
    return Z * np.divide(shrunk, size, out=np.zeros_like(size), where=size > 0)[:, None]


def violation(W, G, L, strength, p):
    """The largest ``sqrt(L_j) |w_j - prox(w_j - g_j / L_j)|``."""
    used = L > 0
    W, G, L, strength = W[used], G[used], L[used], strength[used]
    moved = prox(W - G / L[:, None], strength / L, p)
    return float((np.sqrt(L) * norms(W - moved)).max())
