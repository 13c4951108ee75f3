"""How to repeat a selection and how to use it: settings, versions, the command, the Python code."""

from __future__ import annotations

import inspect
import platform
import shlex
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from .table import Table
from .words import visible

# Classes that the command line knows by name, with what it calls their parameters.
METHODS = {
    "L2pSelector": "l2p",
    "LpInfSelector": "lpinf",
    "TopKSelector": "topk",
    "ZeroNormSVC": "zero-norm-svm",
    "ProbitSelector": "probit",
}
OPTIONS = {
    "n_features_to_select": "-k",
    "alpha": "--alpha",
    "p": "--p",
    "r": "--r",
    "ridge": "--ridge",
    "C": "--C",
    "norm": "--norm",
    "init": "--init",
    "random_state": "--seed",
}
SWITCHES = {"fit_intercept": "--no-intercept", "standardize": "--no-standardize"}
MOST_NAMES_IN_CODE = 200
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def settings(estimator: Any) -> tuple[tuple[str, str], ...]:
    """Every parameter of the constructor, shortened where it is an array."""
    params = estimator.get_params(deep=False)
    return tuple((name, _shown(value)) for name, value in params.items())


def _shown(value: Any) -> str:
    with np.printoptions(threshold=6, precision=4):
        # arrays are written over several lines, a setting has one
        text = " ".join(repr(value).split())
    return visible(text if len(text) <= 200 else f"{text[:200]}…")


def seed_of(estimator: Any) -> str:
    """What the random state was, in words."""
    params = estimator.get_params(deep=False)
    if "random_state" not in params:
        return "no randomness: the same data give the same result"
    if params["random_state"] is None and "n_init" in params:
        return "random_state=None, which is 0 here: a fit can be repeated"
    return f"random_state={_shown(params['random_state'])}"


def versions() -> tuple[tuple[str, str], ...]:
    """Of the package, of Python and of what the numbers depend on."""
    found = [("rowsparse", __version__), ("python", platform.python_version())]
    for package in PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return tuple(found)


def command(selector: Any, table: Table | None) -> str:
    """The line for a shell that repeats the selection; empty where the command cannot say it."""
    method = METHODS.get(type(selector).__name__)
    params = selector.get_params(deep=False)
    if method is None and isinstance(params.get("score"), str):
        method = params["score"].replace("_", "-")
    if method is None or table is None or not table.name:
        return ""
    words = ["rowsparse", "select", *_where(table)]
    words += ["--method", method]
    defaults = inspect.signature(type(selector)).parameters
    for name, value in params.items():
        if name in SWITCHES and not value:
            words.append(SWITCHES[name])
        # defaults are left out: the line shall show what was chosen
        elif name in OPTIONS and value is not None and not _same(value, defaults[name].default):
            words += [OPTIONS[name], str(value)]
    # a file may be called anything; whoever pastes the line shall run this command and no other
    return " ".join(shlex.quote(visible(word)) for word in words)


def _where(table: Table) -> list[str]:
    """A file with its target, or the name of a known dataset."""
    if not Path(table.source).is_file():
        return [table.name]
    return [table.source, "--target", table.target or "TARGET"]


def _same(value: Any, default: Any) -> bool:
    return isinstance(value, type(default)) and bool(np.all(value == default))


def code(
    names: Sequence[str], indices: Sequence[int], named: bool, task: str, coded: bool = False
) -> str:
    """scikit-learn code that learns from the selected columns and nothing else.

    ``coded``: some of them are words of a category, which the file has as one column.
    """
    if len(indices) > MOST_NAMES_IN_CODE or not len(indices):
        return ""
    columns = [str(name) for name in names] if named else [int(j) for j in indices]
    # plain models that every reader knows: what is to be shown is which columns they get
    package = "Ridge" if task == "numbers" else "LogisticRegression"
    several: list[str] = []
    model = "LogisticRegression(max_iter=1000)"
    if task == "numbers":
        model = "Ridge()"
    elif task == "multilabel":
        several = ["from sklearn.multiclass import OneVsRestClassifier"]
        model = "OneVsRestClassifier(LogisticRegression())"
    lines = [
        *(["import pandas"] if coded else []),
        "from sklearn.compose import make_column_transformer",
        f"from sklearn.linear_model import {package}",
        *several,
        "from sklearn.pipeline import make_pipeline",
        "from sklearn.preprocessing import StandardScaler",
        "",
        *(['X_train = pandas.get_dummies(X_train, prefix_sep="=")'] if coded else []),
        f"columns = {_python_list(columns)}",
        "model = make_pipeline(",
        '    make_column_transformer(("passthrough", columns)),',
        "    StandardScaler(),",
        f"    {model},",
        ")",
        "model.fit(X_train, y_train)",
    ]
    return "\n".join(lines)


def _python_list(values: list) -> str:
    """One value a line where they do not fit into one; ``ascii`` spells out what could act."""
    line = f"[{', '.join(map(ascii, values))}]"
    if len(line) <= 80:
        return line
    return "[\n" + "".join(f"    {value!a},\n" for value in values) + "]"
