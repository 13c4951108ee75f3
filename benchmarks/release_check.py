"""What a user of the wheel gets: a smoke test that runs without the source tree.

    make release-check

Run by the Python of an environment that holds the wheel and its core dependencies alone.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from importlib import metadata
from pathlib import Path

# Bytes. Goal: 400 kB; 227 files of source, 1.40 MB with their docstrings, pack to 533 kB (bc21b12),
# and nothing else is in it.
LARGEST_WHEEL = 550_000
CORE = {"numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "numba"}


def check_contents(wheel: Path) -> None:
    """Python files of the package, its licence and nothing of tests, data or benchmarks."""
    size = wheel.stat().st_size
    assert size < LARGEST_WHEEL, f"{wheel.name} has {size} bytes"
    names = zipfile.ZipFile(wheel).namelist()
    strangers = [n for n in names if not n.startswith(("rowsparse/", "rowsparse-"))]
    assert not strangers, strangers
    kinds = {Path(n).suffix for n in names if n.startswith("rowsparse/")}
    assert kinds <= {".py", ".typed", ".html", ".css", ".js", ".svg", ".j2"}, kinds
    print(f"{wheel.name}: {len(names)} files, {size / 1000:.0f} kB")


def check_requirements() -> None:
    """What pip brings along without extras."""
    wanted = metadata.requires("rowsparse") or []
    core = {line.split(";")[0].split(">")[0].strip() for line in wanted if "extra ==" not in line}
    assert core == CORE, core


def check_import() -> None:
    """No warning at import, and the installed package is the one that answers."""
    code = "import rowsparse; print(rowsparse.__file__)"
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True, text=True, check=True, cwd=tempfile.gettempdir(),
    )  # fmt: skip
    assert sys.prefix in answer.stdout, answer.stdout


def check_fits() -> None:
    """Three lines of the README and a round trip of a result."""
    from sklearn.datasets import load_wine

    from rowsparse import L2pSelector, ScoreSelector, TopKSelector, ZeroNormSVC
    from rowsparse.results import Solution

    X, y = load_wine(return_X_y=True)
    for selector in (L2pSelector(3), TopKSelector(3), ScoreSelector("mrmr", 3)):
        assert selector.fit(X, y).transform(X).shape == (len(y), 3), selector
    assert ZeroNormSVC().fit(X, y).score(X, y) > 0.9
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "solution.npz"
        solution = TopKSelector(3).fit(X, y).solution_
        solution.save(file)
        assert Solution.load(file).objective == solution.objective


def main() -> None:
    check_contents(Path(sys.argv[1]))
    check_requirements()
    check_import()
    check_fits()
    print("release check: passed")


if __name__ == "__main__":
    main()
