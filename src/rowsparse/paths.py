"""Paths: the same problem over a grid of alpha or p, each solve warm-started from the last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from .problems.base import AT_MOST_K
from .problems.penalised import PenalisedProblem
from .results import Path, Solution, Status
from .solvers.base import Solver
from .solvers.loop import Deadline
from .solvers.penalised.irls import IRLS
from .solvers.penalised.starts import solve, solve_near
from .solvers.top_k.solve import top_k_path

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
        wanted, n_features = (
            sorted({int(k) for k in ks}),
            len(problem.split(problem.null_point)[0]),
        )
        if not wanted or wanted[0] < 1 or wanted[-1] > n_features:
            raise ValueError(
                f"Expected ks between 1 and {n_features} (the columns of X), got {wanted}."
            )
        if problem.kind == AT_MOST_K:
            return _path_over_k(selector, problem, solver, wanted)
        found = [path_to_k(problem, solver, k, selector.init) for k in wanted]
        return Path(np.array([alpha for alpha, _, _ in found]), tuple(s for _, s, _ in found))
    if problem.kind == AT_MOST_K:
        raise ValueError("Expected ks, the numbers of features: a constraint has no alpha.")
    grid = _grid(problem, alphas, n_alphas, alpha_min_ratio)
    solutions: list[Solution] = []
    deadline = Deadline(solver.time_limit)
    for alpha in grid:
        near = solutions[-1] if solutions else None
        solutions.append(
            solve_near(problem.with_alpha(alpha), deadline.limited(solver), near, selector.init)
        )
        if solutions[-1].status in (Status.INTERRUPTED, Status.TIME_LIMIT):
            break
    return Path(grid[: len(solutions)], tuple(solutions))


def _path_over_k(selector: Any, problem: PenalisedProblem, solver: Solver, ks: list[int]) -> Path:
    """For a constraint: every k from its neighbours. Features that are always in count."""
    features = problem.penalty.free(problem.n_rows)[: problem.n_rows - problem.has_constant]
    always = int(np.sum(features))
    if ks[0] <= always and always:
        raise ValueError(
            f"Expected ks above {always}, the number of features always in, got {ks[0]}."
        )
    options = selector.n_init, selector.polish, selector._rng()
    solutions = top_k_path(problem, [k - always for k in ks], solver, *options)
    found = np.array(ks[: len(solutions)])
    return Path(np.full(found.size, np.nan), tuple(solutions), ks=found)


def power_path(
    selector: Any,
    X,
    y,
    *,
    powers: Iterable[float] = (1.0, 0.75, 0.5, 0.25, 0.1),
    fraction: float = 0.1,
    sample_weight=None,
) -> Path:
    """The solutions of a selector's problem along falling p, each continued from the one before.

    From p = 1, where the solution is global, this follows one minimum into the non-convex
    problems; the selector's own p is not used. alpha is the selector's for every p, or where that
    is None, ``fraction`` of the alpha_max of each p.
    """
    problem, solver = selector.problem_and_solver(X, y, sample_weight)
    grid = np.sort(np.asarray(list(powers), dtype=float))[::-1]
    if not grid.size or not (np.isfinite(grid).all() and grid[0] <= 1 and grid[-1] >= 0):
        raise ValueError(f"Expected powers between 0 and 1, got {powers!r}.")
    if not 0 < fraction <= 1:
        raise ValueError(f"Expected fraction in (0, 1], got fraction={fraction!r}.")
    alphas: list[float] = []
    solutions: list[Solution] = []
    deadline = Deadline(solver.time_limit)
    for p in grid:
        at = problem.with_penalty(replace(problem.penalty, p=float(p)))
        alphas.append(fraction * at.alpha_max() if selector.alpha is None else selector.alpha)
        near = solutions[-1] if solutions and not isinstance(solver, IRLS) else "zero"
        solutions.append(solve(at.with_alpha(alphas[-1]), deadline.limited(solver), near))
        if solutions[-1].status in (Status.INTERRUPTED, Status.TIME_LIMIT):
            break
    return Path(np.array(alphas), tuple(solutions), grid[: len(solutions)])


def path_to_k(
    problem: PenalisedProblem, solver: Solver, k: int, init="best"
) -> tuple[float, Solution, Path]:
    """Follow alpha down until at least k rows are nonzero.

    Coarse steps first, then bisection between the last alpha with fewer than k rows and the first
    with enough. Returns that alpha, its solution and every solution seen on the way. If k is not
    reached by ``SMALLEST`` times alpha_max, the last solution is returned as it is; Ctrl-C and the
    solver's time limit, which is for the whole path, end it early.
    """
    walk = _Walk(problem, solver, init)
    above = walk.top
    alpha, solution = walk.down(walk.top, None, k)
    if alpha < walk.top * COARSE:
        above = alpha / COARSE
    for _ in range(REFINEMENTS):
        if solution.rows.size <= k or walk.ended:
            break
        middle = float(np.sqrt(above * alpha))
        trial = walk.visit(middle, solution)
        if trial.rows.size >= k:
            alpha, solution = middle, trial
        else:
            above = middle
    if not problem.convex and not walk.ended:
        solution = walk.visit(alpha, solution, thorough=True)
        if solution.rows.size < k:
            alpha, solution = walk.down(alpha, solution, k, thorough=True)
    if walk.ended:
        solution = replace(solution, status=walk.ended)
    return alpha, solution, walk.path()


class _Walk:
    """Solutions along alpha, each from the one before, under one time limit."""

    def __init__(self, problem: PenalisedProblem, solver: Solver, init):
        self.problem, self.solver, self.init = problem, solver, init
        self.deadline = Deadline(solver.time_limit)
        self.top = problem.alpha_max() or 1.0
        self.seen: dict[float, Solution] = {}
        self.ended: str | None = None  # Ctrl-C or the end of the time

    def visit(self, alpha: float, near: Solution | None, thorough: bool = False) -> Solution:
        """Solve at alpha: from the neighbour only, or (thorough) from every start as well."""
        problem, solver = self.problem.with_alpha(alpha), self.deadline.limited(self.solver)
        if thorough:
            solution = solve_near(problem, solver, near, self.init)
        elif near is None or isinstance(solver, IRLS):
            solution = solve(problem, solver, "zero")
        else:
            solution = solve(problem, solver, near)
        self.seen[alpha] = solution
        if solution.status in (Status.INTERRUPTED, Status.TIME_LIMIT):
            self.ended = solution.status
        return solution

    def down(self, alpha: float, near: Solution | None, k: int, thorough: bool = False):
        """Lower alpha until k rows are in, or as far as it goes."""
        solution = near
        while solution is None or solution.rows.size < k:
            if alpha < SMALLEST * self.top or self.ended:
                break
            alpha *= COARSE
            solution = self.visit(alpha, solution, thorough)
        return alpha, solution

    def path(self) -> Path:
        """Everything seen, from the largest alpha to the smallest."""
        order = sorted(self.seen, reverse=True)
        return Path(np.array(order), tuple(self.seen[alpha] for alpha in order))


def _grid(problem: PenalisedProblem, alphas, n_alphas: int, alpha_min_ratio: float) -> np.ndarray:
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
