"""One process held to a few gigabytes: reading a large .npy, a selection from it, and a path.

    python benchmarks/scale/out_of_core.py /tmp/scale/tall.npy --limit-gb 4 -k 50 [--path]

The limit is on the address space (RLIMIT_AS), which counts maps of files too. The system forgets
the file before every pass, so that it comes from the disk as one does that is larger than memory.
Prints one JSON line per step: wall and CPU seconds, those of the thread that works on blocks beside
the one that reads, passes over X made so far, and the largest resident memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rowsparse
from rowsparse.designs import RowBlocks, as_design
from rowsparse.paths import selection_path

BUFFER_BYTES = 64 << 20


def read_plainly(path: Path) -> None:
    """Every byte of the file once, into one buffer, and nothing done with it."""
    room = np.empty(BUFFER_BYTES, np.uint8)
    with path.open("rb", buffering=0) as file:
        while file.readinto(room):
            pass


def forget(path: Path) -> None:
    """Have the system drop what it keeps of a file in memory."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Forgotten(RowBlocks):
    """A store whose file is read from the disk in every pass."""

    def __init__(self, store: Any):
        self.store = store
        self.shape, self.dtype, self.bounds = store.shape, store.dtype, store.bounds

    def block(self, number: int) -> Any:
        if number == 0:
            forget(self.store.path)
        return self.store.block(number)


def timed(what: str, call: Callable[[], Any], facts: Callable[[Any], dict[str, Any]]) -> None:
    before = time.perf_counter(), time.process_time(), time.thread_time()
    answer = call()
    after = time.perf_counter(), time.process_time(), time.thread_time()
    spent = [late - early for early, late in zip(before, after, strict=True)]
    seconds = dict(zip(("wall", "cpu", "cpu_of_this_thread"), spent, strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    numbers = {name: round(value, 2) for name, value in seconds.items()}
    print(json.dumps({"what": what, **numbers, "peak_bytes": peak, **facts(answer)}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("-k", type=int, default=50)
    parser.add_argument("--limit-gb", type=float, default=4.0)
    parser.add_argument("--path", action="store_true", dest="with_path", help="50 alphas as well")
    arguments = parser.parse_args()
    most = int(arguments.limit_gb * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    forget(arguments.file)
    timed("read", lambda: read_plainly(arguments.file), lambda _: {})
    rows = rowsparse.open_rows(arguments.file)
    design = as_design(Forgotten(rows))
    truth = np.linspace(0, rows.shape[1] - 1, arguments.k).astype(int)  # as generate.py has it
    selector = rowsparse.TopKSelector(arguments.k)

    def found(fitted: Any) -> dict[str, Any]:
        right = np.intersect1d(fitted.get_support(indices=True), truth).size
        return {"n_passes": design.passes.count, "shape": rows.shape, "right": right}

    timed("select", lambda: selector.fit(design, rows.y), found)
    if not arguments.with_path:
        return
    timed(
        "path",
        lambda: selection_path(rowsparse.L2pSelector(), design, rows.y),
        lambda path: {"n_passes": design.passes.count, "alphas": len(path)},
    )


if __name__ == "__main__":
    main()
