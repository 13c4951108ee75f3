"""Damaged files of every kind: each is refused in one sentence with exit code 2, or read.

    python tests/fuzz/damaged_files.py [--files 5000] [--seed 0] [--batch 100] [--kills 200]

Every file is given to ``rowsparse datasets info`` in a process that is watched: it may not die of
a signal, print a traceback, or take more than 1 GB above the size of the file. The damage is one of
a cut, flipped bits, bytes put in or taken out, or a header whose numbers were changed; the process
is asked again with the next file, so that what one file leaves behind meets the others too.
Failures are JSON lines that name the seed: ``--only SEED`` makes that one file again. Before that,
writers of a result are killed at random moments.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import chain, cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.whole_files import whole_files

MOST_MEMORY = 2**30  # bytes above the size of the file
LONGEST = 100  # seconds of computing for one process; a hundred files take seven
PATIENCE = 900.0  # seconds to wait for one answer on a busy machine
DIED = "the process died, or was killed because it went on and on"
TARGETS = {".npz": None, ".npy": None, ".mat": None, ".svm": None}  # the others have a column y


def cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))]


def flip(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    near = rng.choice((len(content), min(len(content), 400)))
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        at = rng.randrange(near) if rng.random() < 0.7 else len(content) - 1 - rng.randrange(near)
        changed[at] ^= 1 << rng.randrange(8)
    return bytes(changed)


def splice(content: bytes, rng: random.Random) -> bytes:
    start, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    end = min(end, start + rng.choice((1, 4, 100, 10_000)))
    piece = rng.choice((b"", bytes(end - start), rng.randbytes(rng.randrange(1, 50)), b"\xff" * 8))
    return content[:start] + piece + content[end:]


def renumber(content: bytes, rng: random.Random) -> bytes:
    """Another number where one is written, as text or as four or eight bytes."""
    value = rng.choice((0, 1, 7, 2**31 - 1, 2**31, 2**32 - 1, 10**8, 10**12, 2**63 - 1, 2**64 - 1))
    if rng.random() < 0.5:
        places = list(re.finditer(rb"\d+", content[: rng.choice((300, len(content)))]))
        if places:
            found = rng.choice(places)
            return content[: found.start()] + str(value).encode() + content[found.end() :]
    size = rng.choice((4, 8))
    at = rng.randrange(max(1, len(content) - size))
    return content[:at] + (value % 2 ** (8 * size)).to_bytes(size, "little") + content[at + size :]


DAMAGES = (cut, flip, splice, renumber)


def inner_damage(path: Path, rng: random.Random) -> bytes | None:
    """Damage behind the checksums of a zip file: a member is changed and packed again."""
    import io
    import zipfile

    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        return None
    with archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    victim = rng.choice(sorted(members))
    members[victim] = rng.choice(DAMAGES)(members[victim], rng) if members[victim] else b"x"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def damaged_file(whole: list[Path], folder: Path, seed: int) -> Path:
    """The damaged file of this number; what stands beside it is whole."""
    rng = random.Random(seed)
    source = rng.choice(whole)
    content = inner_damage(source, rng) if rng.random() < 0.4 else None
    if content is None:
        content = rng.choice(DAMAGES)(source.read_bytes(), rng)
    name = f"{seed}-{source.name}"
    (folder / name).write_bytes(content)
    stem = re.sub(r"(\.X)?\.np[yz]$", "", source.name)
    beside = source.with_name(f"{stem}.y.npy")
    if stem != source.name and beside.exists():
        (folder / f"{seed}-{beside.name}").write_bytes(beside.read_bytes())
    return folder / name


WORKER = """
import json, resource, sys
from typer.testing import CliRunner
from rowsparse.cli import build_app

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]),) * 2)
app, before = build_app(), None
for line in sys.stdin:
    arguments = json.loads(line)
    result = CliRunner().invoke(app, arguments)
    error = result.exception
    if isinstance(error, SystemExit):
        error = None
    now = peak()
    answer = [result.exit_code, result.output[-2000:], repr(error) if error else "",
              now - (before or now)]
    before = max(now, before or 0)
    print(json.dumps(answer), flush=True)
