"""The dual of a support vector machine, pair by pair: cvxpy, libsvm, other starts."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from rowsparse.numerics.svm import smo

FAR = 10**6


def points(n, d, seed, C=2.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y, C * rng.uniform(0.5, 2.0, n)


def machine(n, d, seed, C=2.0):
    X, y, c = points(n, d, seed, C)
    return X @ X.T, y, c


def dual_value(K, y, a):
    return a.sum() - 0.5 * (y * a) @ K @ (y * a)


def primal_value(K, y, c, a, b):
    z = K @ (y * a)
    return 0.5 * (y * a) @ z + c @ np.maximum(1 - y * (z + b), 0)


def optimum(X, y, c):
    """Of the primal, by cvxpy."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    slack = c @ cp.pos(1 - cp.multiply(y, X @ w + b))
    goal = cp.Minimize(cp.sum_squares(w) / 2 + slack)
    return cp.Problem(goal).solve(solver=cp.CLARABEL)


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 40), st.integers(1, 8), st.integers(0, 50), st.sampled_from([0.1, 2.0, 50.0]))
@example(25, 2, 2, 50.0)
def test_multipliers_and_bias_are_cvxpys_optimum(n, d, seed, C):
    X, y, c = points(n, d, seed, C)
    K = X @ X.T
    a, b, apart = smo.pairwise(K, y, c, None, 1e-7, FAR)
    assert np.all((a >= 0) & (a <= c))
    assert abs(y @ a) <= 1e-9 * c.sum()
    best = optimum(X, y, c)
    # few columns and large costs: moves may run out, it says so, and five digits are there
    near = 1e-6 if apart <= 1e-7 else 1e-5
    assert apart <= 1e-7 or C == 50
    assert dual_value(K, y, a) == pytest.approx(best, rel=near)
    margins_off = apart * c.sum()  # what errors of that size in all margins cost
    assert primal_value(K, y, c, a, b) == pytest.approx(best, rel=near, abs=margins_off)


def test_too_few_moves_are_said():
    K, y, c = machine(40, 5, 0)
    assert smo.pairwise(K, y, c, None, 1e-7, 3)[2] > 1e-7


def test_equals_libsvm():
    K, y, c = machine(80, 5, 0)
    a, b, _ = smo.pairwise(K, y, c, None, 1e-7, FAR)
    theirs = SVC(kernel="precomputed", C=1.0, tol=1e-8).fit(K, y, sample_weight=c)
    np.testing.assert_allclose(K @ (y * a) + b, theirs.decision_function(K), atol=1e-3)


@pytest.mark.parametrize("factor", [1.0, 0.3, 4.0])
def test_a_start_from_other_costs_ends_at_the_same_optimum(factor):
    K, y, c = machine(60, 4, 1)
    near, *_ = smo.pairwise(K, y, factor * c, None, 1e-7, FAR)
    warm, *_ = smo.pairwise(K, y, c, near, 1e-7, FAR)
    cold, *_ = smo.pairwise(K, y, c, None, 1e-7, FAR)
    np.testing.assert_allclose(dual_value(K, y, warm), dual_value(K, y, cold), rtol=1e-7)


def test_a_start_with_all_multipliers_at_their_bounds_may_have_the_balance_that_is_asked_for():
    K, y, c = machine(30, 3, 4)
    balance = float(-(y * c).sum())
    warm, b, apart = smo.pairwise(K, y, c, c, 1e-7, FAR, balance=balance)
    cold, *_ = smo.pairwise(K, y, c, None, 1e-7, FAR, balance=balance)
    assert np.isfinite(b)
    assert apart <= 1e-7
    assert y @ warm == pytest.approx(-balance)
    assert dual_value(K, y, warm) == pytest.approx(dual_value(K, y, cold), rel=1e-7)


def test_a_good_start_is_kept():
    K, y, c = machine(60, 4, 2)
    a, *_ = smo.pairwise(K, y, c, None, 1e-7, FAR)
    again, *_ = smo.pairwise(K, y, c, a, 1e-5, FAR)
    np.testing.assert_allclose(again, a, atol=1e-12)


def test_compiled_and_plain_source_agree(monkeypatch):
    K, y, c = machine(30, 3, 3)
    compiled = smo.pairwise(K, y, c, None, 1e-6, 2000)
    monkeypatch.setattr(smo, "_MOVES", smo._moves)
    plain = smo.pairwise(K, y, c, None, 1e-6, 2000)
    np.testing.assert_allclose(compiled[0], plain[0], atol=1e-9)
    np.testing.assert_allclose(compiled[1], plain[1], atol=1e-9)


def test_equal_points_of_both_classes_end_at_their_costs():
    """Points that cannot be told apart: no curvature between them, the box decides."""
    K, y, c = np.ones((4, 4)), np.array([1.0, -1.0, 1.0, -1.0]), np.array([1.0, 2.0, 3.0, 4.0])
    a, b, _ = smo.pairwise(K, y, c, None, 1e-7, FAR)
    assert primal_value(K, y, c, a, b) == pytest.approx(dual_value(K, y, a))
