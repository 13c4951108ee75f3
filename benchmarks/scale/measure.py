"""What X in blocks costs: python benchmarks/scale/measure.py gram | wide | rivals | rate FOLDER

Prints one JSON line per contestant: CPU seconds (of all threads, best of the repetitions), and what
else the question asks for. Data is generated into FOLDER and stays there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from memory import peak_bytes, reset_peak
from scale.generate import generate

REPEATS = 5
BLOCK_BYTES = 64 << 20  # of the blocks of a store
BLOCK_ROWS = 20_000  # of the loops that are compared with
N_CLASSES = 5
N_EPOCHS = 2
SAMPLE = 100_000  # rows that MultiTaskLasso is given


def say(**facts: Any) -> None:
    rounded = {k: round(v, 4) if isinstance(v, float) else v for k, v in facts.items()}
    print(json.dumps(rounded), flush=True)


def timed(call: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """CPU seconds of the fastest call, and its answer."""
    best = np.inf
    for _ in range(repeats):
        began = time.process_time()
        answer = call()
        best = min(best, time.process_time() - began)
    return float(best), answer


def table(folder: Path, rows: int, columns: int, outputs: int) -> Path:
    path = folder / f"{rows}x{columns}.npy"
    if not path.exists():
        generate(path, rows, columns, outputs)
    return path


def gram(folder: Path) -> None:
    """X'X of 150,000 x 400 float32: a NumPy loop over a memory map, and the passes here."""
    import dask
    import dask.array as da

    from rowsparse import open_rows
    from rowsparse.designs import as_design

    path = table(folder, 150_000, 400, 1)
    X = np.load(path, mmap_mode="r")
    weights = np.ones(len(X))
    Y = np.zeros((len(X), 0))
    lazy = da.from_array(X, chunks=(BLOCK_ROWS, -1))

    def loop(dtype: Any) -> np.ndarray:
        total = np.zeros((X.shape[1], X.shape[1]))
        for start in range(0, len(X), BLOCK_ROWS):
            block = X[start : start + BLOCK_ROWS].astype(dtype, copy=False)
            total += block.T @ block
        return total

    def here(held: Any) -> np.ndarray:
        with dask.config.set(scheduler="threads"):
            known = as_design(held).summarise(weights, Y, diagonal_only=False).moments
        return known.products + known.total * np.outer(known.means, known.means)

    exact = loop(np.float64)
    contestants = {
        "NumPy loop, products in float32": lambda: loop(np.float32),
        "NumPy loop, products in float64": lambda: loop(np.float64),
        "rowsparse, npy in blocks": lambda: here(open_rows(path)),
        "rowsparse, Dask threads": lambda: here(lazy),
        "Dask's own X.T @ X (float32)": lambda: (lazy.T @ lazy).compute(scheduler="threads"),
    }
    for name, call in contestants.items():
        call()
        before = reset_peak()
        cpu, found = timed(call, REPEATS)
        error = float(np.abs(found - exact).max() / np.abs(exact).max())
        above = peak_bytes() - before
        say(question="gram", who=name, cpu=cpu, peak_above=above, error=f"{error:.1e}")


def wide(folder: Path) -> None:
    """1,000 x 100,000: what a fit takes in memory beside X."""
    from rowsparse import L2pSelector, open_rows

    path = table(folder, 1_000, 100_000, 5)
    Y = np.load(path.with_name(f"{path.stem}.y.npy"))
    in_memory = np.load(path)
    for name, held in (("float32 in memory", in_memory), ("npy in blocks", open_rows(path))):
        warm = in_memory[:, :500]
        L2pSelector(5).fit(warm, Y)
        before = reset_peak()
        cpu, fitted = timed(lambda held=held: L2pSelector(50).fit(held, Y))
        say(question="wide", who=name, cpu=cpu, peak_above=peak_bytes() - before,
            n_passes=fitted.solution_.n_passes, bytes_of_x=in_memory.nbytes)  # fmt: skip


