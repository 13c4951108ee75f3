"""The reweighted SVM against solvers that share no code with it: cvxpy, linear programs, SVC."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.svm import SVC

from rowsparse import ZeroNormSVC
from rowsparse.designs import as_design
from rowsparse.losses import HingeLoss, ProbitLoss
from rowsparse.numerics import interior
from rowsparse.numerics.margin import best_offset, by_features, by_samples, hinge_sum
from rowsparse.solvers.absolute_norm import AbsoluteNormLP
from rowsparse.solvers.exchange import exchanged
from rowsparse.solvers.largest_norm import LargestNormLP
from rowsparse.solvers.loop import run
from rowsparse.solvers.probit_em import ProbitEM
from rowsparse.solvers.reweighted import MarginProblem
from rowsparse.solvers.reweighted_svm import ReweightedSVM, solve_margin


def two_classes(n=50, d=8, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.linspace(0.5, 2, d)
    y = np.where(X[:, 0] - X[:, 1] + 0.3 * X[:, 2] + noise * rng.standard_normal(n) > 0, 1.0, -1.0)
    return X, y


def problem(X, y, C=1.0, norm=0.5, weights=None, factors=None, loss=HingeLoss, **kwargs):
    factors = np.ones(X.shape[1]) if factors is None else factors
    Y = y[:, None] if y.ndim == 1 else y
    return MarginProblem(as_design(X), Y, loss(weights), C, norm, factors, **kwargs)


def stacked(solution):
    return np.vstack([solution.W, solution.intercept])


# -- one step -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(30, 60), (80, 6)], ids=["wide", "tall"])
@pytest.mark.parametrize("norm", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_step_is_the_quadratic_program(shape, norm, weighted):
    X, y = two_classes(*shape)
    rng = np.random.default_rng(1)
    s = rng.uniform(0.2, 2, len(y)) if weighted else None
    f = rng.uniform(0.5, 2, X.shape[1])
    old, C = rng.uniform(0.1, 1, X.shape[1]), 1.7
    start = np.append(old, 0.0)[:, None]
    whole = problem(X, y, C, norm, s, f)
    state = ReweightedSVM().start(whole, start)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    slack = cp.pos(1 - cp.multiply(y, X @ w + b))
    quadratic = cp.sum_squares(cp.multiply(np.sqrt(f * old ** (norm - 2)), w))
    costs = C * (np.ones(len(y)) if s is None else s)
    cp.Problem(cp.Minimize(costs @ slack + quadratic)).solve(
        solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12
    )
    np.testing.assert_allclose(state.image.rows[:, 0], w.value, atol=1e-5 * np.abs(w.value).max())
    assert state.image.intercept[0] == pytest.approx(b.value, abs=1e-5)


@pytest.mark.parametrize("norm", [0.0, 0.5, 2.0])
def test_all_ways_to_solve_a_step_agree(norm):
    for shape in ((40, 90), (150, 10)):
        X, y = two_classes(*shape, seed=3)
        found = [
            run(ReweightedSVM(through=way, tol=1e-6), problem(X, y, 1.0, norm))
            for way in ("pairs", "samples", "features")
        ]
        for other in found[1:]:
            np.testing.assert_allclose(other.W, found[0].W, atol=1e-6)
            np.testing.assert_allclose(other.intercept, found[0].intercept, atol=1e-5)


def test_unpenalised_features_are_those_of_the_quadratic_program():
    X, y = two_classes(40, 12)
    factors = np.ones(12)
    factors[[3, 5]] = 0.0
    found = run(ReweightedSVM(), problem(X, y, 0.5, 2.0, factors=factors))
    w, b = cp.Variable(12), cp.Variable()
    slack = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    cp.Problem(cp.Minimize(0.5 * slack + cp.sum_squares(cp.multiply(factors, w)))).solve()
    np.testing.assert_allclose(found.W[:, 0], w.value, atol=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(4, 40), st.integers(1, 12), st.floats(1e-3, 1e3))
def test_the_interior_point_reaches_a_zero_gap(seed, n, d, C):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)), np.where(np.arange(n) % 2, 1.0, -1.0)
    c, F = C * rng.uniform(0.1, 1, n), np.ones((n, 1))
    for found in (by_features(X, F, y, c), by_samples(X @ X.T, F, y, c)):
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


# -- special norms --------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.02, 0.5, 2.0, 200.0])
@pytest.mark.parametrize("noise", [1.0, 0.0], ids=["overlapping", "separable"])
def test_norm_two_is_a_plain_svm_of_half_the_C(C, noise):
    X, y = two_classes(60, 9, noise=noise)
    ours = ZeroNormSVC(C, norm=2, standardize=False).fit(X, y)
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


# -- descent and fixed points ---------------------------------------------------------------------


def documented(X, Y, W, b, C, p, loss="hinge"):
    m = Y * (X @ W + b)
    total = np.maximum(1 - m, 0).sum()
    if loss == "probit":
        from scipy.stats import norm

        total = -norm.logcdf(m).sum()
    return C * total + 2 / p * (np.linalg.norm(W, axis=1) ** p).sum()


@pytest.mark.parametrize("p", [0.3, 0.5, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("kind", ["wide", "tall", "several classes"])
def test_the_objective_is_the_documented_one_and_never_increases(p, kind):
    X, y = two_classes(*((30, 80) if kind == "wide" else (90, 12)))
    Y = y[:, None]
    if kind == "several classes":
        Y = np.column_stack([y, np.where(X[:, 2] > 1, 1.0, -1.0), np.where(X[:, 1] > 1, 1.0, -1.0)])
    found = run(ReweightedSVM(max_iter=60), problem(X, Y, 2.0, p))
    values = np.array([step.objective for step in found.history])
    assert np.all(np.diff(values) <= 1e-8 * values[:-1])
    expected = documented(X, Y, found.W, found.intercept, 2.0, p)
    assert found.objective == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-5])
def test_the_returned_point_is_a_fixed_point_to_tol(p, tol):
    X, y = two_classes(40, 60)
    whole = problem(X, y, 3.0, p)
    found = run(ReweightedSVM(tol=tol, max_iter=2000), whole)
    assert found.converged
    again = ReweightedSVM().start(whole, stacked(found))
    after = np.zeros_like(found.W)
    after[again.columns.index] = again.image.rows
    parts = np.sqrt((X**2).mean(axis=0))
    change = np.abs((after - found.W)[:, 0] * parts).max() / np.abs(found.W[:, 0] * parts).max()
    assert change <= tol
    assert change == pytest.approx(found.violation, rel=1e-3, abs=1e-9)


def test_at_a_fixed_point_of_norm_zero_the_quadratic_counts_the_features():
    X, y = two_classes(60, 20)
    found = run(ReweightedSVM(tol=1e-8), problem(X, y, 5.0, 0.0))
    k = found.rows.size
    assert 0 < k < 20
    slack = np.maximum(1 - y * (X @ found.W[:, 0] + found.intercept), 0).sum()
    assert found.objective == pytest.approx(5.0 * slack + k)


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0])
def test_em_descends_the_penalised_likelihood(p):
    X, y = two_classes(50, 8)
    Y = np.column_stack([y, np.where(X[:, 2] > 0.5, 1.0, -1.0)])
    found = run(ProbitEM(), problem(X, Y, 2.0, p, loss=ProbitLoss))
    values = np.array([step.objective for step in found.history])
    assert np.all(np.diff(values) <= 1e-9 * values[:-1])
    expected = documented(X, Y, found.W, found.intercept, 2.0, p, "probit")
    assert found.objective == pytest.approx(expected, rel=1e-9)


def test_em_at_norm_two_is_the_ridge_probit_optimum():
    X, y = two_classes(50, 4)
    found = run(ProbitEM(tol=1e-8, max_iter=20_000), problem(X, y, 2.0, 2.0, loss=ProbitLoss))
    from scipy.optimize import minimize

    def value(w):
        return documented(X, y[:, None], w[:4, None], w[4], 2.0, 2.0, "probit")

    best = minimize(value, np.zeros(5), method="BFGS", options={"gtol": 1e-8})
    assert found.objective == pytest.approx(best.fun, rel=1e-9)
    np.testing.assert_allclose(found.W[:, 0], best.x[:4], atol=1e-4)


def test_wide_and_tall_forms_of_the_m_step_agree():
    X, y = two_classes(30, 29)
    wide = np.hstack([X, 1e-9 * np.random.default_rng(0).standard_normal((30, 4))])
    tall = run(ProbitEM(max_iter=5), problem(X, y, 2.0, 1.0, loss=ProbitLoss))
    other = run(ProbitEM(max_iter=5), problem(wide, y, 2.0, 1.0, loss=ProbitLoss))
    np.testing.assert_allclose(other.W[:29], tall.W, atol=1e-7)


# -- structure ------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.0, 0.5])
def test_equal_columns_are_merged(p):
    X, y = two_classes(60, 6)
    single = run(ReweightedSVM(tol=1e-6), problem(X, y, 3.0, p))
    double = run(ReweightedSVM(tol=1e-6), problem(np.hstack([X, X]), y, 3.0, p))
    assert not np.any(double.W[:6] * double.W[6:])
    assert double.objective <= single.objective + 1.5  # another local minimum at worst


def test_k_rows_by_elimination_and_along_C():
    X, y = two_classes(80, 30)
    for k in (1, 3, 10, 29, 30):
        for C in (0.05, 1.0, 50.0):
            found, last_C = solve_margin(problem(X, y, C, 0.0), ReweightedSVM(keep=k))
            assert found.rows.size == k
            assert last_C <= C
            assert found.converged


def machine_value(X, y, C, columns):
    """``C sum_i max(0, 1 - y_i f(x_i)) + |w|**2`` of SVC on some columns."""
    machine = SVC(kernel="linear", C=C / 2, tol=1e-8).fit(X[:, columns], y)
    slack = np.maximum(1 - y * machine.decision_function(X[:, columns]), 0)
    return C * slack.sum() + (machine.coef_**2).sum()


@pytest.mark.parametrize("seed", range(4))
def test_with_many_samples_no_exchange_of_two_features_lowers_the_value(seed):
    X, y = two_classes(150, 9, seed)
    k, C = 3, 1.0
    found, last_C = solve_margin(problem(X, y, C, 0.0), ReweightedSVM(keep=k))
    chosen = found.rows
    assert (found.start, last_C, chosen.size) == ("exchanges", C, k)
    reached = machine_value(X, y, C, chosen)
    loss = C * hinge_sum(X @ found.W + found.intercept, y[:, None], np.ones(len(y)))
    assert loss + (found.W**2).sum() == pytest.approx(reached, rel=1e-6)
    for out in chosen:
        for new in np.setdiff1d(np.arange(9), chosen):
            trial = np.append(chosen[chosen != out], new)
            assert machine_value(X, y, C, trial) >= (1 - 2e-4) * reached


def test_exchanges_leave_free_features_in_and_forbidden_ones_out():
    X, y = two_classes(150, 9)
    f = np.ones(9)
    f[0], f[8] = np.inf, 0.0  # the best one and the worst one
    found, _ = solve_margin(problem(X, y, 1.0, 0.0, factors=f), ReweightedSVM(keep=3))
    assert found.start == "exchanges"
    assert 8 in found.rows
    assert 0 not in found.rows


def test_exchanges_that_were_not_all_tried_are_said():
    X, y = two_classes(150, 9)
    whole = problem(X, y, 1.0, 0.0)
    _, all_tried = exchanged(whole, ReweightedSVM(keep=3), np.array([6, 7, 8]), lambda: True)
    assert not all_tried
    better, all_tried = exchanged(whole, ReweightedSVM(keep=3), np.array([6, 7, 8]), lambda: False)
    assert all_tried
    assert machine_value(X, y, 1.0, better) < machine_value(X, y, 1.0, [6, 7, 8])


@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 0), (40, 3), (30, 60), (300, 48)])
@pytest.mark.parametrize("few", [0, 100], ids=["numpy", "compiled"])
def test_the_interior_point_of_few_columns_is_that_of_many(monkeypatch, n, m, few):
    rng = np.random.default_rng(n + m)
    B, F = rng.standard_normal((n, m)), np.column_stack([np.ones(n), rng.standard_normal(n)])
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[0], c = 1.0, rng.uniform(0.1, 2, n)
    F = F[:, :1] if n < 10 else F
    monkeypatch.setattr(interior, "FEW", few)
    found = by_features(B, F, y, c)
    other = by_samples(B @ B.T, F, y, c)
    assert found.gap == pytest.approx(other.gap, abs=1e-7)
    np.testing.assert_allclose(B.T @ (y * found.a), B.T @ (y * other.a), atol=1e-3)


def test_the_loops_of_the_interior_point_run_uncompiled():
    X, y = two_classes(25, 3)
    M, c = y[:, None] * np.column_stack([X, np.ones(25)]), np.full(25, 0.5)
    a, v, gap = interior._mehrotra(M, 3, c / 0.5, 0.5, 1e-8, 60, 4)
    plain = by_samples(X @ X.T, np.ones((25, 1)), y, c)
    assert gap <= 1e-8
    np.testing.assert_allclose(0.5 * a, plain.a, atol=1e-4)
    np.testing.assert_allclose(v, plain.v, atol=1e-4)


def test_ctrl_c_and_time_limit_keep_the_best_point():
    X, y = two_classes(60, 40)
    whole = problem(X, y, 1.0, 0.5)
    stopped = run(ReweightedSVM(callback=lambda step: step.iteration == 2), whole)
    assert stopped.status.value == "interrupted"
    assert stopped.objective == pytest.approx(whole.objective(stacked(stopped)))
    late = run(ReweightedSVM(time_limit=0.0), whole)
    assert late.status.value == "out of time"
    assert np.isfinite(late.objective)


def test_ctrl_c_in_the_very_first_machine_is_an_interrupted_solution():
    class Impatient(ReweightedSVM):
        def image_of(self, problem, columns, scales, last):
            raise KeyboardInterrupt

    X, y = two_classes(60, 40)
    whole = problem(X, y, 1.0, 0.5)
    stopped = run(Impatient(), whole)
    assert stopped.status.value == "interrupted"
    assert not stopped.W.any()
    assert stopped.objective == pytest.approx(60.0)  # C sum_i max(0, 1 - 0)
