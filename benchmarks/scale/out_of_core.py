"""One process held to a few gigabytes: reading a large .npy, a selection from it, and a path.

    python benchmarks/scale/out_of_core.py /tmp/scale/tall.npy --limit-gb 4 -k 50

The limit is on the address space (RLIMIT_AS), which counts maps of files too. Prints one JSON line
per step: wall and CPU seconds, passes over X made so far, and the largest resident memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

BUFFER_BYTES = 64 << 20


def read_plainly(path: Path) -> None:
    """Every byte of the file once, into one buffer, and nothing done with it."""
    room = np.empty(BUFFER_BYTES, np.uint8)
    with path.open("rb", buffering=0) as file:
        while file.readinto(room):
            pass


def timed(what: str, call: Callable[[], Any], facts: Callable[[Any], dict[str, Any]]) -> None:
    wall = time.perf_counter()
    cpu = time.process_time()
    answer = call()
    seconds = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    numbers = {name: round(value, 2) for name, value in seconds.items()}
    print(json.dumps({"what": what, **numbers, "peak_bytes": peak, **facts(answer)}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("-k", type=int, default=50)
    parser.add_argument("--limit-gb", type=float, default=4.0)
    arguments = parser.parse_args()
    most = int(arguments.limit_gb * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    timed("read", lambda: read_plainly(arguments.path), lambda _: {})
    import rowsparse
    from rowsparse.designs import as_design
    from rowsparse.paths import selection_path

    rows = rowsparse.open_rows(arguments.path)
    design = as_design(rows)  # the path below is of the same pass
    truth = np.linspace(0, rows.shape[1] - 1, arguments.k).astype(int)  # as generate.py has it
    selector = rowsparse.TopKSelector(arguments.k)

    def found(fitted: Any) -> dict[str, Any]:
        right = np.intersect1d(fitted.get_support(indices=True), truth).size
        return {"n_passes": design.passes.count, "shape": rows.shape, "right": right}

    timed("select", lambda: selector.fit(design, rows.y), found)
    timed(
        "path",
        lambda: selection_path(rowsparse.L2pSelector(), design, rows.y),
        lambda path: {"n_passes": design.passes.count, "alphas": len(path)},
    )


if __name__ == "__main__":
    main()
