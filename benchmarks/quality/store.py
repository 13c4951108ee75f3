"""One JSON line per cell, appended and never rewritten; the last line of a cell counts.

A line without `set` describes a run (versions, commit); cells name their run. A run is identified
by its content, so going on after a kill adds no second description.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import platform
import subprocess
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results.jsonl"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "fastcan", "mrmr-selection")
KEY = ("set", "method", "k", "repeat", "fold")


class Store:
    def __init__(self, path: Path = RESULTS):
        self.path = Path(path)
        self.cells: dict[tuple, dict] = {}
        self.runs: dict[str, dict] = {}
        for record in self._read():
            self._note(record)

    def add(self, record: dict) -> None:
        self._note(record)
        text = json.dumps(record, separators=(",", ":"))
        with self.path.open("a") as file:
            file.write(text + "\n")

    def open_run(self, ours: bool) -> str:
        """The name of this run; its description is stored once."""
        about = {"versions": versions(), **(source_state() if ours else {})}
        name = hashlib.sha1(json.dumps(about, sort_keys=True).encode()).hexdigest()[:6]
        if name not in self.runs:
            self.add({"run": name, **about})
        return name

    def source_of(self, key: tuple) -> str:
        return self.runs.get(self.cells[key].get("run", ""), {}).get("source", "")

    def _note(self, record):
        if "set" in record:
            self.cells[tuple(record[name] for name in KEY)] = record
        else:
            self.runs[record["run"]] = record

    def _read(self):
        if not self.path.exists():
            return
        text = self.path.read_text()
        if text and not text.endswith("\n"):  # killed while writing: the next line starts afresh
            with self.path.open("a") as file:
                file.write("\n")
        for line in text.splitlines():
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                continue


def pack(columns: np.ndarray) -> str:
    """Indices as little-endian uint16 in base64: half the length of digits and commas."""
    return base64.b64encode(np.asarray(columns).astype("<u2").tobytes()).decode()


def unpack(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<u2").astype(int)


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def source_state() -> dict[str, str]:
    """The commit, and a name for the very source: other commits may hold the same one."""
    import rowsparse

    folder = Path(rowsparse.__file__).parent
    tree = _git(folder, "rev-parse", "HEAD:./").strip()[:8]
    changes = _git(folder, "diff", "HEAD", "--", ".")
    if changes:
        tree += "+" + hashlib.sha1(changes.encode()).hexdigest()[:6]
    return {"commit": _git(folder, "rev-parse", "HEAD").strip()[:10], "source": tree}


def _git(folder, *arguments):
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
