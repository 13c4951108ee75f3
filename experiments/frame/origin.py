"""On which machine, with which versions and when a cell was measured."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import rowsparse

HERE = Path(__file__).parent


def origin() -> dict[str, Any]:
    """The facts that stand in every cell; load is that of the machine, 1 per busy core."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ")
    return {"date": now, "load": round(os.getloadavg()[0], 1), **_fixed()}


@cache
def _fixed() -> dict[str, Any]:
    """What does not change while the process lives."""
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    versions = {"python": platform.python_version(), "rowsparse": rowsparse.__version__}
    return {
        "commit": _commit(),
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        "threads": os.environ.get("OMP_NUM_THREADS", "not set"),
        "versions": " ".join(f"{n} {v}" for n, v in {**versions, **packages}.items()),
    }


def _commit() -> str:
    """Of the code that runs; with a + where files of the package differ from it."""
    try:
        head = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no", "--", "../../src")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+" if changed else "")


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _processor() -> str:
    """Linux names the model in a file, other systems by the module."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
