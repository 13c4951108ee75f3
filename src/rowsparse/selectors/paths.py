"""Paths of a selector: its problem over a grid of alpha, of p, or of numbers of features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..inputs import check_integer, check_number
from ..paths import alpha_path, path_over_k, penalty_path
from ..problems.penalised import PenalisedProblem
from ..results import Path
from ..solvers.top_k.solve import top_k_path
from .penalised import RowSelector
from .top_k import TopKSelector


def selection_path(
    selector: RowSelector | TopKSelector,
    X: Any,
    y: Any,
    *,
    alphas: Iterable[float] | None = None,
    n_alphas: int = 50,
    alpha_min_ratio: float = 1e-2,
    ks: Iterable[int] | None = None,
    sample_weight: Any = None,
) -> Path:
    """The solutions of a selector's problem along decreasing alphas.

    Without ``alphas`` the grid is geometric from alpha_max to ``alpha_min_ratio`` times it. With
    ``ks`` the path has one solution per k instead: the largest alpha found with at least k rows.
    All are solutions of one problem: ``ridge="auto"`` is that of the largest k. The solver's
    time limit is for the whole path.

    Parameters
    ----------
    selector : L2pSelector, LpInfSelector or TopKSelector
    X, y : as in ``fit``
    alphas : numbers > 0, optional
    n_alphas, alpha_min_ratio : the grid without ``alphas``
    ks : numbers of features, instead of alphas
    sample_weight : array, optional

    Returns
    -------
    rowsparse.results.Path

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import TopKSelector
    >>> from rowsparse.paths import selection_path
    >>> path = selection_path(TopKSelector(), X, y, ks=[1, 2, 3])
    >>> path.n_rows.tolist()
    [1, 2, 3]
    """
    if not isinstance(selector, RowSelector | TopKSelector):
        raise TypeError(
            "Expected an L2pSelector, an LpInfSelector or a TopKSelector, which have a path, "
            f"got {type(selector).__name__}; fit that one for every value of its parameter."
        )
    if isinstance(selector, TopKSelector):
        if ks is None:
            raise ValueError("Expected ks, the numbers of features: a constraint has no alpha.")
        return _path_of_constraint(selector, X, y, sample_weight, ks)
    if ks is None:
        problem, solver = selector.problem_and_solver(X, y, sample_weight)
        if alphas is None:
            grid = alpha_grid(problem, n_alphas, alpha_min_ratio)
        else:
            grid = falling_alphas(alphas)
        return alpha_path(problem, solver, grid, selector.init)
    wanted = _whole_numbers(ks)
    # one problem for all: its ridge is that of the most features, which need most of it
    problem, solver = selector.problem_and_solver(X, y, sample_weight, max(wanted, default=1))
    return path_over_k(problem, solver, _checked_ks(wanted, problem), selector.init)


def power_path(
    selector: RowSelector,
    X: Any,
    y: Any,
    *,
    powers: Iterable[float] = (1.0, 0.75, 0.5, 0.25, 0.1),
    fraction: float = 0.1,
    sample_weight: Any = None,
) -> Path:
    """The solutions of a selector's problem along falling p, each continued from the one before.

    From p = 1, where the solution is global, this follows one minimum into the non-convex
    problems; the selector's own p is not used. alpha is the selector's for every p, or where that
    is None, ``fraction`` of the alpha_max of each p.

    Parameters
    ----------
    selector : L2pSelector or LpInfSelector
    X, y : as in ``fit``
    powers : numbers from 0 to 1
    fraction : float, of alpha_max
    sample_weight : array, optional

    Returns
    -------
    rowsparse.results.Path

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import L2pSelector
    >>> from rowsparse.paths import power_path
    >>> path = power_path(L2pSelector(), X, y, powers=[1, 0.5])
    >>> bool(path.n_rows[1] <= path.n_rows[0])  # smaller p, fewer columns
    True
    """
    if not isinstance(selector, RowSelector):
        raise TypeError(
            "Expected an L2pSelector or an LpInfSelector, whose penalty has a power p, "
            f"got {type(selector).__name__}."
        )
    # falling from the convex problem: each solution starts the next
    grid = np.sort(np.asarray(list(powers), dtype=float))[::-1]
    if not grid.size or not (np.isfinite(grid).all() and grid[0] <= 1 and grid[-1] >= 0):
        raise ValueError(f"Expected powers between 0 and 1, got {powers!r}.")
    check_number("fraction", fraction, 0.0, 1.0, low_open=True)
    problem, solver = selector.problem_and_solver(X, y, sample_weight)
    alpha = 1.0 if selector.alpha is None else selector.alpha
    # the factors of the problem, in which constant columns are excluded
    penalty = selector._penalty(alpha, problem.penalty.factors)
    penalties = [replace(penalty, p=float(p)) for p in grid]
    share = fraction if selector.alpha is None else None
    path = penalty_path(problem, solver, penalties, share)
    # a time limit ends the path early
    return replace(path, powers=grid[: len(path)])


def _whole_numbers(ks: Iterable[int]) -> list[int]:
    return sorted({check_integer("every one of ks", k, 0) for k in ks})


def _checked_ks(wanted: list[int], problem: PenalisedProblem) -> list[int]:
    # the constant is a row of W like any other
    n_features = problem.n_rows - problem.has_constant
    if not wanted or wanted[0] < 1 or wanted[-1] > n_features:
        raise ValueError(
            f"Expected ks between 1 and {n_features} (the columns of X), got {wanted}."
        )
    return wanted


def _path_of_constraint(
    selector: TopKSelector, X: Any, y: Any, sample_weight: Any, ks: Iterable[int]
) -> Path:
    """Every k from its neighbours. Features that are always in count."""
    wanted = _whole_numbers(ks)
    problem, solver = selector.problem_and_solver(X, y, sample_weight, max(wanted, default=1))
    ks = _checked_ks(wanted, problem)
    n_free = int(np.sum(problem.penalty.free(problem.n_rows)))
    always = n_free - problem.has_constant
    # those always in are no choice: a path begins with the first that is one
    if ks[0] <= always and always:
        raise ValueError(
            f"Expected ks above {always}, the number of features always in, got {ks[0]}."
        )
    chosen = [k - always for k in ks]
    rng = selector._rng()
    solutions = top_k_path(problem, chosen, solver, selector.n_init, selector.polish, rng)
    # a time limit ends the path early
    found = np.array(ks[: len(solutions)])
    return Path(np.full(found.size, np.nan), tuple(solutions), ks=found)


def falling_alphas(alphas: Iterable[float]) -> np.ndarray:
    """Falling: each solution starts the next, which has a few rows more."""
    grid = np.sort(np.asarray(list(alphas), dtype=float))[::-1]
    if not grid.size or not np.isfinite(grid).all() or grid[-1] < 0:
        raise ValueError(f"Expected alphas that are finite and >= 0, got {alphas!r}.")
    return grid


def alpha_grid(
    problem: PenalisedProblem, n_alphas: int = 50, alpha_min_ratio: float = 1e-2
) -> np.ndarray:
    """In equal ratios from alpha_max down; fifty alphas are steps of a tenth."""
    if n_alphas < 1 or not 0 < alpha_min_ratio < 1:
        raise ValueError(
            "Expected n_alphas >= 1 and 0 < alpha_min_ratio < 1, "
            f"got n_alphas={n_alphas!r} and alpha_min_ratio={alpha_min_ratio!r}."
        )
    top = problem.alpha_max()
    if not top > 0:
        raise ValueError(
            "Expected a target that some column of X goes along with, got one for which every "
            "coefficient is zero under any penalty (alpha_max = 0)."
        )
    return np.geomspace(top, top * alpha_min_ratio, n_alphas)
