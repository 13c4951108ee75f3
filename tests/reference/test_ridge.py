"""A ridge: the elastic net of scikit-learn, cvxpy, and the limit of a large one."""

from itertools import combinations

import cvxpy
import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import MultiTaskElasticNet

from rowsparse import L2pSelector, LpInfSelector, TopKSelector
from rowsparse.solvers import ALM, IRLS, SFS, BlockDescent, ProximalGradient, run

PLAIN = {"standardize": False, "task": "regression"}


def data(n=40, d=60, c=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.5
    return X, X[:, :4] @ rng.standard_normal((4, c)) + rng.standard_normal((n, c))


def centred(X, Y, weights):
    """Weights and intercept as rows of their own: the net of scikit-learn 1.6 takes no weights."""
    shares = np.full(len(X), 1.0) if weights is None else weights / weights.mean()
    roots = np.sqrt(shares)[:, None]
    return [roots * (A - np.average(A, axis=0, weights=shares)) for A in (X, Y)]


@pytest.mark.parametrize("ridge", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(60, 20), (40, 200)])
def test_it_is_the_elastic_net(ridge, weighted, shape):
    X, Y = data(*shape)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(X)) if weighted else None
    alpha = 0.2
    net = MultiTaskElasticNet(alpha + ridge, l1_ratio=alpha / (alpha + ridge), tol=1e-12)
    net.set_params(max_iter=100_000, fit_intercept=False).fit(*centred(X, Y, weights))
    for solver in (BlockDescent(tol=1e-9), ProximalGradient(tol=1e-8, max_iter=5000)):
        for storage in (X, sparse.csr_array(X)):
            found = L2pSelector(alpha=alpha, p=1.0, ridge=ridge, solver=solver, **PLAIN)
            found.fit(storage, Y, sample_weight=weights)
            np.testing.assert_allclose(found.coef_, net.coef_, atol=1e-6)
            assert found.solution_.gap <= 1e-8 * found.solution_.objective


def test_reweighting_finds_it_too():
    X, Y = data(60, 20)
    exact = L2pSelector(alpha=0.2, p=1.0, ridge=1.0, **PLAIN).fit(X, Y)
    irls = L2pSelector(alpha=0.2, p=1.0, ridge=1.0, solver=IRLS(tol=1e-13, max_iter=2000), **PLAIN)
    np.testing.assert_allclose(irls.fit(X, Y).coef_, exact.coef_, atol=1e-5)


@pytest.mark.parametrize("r", [1.0, 1.5])
def test_robust_losses_agree_with_cvxpy(r):
    X, Y = data(30, 12)
    W, b = cvxpy.Variable((12, 3)), cvxpy.Variable((1, 3))
    E = X @ W + np.ones((30, 1)) @ b - Y
    loss = cvxpy.sum(cvxpy.power(cvxpy.norm(E, 2, axis=1), r)) / (r * 30)
    penalty = 0.1 * cvxpy.sum(cvxpy.norm(W, 2, axis=1)) + 0.25 * cvxpy.sum_squares(W)
    best = cvxpy.Problem(cvxpy.Minimize(loss + penalty)).solve(solver="CLARABEL")
    found = L2pSelector(alpha=0.1, p=1.0, r=r, ridge=0.5, **PLAIN).fit(X, Y).solution_
    assert found.objective == pytest.approx(best, rel=1e-6)
    assert found.objective - found.gap <= best * (1 + 1e-6)
    assert found.gap <= 1e-4 * best


@pytest.mark.filterwarnings("ignore:No feature lowers")  # such a ridge leaves nothing to lower
@pytest.mark.parametrize("r", [1.0, 2.0])
def test_a_huge_ridge_chooses_by_correlation(r):
    X, Y = data(40, 15)
    X = X - X.mean(axis=0)
    if r == 2.0:
        Y = Y - Y.mean(axis=0)
        pulls = np.linalg.norm(X.T @ Y, axis=1)
    else:
        Y = Y - np.median(Y, axis=0)
        pulls = np.linalg.norm(X.T @ (Y / np.linalg.norm(Y, axis=1)[:, None]), axis=1)
    chosen = TopKSelector(4, r=r, ridge=1e6, fit_intercept=False, **PLAIN).fit(X, Y)
    assert set(np.flatnonzero(chosen.support_)) == set(np.argsort(-pulls)[:4])


def test_an_intercept_is_not_ridged_and_a_feature_that_is_always_in_is():
    X, Y = data(40, 6)
    for selector in (
        L2pSelector(alpha=0.05, ridge=2.0, **PLAIN),
        TopKSelector(2, r=2.0, ridge=2.0),
    ):
        shifted = selector.fit(X, Y + 100.0).intercept_
        np.testing.assert_allclose(shifted - selector.fit(X, Y).intercept_, 100.0, rtol=1e-6)
    weights = np.array([0.0, *[np.inf] * 5])
    alone = L2pSelector(alpha=1.0, ridge=2.0, feature_weights=weights, **PLAIN).fit(X, Y)
    x, y = X[:, 0] - X[:, 0].mean(), Y - Y.mean(axis=0)
    np.testing.assert_allclose(alone.coef_[:, 0], x @ y / (x @ x + 2.0 * len(x)), rtol=1e-6)


