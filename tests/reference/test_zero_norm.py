"""The reweighted SVM and EM: single steps, descent, fixed points, k rows."""

import cvxpy as cp
import numpy as np
import pytest
from margins import hinge_sum, problem, two_classes
from sklearn.svm import SVC

from rowsparse.losses import ProbitLoss
from rowsparse.solvers.base import Deadline, run
from rowsparse.solvers.margin.alive import Alive
from rowsparse.solvers.margin.feature_exchange import exchanged
from rowsparse.solvers.margin.probit import ProbitEM
from rowsparse.solvers.margin.svm import ReweightedSVM, solve_margin


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


@pytest.mark.parametrize("shape", [(40, 90), (150, 200), (150, 10)])
def test_a_rough_step_goes_the_same_way_whatever_the_unit_of_x(shape):
    X, y = two_classes(*shape, seed=3)
    for unit in (1e-25, 1.0, 1e25):
        whole = problem(unit * X, y, 1.0, 1.0)
        alive = Alive.of(whole, np.arange(shape[1]))
        scales = np.random.default_rng(0).uniform(0.1, 1, (shape[1], 1)) / unit
        exact, rough = (
            solver.image_of(alive, scales, alive.null)
            for solver in (ReweightedSVM(), ReweightedSVM().roughly())
        )
        assert not np.array_equal(exact.rows, rough.rows)
        np.testing.assert_allclose(rough.rows, exact.rows, atol=1e-3 * np.abs(exact.rows).max())


def test_unpenalised_features_are_those_of_the_quadratic_program():
    X, y = two_classes(40, 12)
    factors = np.ones(12)
    factors[[3, 5]] = 0.0
    found = run(ReweightedSVM(), problem(X, y, 0.5, 2.0, factors=factors))
    w, b = cp.Variable(12), cp.Variable()
    slack = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    goal = cp.Minimize(0.5 * slack + cp.sum_squares(cp.multiply(factors, w)))
    cp.Problem(goal).solve(solver=cp.CLARABEL)  # OSQP, the default, is not exact enough
    np.testing.assert_allclose(found.W[:, 0], w.value, atol=1e-4)


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
    after[again.alive.index] = again.image.rows
    parts = np.sqrt((X**2).mean(axis=0))
    change = np.abs((after - found.W)[:, 0] * parts).max() / np.abs(found.W[:, 0] * parts).max()
    assert change <= tol
    assert change == pytest.approx(found.criterion, rel=1e-3, abs=1e-9)


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
    """What is left of twins is a fixed point without them, by a quadratic program of cvxpy's."""
    X, y = two_classes(60, 6)
    double = run(ReweightedSVM(tol=1e-6), problem(np.hstack([X, X]), y, 3.0, p))
    assert double.converged
    assert not np.any(double.W[:6] * double.W[6:])
    folded = (double.W[:6] + double.W[6:])[:, 0]
    used = np.flatnonzero(folded)
    assert 0 < used.size < 6
    w, b = cp.Variable(used.size), cp.Variable()
    slack = cp.sum(cp.pos(1 - cp.multiply(y, X[:, used] @ w + b)))
    root = np.abs(folded[used]) ** (p / 2 - 1)
    goal = cp.Minimize(3.0 * slack + cp.sum_squares(cp.multiply(root, w)))
    cp.Problem(goal).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(w.value, folded[used], atol=1e-4)
    single = problem(X, y, 3.0, p)
    value = single.objective(np.append(folded, double.intercept)[:, None])
    assert double.objective == pytest.approx(value)


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
    _, all_tried = exchanged(whole, ReweightedSVM(keep=3), np.array([6, 7, 8]), Deadline(0.0))
    assert not all_tried
    better, all_tried = exchanged(whole, ReweightedSVM(keep=3), np.array([6, 7, 8]), Deadline(None))
    assert all_tried
    assert machine_value(X, y, 1.0, better) < machine_value(X, y, 1.0, [6, 7, 8])


def test_ctrl_c_and_time_limit_keep_the_best_point():
    X, y = two_classes(60, 40)
    whole = problem(X, y, 1.0, 0.5)
    stopped = run(ReweightedSVM(callback=lambda step: step.iteration == 2), whole)
    assert stopped.status == "interrupted"
    assert stopped.objective == pytest.approx(whole.objective(stacked(stopped)))
    late = run(ReweightedSVM(time_limit=0.0), whole)
    assert late.status == "out of time"
    assert np.isfinite(late.objective)


def test_ctrl_c_in_the_very_first_machine_is_an_interrupted_solution():
    class Impatient(ReweightedSVM):
        def image_of(self, alive, scales, last):
            raise KeyboardInterrupt

    X, y = two_classes(60, 40)
    whole = problem(X, y, 1.0, 0.5)
    stopped = run(Impatient(), whole)
    assert stopped.status == "interrupted"
    assert not stopped.W.any()
    assert stopped.objective == pytest.approx(60.0)  # C sum_i max(0, 1 - 0)
