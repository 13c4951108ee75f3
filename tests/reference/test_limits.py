"""Corners where the family meets something known: Lasso, MultiTaskLasso, least squares, medians."""

from dataclasses import replace

import numpy as np
import pytest
from conformance import plain
from conformance.problems import Case
from sklearn.linear_model import Lasso, LinearRegression, MultiTaskLasso, QuantileRegressor

from rowsparse.designs import Standardized, WithConstant, as_design
from rowsparse.numerics.rows import shrink, strength_to_zero, threshold
from rowsparse.solvers import BlockDescent, run

TIGHT = BlockDescent(tol=1e-10)
SKLEARN = {"tol": 1e-13, "max_iter": 100_000}


def test_prox_is_continuous_at_p_one():
    z, rho = np.linspace(0, 5, 101), 0.8
    distances = [
        np.abs(shrink(z, rho, 1 - gap) - shrink(z, rho, 1.0))[z > 0.9].max()
        for gap in (1e-2, 1e-4, 1e-6, 1e-9, 1e-12)
    ]
    assert (np.diff(distances) <= 0).all()
    assert distances[-1] <= 1e-10


def test_thresholds_are_continuous_at_p_one_and_zero():
    for gap in (1e-6, 1e-9, 1e-12):
        slack = 50 * gap * (1 - np.log(gap))
        assert float(threshold(0.8, 1 - gap)) == pytest.approx(0.8, rel=slack)
        assert float(strength_to_zero(0.8, 1 - gap)) == pytest.approx(0.8, rel=slack)
        assert float(threshold(0.8, gap)) == pytest.approx(np.sqrt(1.6), rel=slack)


def test_prox_is_continuous_at_p_zero():
    z = np.linspace(0, 5, 101)
    np.testing.assert_allclose(shrink(z, 0.8, 1e-12), shrink(z, 0.8, 0.0), atol=1e-10)


@pytest.mark.parametrize("p", [0.999999, 1e-9])
def test_prox_next_to_the_ends_is_the_lowest(p):
    for z in (0.79, 0.81, 1.26, 1.27, 3.0):
        t = float(shrink(z, 0.8, p))
        assert t == pytest.approx(plain.lowest(z, 0.8, p), rel=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("shape", [(60, 12), (20, 50)])
def test_one_output_is_the_lasso(shape, intercept, weighted):
    """A group of one: the norm of a row with one entry is its absolute value."""
    case = Case(n=shape[0], d=shape[1], c=1, intercept=intercept, weighted=weighted)
    theirs = Lasso(case.alpha, fit_intercept=intercept, **SKLEARN)
    theirs.fit(case.X, case.Y[:, 0], sample_weight=case.s)
    ours = run(TIGHT, case.problem)
    np.testing.assert_allclose(ours.W[:, 0], theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept, theirs.intercept_, atol=1e-6)


@pytest.mark.parametrize("shape", [(60, 12), (20, 50)])
def test_several_outputs_are_the_multi_task_lasso(shape):
    case = Case(n=shape[0], d=shape[1], c=3)
    theirs = MultiTaskLasso(case.alpha, **SKLEARN).fit(case.X, case.Y)
    ours = run(TIGHT, case.problem)
    np.testing.assert_allclose(ours.W.T, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept, theirs.intercept_, atol=1e-6)


def test_orthogonal_columns_are_solved_by_one_prox():
    rng = np.random.default_rng(0)
    case = Case(n=40, d=6, c=3, intercept=False)
    Q = np.linalg.qr(rng.standard_normal((40, 6)))[0] * np.sqrt(40)
    for p in (0.0, 0.25, 0.5, 0.9, 1.0):
        at = case.but(p=p)
        at.X[:] = Q
        expected = plain.prox(Q.T @ at.Y / 40, np.full(6, at.alpha), p)
        np.testing.assert_allclose(run(TIGHT, at.problem).W, expected, atol=1e-9)


@pytest.mark.parametrize("p", [1.0, 0.5])
@pytest.mark.parametrize("c", [1, 3])
def test_repeated_outputs_are_one_output_at_another_alpha(c, p):
    """k equal columns: every norm grows by sqrt(k), so the same rows at alpha k**(1 - p/2)."""
    one = Case(c=c, p=p)
    single = run(TIGHT, one.problem)
    penalty = one.problem.penalty.with_alpha(one.alpha * 4 ** (1 - p / 2))
    four = run(TIGHT, _with_outputs(one, np.hstack([one.Y] * 4)).with_penalty(penalty))
    np.testing.assert_allclose(four.W, np.hstack([single.W] * 4), atol=1e-7)


def _with_outputs(case, Y):
    return replace(case.problem, Y=Y)


@pytest.mark.parametrize("p", [1.0, 0.5])
def test_r_just_below_two_is_close_to_two(p):
    squared, nearly = Case(p=p), Case(r=2 - 1e-6, p=p)
    problem = nearly.problem.with_alpha(squared.alpha)
    a, b = run(TIGHT, squared.problem), run(BlockDescent(), problem)
    assert b.converged
    np.testing.assert_allclose(a.W, b.W, atol=1e-4)


@pytest.mark.parametrize("r", [2.0, 1.5, 1.0])
def test_p_just_below_one_is_close_to_one(r):
    convex, nearly = Case(r=r), Case(r=r, p=1 - 1e-6)
    a = run(BlockDescent(), convex.problem)
    b = run(BlockDescent(), nearly.problem.with_alpha(convex.alpha), convex.joined(a))
    assert b.objective == pytest.approx(a.objective, rel=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_without_penalty_it_is_least_squares(weighted):
    case = Case(fraction=0.0, weighted=weighted)
    theirs = LinearRegression().fit(case.X, case.Y, sample_weight=case.s)
    ours = run(TIGHT, case.problem)
    np.testing.assert_allclose(ours.W.T, theirs.coef_, atol=1e-8)


def test_one_output_with_r_one_is_the_penalised_median():
    case = Case(r=1.0, n=41, d=5, c=1)
    theirs = QuantileRegressor(quantile=0.5, alpha=case.alpha / 2, solver="highs")
    theirs.fit(case.X, case.Y[:, 0])
    ours = run(BlockDescent(), case.problem)
    W = np.append(theirs.coef_, theirs.intercept_)[:, None]
    best = plain.objective(case.A, case.Y, W, 1.0, 1.0, case.s, case.strength)
    assert ours.objective == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("solver", [BlockDescent()], ids=["BlockDescent"])
@pytest.mark.parametrize("shift", [5.0, 1e3, 1e6])
def test_shifting_X_changes_nothing_but_the_intercept(solver, shift):
    case = Case()
    means = (case.X + shift).mean(axis=0)
    design = WithConstant(Standardized(as_design(case.X + shift), means, np.ones(case.d)))
    moved = run(solver, replace(case.problem, design=design))
    base = run(TIGHT, case.problem)
    np.testing.assert_allclose(moved.W, base.W, atol=1e-7)
