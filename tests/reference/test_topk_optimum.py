"""Top-k against enumeration of all supports: optimum, bounds, proofs, exactness of every score."""

import itertools
from functools import cache
from typing import Any, cast

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer

from rowsparse import TopKSelector
from rowsparse.designs import as_design
from rowsparse.losses import ResidualLoss
from rowsparse.penalties import Cardinality
from rowsparse.problems.penalised import PenalisedProblem
from rowsparse.solvers import Splice
from rowsparse.solvers.top_k import bounds, enumeration
from rowsparse.solvers.top_k.columns import Columns
from rowsparse.solvers.top_k.solve import certificate, solve_top_k
from rowsparse.solvers.top_k.support_fit import Fit

D = 8


@cache
def data(seed, n=24, c=2, d=D):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) + rng.standard_normal((n, d))
    Y = X[:, :3] @ rng.standard_normal((3, c)) + rng.standard_normal((n, c))
    Y[::7] *= -1
    return X, Y


def problem(seed, r, k, weighted=False, factors=None, **shape):
    X, Y = data(seed, **shape)
    s = np.random.default_rng(seed).uniform(0.2, 2, len(X)) if weighted else None
    s = None if s is None else s / s.mean()
    factors = np.ones(X.shape[1]) if factors is None else np.asarray(factors, dtype=float)
    penalty = cast(Any, Cardinality(k, factors))
    return PenalisedProblem.build(as_design(X), Y, ResidualLoss(r, s), penalty)


def value_on(X, Y, support, r, s):
    """The best loss on a support by weighted least squares (r = 2) or a general minimiser."""
    A = np.column_stack([X[:, list(support)], np.ones(len(X))])
    root = np.sqrt(s)[:, None]
    B = np.linalg.lstsq(root * A, root * Y, rcond=None)[0]
    if r < 2:

        def smooth(b):
            E = A @ b.reshape(B.shape) - Y
            squares = (E**2).sum(axis=1) + 1e-12
            gradient = A.T @ ((s * squares ** (r / 2 - 1))[:, None] * E) / len(X)
            return float(s @ squares ** (r / 2)) / (r * len(X)), gradient.ravel()

        B = minimize(smooth, B.ravel(), jac=True, method="BFGS", options={"gtol": 1e-7}).x
        B = B.reshape(A.shape[1], -1)
    E = A @ B - Y
    return float(s @ np.linalg.norm(E, axis=1) ** r) / (r * len(X))


@cache
def enumerated(seed, r, k, weighted=False):
    X, Y = data(seed)
    s = problem(seed, r, k, weighted).loss.weights(len(X))
    supports = itertools.combinations(range(D), k)
    return min((value_on(X, Y, support, r, s), support) for support in supports)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 5, D])
@pytest.mark.parametrize("r", [2.0, 1.5, 1.0])
def test_the_best_support_of_all_is_found(r, k, weighted):
    for seed in range(2):
        solution = solve_top_k(problem(seed, r, k, weighted))
        best, support = enumerated(seed, r, k, weighted)
        assert solution.converged
        assert solution.objective == pytest.approx(best, rel=1e-5)
        assert tuple(solution.rows) == support


