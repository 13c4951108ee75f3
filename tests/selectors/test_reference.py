"""L2pSelector against mathematics that its code does not contain.

scikit-learn's MultiTaskLasso and Lasso, cvxpy, the documented formula, symmetries of the problem,
and brute force over single rows.
"""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from estimator_checks.formulas import (
    alpha_max,
    best_constant,
    column_scale,
    loss,
    objective,
    penalty,
    signs,
)
from estimator_checks.toy import labelled, mostly_zero, outputs
from sklearn.linear_model import Lasso, MultiTaskLasso

from rowsparse import L2pSelector
from rowsparse.solvers import BlockDescent

TIGHT = BlockDescent(tol=1e-10)
CONTAINERS = {"dense": np.asarray, "csc": sp.csc_array, "csr": sp.csr_array}


def weights(n=60, seed=1):
    return np.random.default_rng(seed).uniform(0.2, 3.0, n)


def sparse_outputs(c=3):
    X, _ = mostly_zero(d=12)
    rng = np.random.default_rng(5)
    return X, X[:, :4] @ rng.standard_normal((4, c)) + 0.3 * rng.standard_normal((60, c)) + 1.0


def multi_task_lasso(X, Y, alpha, s=None, fit_intercept=True):
    """scikit-learn's, with sample weights on every version of it: its loss is a mean of squares."""
    s = np.ones(len(X)) if s is None else s
    x0 = np.average(X, axis=0, weights=s) if fit_intercept else np.zeros(X.shape[1])
    y0 = np.average(Y, axis=0, weights=s) if fit_intercept else np.zeros(Y.shape[1])
    root = np.sqrt(s / s.mean())[:, None]
    model = MultiTaskLasso(alpha, fit_intercept=False, tol=1e-13, max_iter=100_000)
    coef = model.fit(root * (X - x0), root * (Y - y0)).coef_
    return coef, y0 - coef @ x0


# -- scikit-learn ---------------------------------------------------------------------------------


@pytest.mark.parametrize("fraction", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "no-intercept"])
@pytest.mark.parametrize("container", CONTAINERS)
def test_equals_multi_task_lasso(container, fit_intercept, weighted, fraction):
    X, Y = sparse_outputs()
    s = weights() if weighted else None
    options = {"s": s, "standardize": False, "fit_intercept": fit_intercept}
    alpha = fraction * alpha_max(X, Y, 2.0, **options)
    coef, intercept = multi_task_lasso(X, Y, alpha, s, fit_intercept)
    ours = L2pSelector(
        alpha=alpha, p=1.0, standardize=False, fit_intercept=fit_intercept, solver=TIGHT
    ).fit(CONTAINERS[container](X), Y, sample_weight=s)
    np.testing.assert_allclose(ours.coef_, coef, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, intercept, atol=1e-6)


@pytest.mark.parametrize("fraction", [0.5, 0.1, 0.01])
def test_default_tolerance_equals_multi_task_lasso_too(fraction):
    X, Y = outputs(n=100, d=30)
    alpha = fraction * alpha_max(X, Y, 2.0, standardize=False)
    theirs = MultiTaskLasso(alpha, tol=1e-13, max_iter=100_000).fit(X, Y)
    ours = L2pSelector(alpha=alpha, p=1.0, standardize=False).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)


@pytest.mark.parametrize("fraction", [0.5, 0.05])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_one_output_equals_lasso(weighted, fraction):
    X, Y = sparse_outputs(c=1)
    s = weights() if weighted else None
    alpha = fraction * alpha_max(X, Y, 2.0, s=s, standardize=False)
    theirs = Lasso(alpha, tol=1e-13, max_iter=100_000).fit(X, Y[:, 0], sample_weight=s)
    ours = L2pSelector(alpha=alpha, p=1.0, standardize=False, solver=TIGHT)
    ours.fit(X, Y[:, 0], sample_weight=s)
    np.testing.assert_allclose(ours.coef_[0], theirs.coef_, atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_standardising_is_multi_task_lasso_on_standardised_columns(weighted):
    X, Y = outputs()
    s = weights() if weighted else None
    scale = column_scale(X, s)
    coef, _ = multi_task_lasso(X / scale, Y, 0.1, s)
    ours = L2pSelector(alpha=0.1, p=1.0, solver=TIGHT).fit(X, Y, sample_weight=s)
    np.testing.assert_allclose(ours.coef_, coef / scale, atol=1e-6)


def test_wide_data_equals_multi_task_lasso():
    X, Y = outputs(n=30, d=200)
    alpha = 0.05 * alpha_max(X, Y, 2.0, standardize=False)
    theirs = MultiTaskLasso(alpha, tol=1e-13, max_iter=1_000_000).fit(X, Y)
    ours = L2pSelector(alpha=alpha, p=1.0, standardize=False, solver=TIGHT).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)


