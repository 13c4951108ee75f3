"""Damaged stores: rows on disk that ``open_rows`` reads, and the half-samples of a stability run.

    python -m tests.fuzz.damaged_stores [--stores 1000] [--seed 0] [--kills 100]

One file of a whole store is damaged as in ``damaged_files.py``, and a watched process reads all its
blocks or goes on with its run: the answer is right or one sentence, never a signal, another error
or 1 GB of memory. Then runs of a stability selection with a store are killed at random moments: the
next one ends with what an undisturbed one finds, and nothing half written is left.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from stores import stores as kinds  # noqa: E402

from fuzz.damaged_files import DAMAGES, DIED, MOST_MEMORY, Worker, inner_damage  # noqa: E402

HALVES = "half-samples"
BATCH = 100  # stores for one process, so that what one leaves behind meets others too

PROGRAM = """
import json, resource, sys, warnings
import numpy as np
from rowsparse import ScoreSelector, open_rows
from rowsparse.model_selection import StabilitySelector

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 6))
y = (X[:, 0] > 0).astype(int)

def stable(folder, n_pairs):
    score = ScoreSelector(sys.argv[2])
    model = StabilitySelector(score, q=2, n_pairs=n_pairs, random_state=0, store=folder)
    return model.fit(X, y).selection_probabilities_.tolist()
"""
READER = (
    PROGRAM
    + """
def read(path):
    if path.endswith("half-samples"):
        return stable(path, 5)
    rows = open_rows(path, block_bytes=300)
    blocks = [rows.block(number) for number in range(rows.bounds.size - 1)]
    return [list(rows.shape), sum(block.shape[0] for block in blocks) == rows.shape[0]]

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]),) * 2)
warnings.simplefilter("ignore")
before = None
for line in sys.stdin:
    code, output, error = 0, "", ""
    try:
        output = json.dumps(read(json.loads(line)[0]))
    except (ValueError, OSError) as refusal:
        code, output = 2, str(refusal)
    except BaseException as other:
        error = repr(other)
    now = peak()
    print(json.dumps([code, output, error, now - (before or now)]), flush=True)
    before = max(now, before or 0)
"""
)
RUNNER = PROGRAM + "print(json.dumps(stable(sys.argv[1], 12)))"


def whole_stores(folder: Path) -> list[Path]:
    """One good store of every kind that can be written here, each in a folder of its own."""
    made = []
    for number, write in enumerate(kinds.STORES.values()):
        home = folder / str(number)
        home.mkdir()
        try:
            made.append(write(home, *kinds.table(), kinds.NAMES))
        except ImportError:
            continue
    return [*made, folder / "run" / HALVES]


def damaged_store(source: Path, home: Path, rng: random.Random) -> Path:
    """A copy of the store, and of what stands beside it, with one file damaged."""
    shutil.copytree(source.parent, home)
    copy = home / source.name
    files = sorted(path for path in home.rglob("*") if path.is_file() and path.stat().st_size)
    victim = rng.choice(files)
    content = inner_damage(victim, rng) if rng.random() < 0.4 else None
    damage = rng.choice(DAMAGES)
    victim.write_bytes(damage(victim.read_bytes(), rng) if content is None else content)
    if rng.random() < 0.05:
        victim.unlink()
    return copy


def fault(size: int, answer: tuple[int, str, str, int], right: str) -> str:
    """What is wrong with an answer, or nothing."""
    code, output, error, memory = answer
    if error:
        return error
    if memory > MOST_MEMORY + size:
        return f"{memory / 2**30:.1f} GB"
    if code == 2:
        ours = "xpected" in output and "\n" not in output.strip()
        return "" if ours else f"no sentence of ours: {output!r:.80}"
    # numbers may have changed, sizes that a file states as well; a run's counts may not
    return "" if not right or output == right else "another result"


def failures(seeds: range) -> Iterator[dict[str, object]]:
    """Every store that was not answered as it should be; then a count of the outcomes."""
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        stores = whole_stores(folder)
        worker = Worker(READER, "f")
        right = {path: worker.ask(str(path)) for path in stores}
        assert all(answer[0] == 0 and not answer[2] for answer in right.values()), right
        for asked, seed in enumerate(seeds, start=1):
            rng = random.Random(seed)
            source = rng.choice(stores)
            path = damaged_store(source, folder / "damaged", rng)
            size = sum(file.stat().st_size for file in path.parent.rglob("*") if file.is_file())
            answer = worker.ask(str(path))
            halves = source.name == HALVES
            wrong = fault(size, answer, right[source][1] if halves else "")
            outcomes[f"{source.name}: exit {answer[0]}"] += 1
            if wrong:
                yield {"seed": seed, "store": source.name, "fault": wrong, "output": answer[1]}
            shutil.rmtree(folder / "damaged")
            if asked % BATCH == 0 or answer[2] == DIED:
                worker.close()
                worker = Worker(READER, "f")
        worker.close()
    yield {"outcomes": dict(sorted(outcomes.items()))}


def kills(how_many: int, seed: int) -> Iterator[dict[str, object]]:
    """Runs with a store that are killed, and the next one: the same result, nothing left over."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        began = time.monotonic()
        right = run(Path(place) / "whole")
        took = time.monotonic() - began
        store = Path(place) / "killed"
        for number in range(how_many):
            how = rng.choice((signal.SIGTERM, signal.SIGKILL))
            process = start(store)
            time.sleep(rng.uniform(0.3, 1.0) * took)  # the first third is imports
            process.send_signal(how)
            process.wait()
            if number % 5 < 4:
                continue  # the next one goes on from what is there, and is killed too
            found = run(store)
            left = [path.name for path in store.rglob("*") if path.name.endswith(".part")]
            if found != right or left:
                yield {"kill": number, "fault": f"{how.name}: {found:.80} left {left}"}
            shutil.rmtree(store)


def start(store: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RUNNER, str(store), "relieff"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(store: Path) -> str:
    """What it prints, or why it did not."""
    process = start(store)
    output, errors = process.communicate()
    return output if process.returncode == 0 else errors[-200:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stores", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kills", type=int, default=100)
    options = parser.parse_args()
    bad = 0
    entries = [
        kills(options.kills, options.seed),
        failures(range(options.seed, options.seed + options.stores)),
    ]
    for entry in (entry for part in entries for entry in part):
        bad += "fault" in entry
        sys.stdout.write(json.dumps(entry) + "\n")
        sys.stdout.flush()
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
