"""The convex problems against an interior-point solver that knows nothing of this package."""

from functools import cache

import cvxpy as cp
import numpy as np
import pytest
from conformance.problems import Case

from rowsparse.solvers import IRLS, BlockDescent, run, solve

ACCURACY = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
CASES = [
    Case(r=r, n=n, d=d, c=c, intercept=intercept, weighted=weighted, factored=factored)
    for r in (1.0, 1.5, 2.0)
    for n, d, c, intercept, weighted, factored in [
        (40, 8, 3, True, False, False),
        (40, 8, 1, True, True, False),
        (40, 8, 2, False, True, True),
        (15, 30, 2, True, False, True),
        (15, 30, 1, False, False, False),
    ]
]


@cache
def optimum(case):
    """The optimal value by Clarabel."""
    allowed = np.isfinite(case.strength)
    A, strength = case.A[:, allowed], case.strength[allowed]
    W = cp.Variable((A.shape[1], case.c))
    residuals = cp.norm(A @ W - case.Y, 2, axis=1)
    loss = case.s @ cp.power(residuals, case.r) / (case.r * case.n)
    problem = cp.Problem(cp.Minimize(loss + strength @ cp.norm(W, 2, axis=1)))
    return problem.solve(solver=cp.CLARABEL, **ACCURACY)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_block_descent_reaches_the_optimum(case):
    solution = run(BlockDescent(time_limit=20), case.problem)
    assert case.objective(solution) == pytest.approx(optimum(case), rel=1e-6)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_default_start_reaches_the_optimum(case):
    solution = solve(case.problem, BlockDescent(time_limit=20))
    assert case.objective(solution) == pytest.approx(optimum(case), rel=1e-6)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_irls_comes_close_to_the_optimum(case):
    solution = run(IRLS(tol=1e-10, max_iter=5000), case.problem)
    # reweighting is slow where rows and residuals vanish together (r = p = 1, d > n, one output)
    assert case.objective(solution) == pytest.approx(optimum(case), rel=2e-4)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_gap_brackets_the_optimum(case):
    for tol in (1e-1, 1e-3, 1e-8):
        solution = run(BlockDescent(tol=tol, time_limit=20), case.problem)
        lower = solution.objective - solution.gap
        assert lower <= optimum(case) * (1 + 1e-7)
        assert solution.objective >= optimum(case) * (1 - 1e-7)


@pytest.mark.parametrize("fraction", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("r", [1.0, 1.5, 2.0])
def test_weak_and_strong_penalties_reach_the_optimum(r, fraction):
    case = Case(r=r, n=30, d=10, c=2, fraction=fraction)
    solution = run(BlockDescent(time_limit=20), case.problem)
    assert case.objective(solution) == pytest.approx(optimum(case), rel=1e-6)
