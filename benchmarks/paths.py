"""Paths: seconds of CPU of 50 alphas against the smallest alone, and of fits down to k rows.

python benchmarks/paths.py [data set ...]      (default: ALLAML TOX_171 ISOLET1)
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rowsparse import L2pSelector
from rowsparse.paths import alpha_path
from rowsparse.solvers import solve

DATA = Path(os.environ.get("ROWSPARSE_DATA", "../shared/data"))


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(DATA / f"{name}.npz") as archive:
        return np.asarray(archive["X"], dtype=float), archive["y"]


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    result = call()
    return time.process_time() - began, result


def grid_line(name: str, X: np.ndarray, y: np.ndarray, p: float) -> str:
    """50 alphas from alpha_max to a fiftieth of it, and the smallest alone, both from scratch."""
    problem, solver = L2pSelector(p=p).problem_and_solver(X, y)
    top = problem.alpha_max()
    grid = np.geomspace(top, top / 50, 50)
    whole, path = timed(lambda: alpha_path(problem, solver, grid))
    fresh, solver = L2pSelector(p=p).problem_and_solver(X, y)
    alone, last = timed(lambda: solve(fresh.with_alpha(grid[-1]), solver, "best"))
    values = f"{path[-1].objective:.6g} | {last.objective:.6g}"
    return f"| {name} | {p} | {whole:.2f} | {alone:.2f} | {whole / alone:.1f} | {values} |"


def k_line(name: str, X: np.ndarray, y: np.ndarray, k: int, r: float) -> str:
    seconds, fitted = timed(lambda: L2pSelector(k, r=r, p=0.5).fit(X, y))
    rows = np.count_nonzero(fitted.scores_)
    objective = fitted.solution_.objective
    return (
        f"| {name} | {k} | {r} | {seconds:.2f} | {rows} | {objective:.6g} | {fitted.alpha_:.4g} |"
    )


def main(names: list[str]) -> None:
    sets = {name: load(name) for name in names}
    for X, y in sets.values():  # compiles
        L2pSelector(3, r=1.0).fit(X[::3, :300], y[::3])
        L2pSelector(alpha=0.05, p=1.0).fit(X[::3, :300], y[::3])
    lines = ["| data | p | 50 alphas | smallest | ratio | last objective | alone |"]
    lines += [grid_line(name, *data, p) for name, data in sets.items() for p in (1.0, 0.5)]
    lines += ["", "| data | k | r | seconds | rows | objective | alpha |"]
    lines += [k_line(name, *data, 10, r) for name, data in sets.items() for r in (1.0, 2.0)]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:] or ["ALLAML", "TOX_171", "ISOLET1"])