def rate(folder: Path) -> None:
    """Bytes of float32 that one processor works through in a second, by the number of columns."""
    from rowsparse.designs.moments import summary

    rng = np.random.default_rng(0)
    for columns in (100, 400, 1000, 3000, 5000):
        X = rng.standard_normal((BLOCK_BYTES // (4 * columns), columns)).astype(np.float32)
        Y = rng.standard_normal((len(X), 5))
        direction = rng.standard_normal(columns)
        for name, diagonal in (("products", False), ("sums alone", True)):
            given = (diagonal, direction, np.ones(len(X)), Y)
            cpu, _ = timed(lambda given=given, X=X: summary(X, *given), REPEATS)
            say(question="rate", columns=columns, who=name, gb_per_cpu_second=X.nbytes / cpu / 1e9)


def rivals(folder: Path) -> None:
    """5,000,000 x 100, five classes or one output: objectives on all rows, and CPU seconds."""
    path = table(folder, 5_000_000, 100, N_CLASSES)
    X = np.load(path, mmap_mode="r")
    Y = np.load(path.with_name(f"{path.stem}.y.npy")).astype(float)
    labels = Y.argmax(axis=1)
    signs = np.where(labels[:, None] == np.arange(N_CLASSES), 1.0, -1.0)
    _compare(path, X, signs, labels, "five classes")
    _compare(path, X, Y[:, :1] / Y[:, 0].std(), None, "one output")


def _compare(path: Path, X: Any, Y: np.ndarray, labels: np.ndarray | None, what: str) -> None:
    from sklearn.linear_model import MultiTaskLasso, SGDRegressor

    from rowsparse import L2pSelector, open_rows

    rows = open_rows(path)
    y = Y[:, 0] if labels is None else labels
    selector = L2pSelector(p=1, standardize=False)  # as the rivals have it

    def ours() -> tuple[np.ndarray, np.ndarray]:
        fitted = selector.fit(rows, y)
        return fitted.coef_, fitted.intercept_

    cpu, found = timed(ours)
    alpha = selector.alpha_
    passes = selector.solution_.n_passes
    say(question=what, who="rowsparse, npy in blocks", cpu=cpu, alpha=alpha,
        objective=_objective(X, Y, *found, alpha), n_passes=passes)  # fmt: skip

    def sample() -> tuple[np.ndarray, np.ndarray]:
        few = np.sort(np.random.default_rng(0).choice(len(X), SAMPLE, replace=False))
        model = MultiTaskLasso(alpha=alpha).fit(np.asarray(X[few], dtype=float), Y[few])
        return model.coef_, model.intercept_

    cpu, found = timed(sample)
    say(question=what, who=f"MultiTaskLasso on {SAMPLE:,} rows", cpu=cpu,
        objective=_objective(X, Y, *found, alpha))  # fmt: skip
    models = [SGDRegressor(penalty="l1", alpha=alpha, random_state=0) for _ in Y.T]
    spent = 0.0
    for epoch in range(1, N_EPOCHS + 1):

        def once() -> None:
            for start in range(0, len(X), 50 * BLOCK_ROWS):
                block = np.asarray(X[start : start + 50 * BLOCK_ROWS], dtype=float)
                for model, column in zip(models, Y.T, strict=True):
                    model.partial_fit(block, column[start : start + 50 * BLOCK_ROWS])

        cpu, _ = timed(once)
        spent += cpu
        W = np.vstack([model.coef_ for model in models])
        b = np.concatenate([model.intercept_ for model in models])
        say(question=what, who=f"SGD with penalty='l1', {epoch} epochs", cpu=spent,
            objective=_objective(X, Y, W, b, alpha))  # fmt: skip


def _objective(
    X: Any, Y: np.ndarray, coef: np.ndarray, intercept: np.ndarray, alpha: float
) -> float:
    total = 0.0
    for start in range(0, len(X), BLOCK_ROWS):
        Z = X[start : start + BLOCK_ROWS] @ coef.T + intercept
        total += np.sum((Z - Y[start : start + BLOCK_ROWS]) ** 2)
    return float(total / (2 * len(X)) + alpha * np.linalg.norm(coef, axis=0).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("question", choices=["gram", "wide", "rivals", "rate"])
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    questions = {"gram": gram, "wide": wide, "rivals": rivals, "rate": rate}
    questions[arguments.question](arguments.folder)


if __name__ == "__main__":
    main()
