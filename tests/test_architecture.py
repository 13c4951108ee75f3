"""The house rules: imports go one way, and importing the package has no side effects."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rowsparse

PACKAGE = Path(rowsparse.__file__).parent

# Lower may not import higher; modules of one rank do not import each other. Within a folder the
# order is base first, then as listed; a folder that is not split up has one rank for all its files.
RANKS = {
    "numerics.rows": 0.0, "numerics.threads": 0.0, "numerics.shrink": 0.1, "numerics.sweep": 0.1,
    "numerics.compiling": 0.0, "numerics.clip": 0.05, "numerics.passes": 0.1,
    "numerics.differences": 0.1, "numerics.tables": 0.1, "numerics.smo": 0.1,
    "numerics.machine": 0.15, "numerics.interior": 0.1,
    "numerics.margin": 0.12, "numerics.systems": 0.1, "numerics": 0.2, "values": 0.3,
    "designs.base": 1.0, "designs.dense": 1.1, "designs.sparse": 1.1, "designs.wrappers": 1.1,
    "designs.convert": 1.2, "designs": 1.3, "targets": 1.4,
    "losses.base": 1.0, "losses.residual": 1.1, "losses.margin": 1.1, "losses": 1.2,
    "penalties.base": 1.0, "penalties.l2p": 1.1, "penalties.lpinf": 1.1, "penalties": 1.2,
    "penalties.cardinality": 1.1,
    "inputs": 1.5,
    "problem": 2.0, "results": 2.0,
    "filters.base": 2.0, "filters.bins": 2.1, "filters.columns": 2.1, "filters": 2.3,
    "filters.fisher": 2.2, "filters.information": 2.2, "filters.relief": 2.2,
    "filters.margins": 2.1, "filters.arom": 2.2, "filters.fsv": 2.2,
    "filters.mrmr": 2.25, "filters.svm_rfe": 2.2,
    "solvers.base": 3.0, "solvers.loop": 3.1, "solvers.local": 3.1, "solvers.descent": 3.2,
    "solvers.ridge": 3.1, "solvers.guess": 3.1, "solvers.clipped": 3.15,
    "solvers.extrapolation": 3.15, "solvers.proximal_gradient": 3.2,
    "solvers.irls": 3.2, "solvers.block_descent": 3.3, "solvers.polish": 3.4,
    "solvers.margin_problem": 3.05, "solvers.reweighted": 3.2, "solvers.exchange": 3.25,
    "solvers.reweighted_svm": 3.3, "solvers.probit_em": 3.3,
    "solvers.largest_norm": 3.3, "solvers.absolute_norm": 3.3,
    "solvers.choose": 3.5, "solvers.starts": 3.5, "solvers": 3.6,
    "solvers.columns": 3.05, "solvers.newton": 3.05, "solvers.quadratic": 3.1, "solvers.refit": 3.1,
    "solvers.forward": 3.2, "solvers.splice": 3.3,
    "solvers.robust": 3.4, "solvers.augmented": 3.2, "solvers.sfs": 3.2, "solvers.bounds": 3.2,
    "solvers.starts_of_k": 3.45, "solvers.top_k": 3.5,
    "paths": 4.0,
    "selectors.frames": 5.0, "selectors.feature_selector": 5.05, "selectors.data": 5.05,
    "selectors.score_functions": 5.0, "selectors.by_score": 5.1,
    "selectors.base": 5.1, "selectors.l2p": 5.2, "selectors.lpinf": 5.2, "selectors.top_k": 5.2,
    "selectors.kernels": 5.1, "selectors.margin": 5.2, "selectors.zero_norm_svm": 5.22,
    "selectors.kernel_expansion": 5.21, "selectors.zero_norm_kernel": 5.22,
    "selectors.probit": 5.25, "selectors": 5.3, "": 6.0,
    "datasets": 7.0, "cli": 8.0,
}  # fmt: skip
ONLY_FROM_SELECTORS_UP = {"sklearn", "joblib", "pandas", "polars"}
MAY_USE_SKLEARN_BELOW = {"filters", "inputs"}  # neighbours, mutual information, SVM; type_of_target
HOME_OF_NUMBA = "numerics"


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        yield ".".join(part for part in parts if part != "__init__"), path


def rank(name: str) -> float:
    folder = name.split(".")[0]
    return RANKS[name] if name in RANKS else RANKS[folder]


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


@pytest.mark.parametrize(("name", "path"), MODULES)
def test_a_module_imports_only_from_below(name, path):
    leaf = name.split(".")[0] in ("datasets", "cli")  # leaves: free inside their own folder
    for inside, imported in imports(name, path):
        if inside and not (leaf and imported.split(".")[0] == name.split(".")[0]):
            assert rank(imported) < rank(name), f"{name} must not import {imported}"
            assert imported.split(".")[0] not in ("datasets", "cli") or rank(name) == RANKS["cli"]


@pytest.mark.parametrize(("name", "path"), MODULES)
def test_libraries_stay_in_their_layers(name, path):
    outside = {imported.split(".")[0] for inside, imported in imports(name, path) if not inside}
    if rank(name) < 5:
        allowed = {"sklearn", "joblib"} if name.split(".")[0] in MAY_USE_SKLEARN_BELOW else set()
        assert not outside & ONLY_FROM_SELECTORS_UP - allowed
    assert "numba" not in outside or name.startswith(HOME_OF_NUMBA)
    assert "dask" not in outside


def test_importing_loads_nothing_heavy_and_changes_nothing():
    program = """
import logging, os, sys, warnings
import numpy, scipy, sklearn.feature_selection, sklearn.linear_model
loaded = set(sys.modules)  # scikit-learn itself loads pandas where it is installed
before = dict(os.environ), list(warnings.filters), list(logging.getLogger().handlers)
import rowsparse
heavy = {"dask", "pandas", "polars", "matplotlib", "plotly", "numba", "typer", "rich"}
assert not heavy & (set(sys.modules) - loaded)
assert before == (dict(os.environ), list(warnings.filters), list(logging.getLogger().handlers))
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


def test_no_print_outside_the_command_line():
    for name, path in modules():
        if name.split(".")[0] != "cli":
            calls = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
            assert not any(getattr(call.func, "id", "") == "print" for call in calls), name
