"""Norms whose machines other solvers know: 1, 2 and inf against SVC, cvxpy, linear programs."""

from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
from clock import Clock
from margins import problem, two_classes
from scipy.optimize import linprog
from sklearn.svm import SVC

from rowsparse import ZeroNormSVC
from rowsparse.solvers.base import run
from rowsparse.solvers.margin import linear_programs
from rowsparse.solvers.margin.linear_programs import AbsoluteNormLP, LargestNormLP
from rowsparse.solvers.margin.svm import ReweightedSVM


@pytest.mark.parametrize("C", [0.02, 0.5, 2.0, 200.0])
@pytest.mark.parametrize("noise", [1.0, 0.0], ids=["overlapping", "separable"])
def test_norm_two_is_a_plain_svm_of_half_the_C(C, noise):
    X, y = two_classes(60, 9, noise=noise)
    ours = ZeroNormSVC(C=C, norm=2, standardize=False).fit(X, y)
    theirs = SVC(kernel="linear", C=C / 2, tol=1e-9).fit(X, y)
    near = (2e-5 if C < 100 else 2e-4) * np.abs(theirs.coef_).max()  # libsvm computes in float32
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=near)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    assert ours.solution_.relative_gap < 1e-7


def l1_optimum(X, y, C):
    """``min C sum xi + 2 |w|_1`` as a linear program in w = p - q."""
    n, d = X.shape
    A = np.hstack([-y[:, None] * X, y[:, None] * X, -y[:, None], -np.eye(n)])
    cost = np.concatenate([np.full(2 * d, 2.0), [0.0], np.full(n, C)])
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n
    return linprog(cost, A_ub=A, b_ub=-np.ones(n), bounds=bounds, method="highs").fun


@pytest.mark.parametrize("C", [0.2, 1.0, 20.0])
@pytest.mark.parametrize("shape", [(30, 100), (80, 10)], ids=["wide", "tall"])
def test_norm_one_reaches_the_linear_program(C, shape):
    X, y = two_classes(*shape)
    optimum = l1_optimum(X, y, C)
    found = run(ReweightedSVM(tol=1e-5, max_iter=1000), problem(X, y, C, 1.0))
    assert found.converged or found.relative_gap <= 1e-4
    assert -1e-9 <= found.objective / optimum - 1 <= 1e-4
    assert found.objective - found.gap <= optimum * (1 + 1e-7)  # the gap bounds the optimum


@pytest.mark.parametrize("C", [0.002, 0.2, 1.0, 20.0])
@pytest.mark.parametrize("shape", [(30, 300), (80, 10)], ids=["wide", "tall"])
def test_norm_one_by_linear_programs_is_cvxpys_optimum(C, shape):
    X, y = two_classes(*shape)
    rng = np.random.default_rng(1)
    s, f = rng.uniform(0.2, 2, len(y)), rng.uniform(0.5, 2, X.shape[1])
    f[3], f[4] = 0.0, np.inf
    found = run(AbsoluteNormLP(), problem(X, y, C, 1.0, s, f))
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    slack = cp.pos(1 - cp.multiply(y, X @ w + b))
    penalty = 2 * cp.norm1(cp.multiply(np.where(np.isinf(f), 0.0, f), w))
    optimum = cp.Problem(cp.Minimize(C * s @ slack + penalty), [w[4] == 0]).solve(solver="CLARABEL")
    assert found.converged
    assert found.objective == pytest.approx(optimum, rel=1e-6)
    assert found.relative_gap <= 1e-9
    assert not found.W[4].any()


def test_norm_one_of_a_machine_per_class_is_that_of_each_alone():
    X, y = two_classes(60, 12)
    Y = np.column_stack([y, np.where(X[:, 3] > 0, 1.0, -1.0)])
    both = run(AbsoluteNormLP(), problem(X, Y, 1.0, 1.0, joint=False))
    assert both.objective == pytest.approx(l1_optimum(X, y, 1.0) + l1_optimum(X, Y[:, 1], 1.0))


def test_the_classifier_of_norm_one_is_exact_by_default():
    X, y = two_classes(60, 200)
    machine = ZeroNormSVC(norm=1.0, standardize=False).fit(X, y)
    assert machine.solution_.objective == pytest.approx(l1_optimum(X, y, 1.0), rel=1e-6)


