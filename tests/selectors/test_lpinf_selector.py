"""What LpInfSelector promises: which features, how many, where it starts, how it ends."""

import numpy as np
import pytest
import scipy.sparse as sp
from estimator_checks.formulas import signs
from estimator_checks.toy import INFORMATIVE, labelled, mostly_zero, outputs
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import rowsparse
from rowsparse import L2pSelector, LpInfSelector
from rowsparse.paths import power_path, selection_path
from rowsparse.solvers import BlockDescent, ProximalGradient

TIGHT = BlockDescent(tol=1e-10)


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def objective(selector, X, Y, p, s=None):
    """The documented formula, from the fitted coefficients in the original scale."""
    s = np.ones(len(X)) if s is None else s / s.mean()
    mean = np.average(X, axis=0, weights=s)
    scale = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=s))
    E = X @ selector.coef_.T + selector.intercept_ - Y
    t = np.abs(selector.coef_ * scale).max(axis=0)
    return s @ (E**2).sum(axis=1) / (2 * len(X)) + selector.alpha_ * np.sum(t[t > 0] ** p)


def test_defaults_are_the_documented_ones():
    expected = {
        "alpha": None,
        "p": 0.5,
        "ridge": "auto",
        "n_features_to_select": None,
        "fit_intercept": True,
        "standardize": True,
        "init": "best",
        "solver": "auto",
        "feature_weights": None,
        "class_weight": None,
        "task": "auto",
    }
    assert LpInfSelector().get_params() == expected
    assert "LpInfSelector" in dir(rowsparse)


@pytest.mark.parametrize("p", [0.0, 0.25, 0.5, 1.0])
def test_the_informative_features_are_found(p):
    for X, y in (labelled(), outputs()):
        selector = LpInfSelector(n_features_to_select=3, p=p).fit(X, y)
        np.testing.assert_array_equal(np.flatnonzero(selector.support_), INFORMATIVE)


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_k_means_exactly_k_whatever_the_data(data):
    n, d = data.draw(st.integers(4, 12)), data.draw(st.integers(1, 8))
    k, c = data.draw(st.integers(1, d)), data.draw(st.integers(2, 3))
    p = data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    X = rng.integers(-2, 3, (n, d)).astype(float)  # many ties and duplicated columns
    assume(np.all(np.ptp(X, axis=0) > 0))
    selector = LpInfSelector(n_features_to_select=k, p=p).fit(X, np.arange(n) % c)
    assert selector.support_.sum() == k
    assert np.all(np.isfinite(selector.coef_))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
def test_objective_is_the_documented_formula(p, weighted):
    X, Y = outputs()
    s = np.random.default_rng(0).uniform(0.2, 3, 60) if weighted else None
    selector = LpInfSelector(alpha=0.05, p=p).fit(X, Y, sample_weight=s)
    assert selector.solution_.objective == pytest.approx(objective(selector, X, Y, p, s), rel=1e-10)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("alpha", [0.01, 0.1])
def test_one_output_is_the_l2p_selector(p, alpha):
    for X, y in (outputs(c=1), labelled(c=2)):
        ours = LpInfSelector(alpha=alpha, p=p, init="zero", solver=TIGHT).fit(X, y)
        theirs = L2pSelector(alpha=alpha, p=p, init="zero", solver=TIGHT).fit(X, y)
        np.testing.assert_array_equal(ours.support_, theirs.support_)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-9)


def test_clipped_entries_of_a_row_have_one_magnitude():
    X, Y = outputs()
    W = np.abs(LpInfSelector(alpha=0.3, p=1.0, solver=TIGHT).fit(X, Y).solution_.W)
    used = W.any(axis=1)
    ties = np.sum(W[used] >= W[used].max(axis=1, keepdims=True) * (1 - 1e-9), axis=1)
    assert (ties >= 2).any()


def test_sparse_X_gives_the_dense_answer():
    X, y = mostly_zero(d=12)
    dense = LpInfSelector(alpha=0.05, p=1.0).fit(X, y)
    sparse = LpInfSelector(alpha=0.05, p=1.0).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)


def test_labels_are_their_signed_indicator():
    X, y = labelled()
    classes = LpInfSelector(alpha=0.05, p=1.0).fit(X, y)
    numbers = LpInfSelector(alpha=0.05, p=1.0, task="regression").fit(X, signs(y))
    np.testing.assert_allclose(classes.coef_, numbers.coef_, atol=1e-8)
    several = LpInfSelector(alpha=0.05, p=1.0).fit(X, np.eye(3)[y])
    np.testing.assert_allclose(classes.coef_, several.coef_, atol=1e-8)


def test_feature_weights_of_zero_infinity_and_a_factor():
    X, Y = outputs()
    weights = np.ones(8)
    weights[[0, 4]] = 0.0, np.inf
    selector = LpInfSelector(alpha=1e3, feature_weights=weights).fit(X, Y)
    np.testing.assert_array_equal(np.flatnonzero(selector.support_), [0])
    slope = np.linalg.lstsq(np.c_[X[:, 0], np.ones(60)], Y, rcond=None)[0][0]
    np.testing.assert_allclose(selector.coef_[:, 0], slope, atol=1e-6)
    only = np.where(np.arange(8) == 1, 2.0, np.inf)
    Z = standardised(X)
    enters = np.abs(Z[:, 1] @ (Y - Y.mean(axis=0))).sum() / 60 / 2
    for t, expected in ((0.99, True), (1.01, False)):
        fitted = LpInfSelector(alpha=t * enters, p=1.0, feature_weights=only)
        if expected:
            assert fitted.fit(X, Y).support_[1]
        else:
            with pytest.warns(UserWarning, match="No feature was selected"):
                assert not fitted.fit(X, Y).support_.any()


