"""Exactly k rows: support, coefficients, objective and certificate of one W."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from rowsparse import L2pSelector, LpInfSelector, TopKSelector


def wide(seed=0, n=40, d=120):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 1::2] = X[:, ::2] + 0.3 * X[:, 1::2]  # pairs, so that rows enter together
    return X, X[:, :6] @ rng.standard_normal((6, 2)) + rng.standard_normal((n, 2))


@pytest.mark.parametrize("k", [1, 3, 7])
@pytest.mark.parametrize("kind", [L2pSelector, LpInfSelector])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("p", [0.5, 1.0])
def test_all_speak_of_one_point(k, kind, ridge, p):
    X, Y = wide()
    selector = kind(k, p=p, ridge=ridge).fit(X, Y)
    nonzero = np.any(selector.coef_ != 0, axis=0)
    assert nonzero.sum() == k
    np.testing.assert_array_equal(nonzero, selector.support_)
    problem = selector.problem_and_solver(X, Y)[0].with_alpha(selector.alpha_)
    found = selector.solution_
    W = problem.joined(found.W, found.intercept)
    assert problem.objective(W) == pytest.approx(found.objective, rel=1e-10)
    scores = problem.evaluate(W).scores[:-1]
    assert scores[nonzero].max() <= 1e-6  # the rows that are in cannot be improved
    if found.lower_bound is not None:
        assert found.lower_bound <= found.objective


@pytest.mark.parametrize("always", [(), (5, 90)])
@pytest.mark.parametrize("r", [1.0, 2.0, None])
@pytest.mark.parametrize("p", [0.5, 1.0])
def test_all_speak_of_one_point_at_a_given_alpha(p, r, always):
    X, Y = wide(2)
    weights = np.ones(X.shape[1])
    weights[list(always)] = 0.0
    options = {"p": p, "feature_weights": weights, "alpha": 0.02}
    kind = LpInfSelector if r is None else partial(L2pSelector, r=r)
    whole = kind(**options).fit(X, Y).solution_
    assert whole.rows.size > 4
    selector = kind(4, **options).fit(X, Y)
    nonzero = np.any(selector.coef_ != 0, axis=0)
    np.testing.assert_array_equal(nonzero, selector.support_)
    assert nonzero.sum() == 4
    assert nonzero[list(always)].all()
    found = selector.solution_
    problem = selector.problem_and_solver(X, Y)[0]
    W = problem.joined(found.W, found.intercept)
    assert problem.objective(W) == pytest.approx(found.objective, rel=1e-10)
    assert problem.evaluate(W).scores[:-1][nonzero].max() <= 1e-6
    assert found.objective >= whole.objective * (1 - 1e-9)
    if found.lower_bound is not None:
        assert found.lower_bound <= whole.objective * (1 + 1e-9)


def test_fewer_rows_at_a_given_alpha_are_kept_and_said():
    X, Y = wide(2)
    whole = L2pSelector(alpha=0.5).fit(X, Y)
    k = whole.solution_.rows.size + 2
    with pytest.warns(UserWarning, match="would enter next"):
        selector = L2pSelector(k, alpha=0.5).fit(X, Y)
    np.testing.assert_array_equal(selector.coef_, whole.coef_)
    assert selector.support_.sum() == k
    assert selector.support_[whole.support_].all()


def test_descent_on_the_k_largest_rows_alone_is_never_better():
    X, Y = wide(1)
    for k in (2, 4, 6):
        selector = L2pSelector(k, p=1.0).fit(X, Y)
        whole = L2pSelector(alpha=selector.alpha_, p=1.0, ridge=selector.ridge_).fit(X, Y)
        weights = np.full(X.shape[1], np.inf)
        weights[whole.ranking_ <= k] = 1.0
        cut = L2pSelector(
            alpha=selector.alpha_, p=1.0, ridge=selector.ridge_, feature_weights=weights
        ).fit(X, Y)
        assert selector.solution_.objective <= cut.solution_.objective * (1 + 1e-9)


def test_a_robust_path_that_jumps_past_k_is_bridged():
    X, y = load_digits(return_X_y=True)
    selector = L2pSelector(3, r=1.0, p=0.5, init="zero").fit(X[:150], y[:150])
    assert np.any(selector.coef_ != 0, axis=0).sum() == 3


@pytest.mark.parametrize("kind", [L2pSelector, LpInfSelector])
@pytest.mark.parametrize("seed", range(12))
def test_odd_shapes(kind, seed):
    """Fewer samples than k, one column, one output, whole numbers, p from 0 to 1: always k rows."""
    rng = np.random.default_rng(seed)
    n, d, c = int(rng.integers(4, 40)), int(rng.integers(1, 25)), int(rng.integers(1, 4))
    X = np.round(3 * rng.normal(size=(n, d)), int(rng.integers(0, 3))) + 1e-3 * np.eye(n, d)
    Y = X[:, : min(d, 3)] @ rng.normal(size=(min(d, 3), c)) + rng.normal(size=(n, c))
    k = int(rng.integers(1, min(d, n - 2) + 1))
    selector = kind(k, p=float(rng.choice([0.0, 0.5, 1.0])), task="regression").fit(X, Y)
    nonzero = np.any(np.atleast_2d(selector.coef_) != 0, axis=0)
    assert nonzero.sum() == k
    np.testing.assert_array_equal(nonzero, selector.support_)
    found = selector.solution_
    np.testing.assert_array_equal(np.flatnonzero(nonzero), found.rows)
    problem = selector.problem_and_solver(X, Y)[0].with_alpha(selector.alpha_)
    assert problem.objective(problem.joined(found.W, found.intercept)) == pytest.approx(
        found.objective, rel=1e-9
    )


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
def test_columns_of_noise_enter_in_the_end(p):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 12))
    Y = X[:, :3] @ rng.normal(size=(3, 2)) + 1e-3 * rng.normal(size=(4000, 2))
    selector = L2pSelector(8, p=p).fit(X, Y)
    assert np.any(selector.coef_ != 0, axis=0).sum() == 8


def test_the_reported_crash_of_proximal_gradient():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 1000))
    W = np.zeros((1000, 3))
    W[:10] = rng.normal(size=(10, 3))
    selector = LpInfSelector(n_features_to_select=5).fit(X, X @ W + rng.normal(size=(120, 3)))
    assert selector.support_.sum() == 5


@pytest.mark.parametrize("kind", [L2pSelector, LpInfSelector])
@pytest.mark.parametrize("k", [3, 6])
def test_never_above_the_rows_that_no_swap_improves(kind, k):
    """Without a penalty the best k rows by single swaps are TopKSelector's: the penalised problem
    on these rows alone is one of those that "best" tries."""
    for seed in range(4):
        X, Y = wide(seed)
        selector = kind(k, ridge=0.2).fit(X, Y)
        support = TopKSelector(k, ridge=0.2, n_init=0).fit(X, Y).support_
        weights = np.where(support, 1.0, np.inf)
        there = kind(alpha=selector.alpha_, ridge=0.2, feature_weights=weights).fit(X, Y)
        assert selector.solution_.objective <= there.solution_.objective * (1 + 1e-6)


@pytest.mark.parametrize(("kind", "k"), [(L2pSelector, 8), (LpInfSelector, 5)])
def test_swaps_find_what_the_walk_misses(kind, k):
    X, y = load_breast_cancer(return_X_y=True)
    best = kind(k).fit(X, y)
    walked = kind(k, init="zero").fit(X, y)
    assert walked.alpha_ == best.alpha_
    assert best.solution_.start == "swaps"
    assert best.solution_.objective < walked.solution_.objective * 0.995


def test_always_in_features_count_among_the_rows_that_are_swapped():
    X, Y = wide(1)
    weights = np.ones(X.shape[1])
    weights[[3, 77]] = 0.0
    selector = L2pSelector(5, ridge=0.2, feature_weights=weights).fit(X, Y)
    assert selector.support_.sum() == 5
    assert selector.support_[[3, 77]].all()
