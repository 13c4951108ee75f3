r"""The support vector machine whose bias (and other free columns) is not penalised, by an interior
point.

    min over u, v of  1/2 |u|**2 + sum_i c_i max(0, 1 - y_i (b_i'u + f_i'v))

with B (n x m) the penalised columns and F (n x f) the free ones. Its dual is

    max over a of  sum_i a_i - 1/2 |B'(y a)|**2   with 0 <= a <= c and F'(y a) = 0;   u = B'(y a).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..systems import cholesky_solver
from .interior_columns import STEP_BACK, TINY, few_columns, suits

MAX_STEPS = 60
PATIENCE = 4  # steps without a smaller gap
MAX_READINGS = 8  # of which multipliers are 0, c or between
EXACT = 1e-10  # a gap that leaves about half as many digits of u


def hinge_sum(Z: np.ndarray, Y: np.ndarray, c: np.ndarray) -> float:
    """``sum_ik c_i max(0, 1 - y_ik z_ik)``."""
    return float(c @ np.maximum(1.0 - Y * Z, 0.0).sum(axis=1))


def best_offset(z: np.ndarray, y: np.ndarray, c: np.ndarray) -> float:
    """The b that minimises ``sum_i c_i max(0, 1 - y_i (z_i + b))``, exactly.

    The sum is piecewise linear in b with kinks at y_i - z_i. Where its minimum is an interval the
    middle is taken, as libsvm does; with both classes present the interval is bounded.
    """
    kinks = y - z
    order = np.argsort(kinks, kind="stable")
    slopes = np.cumsum(c[order]) - c[y > 0].sum()  # right of each kink
    flat = 1e-9 * c.sum()
    first = int(np.argmax(slopes >= -flat))
    last = int(np.argmax(slopes > flat))
    return float(kinks[order[first]] + kinks[order[last]]) / 2


@dataclass(frozen=True)
class MarginSolution:
    """Multipliers a of the samples, coefficients v of the free columns, and the duality gap as a
    fraction of the objective."""

    a: np.ndarray
    v: np.ndarray
    gap: float


@dataclass(frozen=True)
class Inner:
    """``K = B B'`` through K itself or through B, whichever there is."""

    K: np.ndarray | None = None
    B: np.ndarray | None = None

    @property
    def rank(self) -> int:
        """At most that of K."""
        return len(self.K) if self.B is None else self.B.shape[1]  # type: ignore[arg-type]

    def among(self, f: np.ndarray) -> np.ndarray:
        """K of some samples."""
        if self.B is None:
            assert self.K is not None
            return self.K[f[:, None], f]
        return self.B[f] @ self.B[f].T

    def apply(self, v: np.ndarray) -> np.ndarray:
        """K v."""
        return self.K @ v if self.B is None else self.B @ (self.B.T @ v)


def refined(
    inner: Inner, F, y: np.ndarray, c: np.ndarray, a: np.ndarray, near=1e-8, thorough=True
) -> MarginSolution:
    """Exact multipliers from approximate ones.

    Which multipliers are 0, c or between is read off a (to ``near``); those between solve a linear
    system, whose answer corrects the reading, a few times. The gap says whether it is right.
    ``thorough`` tries again for systems that equal samples have made singular.
    """
    upper = a >= (1 - near) * c
    inside = (a > near * c) & ~upper
    best = MarginSolution(a, np.zeros(F.shape[1]), np.inf)
    for solve in (_solve, _solve_singular) if thorough else (_solve,):
        tried = _readings(inner, F, y, c, upper, inside, solve)
        best = tried if tried.gap < best.gap else best
        if best.gap <= EXACT:
            break
    return best