def test_a_gap_at_p_one_and_none_below():
    X, y = labelled()
    assert 0 <= LpInfSelector(alpha=0.05, p=1.0).fit(X, y).solution_.relative_gap <= 1e-6
    assert LpInfSelector(alpha=0.05, p=0.5).fit(X, y).solution_.gap is None


# -- starts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["zero", "ridge", "convex"])
def test_a_named_start_is_the_one_reported(init):
    X, y = labelled()
    assert LpInfSelector(alpha=0.05, init=init).fit(X, y).solution_.start == init


def test_best_is_no_worse_than_each_start_and_says_which_won():
    X, y = labelled(n=40, d=25)
    best = LpInfSelector(alpha=0.03).fit(X, y).solution_
    assert set(best.starts) == {"zero", "ridge", "convex"}
    assert best.starts[best.start] == best.objective == min(best.starts.values())
    for init in best.starts:
        alone = LpInfSelector(alpha=0.03, init=init).fit(X, y).solution_
        assert best.objective <= alone.objective * (1 + 1e-7)


def test_a_given_start_is_used_and_left_unchanged():
    X, Y = outputs()
    start = np.random.default_rng(0).standard_normal((8, 3))
    before = start.copy()
    selector = LpInfSelector(alpha=0.05, init=start).fit(X, Y)
    np.testing.assert_array_equal(start, before)
    assert selector.solution_.violation <= selector.solution_.tol


# -- solvers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
def test_both_solvers_are_certified_and_agree_where_there_is_one_minimum(p):
    X, y = labelled(n=40, d=50)
    fits = [
        LpInfSelector(alpha=0.1, p=p, init="zero", solver=solver).fit(X, y).solution_
        for solver in (BlockDescent(), ProximalGradient())
    ]
    for solution in fits:
        assert solution.converged
        assert solution.violation <= solution.tol
    if p == 1:
        assert fits[0].objective == pytest.approx(fits[1].objective, rel=1e-7)


@pytest.mark.parametrize("solver", [BlockDescent, ProximalGradient])
def test_not_converging_is_one_warning_with_advice(solver):
    X, y = labelled(n=80, d=150, c=4)
    X = X + 0.9 * X[:, ::-1] + X[:, [0]]
    selector = LpInfSelector(alpha=0.01, p=1.0, solver=solver(tol=1e-12, max_iter=1))
    with pytest.warns(ConvergenceWarning, match="max_iter") as caught:
        selector.fit(X, y)
    assert sum(issubclass(w.category, ConvergenceWarning) for w in caught) == 1
    assert np.isfinite(selector.coef_).all()


@pytest.mark.parametrize("params", [{"alpha": 0.001}, {"n_features_to_select": 40}])
def test_ctrl_c_returns_the_best_point_so_far(params):
    X, y = labelled(n=80, d=150, c=4)

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    selector = LpInfSelector(**params, solver=BlockDescent(tol=1e-13, callback=interrupt))
    with pytest.warns(UserWarning, match=r"(?i)interrupt"):
        selector.fit(X, y)
    assert np.isfinite(selector.coef_).all()


# -- paths ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.5, 1.0])
def test_path_in_alpha(p):
    X, y = labelled(n=50, d=20)
    path = selection_path(LpInfSelector(p=p), X, y, n_alphas=6)
    assert path.n_rows[0] == 0
    assert path.n_rows[-1] > 0
    assert all(solution.converged for solution in path.solutions)
    assert (np.diff(path.objectives) <= 0).all()


@pytest.mark.parametrize("kind", [LpInfSelector, L2pSelector])
def test_path_in_p_begins_at_the_convex_solution_and_is_certified(kind):
    X, y = labelled(n=50, d=20)
    path = power_path(kind(alpha=0.05), X, y, powers=(0.25, 1.0, 0.5))
    np.testing.assert_array_equal(path.powers, [1.0, 0.5, 0.25])
    np.testing.assert_array_equal(path.alphas, [0.05] * 3)
    assert all(solution.converged for solution in path.solutions)
    convex = kind(alpha=0.05, p=1.0).fit(X, y).solution_
    assert path[0].objective == pytest.approx(convex.objective, rel=1e-8)
    fitted = kind(alpha=0.05, p=0.25, init=path[2].W).fit(X, y).solution_
    assert path[2].objective == pytest.approx(fitted.objective, rel=1e-6)


def test_path_in_p_at_a_fraction_of_alpha_max():
    X, y = labelled(n=50, d=20)
    path = power_path(LpInfSelector(), X, y, powers=(1.0, 0.5), fraction=0.2)
    for p, alpha in zip(path.powers, path.alphas, strict=True):
        a_tenth = LpInfSelector(p=p).fit(X, y).alpha_
        assert alpha == pytest.approx(2 * a_tenth, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"powers": [1.5]}, "powers"), ({"powers": []}, "powers"), ({"fraction": 0.0}, "fraction")],
)
def test_impossible_paths_in_p_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        power_path(LpInfSelector(), *labelled(), **options)
