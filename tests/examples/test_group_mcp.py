"""The penalty of docs/add-a-penalty.md, which is one file, and what the solvers make of it."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from examples.group_mcp import GroupMCP

from rowsparse.designs import as_design
from rowsparse.losses import ResidualLoss
from rowsparse.problems.penalised import PenalisedProblem
from rowsparse.results import Status
from rowsparse.solvers import IRLS, BlockDescent, ProximalGradient, run, solve

PAGE = Path(__file__).parents[2] / "docs" / "add-a-penalty.md"
FILE = Path(__file__).parent / "group_mcp.py"


def test_the_page_shows_the_file_that_is_run():
    assert f"```python\n{FILE.read_text()}```" in PAGE.read_text()


@pytest.mark.parametrize("gamma", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("rho", [0.0, 0.2, 0.3, 0.9, 1.0, 4.0, np.inf])
def test_prox_is_lowest_on_a_grid(gamma, rho):
    """Also where rho >= gamma and the sum is concave up to gamma."""
    penalty = GroupMCP(gamma=gamma)
    grid = np.linspace(0, 6, 60_001)
    cost = np.where(grid > 0, rho, 0.0) * penalty.phi(grid) if rho else np.zeros_like(grid)
    cost[0] = 0.0
    for z in np.linspace(0, 5, 41):
        t = penalty.shrink(np.array([z]), np.array([rho]))
        own = 0.5 * (t - z) ** 2 + (rho * penalty.phi(t) if t > 0 else 0.0)
        assert own <= (0.5 * (grid - z) ** 2 + cost).min() + 1e-12


def tiny(c, seed, gamma=0.8, n=12, d=3, r=2.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.7 * rng.standard_normal((n, 1))
    Y = X[:, :2] @ rng.standard_normal((2, c)) + 0.5 * rng.standard_normal((n, c))
    penalty = GroupMCP(1.0, gamma=gamma)
    problem = PenalisedProblem.build(as_design(X), Y, ResidualLoss(r), penalty, fit_intercept=False)
    return problem.with_alpha(0.25 * problem.alpha_max())


def stationary_values(problem):
    """The objective at every stationary point of one output: rows are zero, inside or beyond gamma,
    with either sign, and for each such pattern the objective is a quadratic."""
    X, y = problem.design.X, problem.Y[:, 0]
    alpha, gamma = problem.penalty.alpha, problem.penalty.gamma
    n, d = X.shape
    for kinds in itertools.product(("zero", "inside", "beyond"), repeat=d):
        used = [j for j in range(d) if kinds[j] != "zero"]
        inside = np.array([kinds[j] == "inside" for j in used], dtype=float)
        for signs in itertools.product((-1.0, 1.0), repeat=len(used)):
            A = X[:, used].T @ X[:, used] / n - np.diag(alpha / gamma * inside)
            b = X[:, used].T @ y / n - alpha * inside * np.array(signs)
            W = np.zeros((d, 1))
            W[used, 0] = np.linalg.lstsq(A, b, rcond=None)[0]
            yield problem.objective(W)


@pytest.mark.parametrize("seed", range(8))
def test_the_best_start_finds_the_optimum_of_one_output(seed):
    problem = tiny(1, seed)
    best = min(stationary_values(problem))
    found = solve(problem, BlockDescent(), "best")
    assert found.objective == pytest.approx(best, rel=1e-9)
    assert set(found.starts) == {"zero", "irls"}


@pytest.mark.parametrize("seed", range(4))
def test_no_random_start_is_lower_with_two_outputs(seed):
    problem = tiny(2, seed)
    found = solve(problem, BlockDescent(), "best").objective
    rng = np.random.default_rng(seed)
    for _ in range(30):
        W0 = 3 * rng.standard_normal((3, 2))
        for solver in (BlockDescent(), ProximalGradient()):
            assert run(solver, problem, W0).objective >= found * (1 - 1e-9)


@pytest.mark.parametrize("r", [2.0, 1.0])
@pytest.mark.parametrize("shape", [(40, 8, 3), (20, 90, 2)], ids=str)
def test_every_solver_reaches_a_certified_or_stationary_point(shape, r):
    n, d, c = shape
    problem = tiny(c, 0, gamma=0.5, n=n, d=d, r=r)
    for solver in (BlockDescent(), ProximalGradient(), IRLS()):
        if solver.supports(problem) is not None:
            assert r < 2  # proximal gradient needs the squared loss
            continue
        solution = run(solver, problem)
        assert solution.objective == pytest.approx(problem.objective(solution.W), rel=1e-10)
        assert 1 <= solution.rows.size < d
        assert solution.status == Status.CONVERGED
        if not isinstance(solver, IRLS):
            assert solution.violation <= solution.tol


def test_at_alpha_max_all_rows_are_zero_and_below_one_enters():
    problem = tiny(2, 1)
    top = problem.alpha_max()
    assert run(BlockDescent(), problem.with_alpha(top)).rows.size == 0
    assert run(BlockDescent(), problem.with_alpha(0.99 * top)).rows.size > 0
