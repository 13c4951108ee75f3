"""The l_{p,inf} problem against cvxpy, and its corners where something is known."""

from functools import cache

import cvxpy as cp
import numpy as np
import pytest
from conformance import plain
from conformance.problems import Case

from rowsparse import L2pSelector, LpInfSelector
from rowsparse.penalties import LpInf
from rowsparse.solvers import BlockDescent, ProximalGradient, run
from rowsparse.solvers.penalised.block_descent import descend, violation
from rowsparse.solvers.penalised.model import GramModel
from rowsparse.solvers.penalised.starts import ridge_point

ACCURACY = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
TIGHT = BlockDescent(tol=1e-10)
CASES = [
    Case(n=n, d=d, c=c, intercept=intercept, weighted=weighted, factored=factored, size="max")
    for n, d, c, intercept, weighted, factored in [
        (40, 8, 3, True, False, False),
        (40, 8, 1, True, True, False),
        (40, 8, 5, False, True, True),
        (15, 30, 2, True, False, True),
        (15, 30, 6, False, False, False),
        (12, 100, 4, True, False, False),
    ]
]
CASES += [case.but(fraction=fraction) for case in CASES[::3] for fraction in (1e-3, 0.02, 0.5)]


@cache
def optimum(case):
    """The optimal value by Clarabel."""
    allowed = np.isfinite(case.strength)
    A, strength = case.A[:, allowed], case.strength[allowed]
    W = cp.Variable((A.shape[1], case.c))
    residuals = cp.multiply(np.sqrt(case.s)[:, None], A @ W - case.Y)
    loss = cp.sum_squares(residuals) / (2 * case.n)
    problem = cp.Problem(cp.Minimize(loss + strength @ cp.norm(W, "inf", axis=1)))
    return problem.solve(solver=cp.CLARABEL, **ACCURACY)


@pytest.mark.parametrize("solver", [BlockDescent(), ProximalGradient()], ids=["bcd", "fista"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_optimum_of_the_convex_problem(case, solver):
    solution = run(solver, case.problem)
    assert solution.converged
    assert case.objective(solution) == pytest.approx(optimum(case), rel=1e-6)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_gap_brackets_the_optimum_and_closes(case):
    for tol in (1e-1, 1e-3, 1e-9):
        solution = run(BlockDescent(tol=tol), case.problem)
        assert solution.objective - solution.gap <= optimum(case) * (1 + 1e-7)
        assert solution.objective >= optimum(case) * (1 - 1e-7)
    assert solution.relative_gap <= 1e-6


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 1.0])
def test_orthogonal_columns_are_solved_by_one_prox(p):
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 6)))[0] * np.sqrt(40)
    case = Case(n=40, d=6, c=3, intercept=False, p=p, size="max")
    case.X[:] = Q
    expected = plain.prox(Q.T @ case.Y / 40, np.full(6, case.alpha), p, "max")
    for solver in (TIGHT, ProximalGradient(tol=1e-10)):
        np.testing.assert_allclose(run(solver, case.problem).W, expected, atol=1e-8)


@pytest.mark.parametrize("p", [0.5, 1.0])
def test_repeated_outputs_are_one_output_at_another_alpha(p):
    """k equal columns multiply the loss by k and leave the largest magnitude as it is."""
    one = Case(c=1, p=p, size="max")
    three = one.but(c=3)
    three.Y[:] = one.Y
    three.X[:] = one.X
    single = run(TIGHT, one.problem)
    triple = run(TIGHT, three.problem.with_alpha(3 * one.alpha))
    np.testing.assert_allclose(triple.W, np.repeat(single.W, 3, axis=1), atol=1e-8)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("shape", [(60, 12), (20, 90)])
def test_one_output_is_the_l2p_problem(p, shape):
    case = Case(n=shape[0], d=shape[1], c=1, p=p)
    a, b = run(TIGHT, case.problem), run(TIGHT, case.but(size="max").problem)
    np.testing.assert_allclose(a.W, b.W, atol=1e-9)


