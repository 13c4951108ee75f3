"""Algorithm 1 of Kong & Ding (2014) as printed, to show where it fails. Nothing else uses it.

The paper solves  min over v of 1/2 |v - b|**2 + rho max(v)**p  for magnitudes b. It takes the set S
of the k largest entries, starting with all of them, finds their common value by Newton's method
from (sum of S - rho)/k, and drops the smallest entry from S while that value exceeds it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rowsparse.penalties import LpInf

NEWTON_STEPS = 20  # "we obtain the optimal v after 20 iterations to machine precision"
COUNTEREXAMPLES = {
    "not a number: the first guess is negative": ((1.0,), 2.0, 0.5),
    "zero is lower: it is never compared with": ((1.0,), 0.6, 0.5),
    "Newton lands on a local maximum": ((3.0, 1.0), 3.5, 0.25),
    "another minimum is lower: the first fit is taken": ((10.0, *[1.0] * 7), 13.0, 0.7),
    "the same, plainer": ((10.0, *[1.0] * 30), 22.0, 0.5),
}


def algorithm_1(z: np.ndarray, rho: float, p: float) -> np.ndarray:
    """The printed algorithm for one row; for rho above the sum of b its p = 1 level is negative."""
    order = np.argsort(-np.abs(z), kind="stable")
    b = np.abs(z)[order]
    k = len(b)
    level = _common_value(b[:k], rho, p)
    while level > b[k - 1] and k > 1:
        k -= 1
        level = _common_value(b[:k], rho, p)
    v = b.copy()
    v[:k] = level
    out = np.empty_like(b)
    out[order] = v
    return np.sign(z) * out


def _common_value(b: np.ndarray, rho: float, p: float) -> float:
    """Theorem 3: Newton on ``sum (v - b_i) + rho p v**(p-1) = 0``."""
    v = np.float64((b.sum() - rho) / b.size)
    if p == 1:
        return v
    with np.errstate(all="ignore"):
        for _ in range(NEWTON_STEPS):
            slope = b.size * v - b.sum() + rho * p * v ** (p - 1)
            v = v - slope / (b.size + rho * p * (p - 1) * v ** (p - 2))
    return v


def height(u: np.ndarray, z: np.ndarray, rho: float, p: float) -> float:
    """The objective of the prox."""
    t = np.abs(u).max()
    return 0.5 * float(np.sum((u - z) ** 2)) + (rho * t**p if t > 0 else 0.0)


def exact(z: np.ndarray, rho: float, p: float) -> np.ndarray:
    """The global minimiser."""
    return LpInf(rho, p=p).prox(z[None], 1.0)[0]


def error_rates(n_rows: int = 5000, seed: int = 0) -> list[tuple[float, float, float, float]]:
    """Per p: the share of rows without a number, with a worse point, and the largest excess."""
    table = []
    for p in (0.1, 0.25, 0.5, 0.75, 1.0):
        rng = np.random.default_rng(seed)
        broken, worse, largest = 0, 0, 0.0
        for _ in range(n_rows):
            z = rng.standard_normal(rng.integers(2, 12))
            rho = 10.0 ** rng.uniform(-2, 1)
            printed, best = algorithm_1(z, rho, p), height(exact(z, rho, p), z, rho, p)
            if not np.isfinite(printed).all():
                broken += 1
                continue
            excess = height(printed, z, rho, p) / best - 1
            worse += excess > 1e-9
            largest = max(largest, excess)
        table.append((p, broken / n_rows, worse / n_rows, largest))
    return table


def measure() -> dict[str, Any]:
    """The counterexamples and the error rates."""
    examples = []
    for name, (b, rho, p) in COUNTEREXAMPLES.items():
        z = np.array(b)
        cells = [name, _row(z), f"{rho:g}", f"{p:g}"]
        for u in (algorithm_1(z, rho, p), exact(z, rho, p)):
            cells += [_row(u), f"{height(u, z, rho, p):.4f}"]
        examples.append(cells)
    return {"examples": examples, "rates": error_rates()}


def _row(values: np.ndarray) -> str:
    if len(values) > 3 and np.ptp(values[1:]) == 0:
        return f"({values[0]:.4g}, {values[1]:.4g} × {len(values) - 1})"
    return "(" + ", ".join(f"{value:.4g}" for value in values) + ")"
