"""The path over k against its largest k alone: python path_worker.py FOLDER K R REPEATS.

Reads X.npy and Y.npy from the folder and prints one line of JSON: the best CPU times of both, taken
by turns, that of the proofs for k = 1 and 2, and the objectives at the largest k.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from rowsparse import TopKSelector
from rowsparse.paths import selection_path
from rowsparse.solvers.top_k.bounds import bound

warnings.filterwarnings("ignore")


def timed(function):
    began = time.process_time()
    return function(), time.process_time() - began


def main(folder: str, k: int, r: float, repeats: int) -> None:
    X = np.asfortranarray(np.load(Path(folder, "X.npy")))
    Y = np.load(Path(folder, "Y.npy"))
    selector = TopKSelector(k, r=r, ridge=0.0, task="regression")
    times = []
    for _ in range(repeats):
        alone, first = timed(lambda: selector.fit(X, Y).solution_)
        path, second = timed(lambda: selection_path(selector, X, Y, ks=range(1, k + 1)))
        problem, _ = selector.problem_and_solver(X, Y)
        values = [solution.objective for solution in path.solutions[:2]]
        _, third = timed(lambda p=problem, v=values: [bound(p, i + 1, v[i]) for i in range(2)])
        times.append((first, second, third))
    best = dict(zip(("alone", "path", "proof"), map(min, zip(*times, strict=True)), strict=True))
    objectives = {
        "objective_alone": alone.objective,
        "objective_path": path.solutions[-1].objective,
        "never_rises": bool(np.all(np.diff([s.objective for s in path.solutions]) <= 0)),
    }
    print(json.dumps(best | objectives))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