# -- cvxpy ----------------------------------------------------------------------------------------


def cvxpy_optimum(X, Y, r, alpha, s, fit_intercept=True):
    """The optimal value of the convex problem on columns scaled to unit variance."""
    A = X / column_scale(X, s)
    s = np.ones(len(X)) if s is None else s
    W, b = cp.Variable((X.shape[1], Y.shape[1])), cp.Variable((1, Y.shape[1]))
    E = A @ W + (np.ones((len(X), 1)) @ b if fit_intercept else 0) - Y
    value = s @ cp.power(cp.norm(E, 2, axis=1), r) / (r * s.sum())
    problem = cp.Problem(cp.Minimize(value + alpha * cp.sum(cp.norm(W, 2, axis=1))))
    accuracy = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
    return problem.solve(solver=cp.CLARABEL, **accuracy)


@pytest.mark.parametrize("fraction", [0.5, 0.1])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("c", [1, 3])
@pytest.mark.parametrize("r", [1.0, 1.5])
def test_robust_convex_objective_equals_cvxpy(r, c, weighted, fraction):
    X, Y = outputs(c=c)
    Y[::10] += 8.0  # outliers, so that r matters
    s = weights() if weighted else None
    alpha = fraction * alpha_max(X, Y, r, s=s)
    best = cvxpy_optimum(X, Y, r, alpha, s)
    ours = L2pSelector(alpha=alpha, r=r, p=1.0).fit(X, Y, sample_weight=s)
    assert objective(ours, X, Y, s=s) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("r", [1.0, 1.5, 2.0])
def test_objective_without_intercept_equals_cvxpy(r):
    X, Y = outputs()
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    best = cvxpy_optimum(X, Y, r, 0.1, None, fit_intercept=False)
    ours = L2pSelector(alpha=0.1, r=r, p=1.0, fit_intercept=False).fit(X, Y)
    assert objective(ours, X, Y) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("r", [1.0, 1.5])
def test_more_columns_than_samples_equals_cvxpy(r):
    X, Y = outputs(n=25, d=60)
    alpha = 0.2 * alpha_max(X, Y, r)
    ours = L2pSelector(alpha=alpha, r=r, p=1.0).fit(X, Y)
    assert objective(ours, X, Y) == pytest.approx(cvxpy_optimum(X, Y, r, alpha, None), rel=1e-6)


def test_one_output_without_noise_is_solved_at_its_kink():
    X, Y = outputs(c=1, noise=0.0)  # r = 1: every residual wants to be exactly zero
    alpha = 0.01 * alpha_max(X, Y, 1.0)
    ours = L2pSelector(alpha=alpha, r=1.0, p=1.0).fit(X, Y)
    best = cvxpy_optimum(X, Y, 1.0, alpha, None)
    assert objective(ours, X, Y) == pytest.approx(best, rel=1e-6)


# -- the formula ----------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("standardize", [True, False], ids=["standardised", "as-is"])
@pytest.mark.parametrize(("r", "p"), [(2, 1), (2, 0.5), (2, 0), (1, 1), (1.5, 0.7), (0.5, 0.5)])
def test_documented_formula_is_the_reported_objective(r, p, standardize, weighted):
    X, y = labelled()
    s = weights() if weighted else None
    f = np.array([1, 2, 0, 0.5, 1, 1, np.inf, 1])
    ours = L2pSelector(
        alpha=0.05, r=float(r), p=float(p), standardize=standardize, feature_weights=f
    )
    ours.fit(X, y, sample_weight=s)
    assert objective(ours, X, signs(y), s=s, f=f) == pytest.approx(
        ours.solution_.objective, rel=1e-8
    )


@pytest.mark.parametrize("r", [2.0, 1.5, 1.0])
def test_intercept_of_the_null_model_is_the_best_constant(r):
    X, Y = outputs()
    ours = L2pSelector(alpha=1e6, r=r, p=1.0).fit(X, Y)
    assert not ours.coef_.any()
    np.testing.assert_allclose(ours.intercept_, best_constant(Y, r), atol=1e-5)


# -- alpha_max ------------------------------------------------------------------------------------