@pytest.mark.parametrize("k", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("r", [2.0, 1.5, 1.0])
def test_no_bound_is_above_the_optimum(r, k):
    for seed in range(6):
        found = bounds.bound(problem(seed, r, k), k, np.inf)
        if found is not None:
            assert found.value <= enumerated(seed, r, k)[0] * (1 + 1e-6)
            if k == 1 or (k == 2 and r == 2):
                assert found.value == pytest.approx(enumerated(seed, r, k)[0], rel=1e-5)
                assert tuple(found.support) == enumerated(seed, r, k)[1]


@pytest.mark.parametrize("max_nodes", [1, 3, 9, 1000])
def test_branch_and_bound_is_valid_whenever_it_is_stopped(max_nodes):
    reached = []
    for seed in range(6):
        best = enumerated(seed, 2.0, 3)[0]
        columns = Columns.of(problem(seed, 2.0, 3))
        found = bounds.leave_out(columns, 24, 3, best, lambda: False, max_nodes)
        assert found.value <= best * (1 + 1e-9)
        reached.append(found.value / best)
    assert max_nodes < 1000 or min(reached) > 1 - 1e-5


@pytest.mark.parametrize("r", [1.0, 1.3])
def test_dual_bounds_hold_for_any_weights(r):
    """A weighted fit bounds the loss from below, however bad its weights are."""
    X, Y = data(0)
    loss, rng = ResidualLoss(r), np.random.default_rng(0)
    best = value_on(X, Y, (0, 1), r, np.ones(len(X)))
    A = np.column_stack([X[:, :2], np.ones(len(X))])
    for _ in range(50):
        h = rng.uniform(0.01, 3, len(X))
        root = np.sqrt(h)[:, None]
        E = A @ np.linalg.lstsq(root * A, root * Y, rcond=None)[0] - Y
        low = enumeration.dual_bounds(h[None], (E**2).sum(axis=1)[None], loss)[0]
        assert 0 < low <= best * (1 + 1e-9)


def test_proofs_say_no_more_than_was_shown():
    assert solve_top_k(problem(0, 1.0, 1)).proof.startswith("proved optimal: all columns")
    assert solve_top_k(problem(0, 2.0, 2)).proof.startswith("proved optimal: all pairs")
    three = solve_top_k(problem(0, 2.0, 3))
    assert three.proof.startswith("proved optimal: branch and bound")
    assert three.gap <= 3e-6 * three.objective
    robust = solve_top_k(problem(0, 1.0, 3))
    assert "proved" not in robust.proof
    assert "tried" in robust.proof
    assert robust.lower_bound == 0.0
    plain = solve_top_k(problem(0, 2.0, 3), polish=False, n_init=0)
    assert plain.proof == "nothing is proved"


def test_by_default_a_proof_costs_no_more_than_the_search():
    """Thirty columns of 569 samples: the first three need a thousand nodes, a fit some hundredths
    of a second; and a small ridge proves nothing that the fit on all columns would not."""
    X, y = load_breast_cancer(return_X_y=True)
    asked = Splice(proof_seconds=10.0)
    for ridge in (0.0, 0.005):
        few = TopKSelector(3, ridge=ridge).fit(X, y).solution_
        whole = TopKSelector(3, ridge=ridge, solver=asked).fit(X, y).solution_
        assert whole.proof.startswith("proved optimal: branch and bound")
        assert few.objective == pytest.approx(whole.objective)
        assert 0 < few.lower_bound < 0.95 * few.objective
        assert "301 nodes" in few.proof
    wide = X[::25]  # 23 samples
    assert TopKSelector(5, ridge=0.005).fit(wide, y[::25]).solution_.lower_bound == 0
    found = TopKSelector(5, ridge=0.005, solver=asked).fit(wide, y[::25]).solution_
    assert found.lower_bound > 0


def test_wide_data_have_no_bound_and_a_full_fit_is_proved():
    wide = solve_top_k(problem(1, 2.0, 4, n=12, d=30))
    assert wide.lower_bound == 0.0
    assert wide.gap == wide.objective
    assert wide.proof == "no single swap of rows improves it"
    full = solve_top_k(problem(1, 2.0, 12, n=12, d=30))
    assert full.objective < 1e-20
    assert "zero" in full.proof


# -- the scores of single changes ---------------------------------------------------------------


def squares_of(X, Y, support):
    A = np.column_stack([X[:, list(support)], np.ones(len(X))])
    E = Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]
    return float(np.vdot(E, E))


