"""One contestant on one case in its own environment: python worker.py FOLDER CONTESTANT.

Writes answer.npy and times.json (wall and CPU of every repetition, children included, and the
memory above that of the loaded data). The parent kills it when the cap is over.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from contestants import CONTESTANTS, OWN
from processes import children_seconds

sys.path.append(str(Path(__file__).parents[1]))
from memory import peak_bytes, reset_peak

SHORT, REPEATS = 20.0, 5


def cpu() -> float:
    """Seconds of this process and of its children, those of joblib that live on included."""
    own, ended = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime + children_seconds("self")


def main(folder: Path, name: str) -> None:
    contestant = CONTESTANTS[name]
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    began = time.perf_counter()
    # Pays for imports and compilation; ours compiles nothing for small data.
    tiny = np.random.default_rng(0).standard_normal(
        (600, 700) if contestant.environment == OWN else (80, 60)
    )
    contestant.run(contestant.prepare(tiny), np.arange(len(tiny)) % 3)
    first = time.perf_counter() - began
    X = contestant.prepare(X)
    before, runs = reset_peak(), []
    (folder / "started").write_text(str(cpu()))
    while not runs or (len(runs) < REPEATS and sum(run["wall"] for run in runs) < SHORT):
        wall, used = time.perf_counter(), cpu()
        answer = contestant.run(X, y)
        runs.append({"wall": time.perf_counter() - wall, "cpu": cpu() - used})
    memory = peak_bytes() - before
    np.save(folder / "answer.npy", np.asarray(answer))
    (folder / "times.json").write_text(json.dumps({"runs": runs, "memory": memory, "first": first}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]), sys.argv[2])
