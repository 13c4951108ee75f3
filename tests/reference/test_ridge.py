"""A ridge: the elastic net of scikit-learn, cvxpy, and the limit of a large one."""

import cvxpy
import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import MultiTaskElasticNet

from rowsparse import L2pSelector, LpInfSelector, TopKSelector
from rowsparse.solvers import ALM, IRLS, SFS, BlockDescent, ProximalGradient

PLAIN = {"standardize": False, "task": "regression"}


def data(n=40, d=60, c=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.5
    return X, X[:, :4] @ rng.standard_normal((4, c)) + rng.standard_normal((n, c))


@pytest.mark.parametrize("ridge", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(60, 20), (40, 200)])
def test_it_is_the_elastic_net(ridge, weighted, shape):
    X, Y = data(*shape)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(X)) if weighted else None
    alpha = 0.2
    net = MultiTaskElasticNet(alpha + ridge, l1_ratio=alpha / (alpha + ridge), tol=1e-12)
    net.set_params(max_iter=100_000).fit(X, Y, sample_weight=weights)
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


@pytest.mark.parametrize("solver", [ALM(), SFS()])
def test_what_is_only_for_problems_without_a_ridge_says_so(solver):
    X, Y = data(30, 8)
    with pytest.raises(ValueError, match="without a ridge; use Splice"):
        TopKSelector(2, r=2.0, ridge=1.0, solver=solver, task="regression").fit(X, Y)


@pytest.mark.parametrize("selector", [L2pSelector(3), LpInfSelector(3), TopKSelector(3)])
def test_a_negative_ridge_is_refused(selector):
    X, Y = data(30, 8)
    with pytest.raises(ValueError, match="ridge"):
        selector.set_params(ridge=-1.0).fit(X, Y)


def test_the_paper_is_one_call_away():
    assert TopKSelector.paper(4).get_params() == TopKSelector(4, r=1.0, ridge=0.0).get_params()