@pytest.mark.parametrize("p", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_no_row_can_be_changed_to_lower_the_objective(p, seed):
    """By random search over each row of a certified point."""
    case = Case(n=20, d=40, c=4, p=p, seed=seed, size="max")
    solution = run(BlockDescent(), case.problem)
    assert solution.converged
    W, now = case.joined(solution), case.objective(solution)
    rng = np.random.default_rng(seed)
    for j in range(case.d):
        for size in (1e-3, 0.03, 0.3, 1.0):
            V = W.copy()
            V[j] = size * rng.standard_normal(case.c) + rng.integers(0, 2) * W[j]
            assert case.objective_of(V) >= now * (1 - 1e-9)


def test_a_large_problem_with_many_clipped_rows_is_solved_exactly():
    """Compiled sweeps, Newton on levels, and more rows than samples."""
    case = Case(n=60, d=400, c=8, fraction=0.02, size="max")
    solution = run(TIGHT, case.problem)
    assert solution.converged
    assert solution.relative_gap <= 2e-9  # 1.007e-9 with SciPy 1.12
    slow = run(ProximalGradient(tol=1e-7), case.problem)
    assert slow.objective == pytest.approx(solution.objective, rel=1e-6)


@pytest.mark.parametrize("factored", [False, True])
@pytest.mark.parametrize("shape", [(60, 12), (20, 50)])
def test_the_ridge_start_minimises_the_ridge_objective(shape, factored):
    case = Case(n=shape[0], d=shape[1], weighted=True, factored=factored, size="max")
    W = ridge_point(case.problem)
    allowed = np.isfinite(case.strength)
    assert not W[~allowed].any()
    A, q = case.A[:, allowed], 2 * case.strength[allowed]
    expected = np.linalg.solve(
        A.T @ (case.s[:, None] * A) / case.n + np.diag(q), A.T @ (case.s[:, None] * case.Y) / case.n
    )
    np.testing.assert_allclose(W[allowed], expected, atol=1e-8)


@pytest.mark.parametrize("r", [1.0, 1.5])
def test_other_losses_are_descended_on_too(r):
    case = Case(r=r, n=40, d=10, size="max")
    W = cp.Variable((case.d + 1, case.c))
    residuals = cp.norm(case.A @ W - case.Y, 2, axis=1)
    loss = case.s @ cp.power(residuals, r) / (r * case.n)
    penalty = case.strength @ cp.norm(W, "inf", axis=1)
    best = cp.Problem(cp.Minimize(loss + penalty)).solve(solver=cp.CLARABEL, **ACCURACY)
    solution = run(BlockDescent(), case.problem)
    assert case.objective(solution) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("apart", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize(
    ("estimator", "outputs"),
    [(LpInfSelector, 1), (LpInfSelector, 3), (L2pSelector, 1), (L2pSelector, 3)],
)
def test_nearly_equal_columns_are_solved_in_a_moment(apart, estimator, outputs):
    # a small share of alpha_max: opposite coefficients of hundreds pay for differences of columns
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 1)) + apart * rng.normal(size=(20, 15))
    Y = rng.normal(size=(20, outputs))
    selector = estimator(alpha=1e-4, p=1.0, solver=BlockDescent(max_iter=20)).fit(X, Y)
    assert selector.solution_.converged
    assert selector.solution_.relative_gap <= 1e-6


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_newton_holds_entries_that_pass_their_level(seed, monkeypatch):
    """Near the solution some clipped entries are taken for free ones: one step puts them back."""
    monkeypatch.setattr("rowsparse.penalties.newton_levels.NEWTON_STEPS", 1)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 20))
    Y = X[:, :10] @ rng.normal(size=(10, 6)) + rng.normal(size=(100, 6))
    penalty = LpInf(0.3, p=1.0)
    model = GramModel(X.T @ X / 100, np.zeros((20, 6)), -X.T @ Y / 100)
    descend(model, penalty, 1e-14)
    solution = model.W.copy()
    clipped = np.argwhere(np.abs(solution) >= np.abs(solution).max(axis=1)[:, None] * (1 - 1e-9))
    inside = clipped[np.flatnonzero(np.diff(clipped[:, 0]) == 0)[::3]]  # never all of a row
    change = np.zeros_like(solution)
    change[tuple(inside.T)] = -3e-5 * solution[tuple(inside.T)]
    assert np.count_nonzero(change) > 5
    model = GramModel(model.G, solution + change, model.Q + model.G @ change)
    penalty.newton(model, 1e-14, finishing=False)
    assert violation(model, penalty) <= 1e-12
    np.testing.assert_allclose(model.W, solution, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_next_to_no_penalty_on_few_samples_is_solved_in_a_moment(seed):
    """Half a minute and more once: of steps on a singular system only the shorter ones help."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 51))
    Y = np.sign(X[:, :4] @ rng.normal(size=(4, 2)))
    weights = 10 ** rng.uniform(-3, 3, 24)
    selector = LpInfSelector(
        alpha=2.5e-9, p=0.75, init="zero", fit_intercept=False, standardize=False,
        task="regression", solver=BlockDescent(max_iter=20),
    ).fit(X, Y, sample_weight=weights)  # fmt: skip
    assert selector.solution_.converged
    assert selector.solution_.objective < 1e-7
