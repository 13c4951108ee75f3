r"""One support vector machine by an interior point: Mehrotra's predictor-corrector on the dual

    max over a of  sum_i t_i a_i - 1/2 a'Q a   with 0 <= a <= c and A'a = -h,   Q = y y' * B B'

with A = y F (``solve`` has the primal, and where targets t other than 1 and h come from). The
multipliers are measured in units of the largest c, so that the start suits every c. A step
(da, dv) of Newton's method solves, with a diagonal D > 0,

    (unit Q + D) da + A dv = right        A'da = -(A'a + h).

Given the n x n matrix K = B B', P is the inverse of unit Q + D and M = A. Given B itself, whose
columns V = y B may be far fewer than samples, P is the inverse of D and M = [V, A], since
``x = (unit V'da, dv)`` then takes the place of unit Q. Both ways

    (M'P M + diag(1/unit, ..., 0)) x = M'P right + (0, A'a + h)        da = P (right - M x).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..compiling import LazyKernel
from ..rounding import NEGLIGIBLE
from ..rows import NEWTON_STEPS

PATIENCE = 6  # steps without a smaller gap that mean the end of precision, where the gap is
CLOSE_ENOUGH = 1e-4  # at most this; before, it may rise for longer where nothing costs anything


class Multipliers(NamedTuple):
    """Multipliers a of the samples, coefficients v of the free columns, and the duality gap as a
    fraction of the objective."""

    a: np.ndarray
    v: np.ndarray
    gap: float


def solved(
    matrix: np.ndarray,
    is_gram: bool,
    F: np.ndarray,
    y: np.ndarray,
    c: np.ndarray,
    tol: float = NEGLIGIBLE,
    target: np.ndarray | None = None,
    balance: np.ndarray | None = None,
    size: float = 0.0,
    least: float = 1e-300,
    near: np.ndarray | None = None,
) -> Multipliers:
    """Through ``K = B B'`` by n x n factorisations, or through B (n x m) itself by m x m ones, in
    time and memory linear in n.

    The gap is a fraction of ``size`` if given, else of the objective or of ``least``. ``near`` is
    where to start; the steps end at a gap of ``tol``, or where precision ends.
    """
    n, n_free = F.shape
    Q = np.empty((0, 0))
    M = y * F.T
    if is_gram:
        Q = y[:, None] * matrix * y
    else:
        V = y * matrix.T
        M = np.vstack([V, M])
    if target is None:
        target = np.ones(n)
    if balance is None:
        balance = np.zeros(n_free)
    unit = float(c.max())
    # well inside the box, as every step has to stay
    start = c / 2 if near is None else np.clip(near, 0.1 * c, 0.9 * c)
    a, v, gap = _MEHROTRA(
        Q,
        np.ascontiguousarray(M),
        len(M) - n_free,
        c / unit,
        unit,
        tol,
        target,
        balance / unit,
        size / unit,
        least / unit,
        start / unit,
    )
    return Multipliers(unit * a, v, gap)


def _mehrotra(Q, M, m, c, unit, tol, target, balance, size, least, a):
    """The point of smallest gap; M is transposed, Q empty where its first m rows stand for it.

    x is what M is multiplied with, ``(unit V'a, v)``: the margins are ``M'x``, and ``unit Q a``
    more where there is Q.
    """
    multipliers = np.ones(2 * len(c))  # of a >= 0, then of a <= c
    x = np.zeros(len(M))
    best_a = a
    best_v = x[m:]
    best_gap = math.inf
    since_best = 0
    for _ in range(NEWTON_STEPS):
        sums = M @ a
        for j in range(m):
            x[j] = unit * sums[j]
        margins = x @ M
        if Q.size:
            margins += unit * (Q @ a)
        missing = target - margins
        infeasible = sums[m:] + balance
        gap = relative_gap(a, c, target, missing, infeasible, balance, x[m:], size, least)
        since_best += 1
        if gap < best_gap:
            best_a = a.copy()
            best_v = x[m:].copy()
            best_gap = gap
            since_best = 0
        if gap <= tol or (since_best >= PATIENCE and best_gap <= CLOSE_ENOUGH):
            break
        D = curvature(a, c, multipliers)
        ok, P, PM, L = factorised(Q, M, m, unit, D)
        if not ok:
            break
        short = 0.1 if since_best < 2 else 0.9  # of a step: such a corrector is not taken
        da, dx, dmultipliers, length = newton_step(
            a, c, multipliers, missing, M, infeasible, P, D, PM, L, short
        )
        if not math.isfinite(da.sum()):
            break
        a += length * da
        multipliers += length * dmultipliers
        for j in range(m, len(M)):
            x[j] += length * dx[j]
    return best_a, best_v, best_gap


def relative_gap(a, c, target, missing, infeasible, balance, v, size, least):
    """Of the primal point that the multipliers define; what A'a + h lacks to zero belongs to it.

    ``|u|**2 = a'Q a`` is what the margins hold beside the free columns' part.
    """
    gain = a @ target
    squared = gain - a @ missing - (infeasible - balance) @ v
    primal = squared / 2 - balance @ v + c @ np.maximum(missing, 0.0)
    dual = gain - squared / 2
    apart = abs(primal - dual) + np.abs(infeasible).max()
    return apart / (size if size > 0 else max(abs(primal), least))


def slacks(a, c):
    """How far a is from 0 and from c; rounding may not turn that into zero."""
    return np.concatenate((a, np.maximum(c - a, 1e-15 * c)))


def curvature(a, c, multipliers):
    """The diagonal D that the bounds add to Q."""
    ratios = multipliers / slacks(a, c)
    return ratios[: len(a)] + ratios[len(a) :]


def factorised(Q, M, m, unit, D):
    """Whether all went well; the factor of P's inverse (D alone without Q), P M, and the factor of
    the system of x.

    Without Q the first m rows of x take its place, hence 1/unit on the diagonal of their system.
    """
    P = np.empty((0, 0))
    PM = M / D
    if Q.size:
        ok, P = lifted(unit * Q, D)
        if not ok:
            return False, P, PM, P
        PM = M.copy()
        for j in range(len(M)):
            substitute(P, PM[j])
    diagonal = np.zeros(len(M))
    diagonal[:m] = 1.0 / unit
    ok, L = lifted(PM @ M.T, diagonal)
    return ok, P, PM, L


def lifted(A, diagonal):
    """Whether ``A + diag(diagonal)`` has a Cholesky factor, and the factor; where rounding has made
    it indefinite, that of one with a larger diagonal, which leads on a little more slowly."""
    for lift in (0.0, 1e-14, 1e-12, 1e-10, 1e-8):
        raised = A.copy()
        for i in range(len(A)):
            raised[i, i] += diagonal[i] + lift * (A[i, i] + diagonal[i])
        try:
            return True, np.linalg.cholesky(raised)
        except Exception:  # all that a compiled function can catch; here: not positive definite
            continue
    return False, A


def newton_step(a, c, multipliers, missing, M, infeasible, P, D, PM, L, short):
    """Changes of a, of x and of the multipliers, and how much of them keeps all of it positive.

    The predictor aims at multipliers * slack = 0; how far it gets says what the corrector aims at,
    which also knows the second order of that product. Where that is a short step, blocked by a
    bound or going round in circles, one towards the middle leads on (3 of 3000 drawn machines).
    """
    n = len(a)
    slack = slacks(a, c)
    product = multipliers * slack
    mu = product.sum() / (2 * n)
    change = -product
    for attempt in range(3):
        pull = multipliers + change / slack
        plain = weighed(P, D, missing + pull[:n] - pull[n:])
        dx = M @ plain
        for j in range(len(infeasible)):
            dx[len(M) - len(infeasible) + j] += infeasible[j]
        substitute(L, dx)
        da = plain - dx @ PM
        dslack = np.concatenate((da, -da))
        dmultipliers = (change - multipliers * dslack) / slack
        fall = np.maximum(-dslack / slack, -dmultipliers / multipliers)
        longest = 1.0 / max(fall.max(), 1.0)
        if attempt == 0:  # the predictor
            left = (slack + longest * dslack) @ (multipliers + longest * dmultipliers) / (2 * n)
            change = mu * (left / mu) ** 3 - product - dslack * dmultipliers
        elif longest > short:
            break
        else:
            change = 0.5 * mu - product
    return da, dx, dmultipliers, 0.995 * longest


def weighed(P, D, right):
    """P times a vector."""
    if not P.size:
        return right / D
    out = right.copy()
    substitute(P, out)
    return out


def substitute(L, x):
    """Solve ``L L'x = x`` in place, L lower triangular."""
    for j in range(len(L)):  # L z = x
        row = L[j]
        left = x[j]
        for t in range(j):
            left -= row[t] * x[t]
        x[j] = left / row[j]
    for j in range(len(L) - 1, -1, -1):  # L'x = z
        row = L[j]
        x[j] /= row[j]
        for t in range(j):
            x[t] -= row[t] * x[j]


_MEHROTRA = LazyKernel(_mehrotra)
