"""What L2pSelector promises: which features, how many, and the attributes that say so."""

import numpy as np
import pytest
from estimator_checks.formulas import alpha_max, column_scale, signs
from estimator_checks.toy import INFORMATIVE, labelled, outputs
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rowsparse
from rowsparse import L2pSelector, LpInfSelector
from rowsparse.solvers import BlockDescent

# -- presets --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "r", "p"),
    [
        (L2pSelector.mtfs(alpha=0.3), 2.0, 1.0),
        (L2pSelector.rfs(alpha=0.3), 1.0, 1.0),
        (L2pSelector.erfs(alpha=0.3, p=0.4), 0.4, 0.4),
        (L2pSelector.rk1u(alpha=0.3, p=0.4), 2.0, 0.4),
        (L2pSelector.gsr(alpha=0.3, r=1.5, p=0.4), 1.5, 0.4),
    ],
)
def test_presets_are_points_of_the_family(preset, r, p):
    assert type(preset) is L2pSelector
    assert (preset.alpha, preset.r, preset.p) == (0.3, r, p)


def test_defaults_are_the_documented_ones():
    expected = {
        "alpha": None,
        "p": 0.5,
        "ridge": "auto",
        "r": 2.0,
        "n_features_to_select": None,
        "fit_intercept": True,
        "standardize": True,
        "init": "best",
        "solver": "auto",
        "feature_weights": None,
        "class_weight": None,
        "task": "auto",
    }
    assert L2pSelector().get_params() == expected
    assert "L2pSelector" in dir(rowsparse)


# -- how many -------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_k_means_exactly_k_whatever_the_data(data):
    n, d = data.draw(st.integers(4, 12)), data.draw(st.integers(1, 8))
    k, c = data.draw(st.integers(1, d)), data.draw(st.integers(2, 3))
    p, r = data.draw(st.sampled_from([0.0, 0.5, 1.0])), data.draw(st.sampled_from([1.0, 2.0]))
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    X = rng.integers(-2, 3, (n, d)).astype(float)  # many ties and duplicated columns
    assume(np.all(np.ptp(X, axis=0) > 0))
    selector = L2pSelector(n_features_to_select=k, p=p, r=r).fit(X, np.arange(n) % c)
    assert selector.support_.sum() == k
    assert sorted(selector.ranking_) == list(range(1, d + 1))
    assert np.all(np.isfinite(selector.coef_))


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 20), st.integers(1, 20), st.integers(1, 3), st.integers(0, 10_000))
def test_any_shape_gives_finite_numbers(n, d, c, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, d)), rng.standard_normal((n, c))
    selector = L2pSelector(alpha=0.1).fit(X, Y)
    assert selector.coef_.shape == (c, d)
    assert np.all(np.isfinite(selector.coef_))
    np.testing.assert_array_equal(selector.support_, selector.coef_.any(axis=0))


@pytest.mark.parametrize("p", [0.5, 1.0])
def test_path_to_k_stops_at_the_first_alpha_with_k_rows(p):
    X, y = labelled(n=80, d=20)
    selector = L2pSelector(n_features_to_select=5, p=p).fit(X, y)
    rows = np.count_nonzero(selector.solution_.W.any(axis=1))
    assert rows >= 5
    largest = np.argsort(-selector.scores_, kind="stable")[:5]
    assert set(np.flatnonzero(selector.support_)) == set(largest)
    assert 0 < selector.alpha_ < alpha_max(X, signs(y), 2.0)


def test_alpha_of_the_path_gives_the_same_rows_when_fitted_alone():
    X, y = labelled(n=80, d=20)
    by_k = L2pSelector(n_features_to_select=5, p=1.0).fit(X, y)
    by_alpha = L2pSelector(alpha=by_k.alpha_, p=1.0, ridge=by_k.ridge_).fit(X, y)
    np.testing.assert_allclose(by_k.scores_, by_alpha.scores_, atol=1e-5)


def test_supports_on_the_way_to_k_contain_the_informative_columns():
    X, y = labelled(n=120, d=30, seed=1)
    selector = L2pSelector(n_features_to_select=3).fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(selector.support_), INFORMATIVE)


