"""The house rules: imports go one way, and importing the package has no side effects."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rowsparse

PACKAGE = Path(rowsparse.__file__).parent

# A folder imports only from lower folders, and freely inside itself as long as there is no circle.
RANKS = {
    "numerics.svm": 0.5, "numerics": 0.0, "values": 0.0, "archives": 0.0, "warn": 0.0,
    "designs": 1.0, "stores": 1.5, "losses": 1.0, "penalties": 1.0, "inputs": 1.0,
    "targets": 1.5,
    "results": 2.0, "problems": 2.1, "filters": 2.5,
    "solvers.penalised": 3.1, "solvers.top_k": 3.2, "solvers.margin": 3.1, "solvers": 3.0,
    "paths": 4.0, "selectors": 5.0, "": 6.0, "model_selection": 6.0,
    "anndata": 6.5, "report": 7.0, "datasets": 7.0, "cli": 8.0, "__main__": 9.0,
}  # fmt: skip
ONLY_FROM_SELECTORS_UP = {"sklearn", "joblib", "pandas", "polars"}
MAY_USE_SKLEARN_BELOW = {
    "filters",
    "targets",
}  # neighbours, mutual information, SVM; type_of_target
HOME_OF_NUMBA = "numerics"
HOME_OF_DASK = "designs.dask_arrays"


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        yield ".".join(part for part in parts if part != "__init__"), path


def room(name: str) -> str:
    """The folder, or module of the ground floor, that a module belongs to."""
    parts = name.split(".")
    inner = ".".join(parts[:2])
    return inner if inner in RANKS else parts[0]


def imports(name: str, path: Path):
    """Every import of a module, those inside functions included, as (inside the package?, name)."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((False, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            root, _, rest = node.module.partition(".")
            yield (True, rest) if root == "rowsparse" else (False, node.module)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".") if package else []
            above = above[: len(above) - node.level + 1]
            base = ".".join([*above, *(node.module or "").split(".")]).strip(".")
            for alias in node.names:
                inner = f"{base}.{alias.name}".strip(".")
                yield True, inner if inner in NAMES else base


MODULES = list(modules())
NAMES = {name for name, _ in MODULES}


def inner_imports(name: str, path: Path) -> set[str]:
    return {imported for inside, imported in imports(name, path) if inside}


@pytest.mark.parametrize(("name", "path"), MODULES)
def test_a_room_imports_only_from_below(name, path):
    public_face = path.name == "__init__.py"  # a folder shows what its inner folders hold
    for imported in inner_imports(name, path):
        own = room(imported) == room(name) or (public_face and room(imported).startswith(name))
        assert own or RANKS[room(imported)] < RANKS[room(name)], f"{name} imports {imported}"
        leaf = imported.split(".")[0] in ("datasets", "report", "cli")
        assert own or not leaf or room(name) in ("cli", "__main__")


def test_no_import_goes_in_a_circle():
    waiting = {name: inner_imports(name, path) - {name} for name, path in MODULES}
    while waiting:
        ready = {name for name, needed in waiting.items() if not needed & waiting.keys()}
        assert ready, f"these import each other: {sorted(waiting)}"
        waiting = {name: needed for name, needed in waiting.items() if name not in ready}


@pytest.mark.parametrize(("name", "path"), MODULES)
def test_libraries_stay_in_their_layers(name, path):
    outside = {imported.split(".")[0] for inside, imported in imports(name, path) if not inside}
    if RANKS[room(name)] < 5:
        allowed = {"sklearn", "joblib"} if name.split(".")[0] in MAY_USE_SKLEARN_BELOW else set()
        assert not outside & ONLY_FROM_SELECTORS_UP - allowed
    assert "numba" not in outside or name.startswith(HOME_OF_NUMBA)
    assert "dask" not in outside or name == HOME_OF_DASK


def test_importing_loads_nothing_heavy_and_changes_nothing():
    program = """
import logging, os, sys, warnings
import numpy, scipy, sklearn.feature_selection, sklearn.linear_model
loaded = set(sys.modules)  # scikit-learn itself loads pandas where it is installed
before = dict(os.environ), list(warnings.filters), list(logging.getLogger().handlers)
import rowsparse
heavy = {"dask", "pandas", "polars", "matplotlib", "anndata", "jinja2", "numba", "typer", "rich"}
assert not heavy & (set(sys.modules) - loaded)
assert before == (dict(os.environ), list(warnings.filters), list(logging.getLogger().handlers))
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


def test_no_print_outside_the_command_line():
    for name, path in modules():
        if name.split(".")[0] != "cli":
            calls = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
            assert not any(getattr(call.func, "id", "") == "print" for call in calls), name
