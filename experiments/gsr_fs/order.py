"""Theorem 3: the order of convergence of Algorithm 1, measured from its iterates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import printed
from ..frame import Options, Task, load, standardised

DATA = "SEMEION"
CASES = {  # (r, p): a lambda at which some rows of W vanish and others stay
    (2.0, 1.0): 300.0,
    (2.0, 0.5): 30.0,
    (1.0, 1.0): 30.0,
    (1.0, 0.5): 10.0,
    (0.5, 0.5): 2.0,
    (0.5, 0.25): 2.0,
}
STEPS = 1000  # the last of them stands for the limit
NOISE = 1e-10  # relative errors below are rounding
ABOVE = 10.0  # times what is left in the second half, where the last step is no limit any more
SHOWN = 90  # points of the curve that is saved


def plan(options: Options) -> Iterator[Task]:
    cases = [(2.0, 0.5)] if options.quick else list(CASES)
    steps = 200 if options.quick else STEPS
    for r, p in cases:
        settings = {"part": "order", "r": r, "p": p, "lam": CASES[r, p], "steps": steps}
        yield Task(settings, lambda r=r, p=p: measure(r, p, CASES[r, p], steps))


def measure(r: float, p: float, lam: float, steps: int) -> dict[str, Any]:
    """Distances to the limit, on all rows and on those that vanish, and the orders they show."""
    table = load(DATA)
    X = standardised(table.X, table.X)[0]
    Y = printed.one_hot(table.y)
    iterates = printed.gsr_fs(X, Y, lam, r, p)
    points = [next(iterates) for _ in range(steps)]
    limit = points[-1]
    size = float(np.linalg.norm(limit))
    norms = printed.row_norms(limit)
    vanish = norms < 1e-8 * norms.max()
    distances = np.array([np.linalg.norm(W - limit) for W in points[:-1]]) / size
    vanishing = np.array([np.linalg.norm(W[vanish]) for W in points[:-1]]) / size
    shown = np.unique(np.geomspace(1, steps // 2, SHOWN).astype(int)) - 1
    return {
        "nonzero rows": int(np.count_nonzero(~vanish)),
        "order": order_of(distances),
        "ratio": ratio_of(distances),
        "order, vanishing rows": order_of(vanishing) if vanish.any() else None,
        "at": [int(k) + 1 for k in shown],
        "distances": [float(f"{e:.3g}") for e in distances[shown]],
        "vanishing": [float(f"{e:.3g}") for e in vanishing[shown]],
        "least distance": float(f"{np.median(distances[steps // 2 :]):.2g}"),
        "steps to 1e-6": int(np.argmax(distances < 1e-6)) + 1 if distances.min() < 1e-6 else None,
    }


def order_of(errors: np.ndarray) -> float | None:
    """Median over the last ten steps above rounding of log(e3/e2) / log(e2/e1): q in
    ``e_next = const * e**q``; 1 is linear convergence."""
    logs = np.log(_above_noise(errors))
    if logs.size < 4:
        return None
    falls = np.diff(logs)
    with np.errstate(divide="ignore", invalid="ignore"):
        orders = falls[1:] / falls[:-1]
    last = orders[-10:]
    last = last[np.isfinite(last)]
    return round(float(np.median(last)), 3) if last.size else None


def ratio_of(errors: np.ndarray) -> float | None:
    """How much of the error one step leaves, over the last ten above rounding."""
    kept = _above_noise(errors)
    if kept.size < 11:
        return None
    return round(float((kept[-1] / kept[-11]) ** 0.1), 4)


def _above_noise(errors: np.ndarray) -> np.ndarray:
    """The errors before the first that is rounding, or not far above the distance between the
    last steps: there the order would be that of two errors of the limit."""
    floor = max(NOISE, ABOVE * float(np.median(errors[errors.size // 2 :])))
    small = np.flatnonzero(errors <= floor)
    return errors[: small[0]] if small.size else errors