def _readings(inner: Inner, F, y, c, upper, inside, solve) -> MarginSolution:
    best = MarginSolution(c, np.zeros(F.shape[1]), np.inf)
    most = 2 * (inner.rank + F.shape[1])  # without ties no more than half of that are inside
    for _ in range(MAX_READINGS):
        if np.count_nonzero(inside) > most:
            break
        try:
            a, v, z = _between(inner, F, y, c, upper, inside, solve)
        except np.linalg.LinAlgError:
            break
        margins = y * (z + F @ v)
        gap = _gap_of(a, c, margins)
        if gap < best.gap:
            best = MarginSolution(np.clip(a, 0.0, c), v, gap)
        too_large, negative = inside & (a > c), inside & (a < 0)
        free = (~upper & ~inside & (margins < 1 - 1e-9)) | (upper & (margins > 1 + 1e-9))
        if gap <= EXACT or not (too_large.any() or negative.any() or free.any()):
            break
        upper, inside = (upper & ~free) | too_large, (inside | free) & ~too_large & ~negative
    return best


def _between(inner: Inner, F, y, c, upper, inside, solve):
    """Multipliers, coefficients of F, and ``K (y a)``, if those inside have margin one."""
    signed = y * np.where(upper, c, 0.0)
    f, n_free = np.flatnonzero(inside), F.shape[1]
    if not f.size:
        z = inner.apply(signed)
        return y * signed, np.append(best_offset(z, y, c), np.zeros(n_free - 1)), z
    system = np.zeros((f.size + n_free, f.size + n_free))
    system[: f.size, : f.size] = inner.among(f)
    system[: f.size, f.size :], system[f.size :, : f.size] = F[f], F[f].T
    fixed = inner.apply(signed)[f] if upper.any() else 0.0
    solved = solve(system, np.concatenate([y[f] - fixed, -F.T @ signed]))
    signed[f] = solved[: f.size]
    return y * signed, solved[f.size :], inner.apply(signed)


