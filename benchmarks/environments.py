"""The rivals' Python environments: built once with venv and pip, reused afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent / ".envs"

#: What pip is asked to install. celer's MultiTaskLasso needs scikit-learn <= 1.5; adelie numpy < 2.
REQUIREMENTS = {
    "modern": [
        "scikit-learn>=1.9,<1.10",
        "numpy>=2",
        "skglm==0.5",
        "skein-glm",
        "skfeature-chappers",
    ],
    "celer": ["scikit-learn<=1.5.2", "numpy<2", "celer"],
    "adelie": ["numpy<2", "adelie"],
    "spams": ["numpy<2", "spams-bin"],
    "rvm": ["scikit-learn>=1.9,<1.10", "numpy>=2", "sklearn-rvm==0.1.1"],
    "filters": [
        "scikit-learn>=1.9,<1.10",
        "numpy>=2",
        "setuptools<81",
        "skrebate",
        "skfeature-chappers",
        "mrmr-selection",
    ],
    "topk": ["scikit-learn>=1.9,<1.10", "numpy>=2", "abess", "fastcan", "skscope"],
}
#: The versions worth printing.
REPORTED = [
    "rowsparse",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "skglm",
    "skein-glm",
    "skfeature-chappers",
    "celer",
    "adelie",
    "spams-bin",
    "skrebate",
    "mrmr-selection",
    "abess",
    "fastcan",
    "skscope",
    "sklearn-rvm",
]
OWN = "own"  # the environment that runs the benchmark, with rowsparse in it


@dataclass(frozen=True)
class Environment:
    name: str
    python: str | None  # None: could not be built
    versions: dict[str, str] = field(default_factory=dict)
    error: str = ""


def prepare_environments(names) -> dict[str, Environment]:
    """Every environment asked for, built if need be. A failure is recorded, never raised."""
    return {name: _prepare(name) for name in sorted({OWN, *names})}


def _prepare(name: str) -> Environment:
    if name == OWN:
        return Environment(name, sys.executable, _versions(sys.executable))
    folder = FOLDER / name
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    finished = folder / "requirements.txt"  # written last: its presence means the build succeeded
    wanted = "\n".join(REQUIREMENTS[name]) + "\n"
    try:
        if not (finished.exists() and finished.read_text() == wanted):
            print(f"building environment {name}: {' '.join(REQUIREMENTS[name])}", flush=True)
            _run([sys.executable, "-m", "venv", "--clear", str(folder)])
            _run([str(python), "-m", "pip", "install", "--quiet", *REQUIREMENTS[name]])
            finished.write_text(wanted)
        return Environment(name, str(python), _versions(str(python)))
    except (OSError, subprocess.SubprocessError) as failure:
        error = getattr(failure, "stderr", None) or str(failure)
        message = error.strip().splitlines()[-1][:300]
        print(f"environment {name} could not be built: {message}", flush=True)
        return Environment(name, None, error=message)


def _versions(python: str) -> dict[str, str]:
    code = (
        "import importlib.metadata as m, json, platform, sys\n"
        "found = {'python': platform.python_version()}\n"
        "for name in json.loads(sys.argv[1]):\n"
        "    try: found[name] = m.version(name)\n"
        "    except m.PackageNotFoundError: pass\n"
        "print(json.dumps(found))"
    )
    return json.loads(_run([python, "-c", code, json.dumps(REPORTED)]).stdout)


def _run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=1800)
