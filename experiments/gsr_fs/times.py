"""Section 5.3: time at lambda = 1, every penalised method until J changes by less than 1e-4."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rowsparse import L2pSelector, ScoreSelector
from rowsparse.solvers import IRLS, BlockDescent

from .. import printed
from ..frame import Options, Task, load, standardised
from .accuracy import COST_ORDER, alpha_of
from .published import TIMED

LAM, CHANGE, TOP = 1.0, 1e-4, 100  # the paper's
EXPONENTS = {  # r = 2 for GSR-FS, as in the paper
    "RFS": (1.0, 1.0), "E-RFS": (0.5, 0.5), "RK1U": (2.0, 0.5), "GSR p=1": (2.0, 1.0),
    "GSR p=.75": (2.0, 0.75), "GSR p=.5": (2.0, 0.5), "GSR p=.25": (2.0, 0.25),
}  # fmt: skip
FILTERS = {"ReliefF": "relieff", "mRMR": "mrmr"}
COUNTING = 2.0  # CPU seconds for the number of steps; beyond, it is a lower bound
STEPPING = 0.5  # CPU seconds for the time of a step, but at least two steps
NOT_TIMED = {  # 120 classes: GSR p=.5 alone takes half a CPU minute
    "AR": ("RFS", "E-RFS", "RK1U", "GSR p=1", "GSR p=.75", "GSR p=.25"),
}
LARGEST = 1e11  # operations of a step; larger ones are timed on fewer samples and scaled


def plan(options: Options) -> Iterator[Task]:
    names = ["SEMEION"] if options.quick else COST_ORDER
    methods = ["mRMR", "E-RFS", "GSR p=.5"] if options.quick else TIMED
    for name in names:
        for method in [method for method in methods if method not in NOT_TIMED.get(name, ())]:
            settings = {"part": "times", "data": name, "method": method}
            yield Task(settings, lambda n=name, m=method: measure(n, m))


def measure(name: str, method: str) -> dict[str, Any]:
    """CPU seconds of ours, and of the printed iteration measured or projected."""
    table = load(name)
    X = standardised(table.X, table.X)[0]
    if method in FILTERS:
        selector = ScoreSelector(FILTERS[method], n_features_to_select=TOP)
        return {"ours": round(_seconds(lambda: selector.fit(X, table.y)), 3)}
    Y = printed.one_hot(table.y)
    r, p = EXPONENTS[method]
    steps, complete, J = _steps_needed(X, Y, r, p, method)
    step = _step_seconds(X, Y, r, p, method)
    found = {"steps": steps, "steps complete": complete, "step": step, "J printed": J}
    return {"samples": len(X), **found, **_ours(X, Y, table.y, r, p, J)}


def _ours(X, Y, y, r: float, p: float, J: float) -> dict[str, Any]:
    """The library at the same problem: reweighting to the same rule, and its own solver."""
    alpha = alpha_of(LAM, r, p, y)
    fixed = {"standardize": False, "fit_intercept": False, "init": "zero"}
    solvers = {
        "ours": IRLS(tol=CHANGE / J, max_iter=1000),  # its tol is relative
        "default solver": BlockDescent(time_limit=8),
    }
    found: dict[str, Any] = {}
    for label, solver in solvers.items():
        selector = L2pSelector.gsr(alpha=alpha, r=r, p=p, solver=solver, **fixed)
        few = slice(None, None, max(1, len(X) // 100))  # of all classes: rows are sorted by them
        selector.fit(X[few], y[few])  # the compiler is not timed
        found[label] = round(_seconds(lambda s=selector: s.fit(X, y)), 3)
        W = np.atleast_2d(selector.coef_).T
        if W.shape[1] < Y.shape[1]:  # two classes have one output
            W = np.hstack([-W, W])
        found[f"J {label}"] = printed.objective(X, Y, W, LAM, r, p)
        found[f"status {label}"] = selector.solution_.status
    return found


def _steps_needed(X, Y, r: float, p: float, method: str) -> tuple[int, bool, float]:
    """Steps of the printed iteration to its rule, counted on the same iterates made cheaply."""
    if method == "RK1U":
        iterates = printed.rank_one(X, Y, LAM, p)
    else:
        iterates = printed.cheaper(X, Y, LAM, r, p)
    began = time.process_time()
    previous, count = np.inf, 0
    while True:
        try:
            W = next(iterates)
        except np.linalg.LinAlgError:  # the printed system has become singular
            return count, False, previous
        current = printed.objective(X, Y, W, LAM, r, p)
        count += 1
        if abs(previous - current) < CHANGE:
            return count, True, current
        if time.process_time() - began > COUNTING:
            return count, False, current
        previous = current


def _step_seconds(X, Y, r: float, p: float, method: str) -> dict[str, Any]:
    """CPU seconds of one printed step, by its operations where that would take too long."""
    n, d = X.shape
    operations = _operations(method, Y.shape[1])
    size = n
    while operations(size, d) > LARGEST:
        size = int(0.9 * size)
    A, B = X[:size], Y[:size]
    if method == "RK1U":
        iterates = printed.rank_one(A, B, LAM, p)
    elif method in ("RFS", "E-RFS"):
        iterates = printed.l2p(A, B, LAM ** (1 / p), p)
    else:
        iterates = printed.gsr_fs(A, B, LAM, r, p)
    began = time.process_time()
    count = 0
    while count < 2 or (time.process_time() - began < STEPPING and count < 20):
        next(iterates)
        count += 1
    seconds = (time.process_time() - began) / count
    scale = operations(n, d) / operations(size, d)
    return {"seconds": round(seconds * scale, 4), "samples": size}


def _operations(method: str, c: int) -> Callable[[int, int], float]:
    """Multiplications of the leading parts of a printed step for n samples and d features."""
    if method == "RK1U":
        return lambda n, d: 4.0 * n * d * c
    if method in ("RFS", "E-RFS"):
        return lambda n, d: 2.0 * n * n * (n + d) + 2 / 3 * n**3
    return lambda n, d: 2.0 * n * d * d + 2 / 3 * d**3


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