@pytest.mark.parametrize("p", [0.5, 1.0])
def test_alpha_and_k_together_solve_for_k_rows_at_that_alpha(p):
    X, y = labelled()
    free, cut = L2pSelector(alpha=0.02, p=p), L2pSelector(alpha=0.02, p=p, n_features_to_select=2)
    assert np.count_nonzero(free.fit(X, y).scores_) > 2
    np.testing.assert_array_equal(cut.fit(X, y).scores_ > 0, cut.support_)
    kept = L2pSelector(alpha=0.02, p=p, feature_weights=np.where(cut.support_, 1.0, np.inf))
    np.testing.assert_allclose(cut.coef_, kept.fit(X, y).coef_, atol=1e-5)
    assert cut.alpha_ == 0.02
    assert cut.solution_.objective >= free.solution_.objective


def test_ties_go_to_the_lowest_index():
    X, y = labelled()
    X = np.hstack([X[:, [4]]] * 3)
    selector = L2pSelector(n_features_to_select=1, p=1.0).fit(X, y)
    top = np.flatnonzero(selector.scores_ == selector.scores_.max())
    assert selector.support_[top[0]]
    assert selector.ranking_[top[0]] == 1


def test_alpha_alone_keeps_all_nonzero_rows():
    X, y = labelled()
    selector = L2pSelector(alpha=0.1, p=1.0).fit(X, y)
    np.testing.assert_array_equal(selector.support_, selector.scores_ > 0)
    assert 0 < selector.support_.sum() < 8
    assert selector.alpha_ == 0.1


# -- alpha by default -----------------------------------------------------------------------------


def _alpha_max_below_one(z, p):
    """Smallest alpha with prox(z, alpha) = 0 for 0 <= p < 1 and unit curvature."""
    t = 2 * (1 - p) * z / (2 - p)
    return t ** (2 - p) / (2 * (1 - p))


@pytest.mark.parametrize("r", [2.0, 1.0])
def test_no_alpha_is_a_tenth_of_alpha_max_in_the_convex_case(r):
    X, Y = outputs()
    selector = L2pSelector(p=1.0, r=r).fit(X, Y)
    assert selector.alpha_ == pytest.approx(alpha_max(X, Y, r) / 10, rel=1e-6)


@pytest.mark.parametrize("p", [0.0, 0.5, 0.9])
def test_no_alpha_is_a_tenth_of_alpha_max_below_one(p):
    X, Y = outputs()
    selector = L2pSelector(p=p).fit(X, Y)
    expected = _alpha_max_below_one(alpha_max(X, Y, 2.0), p) / 10
    assert selector.alpha_ == pytest.approx(expected, rel=1e-6)


# -- attributes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.5, 1.0])
def test_scores_are_the_row_norms_in_the_standardised_scale(p):
    X, Y = outputs()
    selector = L2pSelector(alpha=0.05, p=p).fit(X, Y)
    expected = np.linalg.norm(selector.coef_ * column_scale(X), axis=0)
    np.testing.assert_allclose(selector.scores_, expected, rtol=1e-10)


@pytest.mark.parametrize("params", [{"alpha": 0.05}, {"n_features_to_select": 3}])
def test_ranking_sorts_by_score_and_the_rest_by_what_they_explain_of_the_residual(params):
    X, y = labelled()
    selector = L2pSelector(**params).fit(X, y)
    standardised = (X - X.mean(axis=0)) / X.std(axis=0)
    residual = signs(y) - selector.decision_function(X)
    explains = np.linalg.norm(standardised.T @ residual, axis=1)
    order = np.lexsort((-explains, -selector.scores_))
    assert not selector.scores_.all()
    np.testing.assert_array_equal(selector.ranking_[order], np.arange(1, 9))


def test_rows_that_did_not_enter_are_ranked_by_the_alpha_at_which_they_would():
    """From alpha_max on nothing is in; just below, the first of the ranking is."""
    X, Y = outputs()
    weights = np.array([1.0, 4.0, 1.0, 1.0, 0.5, 1.0, 1.0, np.inf])
    top = L2pSelector(p=1.0, feature_weights=weights).fit(X, Y).alpha_ * 10
    with pytest.warns(UserWarning, match="No feature was selected"):
        nothing = L2pSelector(alpha=1.01 * top, p=1.0, feature_weights=weights).fit(X, Y)
    first = L2pSelector(alpha=0.999 * top, p=1.0, feature_weights=weights).fit(X, Y)
    assert np.flatnonzero(first.support_).tolist() == [np.argmin(nothing.ranking_)]
    assert nothing.ranking_[7] == 8