# While mu grows ALM may freeze far from the best fit on its rows; under a ridge of 1 it does not.
ITERATIONS = [(ALM(), 8, 0.1), (ALM(tol=1e-7, refit=False), 60, 1.0)]
ITERATIONS += [(SFS(tol=1e-9), d, ridge) for d in (8, 60) for ridge in (0.1, 1.0)]


@pytest.mark.parametrize(("solver", "d", "ridge"), ITERATIONS)
def test_the_papers_iterations_end_at_the_ridge_regression_on_their_rows(solver, d, ridge):
    """The intercept is not ridged; a feature that is always in is, and does not count."""
    X, Y = data(30, d)
    weights = np.r_[np.ones(d - 1), 0.0]
    selector = TopKSelector(4, r=2.0, ridge=ridge, feature_weights=weights, **PLAIN)
    here, _ = selector.problem_and_solver(X, Y)
    found = run(solver, here, np.random.default_rng(0).standard_normal((d + 1, 3)))
    assert found.converged
    assert len(found.rows) == 4
    assert d - 1 in found.rows
    A = X[:, found.rows] - X[:, found.rows].mean(axis=0)
    centred = Y - Y.mean(axis=0)
    expected = np.linalg.solve(A.T @ A + 30 * ridge * np.eye(4), A.T @ centred)
    np.testing.assert_allclose(found.W[found.rows], expected, atol=1e-5)
    value = np.sum((centred - A @ expected) ** 2) / 60 + ridge / 2 * np.sum(expected**2)
    assert found.objective == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("solver", [ALM(), SFS()])
def test_the_papers_iterations_and_swaps_reach_what_splice_reaches(solver):
    X, Y = data(30, 12)
    best = TopKSelector(3, r=2.0, ridge=0.5, **PLAIN).fit(X, Y).solution_.objective
    found = TopKSelector(3, r=2.0, ridge=0.5, solver=solver, **PLAIN).fit(X, Y).solution_
    assert found.objective == pytest.approx(best, rel=1e-8)


def test_the_papers_iterations_end_at_the_robust_ridge_fit_on_their_rows():
    X, Y = data(30, 60)
    solver = ALM(tol=1e-6, rho=1.01, max_iter=3000, refit=False)
    here, _ = TopKSelector(4, r=1.0, ridge=0.3, solver=solver, **PLAIN).problem_and_solver(X, Y)
    found = run(solver, here, np.random.default_rng(0).standard_normal((61, 3)))
    assert found.converged
    W, b = cvxpy.Variable((4, 3)), cvxpy.Variable((1, 3))
    E = X[:, found.rows] @ W + np.ones((30, 1)) @ b - Y
    value = cvxpy.sum(cvxpy.norm(E, axis=1)) / 30 + 0.15 * cvxpy.sum_squares(W)
    best = cvxpy.Problem(cvxpy.Minimize(value)).solve(solver="CLARABEL")
    assert best * (1 - 1e-7) <= found.objective <= best * (1 + 1e-3)


@pytest.mark.parametrize("selector", [L2pSelector(3), LpInfSelector(3), TopKSelector(3)])
def test_a_negative_ridge_is_refused(selector):
    X, Y = data(30, 8)
    with pytest.raises(ValueError, match="ridge"):
        selector.set_params(ridge=-1.0).fit(X, Y)


def test_the_paper_is_one_call_away():
    assert TopKSelector.paper(4).get_params() == TopKSelector(4, r=1.0, ridge=0.0).get_params()


@pytest.mark.parametrize("k", [1, 2, 3])
def test_small_problems_are_proved_optimal_and_are(k):
    X, Y = data(30, 12)
    X[:, 7] = X[:, 0]  # a column beside itself must not count as a pair
    fitted = TopKSelector(k, ridge=0.5, standardize=False).fit(X, Y)
    A = X - X.mean(axis=0)
    B = Y - Y.mean(axis=0)
    values = {}
    for chosen in map(list, combinations(range(12), k)):
        W = np.linalg.solve(A[:, chosen].T @ A[:, chosen] + 15 * np.eye(k), A[:, chosen].T @ B)
        loss = np.sum((B - A[:, chosen] @ W) ** 2) / 60
        values[tuple(chosen)] = loss + np.sum(W**2) / 4
    assert fitted.solution_.objective == pytest.approx(min(values.values()), rel=1e-9)
    assert fitted.solution_.lower_bound == pytest.approx(min(values.values()), rel=1e-6)
    assert fitted.solution_.proof.startswith("proved optimal")
