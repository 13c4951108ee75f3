r"""The interior point of ``margin`` for few columns, compiled: there the calls of NumPy cost more
than the arithmetic.

With M = [V, A], V = y B and A = y F, the step (da, dv) of Newton's method

    (unit V V' + D) da + A dv = right        A'da = -A'a

is found from ``x = (unit V'da, dv)`` and a positive definite system of the size of the columns,

    (M'D^-1 M + diag(1/unit, ..., 0)) x = M'D^-1 right + (0, A'a)        da = (right - M x) / D.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from ..compiling import compile_cached, numba_tools

STEP_BACK = 0.995  # of the way to the boundary
TINY = 1e-15  # of the box: what rounding may not turn into zero
FEW = 48  # columns up to which plain loops are as fast as BLAS
REORDER = {"reassoc", "contract"}  # sums may be reordered, so that they run four at a time


def suits(m: int) -> bool:
    """Whether m columns are few, and there is a compiler."""
    return m <= FEW and numba_tools() is not None


def few_columns(
    V: np.ndarray, A: np.ndarray, c: np.ndarray, tol: float, max_steps: int, patience: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Multipliers, coefficients of the free columns, and the gap as a fraction of the objective."""
    unit = float(c.max())
    M = np.vstack([V.T, A.T])
    a, v, gap = _kernel()(M, V.shape[1], c / unit, unit, tol, max_steps, patience)
    return unit * a, v, gap


def _mehrotra(M, m, c, unit, tol, max_steps, patience):
    """Predictor and corrector; a in units of the largest c, M by columns of the formula. Returns
    the point of smallest gap."""
    columns, n = M.shape
    a, low, high, x = c / 2, np.ones(n), np.ones(n), np.zeros(columns)
    da, dlow, dhigh, right = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    per_a, per_room, per_D, product = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    G, rhs, step = np.empty((columns, columns)), np.empty(columns), np.empty(columns)
    best_a, best_v, best_gap, since_best = a.copy(), x[m:].copy(), math.inf, 0
    for _ in range(max_steps):
        column_sums(M, a, rhs)
        for j in range(m):
            x[j] = unit * rhs[j]
        combination(M, x, product)
        loss = residuals(product, a, c, low, high, right, per_a, per_room, per_D)
        gap = relative_gap(loss, a.sum(), x, rhs, m)
        since_best += 1
        if gap < best_gap:
            best_a[:], best_v[:], best_gap, since_best = a, x[m:], gap, 0
        if gap <= tol or since_best == patience:
            break
        normal_matrix(M, per_D, m, unit, product, G)
        if not factorised(G):
            break
        da[:], dlow[:], dhigh[:] = 0.0, 0.0, 0.0  # the predictor has no second order
        mu, target, longest = complementarity(a, c, low, high, da, dlow, dhigh, 0.0), 0.0, 1.0
        for corrector in (False, True):
            for i in range(n):  # what low a and high (c - a) shall change by, then the right side
                dlow[i] = target - low[i] * a[i] - dlow[i] * da[i]
                dhigh[i] = target - high[i] / per_room[i] + dhigh[i] * da[i]
                da[i] = (right[i] + dlow[i] * per_a[i] - dhigh[i] * per_room[i]) * per_D[i]
            column_sums(M, da, step)
            for j in range(m, columns):
                step[j] += rhs[j]
            substituted(G, step)
            combination(M, step, product)
            directions(product, per_a, per_room, per_D, low, high, da, dlow, dhigh)
            longest = longest_step(per_a, per_room, low, high, da, dlow, dhigh, product)
            if not corrector:
                left = complementarity(a, c, low, high, da, dlow, dhigh, longest)
                target = mu * (left / mu) ** 3
        length = STEP_BACK * longest
        for i in range(n):
            a[i] += length * da[i]
            low[i] += length * dlow[i]
            high[i] += length * dhigh[i]
        for j in range(m, columns):
            x[j] += length * step[j]
        if not math.isfinite(a.sum()):
            break
    return best_a, best_v, best_gap


def residuals(z, a, c, low, high, right, per_a, per_room, per_D):
    """Fills the right side of the first equation and the divisors; returns the hinge loss."""
    loss = 0.0
    for i in range(len(a)):
        room = max(c[i] - a[i], TINY * c[i])
        loss += c[i] * max(1.0 - z[i], 0.0)
        right[i] = 1.0 - z[i] + low[i] - high[i]
        per_a[i], per_room[i] = 1.0 / a[i], 1.0 / room
        per_D[i] = 1.0 / (low[i] / a[i] + high[i] / room)
    return loss