@pytest.mark.parametrize("make", [L2pSelector, LpInfSelector])
def test_missing_rows_up_to_k_are_the_best_of_the_rest_and_not_the_first_columns(make):
    X, y = labelled(n=200)
    with pytest.warns(UserWarning, match=r"Only 0 rows are nonzero.*would enter next"):
        selector = make(3, alpha=1e6).fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(selector.support_), INFORMATIVE)


@pytest.mark.parametrize("params", [{}, {"alpha": 0.05}, {"alpha": 0.5, "p": 1.0}])
def test_the_selected_are_the_best_ranked(params):
    X, y = labelled(seed=1)
    selector = L2pSelector(n_features_to_select=5, **params).fit(X, y)
    np.testing.assert_array_equal(selector.support_, selector.ranking_ <= 5)


def test_intercept_makes_the_mean_residual_vanish():
    X, Y = outputs()
    selector = L2pSelector(alpha=0.05).fit(X, Y)
    residual = X @ selector.coef_.T + selector.intercept_ - Y
    np.testing.assert_allclose(residual.mean(axis=0), 0.0, atol=1e-8)


def test_without_intercept_it_is_zero():
    X, Y = outputs()
    selector = L2pSelector(alpha=0.05, fit_intercept=False).fit(X, Y)
    np.testing.assert_array_equal(selector.intercept_, np.zeros(3))


def test_the_second_class_of_two_is_the_positive_one():
    X, y = labelled(c=2)
    selector = L2pSelector(alpha=0.05).fit(X, np.array(["no", "yes"])[y])
    margin = (X @ selector.coef_.T + selector.intercept_)[:, 0]
    assert margin[y == 1].mean() > margin[y == 0].mean()


def test_solution_says_how_it_ended():
    X, y = labelled()
    selector = L2pSelector(alpha=0.05).fit(X, y)
    assert selector.solution_.converged
    assert selector.n_iter_ == selector.solution_.n_iter >= 1
    assert selector.solution_.W.shape == (8, 3)
    assert "converged" in str(selector.solution_)


# -- targets --------------------------------------------------------------------------------------


def test_integer_y_is_classes_unless_told_otherwise():
    X, y = labelled()
    assert L2pSelector(alpha=0.05).fit(X, y).coef_.shape == (3, 8)
    numbers = L2pSelector(alpha=0.05, task="regression").fit(X, y)
    assert numbers.coef_.shape == (1, 8)
    assert not hasattr(numbers, "classes_")
    same = L2pSelector(alpha=0.05).fit(X, y + 0.5)
    np.testing.assert_allclose(numbers.coef_, same.coef_, atol=1e-6)


def test_task_classification_makes_classes_of_floats():
    X, y = labelled()
    selector = L2pSelector(alpha=0.05, task="classification").fit(X, y.astype(float))
    np.testing.assert_array_equal(selector.classes_, [0.0, 1.0, 2.0])


def test_one_output_as_vector_or_column_is_the_same():
    X, Y = outputs(c=1)
    vector, column = L2pSelector(alpha=0.05).fit(X, Y[:, 0]), L2pSelector(alpha=0.05).fit(X, Y)
    assert vector.coef_.shape == column.coef_.shape == (1, 8)
    np.testing.assert_array_equal(vector.coef_, column.coef_)


def test_three_classes_equal_their_signed_indicator_as_numbers():
    X, y = labelled()
    classes = L2pSelector(alpha=0.05).fit(X, y)
    numbers = L2pSelector(alpha=0.05, task="regression").fit(X, signs(y))
    np.testing.assert_allclose(classes.coef_, numbers.coef_, atol=1e-9)


def test_a_zero_one_matrix_is_numbers_when_the_task_says_so():
    X, y = labelled()
    Y = np.eye(3)[y]
    as_labels = L2pSelector(alpha=0.05, p=1.0).fit(X, Y)
    as_numbers = L2pSelector(alpha=0.025, p=1.0, task="regression").fit(X, Y)
    np.testing.assert_allclose(as_labels.coef_, 2 * as_numbers.coef_, atol=1e-6)


# -- prior knowledge ------------------------------------------------------------------------------


