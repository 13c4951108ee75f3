"""Single machines: the interior point, plain and compiled, and the best offset."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from margins import hinge_sum, two_classes

from rowsparse.numerics.svm import interior_point, solve
from rowsparse.numerics.svm.interior_point import solved
from rowsparse.numerics.svm.machine import Machine, best_offset
from rowsparse.numerics.svm.solve import solve_machine


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(4, 40), st.integers(1, 12), st.floats(1e-3, 1e3))
@example(3534, 11, 11, 617.0)  # the gap grows for five steps
@example(165, 21, 10, 10.0)  # bounds block predictor and corrector
@example(839, 29, 12, 1000.0)
def test_the_interior_point_reaches_a_zero_gap(seed, n, d, C):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)), np.where(np.arange(n) % 2, 1.0, -1.0)
    c, F = C * rng.uniform(0.1, 1, n), np.ones((n, 1))
    for found in (solved(X, False, F, y, c), solved(X @ X.T, True, F, y, c)):
        w = X.T @ (y * found.a)
        z = X @ w + best_offset(X @ w, y, c)
        primal = w @ w / 2 + hinge_sum(z[:, None], y[:, None], c)
        assert np.all((found.a >= 0) & (found.a <= c))
        assert abs(y @ found.a) <= 1e-6 * c.sum()
        assert primal - (found.a.sum() - w @ w / 2) <= 1e-5 * primal


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 20))
def test_the_best_offset_beats_every_kink(seed, n):
    rng = np.random.default_rng(seed)
    z, c = rng.standard_normal(n), rng.integers(1, 4, n).astype(float)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    value = lambda b: hinge_sum((z + b)[:, None], y[:, None], c)  # noqa: E731
    assert value(best_offset(z, y, c)) <= min(value(b) for b in y - z) + 1e-12


@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 0), (40, 3), (30, 60), (300, 48)])
def test_both_forms_of_the_linear_algebra_lead_to_one_machine(n, m):
    rng = np.random.default_rng(n + m)
    B, F = rng.standard_normal((n, m)), np.column_stack([np.ones(n), rng.standard_normal(n)])
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[0], c = 1.0, rng.uniform(0.1, 2, n)
    F = F[:, :1] if n < 10 else F
    found = solved(B, False, F, y, c)
    other = solved(B @ B.T, True, F, y, c)
    assert found.gap == pytest.approx(other.gap, abs=1e-7)
    np.testing.assert_allclose(B.T @ (y * found.a), B.T @ (y * other.a), atol=1e-3)


def test_compiled_and_plain_source_of_the_interior_point_agree(monkeypatch):
    X, y = two_classes(25, 3)
    F, c = np.ones((25, 1)), np.full(25, 0.5)
    compiled = solved(X, False, F, y, c), solved(X @ X.T, True, F, y, c)
    monkeypatch.setattr(interior_point, "_MEHROTRA", interior_point._mehrotra)
    plain = solved(X, False, F, y, c), solved(X @ X.T, True, F, y, c)
    for ours, other in zip(compiled, plain, strict=True):
        assert ours.gap <= 1e-8
        np.testing.assert_allclose(ours.a, other.a, atol=1e-9)
        np.testing.assert_allclose(ours.v, other.v, atol=1e-9)


def primal_by_cvxpy(B, y, c):
    u, b = cp.Variable(B.shape[1]), cp.Variable()
    slack = c @ cp.pos(1 - cp.multiply(y, B @ u + b))
    return cp.Problem(cp.Minimize(cp.sum_squares(u) / 2 + slack)).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("positives", [0.5, 0.01])
@pytest.mark.parametrize("noise", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("guess", [None, "zero", "random"])
def test_samples_far_from_the_margin_are_not_needed(positives, noise, guess, monkeypatch):
    rng = np.random.default_rng(7)
    B = rng.standard_normal((1200, 4))
    B[600:620] = B[:20]  # equal samples
    z = B[:, 0] + noise * rng.standard_normal(1200)
    y = np.where(z > np.quantile(z, 1 - positives), 1.0, -1.0)
    c = rng.uniform(0.1, 2.0, 1200)
    machine = Machine(B, False, np.ones((1200, 1)), y, c)
    guesses = {None: None, "zero": np.zeros(1200), "random": rng.standard_normal(1200)}
    sizes = []
    at_once = solve._at_once
    monkeypatch.setattr(
        solve, "_at_once", lambda part, *rest: sizes.append(len(part.y)) or at_once(part, *rest)
    )
    a, v, _ = solve_machine(machine, "features", guess=guesses[guess])
    assert min(sizes) < 400
    assert np.all((a >= 0) & (a <= c))
    assert abs(y @ a) <= 1e-9 * c.sum()
    u = B.T @ (y * a)
    primal = u @ u / 2 + hinge_sum((B @ u + v[0])[:, None], y[:, None], c)
    assert primal == pytest.approx(primal_by_cvxpy(B, y, c), rel=1e-7)
    assert a.sum() - u @ u / 2 == pytest.approx(primal, rel=1e-7)