def relative_gap(loss, total, x, sums, m):
    """Of the point with M'a = sums; ``F'(y a) = 0`` belongs to it too."""
    squared, infeasible = 0.0, 0.0
    for j in range(m):
        squared += x[j] * sums[j]
    for j in range(m, len(x)):
        infeasible = max(infeasible, abs(sums[j]))
    primal = squared / 2.0 + loss
    return (abs(primal - total + squared / 2.0) + infeasible) / max(abs(primal), 1e-300)


def complementarity(a, c, low, high, da, dlow, dhigh, length):
    """The mean product of a multiplier and what it holds back, after a part of the step."""
    products = 0.0
    for i in range(len(a)):
        moved = a[i] + length * da[i]
        products += (low[i] + length * dlow[i]) * moved
        products += (high[i] + length * dhigh[i]) * (c[i] - moved)
    return products / (2.0 * len(a))


def directions(product, per_a, per_room, per_D, low, high, da, dlow, dhigh):
    """The step of a and of its multipliers, from their right sides, in place."""
    for i in range(len(da)):
        da[i] -= product[i] * per_D[i]
        dlow[i] = (dlow[i] - low[i] * da[i]) * per_a[i]
        dhigh[i] = (dhigh[i] + high[i] * da[i]) * per_room[i]


def longest_step(per_a, per_room, low, high, da, dlow, dhigh, fall):
    """The longest part of the step, at most 1, that keeps a in the box and the multipliers
    positive; ``fall`` is space for what falls fastest per unit of its distance to zero."""
    for i in range(len(da)):
        of_a = max(-da[i] * per_a[i], da[i] * per_room[i])
        fall[i] = max(of_a, max(-dlow[i] / low[i], -dhigh[i] / high[i]))
    fastest = 1.0
    for i in range(len(da)):
        fastest = max(fastest, fall[i])
    return 1.0 / fastest


def column_sums(M, weights, out):
    """M'weights."""
    for j in range(len(M)):
        column, total = M[j], 0.0
        for i in range(len(weights)):
            total += column[i] * weights[i]
        out[j] = total


def combination(M, x, out):
    """M x."""
    out[:] = 0.0
    for j in range(len(M)):
        column, factor = M[j], x[j]
        for i in range(len(out)):
            out[i] += factor * column[i]


def normal_matrix(M, per_D, m, unit, scaled, G):
    """``M'D^-1 M + diag(1/unit, ..., 0)``, its lower triangle; ``scaled`` is space."""
    for j in range(len(M)):
        for i in range(len(per_D)):
            scaled[i] = M[j, i] * per_D[i]
        for k in range(j + 1):
            column, total = M[k], 0.0
            for i in range(len(per_D)):
                total += scaled[i] * column[i]
            G[j, k] = total
        if j < m:
            G[j, j] += 1.0 / unit


def factorised(G):
    """Cholesky's factor in place of the lower triangle; False if G is not positive definite."""
    for j in range(len(G)):
        for k in range(j + 1):
            left = G[j, k]
            for t in range(k):
                left -= G[j, t] * G[k, t]
            if k < j:
                G[j, k] = left / G[k, k]
            elif left > 0.0:
                G[j, j] = math.sqrt(left)
            else:
                return False
    return True


def substituted(L, x):
    """Solve ``L L'x = x`` in place."""
    for j in range(len(L)):
        for t in range(j):
            x[j] -= L[j, t] * x[t]
        x[j] /= L[j, j]
    for j in range(len(L) - 1, -1, -1):
        for t in range(j + 1, len(L)):
            x[j] -= L[t, j] * x[t]
        x[j] /= L[j, j]


HELPERS = (
    residuals, relative_gap, complementarity, directions, longest_step,
    column_sums, combination, normal_matrix, factorised, substituted,
)  # fmt: skip


@cache
def _kernel():
    """Compiled where numba is there; the same source without it."""
    tools = numba_tools()
    if tools is None:
        return _mehrotra
    for helper in HELPERS:
        tools.register_jitable(fastmath=REORDER)(helper)
    return compile_cached(tools, _mehrotra, fastmath=REORDER)