# r = 1 with one output and weights is not here: a weighted median sits on a sample, where the
# subgradient, and so alpha_max, is a choice
@pytest.mark.parametrize("standardize", [True, False], ids=["standardised", "as-is"])
@pytest.mark.parametrize(
    ("r", "c", "weighted"),
    [
        (r, c, weighted)
        for r in (2.0, 1.5, 1.0)
        for c in (1, 3)
        for weighted in (False, True)
        if (r, c, weighted) != (1.0, 1, True)
    ],
)
def test_zero_from_alpha_max_on_and_not_below(r, c, weighted, standardize):
    X, Y = outputs(c=c)
    s = weights() if weighted else None
    largest = alpha_max(X, Y, r, s=s, standardize=standardize)
    for factor in (1 + (1e-9 if r == 2 else 1e-5), 1.5, 100.0):
        at = L2pSelector(alpha=factor * largest, r=r, p=1.0, standardize=standardize)
        assert not at.fit(X, Y, sample_weight=s).coef_.any()
    below = L2pSelector(alpha=0.99 * largest, r=r, p=1.0, standardize=standardize)
    assert below.fit(X, Y, sample_weight=s).coef_.any()


def test_zero_from_alpha_max_on_without_intercept():
    X, Y = outputs()
    largest = alpha_max(X, Y, 2.0, standardize=False, fit_intercept=False)
    for factor, any_row in ((1 + 1e-9, False), (0.99, True)):
        at = L2pSelector(alpha=factor * largest, p=1.0, standardize=False, fit_intercept=False)
        assert at.fit(X, Y).coef_.any() == any_row


def test_zero_from_alpha_max_on_for_sparse_X():
    X, Y = sparse_outputs()
    largest = alpha_max(X, Y, 2.0)
    for factor, any_row in ((1 + 1e-9, False), (0.99, True)):
        assert (
            L2pSelector(alpha=factor * largest, p=1.0).fit(sp.csc_array(X), Y).coef_.any()
            == any_row
        )


# -- symmetries -----------------------------------------------------------------------------------

FAMILY = [(2.0, 1.0), (2.0, 0.5), (1.0, 1.0), (1.5, 0.7)]


def fit(X, Y, r, p, alpha=0.05, s=None, **params):
    """A fit as tight as r allows."""
    solver = BlockDescent(tol=1e-10 if r == 2 else 1e-8)
    return L2pSelector(alpha=alpha, r=r, p=p, solver=solver, **params).fit(X, Y, sample_weight=s)


@pytest.mark.parametrize(("r", "p"), [(2.0, 1.0), (2.0, 0.5), (1.0, 1.0), (0.5, 0.5), (0.5, 1.0)])
def test_weight_two_is_the_row_twice(r, p):
    X, Y = outputs()
    s = 1 + np.arange(60) % 3
    weighted = fit(X, Y, r, p, s=s)
    repeated = fit(np.repeat(X, s, axis=0), np.repeat(Y, s, axis=0), r, p)
    assert weighted.solution_.objective == pytest.approx(repeated.solution_.objective, rel=1e-7)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-8 if r == 2 else 1e-4)


@pytest.mark.parametrize("p", [1.0, 0.5])
def test_sparse_equals_dense_equals_memmap(p, tmp_path):
    X, Y = sparse_outputs()
    np.save(tmp_path / "X.npy", X)
    dense = fit(X, Y, 2.0, p)
    forms = (sp.csc_array(X), sp.csr_array(X), np.load(tmp_path / "X.npy", mmap_mode="r"))
    for form in forms:
        other = fit(form, Y, 2.0, p)
        np.testing.assert_allclose(other.coef_, dense.coef_, rtol=0, atol=1e-9)
        np.testing.assert_allclose(other.intercept_, dense.intercept_, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("r", "p"), FAMILY)
def test_permuting_rows_columns_and_outputs_permutes_the_solution(r, p):
    X, Y = outputs()
    rng = np.random.default_rng(3)
    rows, columns, outs = rng.permutation(60), rng.permutation(8), rng.permutation(3)
    base = fit(X, Y, r, p)
    moved = fit(X[np.ix_(rows, columns)], Y[np.ix_(rows, outs)], r, p)
    tolerance = 1e-7 if r == 2 else 1e-4
    np.testing.assert_allclose(moved.coef_, base.coef_[np.ix_(outs, columns)], atol=tolerance)


