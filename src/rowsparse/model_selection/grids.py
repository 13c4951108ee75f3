"""The candidates of a search: combinations of parameters, and along each a path in alpha or k."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from ..inputs import did_you_mean, is_integer
from ..problems.penalised import PenalisedProblem
from ..selectors import TopKSelector
from ..selectors.paths import alpha_grid, falling_alphas
from ..selectors.penalised import RowSelector
from .following import checked_ks, k_parameter, with_k
from .intake import Table, selects_k

LADDER = (1, 2, 3, 5, 7)  # numbers of features without ks: these and their decades


@dataclass(frozen=True)
class Combination:
    """A selector with all parameters set but the one along which its path runs."""

    selector: Any
    params: dict[str, Any]
    alphas: np.ndarray | None = None
    ks: tuple[int, ...] | None = None

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """The parameters of every step of the path."""
        if self.alphas is not None:
            return [{**self.params, "alpha": float(alpha)} for alpha in self.alphas]
        if self.ks is not None:
            name = k_parameter(self.selector) or ""
            return [{**self.params, name: k} for k in self.ks]
        return [dict(self.params)]


def combinations(
    selector: Any, grid: Any, ks: Any, table: Table, fit_params: dict[str, Any]
) -> list[Combination]:
    """Every combination of the grid, with its path. alpha_max is that of all samples."""
    d = table.shape[1]
    found = []
    for one in _grids(selector, grid):
        names = ("alpha", k_parameter(selector))
        # out of the grid: one path serves all values of it, from one start
        axis: dict[str | None, Any] = {name: one.pop(name) for name in names if name in one}
        if ks is not None and axis:
            raise ValueError(
                f"Expected ks or {', '.join(map(str, axis))} in grid, got both; leave one out."
            )
        if ks is not None:
            axis = {k_parameter(selector): ks}
        elif not axis:
            axis = _default_axis(selector, bool(one), d)
        if len(axis) > 1:
            raise ValueError(f"Expected alpha or a number of features, got both: {list(axis)}.")
        for params in ParameterGrid(one):
            found.append(_combination(selector, dict(params), axis, table, fit_params))
    return found


def _grids(selector: Any, grid: Any) -> list[dict[str, Any]]:
    """The grid as a list of mappings whose names the selector knows."""
    several = isinstance(grid, list | tuple)
    listed = list(grid) if several else [{} if grid is None else grid]
    known = selector.get_params(deep=True)
    for one in listed:
        if not isinstance(one, Mapping):
            raise TypeError(
                "Expected grid as a mapping from parameter to values, such as {'p': [0.5, 1]}, or "
                f"a list of them, got {grid!r}."
            )
        for name, values in one.items():
            if name not in known:
                raise ValueError(
                    f"Expected grid of parameters of {type(selector).__name__}, got {name!r}."
                    f"{did_you_mean(name, known)}"
                )
            # a word is iterable, too: its letters would be tried
            if isinstance(values, str) or not np.iterable(values):
                if name == "alpha" and is_integer(values):
                    continue
                count = " or how many" if name == "alpha" else ""
                raise ValueError(
                    f"Expected a list of values{count} for {name!r} in grid, got {values!r}."
                )
    return [dict(one) for one in listed]


def _default_axis(selector: Any, has_grid: bool, d: int) -> dict[str | None, Any]:
    """What is tuned without being named: alpha, or else the number of features."""
    free_alpha = isinstance(selector, RowSelector) and selector.alpha is None
    if free_alpha and selects_k(selector) is None:
        return {"alpha": None}
    name = k_parameter(selector)
    # who names other parameters wants these alone to vary
    if has_grid or name is None:
        return {}
    return {name: ladder(d)}


def ladder(d: int) -> list[int]:
    """1, 2, 3, 5, 7, 10, 20, … up to the number of columns, at most 100."""
    steps = {k * 10**e for e in range(3) for k in LADDER}
    # who wants more columns than a hundred says so by ks
    return sorted(k for k in steps if k <= min(d, 100))


def _combination(
    selector: Any,
    params: dict[str, Any],
    axis: dict[str | None, Any],
    table: Table,
    fit_params: dict[str, Any],
) -> Combination:
    configured = clone(selector).set_params(**params)
    if "alpha" in axis:
        if not isinstance(configured, RowSelector):
            alone = [{"alpha": value} for value in np.atleast_1d(axis["alpha"])]
            raise TypeError(
                "Expected an L2pSelector or an LpInfSelector for a path in alpha, got "
                f"{type(selector).__name__} and {alone!r:.60}."
            )
        # along the path alpha alone says how many features there are
        configured.set_params(n_features_to_select=None, alpha=None)
        return Combination(
            configured, params, _alphas(axis["alpha"], configured, table, fit_params)
        )
    if not axis:
        return Combination(configured, params)
    ks = checked_ks(next(iter(axis.values())), table.shape[1])
    configured = with_k(configured, ks[-1])
    if isinstance(configured, RowSelector | TopKSelector) and isinstance(configured.ridge, str):
        # the automatic ridge of the path is that of its largest k: say it, so that a fit with
        # best_params_ solves the problem whose score was compared
        ridge = _problem(configured, table, fit_params).ridge
        configured.set_params(ridge=ridge)
        params = {**params, "ridge": ridge}
    return Combination(configured, params, ks=tuple(ks))


def _alphas(
    wanted: Any, configured: RowSelector, table: Table, fit_params: dict[str, Any]
) -> np.ndarray:
    if not (wanted is None or is_integer(wanted)):
        return falling_alphas(wanted)
    if wanted is not None and wanted < 1:
        raise ValueError(f"Expected at least one alpha, got alpha={wanted!r} in grid.")
    # of all samples: folds that differ in alpha could not be compared
    problem = _problem(configured, table, fit_params)
    return alpha_grid(problem) if wanted is None else alpha_grid(problem, int(wanted))


def _problem(
    selector: RowSelector | TopKSelector, table: Table, fit_params: dict[str, Any]
) -> PenalisedProblem:
    """What the selector solves on all samples."""
    X = table.everyone(selector)
    return selector.problem_and_solver(X, table.y, fit_params.get("sample_weight"))[0]
