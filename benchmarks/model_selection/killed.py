"""A comparison killed by SIGKILL again and again: every cell is there once, and right.

python benchmarks/model_selection/killed.py [kills]      (default: 50)
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from rowsparse import ScoreSelector, TopKSelector
from rowsparse.datasets import make_row_sparse
from rowsparse.model_selection import Comparison, compare

METHODS = {"top-k": TopKSelector(n_init=0, polish=False), "F": ScoreSelector("f")}


def run(store: str | None) -> Comparison:
    X, Y, _ = make_row_sparse(60, 100, 5, 2, random_state=0)
    return compare(METHODS, X, Y, ks=[2, 5], cv=10, repeats=40, store=store)


def _wait_for(cells: Path, rng: np.random.Generator) -> None:
    """Until some more paths are finished, and a random moment longer."""
    wanted = len(list(cells.glob("*.json"))) + rng.integers(0, 15)
    deadline = time.monotonic() + 20
    while len(list(cells.glob("*.json"))) < wanted and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(rng.uniform(0.0, 0.02))


def main(kills: int) -> None:
    store = tempfile.mkdtemp()
    rng = np.random.default_rng(0)
    whole = run(None)
    done = []
    for _ in range(kills):
        child = os.fork()  # starts at once: what is killed is the work, not the imports
        if child == 0:
            run(store)
            os._exit(0)
        _wait_for(Path(store) / "cells", rng)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        files = list((Path(store) / "cells").glob("*.json"))
        for file in files:
            json.loads(file.read_text())
        done.append(len(files))
    found = run(store)
    keys = [(c.method, c.repeat, c.fold, c.k, c.estimator) for c in found.cells]
    same = all(
        a.score == b.score and np.array_equal(a.columns, b.columns)
        for a, b in zip(found.cells, whole.cells, strict=True)
    )
    left = list((Path(store) / "cells").glob(".*"))
    print(
        f"{kills} kills; paths finished after them: {done[0]}, …, {done[-1]} of 800; cells "
        f"{len(keys)} of {found.n_cells}, different ones {len(set(keys))}; the same as without "
        f"kills: {same}; temporary files left: {len(left)}"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