"""


class Worker:
    """A process that answers for one file after the other until one of them kills it."""

    def __init__(self, program: str = WORKER, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, str(LONGEST), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self, *arguments: str) -> tuple[int, str, str, int]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(arguments) + "\n")
        self.process.stdin.flush()
        patience = threading.Timer(PATIENCE, self.process.kill)
        patience.start()
        answer = self.process.stdout.readline()
        patience.cancel()
        if not answer:
            return self.process.wait(), "", DIED, 0
        code, output, error, memory = json.loads(answer)
        return code, output, error, memory

    def close(self) -> str:
        """What it said on stderr, where a library in another language may have complained."""
        assert self.process.stdin is not None
        assert self.process.stderr is not None
        self.process.stdin.close()
        said = self.process.stderr.read()
        self.process.wait()
        self.process.stderr.close()
        if self.process.stdout is not None:
            self.process.stdout.close()
        return said


def arguments_for(path: Path) -> list[str]:
    target = [] if path.suffix in TARGETS else ["--target", "y"]
    return ["datasets", "info", str(path), *target, "--json"]


def fault(path: Path, answer: tuple[int, str, str, int]) -> str:
    """What is wrong with an answer, or nothing."""
    code, output, error, memory = answer
    if error or "Traceback" in output:
        return error or "a traceback"
    if memory > MOST_MEMORY + path.stat().st_size:
        return f"{memory / 2**30:.1f} GB"
    sentences = [line for line in output.splitlines() if line and not line.startswith("Note: ")]
    if code == 2 and len(sentences) == 1:
        return ""
    if code == 0 and output.lstrip().startswith(("{", "Note: ")) and '"samples"' in output:
        return ""
    return f"exit code {code}, {len(sentences)} lines"


def failures(seeds: Iterator[int] | range, batch: int = 100) -> Iterator[dict[str, object]]:
    """Every file that was not answered as it should be; then a count of the outcomes."""
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "whole").mkdir()
        whole = whole_files(folder / "whole")
        worker = Worker()
        for path in whole:
            code, output, *_ = worker.ask(*arguments_for(path))
            assert code == 0, (path.name, output)
        for asked, seed in enumerate(seeds, start=1):
            path = damaged_file(whole, folder, seed)
            answer = worker.ask(*arguments_for(path))
            wrong = fault(path, answer)
            outcomes[f"{path.name.partition('-')[2]}: exit {answer[0]}"] += 1
            if wrong:
                yield {"seed": seed, "file": path.name, "fault": wrong, "output": answer[1][-300:]}
            for made in folder.glob(f"{seed}-*"):
                made.unlink()
            if asked % batch == 0 or answer[2] == DIED:
                said = worker.close().strip()
                if said:
                    yield {"seed": seed, "fault": "words on stderr", "output": said[-300:]}
                worker = Worker()
        said = worker.close().strip()
        if said:
            yield {"seed": -1, "fault": "words on stderr", "output": said[-300:]}
    yield {"outcomes": dict(sorted(outcomes.items()))}


def kills(folder: Path, how_many: int, seed: int) -> list[dict[str, object]]:
    """Writers ended at random moments: the old or the new file whole, and nothing left behind."""
    from rowsparse.cli.output import write_csv

    rng = random.Random(seed)
    out = folder / "out.csv"
    whole = set()
    for text in ("old", "new"):
        write_csv(out, ["a"], numbered(text))
        whole.add(out.read_bytes())
    found = []
    for number in range(how_many):
        how = rng.choice((signal.SIGTERM, signal.SIGKILL))
        writer = start_writer(out)
        time.sleep(rng.random() / 20)
        os.kill(writer, how)
        os.waitpid(writer, 0)
        intact = out.read_bytes() in whole
        if how == signal.SIGKILL:  # the next run removes what this one could not
            write_csv(out, ["a"], numbered("new"))
        left = sorted(set(os.listdir(folder)) - {"out.csv"})
        if left or not intact:
            found.append({"kill": number, "fault": f"{how.name}: intact {intact}, left {left}"})
    return found


def numbered(text: str) -> Iterator[list[object]]:
    return ([text, i] for i in range(2000))


def start_writer(out: Path) -> int:
    """A copy of this process that writes the file for ever; its number."""
    from rowsparse.cli import end_like_an_error
    from rowsparse.cli.output import write_csv

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other threads, which the copy does not use
        process = os.fork()
    if process:
        return process
    try:
        end_like_an_error()
        for text in cycle(("old", "new")):
            write_csv(out, ["a"], numbered(text))
    finally:
        os._exit(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--only", type=int, help="the seed of one file")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.files)
    if options.only is not None:
        options.kills = 0
        seeds = range(options.only, options.only + 1)
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        killed = kills(Path(place), options.kills, options.seed)
    for entry in chain(killed, [{"kills": options.kills}], failures(seeds, options.batch)):
        bad += "fault" in entry
        sys.stdout.write(json.dumps(entry) + "\n")
        sys.stdout.flush()
    sys.exit(bad > 0)


if __name__ == "__main__":
    os.environ.pop("ROWSPARSE_DATA", None)
    main()