@pytest.mark.parametrize("t", [0.01, 7.0])
@pytest.mark.parametrize(("r", "p"), FAMILY)
def test_scaling_the_targets_scales_the_solution(r, p, t):
    X, Y = outputs()
    base, scaled = fit(X, Y, r, p), fit(X, t * Y, r, p, alpha=0.05 * t ** (r - p))
    tolerance = 1e-7 if r == 2 else 1e-4
    np.testing.assert_allclose(scaled.coef_ / t, base.coef_, atol=tolerance)


@pytest.mark.parametrize(("r", "p"), FAMILY)
def test_rotating_the_outputs_rotates_the_solution(r, p):
    X, Y = outputs()
    Q = np.linalg.qr(np.random.default_rng(4).standard_normal((3, 3)))[0]
    base, rotated = fit(X, Y, r, p), fit(X, Y @ Q, r, p)
    np.testing.assert_allclose(rotated.scores_, base.scores_, atol=1e-7 if r == 2 else 1e-4)
    np.testing.assert_allclose(rotated.coef_, Q.T @ base.coef_, atol=1e-7 if r == 2 else 1e-4)


def test_two_classes_in_two_columns_select_the_same_at_the_documented_alpha():
    X, y = labelled(c=2)
    one, two = signs(y), np.hstack([-signs(y), signs(y)])
    for r, p in FAMILY:
        single = fit(X, one, r, p, task="regression")
        double = fit(X, two, r, p, alpha=0.05 * 2 ** ((r - p) / 2), task="regression")
        np.testing.assert_allclose(double.coef_[1], single.coef_[0], atol=1e-4)


# -- optimality -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("r", "p"), [*FAMILY, (2.0, 0.0), (0.5, 0.5)])
def test_the_certificate_meets_the_tolerance(r, p):
    X, y = labelled(n=60, d=25)
    solution = L2pSelector(alpha=0.05, r=r, p=p).fit(X, y).solution_
    assert solution.converged
    assert 0 <= solution.violation <= solution.tol


@pytest.mark.parametrize("r", [2.0, 1.5, 1.0])
def test_duality_gap_is_a_small_bound_in_the_convex_case(r):
    X, Y = outputs(d=20)
    tight = fit(X, Y, r, 1.0).solution_
    assert 0 <= tight.gap <= 1e-6 * tight.objective
    loose = L2pSelector(alpha=0.05, r=r, p=1.0, solver=BlockDescent(tol=0.05)).fit(X, Y).solution_
    assert loose.objective - tight.objective <= loose.gap + 1e-9


def test_no_gap_is_claimed_where_the_problem_is_not_convex():
    X, Y = outputs()
    assert fit(X, Y, 2.0, 0.5).solution_.gap is None
    assert fit(X, Y, 0.5, 1.0).solution_.gap is None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("p", [0.25, 0.5, 0.75])
def test_best_start_is_no_worse_than_any_that_it_tries(p, seed):
    X, y = labelled(n=40, d=60, c=4, seed=seed)
    reached = {
        init: objective(L2pSelector(alpha=0.03, p=p, init=init).fit(X, y), X, signs(y))
        for init in ("best", "zero", "convex")
    }
    assert reached["best"] <= min(reached.values()) * (1 + 1e-8)


@pytest.mark.parametrize("init", ["zero", "irls", "convex"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 0.8])
def test_no_single_row_can_lower_the_objective(p, weighted, init):
    X, Y = outputs(n=40, d=15, noise=1.5)
    s = weights(40) if weighted else np.ones(40)
    fitted = L2pSelector(alpha=0.05, p=p, init=init).fit(X, Y, sample_weight=s)
    mean = np.average(X, axis=0, weights=s)
    A, B = (X - mean) / column_scale(X, s), Y - np.average(Y, axis=0, weights=s)
    W = fitted.coef_.T * column_scale(X, s)[:, None]

    def value(V):
        return loss(A @ V - B, 2.0, s) + 0.05 * penalty(V, p)

    now = value(W)
    for j in range(15):
        without = W.copy()
        without[j] = 0.0
        pull = A[:, j] * s @ (B - A @ without) / s.sum()  # the row's optimum without penalty
        for t in np.linspace(0, 1.2, 241):
            without[j] = t * pull
            assert value(without) >= now - 1e-7


def test_exact_zeros_are_exact():
    X, Y = outputs(n=100, d=50)
    for r, p in [*FAMILY, (0.5, 0.5)]:
        ours = L2pSelector(alpha=0.1, r=r, p=p).fit(X, Y)
        assert 3 <= ours.support_.sum() < 25
        assert not ours.coef_[:, ~ours.support_].any()