@pytest.mark.parametrize("C", [0.01, 0.1, 1.0])
def test_the_largest_norm_is_its_linear_program(C):
    X, y = two_classes(40, 12)
    found = run(LargestNormLP(), problem(X, y, C, np.inf))
    w, b = cp.Variable(12), cp.Variable()
    slack = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    optimum = cp.Problem(cp.Minimize(C * slack + cp.norm(w, "inf"))).solve()
    assert found.objective == pytest.approx(optimum, rel=1e-6)
    assert found.objective == pytest.approx(
        C * np.maximum(1 - y * (X @ found.W[:, 0] + found.intercept), 0).sum()
        + np.abs(found.W).max()
    )


@pytest.mark.parametrize("joint", [True, False])
def test_the_largest_norm_of_several_outputs(joint):
    X, y = two_classes(30, 6)
    Y = np.column_stack([y, np.where(X[:, 2] > 0, 1.0, -1.0)])
    factors = np.array([1.0, 2.0, 0.5, 1.0, 0.0, np.inf])
    found = run(LargestNormLP(), problem(X, Y, 0.1, np.inf, factors=factors, joint=joint))
    W, b = cp.Variable((6, 2)), cp.Variable(2)
    f = np.where(np.isinf(factors), 0.0, factors)
    scaled = cp.multiply(f[:, None] @ np.ones((1, 2)), W)
    size = cp.max(cp.abs(scaled)) if joint else cp.sum(cp.max(cp.abs(scaled), axis=0))
    slack = sum(cp.sum(cp.pos(1 - cp.multiply(Y[:, k], X @ W[:, k] + b[k]))) for k in range(2))
    optimum = cp.Problem(cp.Minimize(0.1 * slack + size), [W[5] == 0]).solve()
    weighted = 0.1 * np.maximum(1 - Y * (X @ found.W + found.intercept), 0).sum()
    reached = np.abs(f[:, None] * found.W)
    weighted += reached.max() if joint else reached.max(axis=0).sum()
    assert weighted == pytest.approx(optimum, rel=1e-6)
    assert found.objective == pytest.approx(optimum, rel=1e-6)
    assert not found.W[5].any()


@pytest.mark.parametrize(("solver", "norm"), [(AbsoluteNormLP, 1.0), (LargestNormLP, np.inf)])
def test_programs_of_one_run_share_its_time(monkeypatch, solver, norm):
    """By a clock that moves one second at every look; a limit anew for each would be 1000."""
    X, y = two_classes(40, 100)
    Y = np.column_stack([y, np.where(X[:, 2] > 0, 1.0, -1.0)])
    Clock.installed(monkeypatch, per_look=1.0)
    limits = []

    def watched(*args, options, **kwargs):
        limits.append(options["time_limit"])
        return linprog(*args, options=options, **kwargs)

    monkeypatch.setattr(linear_programs, "linprog", watched)
    found = run(solver(time_limit=1000.0), problem(X, Y, 1.0, norm, joint=False))
    assert found.converged
    assert limits[0] < 1000
    assert all(later < earlier for earlier, later in pairwise(limits))
    assert len(limits) >= (2 if norm == 1 else 1)


@pytest.mark.parametrize(("solver", "norm"), [(AbsoluteNormLP, 1.0), (LargestNormLP, np.inf)])
@pytest.mark.parametrize(("late", "status"), [(True, "out of time"), (False, "stalled")])
def test_a_program_without_an_optimum_says_why(monkeypatch, solver, norm, late, status):
    """HiGHS may return a feasible point that is not optimal: it is not taken for one."""
    X, y = two_classes(40, 10)
    whole = problem(X, y, 1.0, norm)
    clock = Clock.installed(monkeypatch)

    def ended_early(*args, **kwargs):
        clock.now += 100.0 if late else 0.0
        found = linprog(*args, **kwargs)
        found.status = 1 if late else 4
        return found

    monkeypatch.setattr(linear_programs, "linprog", ended_early)
    found = run(solver(time_limit=50.0), whole)
    assert found.status == status
    assert not found.W.any()
    assert found.objective == pytest.approx(40.0)  # C sum_i max(0, 1 - 0)


@pytest.mark.parametrize("limit", [0.004, 0.02])
def test_the_way_of_a_start_ends_with_the_time(monkeypatch, limit):
    """The plain machine and eight more at larger norms; the clock moves 1 ms at every look."""
    X, y = two_classes(60, 40)
    machines = []

    class Counted(ReweightedSVM):
        def image_of(self, alive, scales, last):
            machines.append(alive.index.size)
            return super().image_of(alive, scales, last)

    whole = problem(X, y, 1.0, 0.0)
    run(Counted(), whole)
    needed = len(machines)
    machines.clear()
    Clock.installed(monkeypatch)
    late = run(Counted(time_limit=limit), whole)
    assert late.status == "out of time"
    assert len(machines) < needed
    assert np.isfinite(late.objective)
