"""dask-ml's linear regression with an l1 penalty on one output, and its objective and CPU seconds.

    python benchmarks/scale/dask_ml_rival.py FOLDER/1000000x100.npy

In an environment of its own, with dask-ml; without dask-ml it fits rowsparse instead. The table and
its Y are those of generate.py; a tenth of alpha_max, no scaling, on Dask's threads. dask-ml adds
squares up where we take half their mean, so that its 1/C is 2 n alpha.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np

CHUNK_ROWS = 50_000


def objective(X: Any, y: np.ndarray, coef: np.ndarray, intercept: float, alpha: float) -> float:
    total = 0.0
    for start in range(0, len(X), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        total += float(np.sum((X[rows] @ coef + intercept - y[rows]) ** 2))
    return total / (2 * len(X)) + alpha * float(np.abs(coef).sum())


def alpha_of(X: Any, y: np.ndarray) -> float:
    """A tenth of the smallest that selects nothing."""
    means = np.mean(X, axis=0, dtype=float)
    products = X.T @ (y - y.mean()).astype(X.dtype)
    return 0.1 * float(np.abs(products - means * (y - y.mean()).sum()).max()) / len(X)


def contestants(alpha: float, n: int) -> dict[str, Any]:
    if importlib.util.find_spec("dask_ml") is None:
        from rowsparse import L2pSelector

        return {"rowsparse": L2pSelector(alpha=alpha, p=1, standardize=False)}
    from dask_ml.linear_model import LinearRegression

    known = {"penalty": "l1", "C": 1 / (2 * n * alpha)}
    return {
        f"dask-ml, {solver}": LinearRegression(solver=solver, **known)
        for solver in ("proximal_grad", "admm")
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    path = parser.parse_args().path
    X = np.load(path, mmap_mode="r")
    y = np.load(path.with_name(f"{path.stem}.y.npy"))[:, 0].astype(float)
    y /= y.std()
    alpha = alpha_of(X, y)
    lazy = da.from_array(X, chunks=(CHUNK_ROWS, -1))
    for name, model in contestants(alpha, len(X)).items():
        y_held = y if name == "rowsparse" else da.from_array(y, chunks=CHUNK_ROWS)
        with dask.config.set(scheduler="threads"):
            began = time.process_time()
            model.fit(lazy, y_held)
            cpu = time.process_time() - began
        found = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
        value = objective(X, y, *found, alpha)
        print(json.dumps({"who": name, "cpu": round(cpu, 2), "objective": value}), flush=True)


if __name__ == "__main__":
    main()