def test_gains_and_swaps_are_exact():
    X, Y = data(3)
    fit = Fit(Columns.of(problem(3, 2.0, 4)), 4, [5, 0, 6])
    inside = squares_of(X, Y, [5, 0, 6])
    assert fit.value == pytest.approx(inside, rel=1e-12)
    gains, swaps = fit.gains(), fit.swap_gains()
    for i, member in enumerate(fit.members):
        others = [m for m in fit.members if m != member]
        for j in range(D):
            if j not in fit.members:
                expected = inside - squares_of(X, Y, [*others, j])
                assert swaps[i, j] == pytest.approx(expected, rel=1e-8, abs=1e-9)
                assert gains[j] == pytest.approx(inside - squares_of(X, Y, [*fit.members, j]))
    assert np.all(swaps[:, fit.members] == -np.inf)
    assert swaps[:, D].max() == gains[D] == -np.inf  # the intercept cannot be chosen


# -- the fit on a support -----------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("c", [1, 3])
@pytest.mark.parametrize("r", [2.0, 1.5, 1.0])
def test_refit_is_the_minimum_on_the_support(r, c, weighted):
    for seed in range(3):
        case = problem(seed, r, 3, weighted, c=c)
        W = case.refitted(np.array([1, 4, 6]))
        X, Y = data(seed, c=c)
        best = value_on(X, Y, (1, 4, 6), r, case.loss.weights(len(X)))
        known = certificate(case, np.array([1, 4, 6]), W)
        assert known.objective <= best * (1 + 1e-7)
        assert known.violation <= 1e-5
        assert known.violation == pytest.approx(case.evaluate(W).violation, abs=1e-7)


@pytest.mark.parametrize("r", [2.0, 1.0])
def test_refit_survives_collinear_columns(r):
    X, Y = data(0)
    twice = np.column_stack([X[:, :3], X[:, 0], 2 * X[:, 1] - X[:, 0]])
    penalty = cast(Any, Cardinality(5, np.ones(5)))
    doubled = PenalisedProblem.build(as_design(twice), Y, ResidualLoss(r), penalty)
    once = problem(0, r, 3)
    W = doubled.refitted(np.arange(5))
    assert np.isfinite(W).all()
    alone = once.objective(once.refitted(np.arange(3)))
    assert doubled.objective(W) == pytest.approx(alone, rel=1e-7)


@pytest.mark.filterwarnings(
    "ignore:No feature lowers", "ignore:The solver stopped", "ignore:0 features fit"
)
@pytest.mark.parametrize("n_values", [2, 3, 30])
@pytest.mark.parametrize("seed", range(4))
def test_no_result_is_above_the_best_constant(n_values, seed):
    """Which for r < 1 and one output is some y_i, as the loss is concave between these."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 6))
    y = rng.permutation(np.arange(30) % n_values).astype(float)
    model = TopKSelector(2, r=0.5, ridge=1.0, n_init=1, task="regression").fit(X, y)
    constants = np.abs(y[:, None] - y) ** 0.5 / 0.5
    assert model.solution_.objective <= constants.mean(axis=1).min() * (1 + 2e-7)
    residual = np.abs(model.predict(X) - y)
    claimed = np.mean(residual**0.5) / 0.5 + np.sum((X.std(axis=0) * model.coef_) ** 2) / 2
    assert model.solution_.objective == pytest.approx(claimed, rel=1e-6)
    assert model.support_.sum() == 2


def test_time_for_a_proof_is_spent_without_a_ridge_too():
    """Equally good columns: 3000 nodes, where it ended once, are not enough to tell them apart."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 24))
    y = X.sum(axis=1) + rng.standard_normal(60)
    for k in (12, 8):  # at 8 the search alone does not find the best
        few = TopKSelector(k, ridge=0, n_init=1, task="regression").fit(X, y).solution_
        solver = Splice(proof_seconds=60)
        asked = TopKSelector(k, ridge=0, n_init=1, task="regression", solver=solver).fit(X, y)
        proved = asked.solution_
        assert few.gap > 0.01 * few.objective
        assert proved.proof.startswith("proved optimal: branch and bound")
        assert proved.objective <= few.objective * (1 + 1e-9)
        assert k == 12 or proved.objective < 0.99 * few.objective
