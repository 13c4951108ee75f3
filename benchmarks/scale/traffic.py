"""Bytes between the client and a Dask array for r < 2: python benchmarks/scale/traffic.py

Counts the arrays that passes are given and those that come back, on Dask's threads; arrays that are
brought to the chunks once count once. One JSON line per fit.
"""

from __future__ import annotations

import json
import time
import warnings
from collections import Counter
from typing import Any

import dask.array as da
import numpy as np

from rowsparse import L2pSelector
from rowsparse.designs.dask_arrays import DaskPasses

ROWS, COLUMNS, OUTPUTS, CHUNK_ROWS = 200_000, 50, 3, 20_000
FITS = {
    "r=1, p=1": {"r": 1, "p": 1},
    "r=1, p=.5 from zero": {"r": 1, "p": 0.5, "init": "zero"},
    "r=1, p=.5, k=5": {"n_features_to_select": 5, "r": 1, "p": 0.5},
}


def size(value: Any) -> int:
    """Bytes of the arrays within."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    parts = (
        value
        if isinstance(value, tuple | list)
        else vars(value).values()
        if hasattr(value, "__dict__")
        else ()
    )
    return sum(map(size, parts))


def watch(bytes_of: Counter) -> None:
    """Have the passes over Dask arrays count what they are given and what comes back."""
    tasks, computed, held = DaskPasses._tasks, DaskPasses._computed, DaskPasses.held

    def given(self: Any, of_block: Any, shared: Any, by_rows: Any) -> Any:
        bytes_of["sent"] += size(tuple(shared))
        bytes_of["sent"] += sum(v.nbytes for v in by_rows if isinstance(v, np.ndarray))
        return tasks(self, of_block, shared, by_rows)

    def come_back(self: Any, made: Any) -> Any:
        found = computed(self, made)
        bytes_of["received"] += size(found)
        return found

    def brought(self: Any, by_rows: Any) -> Any:
        bytes_of["sent"] += sum(values.nbytes for values in by_rows)
        return held(self, by_rows)

    DaskPasses._tasks, DaskPasses._computed, DaskPasses.held = given, come_back, brought


def main() -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, COLUMNS), dtype=np.float32)
    W = np.zeros((COLUMNS, OUTPUTS))
    W[:5] = rng.standard_normal((5, OUTPUTS))
    Y = X @ W + rng.standard_t(2, (ROWS, OUTPUTS))
    lazy = da.from_array(X, chunks=(CHUNK_ROWS, -1))
    bytes_of: Counter = Counter()
    watch(bytes_of)
    for name, parameters in FITS.items():
        bytes_of.clear()
        began = time.process_time()
        solution = L2pSelector(**parameters).fit(lazy, Y).solution_
        cpu = round(time.process_time() - began, 2)
        megabytes = {way: round(count / 1e6, 2) for way, count in bytes_of.items()}
        facts = {"passes": solution.n_passes, "cpu": cpu, "objective": solution.objective}
        print(json.dumps({"what": name, **megabytes, **facts}), flush=True)


if __name__ == "__main__":
    main()