def _solve(system: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.linalg.solve(system, right)


def _solve_singular(system: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Equal samples make the system singular; the shortest solution shares between them."""
    return np.linalg.lstsq(system, right, rcond=1e-11)[0]


def _gap_of(a: np.ndarray, c: np.ndarray, margins: np.ndarray) -> float:
    """Duality gap plus what a lies outside its box, as a fraction of the primal objective.

    ``F'(y a) = 0`` makes ``a'margins`` the squared norm |u|**2.
    """
    squared = float(a @ margins)
    primal = squared / 2 + float(c @ np.maximum(1.0 - margins, 0.0))
    outside = float(np.maximum(np.maximum(-a, a - c), 0.0).sum())
    return (abs(primal - float(a.sum()) + squared / 2) + outside) / max(abs(primal), 1e-300)


@dataclass
class _Point:
    """A strictly interior point: a, the multipliers of the free columns, of a >= 0 and a <= c."""

    a: np.ndarray
    v: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def moved(self, step: _Point, length: float) -> _Point:
        return _Point(
            self.a + length * step.a,
            self.v + length * step.v,
            self.low + length * step.low,
            self.high + length * step.high,
        )


def interior_point(
    apply: Callable[[np.ndarray], np.ndarray],
    factor: Callable[[np.ndarray], Callable[[np.ndarray], np.ndarray]],
    F: np.ndarray,
    y: np.ndarray,
    c: np.ndarray,
    tol: float = 1e-8,
) -> MarginSolution:
    """Mehrotra's predictor-corrector method on the dual.

    ``apply(a)`` is Q a with ``Q = y y' * B B'`` and ``factor(D)`` returns a solver with
    ``Q + diag(D)``; see ``by_samples`` and ``by_features``. The multipliers are measured in units
    of the largest c, so that the start suits every c.
    """
    unit = float(c.max())
    c = c / unit
    A = y[:, None] * F
    point = _Point(c / 2, np.zeros(F.shape[1]), np.ones(len(y)), np.ones(len(y)))
    best, best_gap, since_best = point, np.inf, 0
    for _ in range(MAX_STEPS):
        Qa = unit * apply(point.a)
        gap = _relative_gap(point, Qa, A, c)
        since_best += 1
        if gap < best_gap:
            best, best_gap, since_best = point, gap, 0
        if gap <= tol or since_best == PATIENCE:  # rounding allows no more
            break
        step = _newton_step(point, Qa, A, c, factor, unit)
        if step is None or not np.isfinite(step.a).all():
            break
        point = point.moved(step, STEP_BACK * _longest(point, step, c))
    return MarginSolution(unit * best.a, best.v, best_gap)


def _relative_gap(point: _Point, Qa, A, c) -> float:
    """Of the clipped multipliers against the primal point that they define."""
    quadratic = float(point.a @ Qa) / 2
    slack = np.maximum(1.0 - Qa - A @ point.v, 0.0)
    primal = quadratic + float(c @ slack)
    infeasible = float(np.abs(A.T @ point.a).max(initial=0.0))
    dual = float(point.a.sum()) - quadratic
    return (abs(primal - dual) + infeasible) / max(abs(primal), 1e-300)


def _newton_step(point: _Point, Qa, A, c, factor, unit: float) -> _Point | None:
    room = np.maximum(c - point.a, TINY * c)
    D = point.low / point.a + point.high / room
    try:
        solve_scaled = factor(D / unit)
        through_A = solve_scaled(A) / unit
        solve_schur = cholesky_solver(A.T @ through_A)
    except np.linalg.LinAlgError:
        return None
    stationarity = 1.0 - Qa - A @ point.v + point.low - point.high
    infeasibility = -A.T @ point.a

    def direction(low_target, high_target) -> _Point:
        right = stationarity + low_target / point.a - high_target / room
        plain = solve_scaled(right) / unit
        dv = solve_schur(A.T @ plain - infeasibility)
        da = plain - through_A @ dv
        low = (low_target - point.low * da) / point.a
        high = (high_target + point.high * da) / room
        return _Point(da, dv, low, high)

    low_product, high_product = point.low * point.a, point.high * room
    affine = direction(-low_product, -high_product)
    length = _longest(point, affine, c)
    moved = point.moved(affine, length)
    mu = (low_product.sum() + high_product.sum()) / (2 * len(c))
    affine_mu = (moved.low @ moved.a + moved.high @ (c - moved.a)) / (2 * len(c))
    target = mu * (affine_mu / mu) ** 3
    return direction(
        target - low_product - affine.low * affine.a,
        target - high_product + affine.high * affine.a,
    )


def _longest(point: _Point, step: _Point, c: np.ndarray) -> float:
    """The longest step, at most 1, that stays inside the box and keeps multipliers positive."""
    values = np.concatenate([point.a, c - point.a, point.low, point.high])
    changes = np.concatenate([step.a, -step.a, step.low, step.high])
    falling = changes < 0
    return float(min(1.0, (values[falling] / -changes[falling]).min(initial=np.inf)))


def by_samples(K: np.ndarray, F: np.ndarray, y: np.ndarray, c: np.ndarray, tol: float = 1e-8):
    """The problem through ``K = B B'``: n x n factorisations."""
    Q = y[:, None] * K * y

    def factor(D):
        shifted = Q.copy()
        shifted[np.diag_indices_from(shifted)] += D
        return cholesky_solver(shifted)

    return interior_point(lambda a: Q @ a, factor, F, y, c, tol)


def by_features(B: np.ndarray, F: np.ndarray, y: np.ndarray, c: np.ndarray, tol: float = 1e-8):
    """The problem through B itself: m x m factorisations, time and memory linear in n."""
    V = y[:, None] * B
    if suits(V.shape[1]):
        return MarginSolution(*few_columns(V, y[:, None] * F, c, tol, MAX_STEPS, PATIENCE))

    def factor(D):
        VD = V / D[:, None]
        inner = V.T @ VD
        inner[np.diag_indices_from(inner)] += 1.0
        solve_inner = cholesky_solver(inner)

        def solve(R):
            plain = (R.T / D).T
            return plain - VD @ solve_inner(V.T @ plain)

        return solve

    return interior_point(lambda a: V @ (V.T @ a), factor, F, y, c, tol)