def test_weight_zero_is_always_in_and_unpenalised():
    X, Y = outputs()
    weights = np.ones(8)
    weights[0] = 0.0
    selector = L2pSelector(alpha=1e3, p=1.0, feature_weights=weights).fit(X, Y)
    np.testing.assert_array_equal(np.flatnonzero(selector.support_), [0])
    slope = np.linalg.lstsq(np.c_[X[:, 0], np.ones(60)], Y, rcond=None)[0]
    np.testing.assert_allclose(selector.coef_[:, 0], slope[0], atol=1e-6)


def test_weight_zero_counts_towards_k():
    X, y = labelled()
    weights = np.ones(8)
    weights[[0, 3]] = 0.0
    selector = L2pSelector(n_features_to_select=3, feature_weights=weights).fit(X, y)
    assert selector.support_.sum() == 3
    assert selector.support_[[0, 3]].all()


def test_more_always_in_than_k_is_refused():
    X, y = labelled()
    selector = L2pSelector(n_features_to_select=2, feature_weights=[0, 0, 0, 1, 1, 1, 1, 1])
    with pytest.raises(ValueError, match=r"n_features_to_select|feature_weights"):
        selector.fit(X, y)


def test_weight_infinity_is_the_column_removed():
    X, y = labelled()
    weights = np.ones(8)
    weights[4] = np.inf
    excluded = L2pSelector(alpha=0.05, feature_weights=weights).fit(X, y)
    removed = L2pSelector(alpha=0.05).fit(np.delete(X, 4, axis=1), y)
    assert excluded.scores_[4] == 0
    np.testing.assert_allclose(np.delete(excluded.scores_, 4), removed.scores_, atol=1e-5)


def test_too_many_excluded_for_k_is_said_aloud():
    X, y = labelled()
    weights = [np.inf] * 5 + [1.0] * 3
    with pytest.warns(UserWarning, match="3"):
        selector = L2pSelector(n_features_to_select=4, feature_weights=weights).fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(selector.support_), [5, 6, 7])


def test_a_factor_two_halves_the_alpha_at_which_a_row_enters():
    X, Y = outputs()
    weights = np.full(8, np.inf)
    weights[1] = 2.0
    enters = alpha_max(X[:, [1]], Y, 2.0) / 2
    below, above = (
        L2pSelector(alpha=t * enters, p=1.0, feature_weights=weights).fit(X, Y)
        for t in (0.99, 1.01)
    )
    assert below.support_[1]
    assert not above.support_.any()


# -- starts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["zero", "irls", "convex"])
def test_a_named_start_is_the_one_reported(init):
    X, y = labelled()
    assert L2pSelector(alpha=0.05, init=init).fit(X, y).solution_.start == init


def test_best_says_which_start_won_and_what_the_others_reached():
    X, y = labelled(n=40, d=60)
    solution = L2pSelector(alpha=0.03, init="best").fit(X, y).solution_
    assert set(solution.starts) == {"zero", "convex"}
    assert solution.starts[solution.start] == solution.objective == min(solution.starts.values())


def test_a_given_start_is_used_and_left_unchanged():
    X, Y = outputs()
    start = np.random.default_rng(0).standard_normal((8, 3))
    before = start.copy()
    selector = L2pSelector(alpha=0.05, init=start).fit(X, Y)
    np.testing.assert_array_equal(start, before)
    assert selector.solution_.violation <= selector.solution_.tol


def test_path_objective_is_no_worse_than_a_cold_start():
    for seed in range(5):
        X, y = labelled(n=50, d=40, seed=seed)
        path = L2pSelector(n_features_to_select=6).fit(X, y)
        # a cold start of the same rows: without the constraint more rows may reach lower
        weights = np.where(path.support_, 1.0, np.inf)
        cold = L2pSelector(
            alpha=path.alpha_, ridge=path.ridge_, init="zero", feature_weights=weights
        ).fit(X, y)
        assert path.solution_.objective <= cold.solution_.objective * (1 + 1e-6)


def test_an_explicit_solver_of_the_default_kind_changes_nothing_convex():
    X, Y = outputs()
    auto = L2pSelector(alpha=0.05, p=1.0).fit(X, Y)
    named = L2pSelector(alpha=0.05, p=1.0, solver=BlockDescent()).fit(X, Y)
    np.testing.assert_allclose(auto.coef_, named.coef_, atol=1e-5)
