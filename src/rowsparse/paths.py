"""Paths: the same problem over a grid of alpha, every solve warm-started from its neighbour."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .problem import Problem
from .results import Path, Solution, Status
from .solvers.base import Solver
from .solvers.starts import solve, solve_near

COARSE = 0.7  # ratio of neighbouring alphas on the way down to k rows
SMALLEST = 1e-4  # of alpha_max: the end of that way
REFINEMENTS = 6


def selection_path(
    selector: Any,
    X,
    y,
    *,
    alphas: Iterable[float] | None = None,
    n_alphas: int = 50,
    alpha_min_ratio: float = 1e-2,
    ks: Iterable[int] | None = None,
    sample_weight=None,
) -> Path:
    """The solutions of a selector's problem along decreasing alphas.

    Without ``alphas`` the grid is geometric from alpha_max to ``alpha_min_ratio`` times it. With
    ``ks`` the path has one solution per k instead: the largest alpha found with at least k rows.
    """
    problem, solver = selector.problem_and_solver(X, y, sample_weight)
    if ks is not None:
        wanted = sorted({int(k) for k in ks})
        if not wanted or wanted[0] < 1 or wanted[-1] > X.shape[1]:
            raise ValueError(f"Expected ks between 1 and {X.shape[1]} (the columns), got {wanted}.")
        found = [path_to_k(problem, solver, k, selector.init) for k in wanted]
        return Path(np.array([alpha for alpha, _, _ in found]), tuple(s for _, s, _ in found))
    grid = _grid(problem, alphas, n_alphas, alpha_min_ratio)
    solutions: list[Solution] = []
    for alpha in grid:
        near = solutions[-1] if solutions else None
        solutions.append(solve_near(problem.with_alpha(alpha), solver, near, selector.init))
        if solutions[-1].status is Status.INTERRUPTED:
            break
    return Path(grid[: len(solutions)], tuple(solutions))


def path_to_k(
    problem: Problem, solver: Solver, k: int, init="best"
) -> tuple[float, Solution, Path]:
    """Follow alpha down until at least k penalised or free rows are nonzero.

    Coarse steps first, then bisection between the last alpha with fewer than k rows and the first
    with enough. Returns that alpha, its solution and every solution seen on the way. If k is not
    reached by ``SMALLEST`` times alpha_max, the last solution is returned as it is.
    """
    top = problem.alpha_max() or 1.0
    seen: dict[float, Solution] = {}

    def visit(alpha: float, near: Solution | None, thorough: bool) -> Solution:
        at = problem.with_alpha(alpha)
        seen[alpha] = solve_near(at, solver, near, init) if thorough else solve(at, solver, _warm(near))
        return seen[alpha]

    def enough(solution: Solution) -> bool:
        return solution.rows.size >= k or solution.status is Status.INTERRUPTED

    above, alpha = top, top * COARSE
    solution = visit(alpha, None, thorough=False)
    while not enough(solution) and alpha > SMALLEST * top:
        above, alpha = alpha, alpha * COARSE
        solution = visit(alpha, solution, thorough=False)
    for _ in range(REFINEMENTS):
        if solution.rows.size <= k:
            break
        middle = float(np.sqrt(above * alpha))
        trial = visit(middle, solution, thorough=False)
        if enough(trial):
            alpha, solution = middle, trial
        else:
            above = middle
    if not problem.convex:
        solution = visit(alpha, solution, thorough=True)
        while not enough(solution) and alpha > SMALLEST * top:
            alpha *= COARSE
            solution = visit(alpha, solution, thorough=True)
    order = sorted(seen, reverse=True)
    return alpha, solution, Path(np.array(order), tuple(seen[a] for a in order))


def _warm(near: Solution | None):
    return "zero" if near is None else near


def _grid(problem: Problem, alphas, n_alphas: int, alpha_min_ratio: float) -> np.ndarray:
    if alphas is not None:
        grid = np.sort(np.asarray(list(alphas), dtype=float))[::-1]
        if not grid.size or not np.isfinite(grid).all() or grid[-1] < 0:
            raise ValueError(f"Expected alphas that are finite and >= 0, got {alphas!r}.")
        return grid
    if n_alphas < 1 or not 0 < alpha_min_ratio < 1:
        raise ValueError(
            "Expected n_alphas >= 1 and 0 < alpha_min_ratio < 1, "
            f"got n_alphas={n_alphas!r} and alpha_min_ratio={alpha_min_ratio!r}."
        )
    top = problem.alpha_max()
    return np.geomspace(top, top * alpha_min_ratio, n_alphas)
