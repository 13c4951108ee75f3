"""TopKSelector: exactly k, edge cases, what the solution says, weights, paths, control."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from estimator_checks import formulas, toy
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression

from rowsparse import TopKSelector
from rowsparse.datasets.synthetic import make_row_sparse
from rowsparse.paths import selection_path
from rowsparse.results import Solution, Status
from rowsparse.solvers import ALM, SFS, Splice

ROBUST_AND_SQUARED = pytest.mark.parametrize("r", [1.0, 2.0])


def quick(k, **options):
    return TopKSelector.paper(k, **{"n_init": 1, **options})


# -- exactly k ------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(
    st.integers(4, 25), st.integers(1, 12), st.integers(1, 12), st.integers(0, 99), st.booleans()
)
def test_exactly_k_features_whatever_the_shape(n, d, k, seed, squared):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)), rng.standard_normal((n, 2))
    k = min(k, d)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # n <= k: fewer rows are enough, and it is said
        selector = quick(k, r=2.0 if squared else 1.0).fit(X, y)
    assert selector.support_.sum() == k
    assert np.isfinite(selector.coef_).all()
    assert set(selector.solution_.rows) <= set(np.flatnonzero(selector.support_))


@ROBUST_AND_SQUARED
def test_all_columns_is_the_full_fit(r):
    X, Y = toy.outputs()
    selector = quick(8, r=r).fit(X, Y)
    assert selector.support_.all()
    full = formulas.loss(X @ selector.coef_.T + selector.intercept_ - Y, r)
    assert selector.solution_.objective == pytest.approx(full, rel=1e-9)
    if r == 2:
        plain = LinearRegression().fit(X, Y)
        np.testing.assert_allclose(selector.coef_, plain.coef_, atol=1e-10)
        np.testing.assert_allclose(selector.intercept_, plain.intercept_, atol=1e-10)


@ROBUST_AND_SQUARED
def test_duplicate_columns_tie_to_the_lower_index(r):
    X, Y = toy.outputs()
    selector = quick(3, r=r).fit(np.hstack([X, X]), Y)
    np.testing.assert_array_equal(np.flatnonzero(selector.support_), toy.INFORMATIVE)


def test_enough_columns_to_fit_everything_is_said():
    X, Y = toy.outputs(n=8, d=20)
    with pytest.warns(UserWarning, match="nothing is left to explain"):
        selector = TopKSelector.paper(12, r=2.0).fit(X, Y)
    assert selector.support_.sum() == 12
    assert selector.solution_.objective < 1e-20
    assert "every sample" in selector.solution_.proof


@pytest.mark.parametrize("eps", [1e-1, 1e-5, 1e-8])
@ROBUST_AND_SQUARED
def test_nearly_equal_columns_are_selected_without_complaint(r, eps):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((20, 1)) + eps * rng.standard_normal((20, 8))
        y = X[:, 0] + rng.standard_normal(20)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # fewer may fit as well
            selector = TopKSelector(3, r=r, n_init=2).fit(X, y)
        assert selector.support_.sum() == 3
        assert np.isfinite(selector.coef_).all()


@pytest.mark.parametrize("scale", [1e-140, 1e-100, 1e100, 1e140])
@ROBUST_AND_SQUARED
def test_units_at_the_ends_of_the_range_of_floats_change_nothing(r, scale):
    """A RuntimeWarning is an error here."""
    X, Y = toy.outputs()
    plain = quick(3, r=r, task="regression").fit(X, Y)
    for units in (1.0, scale):
        selector = quick(3, r=r, task="regression").fit(X * units, Y * scale)
        np.testing.assert_array_equal(selector.support_, plain.support_)
        ratio = selector.solution_.objective / plain.solution_.objective / scale**r
        assert ratio == pytest.approx(1.0, rel=1e-6)


def test_long_columns_do_not_break_the_system_of_alm():
    """Their products round off the 1 that makes it regular."""
    rng = np.random.default_rng(0)
    X = 1e9 * rng.standard_normal((20, 3))[:, [0, 0, 1, 1, 2, 2]]
    solver = ALM(max_iter=50, tol=1.0)
    selector = quick(2, standardize=False, solver=solver, task="regression")
    assert selector.fit(X, rng.standard_normal((20, 2))).support_.sum() == 2


def test_a_loss_that_no_feature_lowers_is_said():
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(38), 1, 1].astype(int)
    with pytest.warns(UserWarning, match="use r=2"):
        quick(1).fit(rng.standard_normal((40, 5)), y)


# -- the fit is the documented one ----------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("r", [1.0, 1.5, 2.0])
def test_objective_is_the_documented_loss_of_the_returned_fit(r, weighted, sparse):
    X, y = toy.mostly_zero()
    s = np.random.default_rng(0).uniform(0.2, 3, len(X)) if weighted else None
    selector = quick(3, r=r).fit(sp.csr_array(X) if sparse else X, y, sample_weight=s)
    E = X @ selector.coef_.T + selector.intercept_ - formulas.signs(y)
    assert selector.solution_.objective == pytest.approx(formulas.loss(E, r, s), rel=1e-9)
    assert not np.any(selector.coef_[:, ~selector.support_])


def test_one_output_and_many_labels():
    X, Y = toy.outputs(c=1)
    single = quick(3, r=2.0).fit(X, Y[:, 0])
    assert single.coef_.shape == (1, 8)
    np.testing.assert_array_equal(np.flatnonzero(single.support_), toy.INFORMATIVE)
    X, y = toy.labelled()
    labels = np.column_stack([y == 0, y != 1]).astype(int)
    assert quick(3).fit(X, labels).coef_.shape == (2, 8)


def test_scale_and_order_of_columns_do_not_matter():
    X, Y = toy.outputs()
    units, order = 10.0 ** np.arange(-4, 4), np.random.default_rng(0).permutation(8)
    base = quick(3, r=2.0).fit(X, Y)
    scaled = quick(3, r=2.0, standardize=False).fit(X * units, Y)
    np.testing.assert_array_equal(base.support_, scaled.support_)
    assert base.solution_.objective == pytest.approx(scaled.solution_.objective, rel=1e-9)
    np.testing.assert_array_equal(
        quick(3, r=2.0).fit(X[:, order], Y).support_, base.support_[order]
    )


@ROBUST_AND_SQUARED
def test_features_that_are_always_in_count_and_excluded_ones_stay_out(r):
    X, Y = toy.outputs()
    weights = np.ones(8)
    weights[[0, 2]], weights[4] = 0.0, np.inf
    selector = quick(4, r=r, feature_weights=weights).fit(X, Y)
    np.testing.assert_array_equal(np.flatnonzero(selector.support_), [0, 1, 2, 6])
    with pytest.raises(ValueError, match=r"at least 2.*always in"):
        quick(1, feature_weights=weights).fit(X, Y)
    only = quick(2, r=r, feature_weights=weights).fit(X, Y)
    np.testing.assert_array_equal(np.flatnonzero(only.support_), [0, 2])


# -- robustness and recovery ----------------------------------------------------------------------


def test_planted_rows_are_found():
    hits = 0
    for seed in range(6):
        X, Y, support = make_row_sparse(80, 200, 5, 3, noise=0.4, random_state=seed)
        found = quick(5, r=2.0).fit(X, Y).support_
        hits += np.array_equal(np.flatnonzero(found), support)
    assert hits == 6


def test_with_flipped_samples_the_robust_loss_recovers_more():
    hits = {1.0: 0, 2.0: 0}
    for seed in range(6):
        X, Y, support = make_row_sparse(60, 100, 5, 3, noise=0.3, outliers=0.1, random_state=seed)
        for r in hits:
            found = quick(5, r=r, task="regression").fit(X, Y).support_
            hits[r] += np.array_equal(np.flatnonzero(found), support)
    assert hits[1.0] > hits[2.0]


# -- what the solution says -----------------------------------------------------------------------


def test_the_solution_tells_every_start_and_can_be_saved(tmp_path):
    X, Y = toy.outputs(n=40, d=30)
    solution = TopKSelector.paper(4, r=2.0, n_init=3).fit(X, Y).solution_
    assert set(solution.starts) == {"forward", "kicks"}
    assert min(solution.starts.values()) == pytest.approx(solution.objective, rel=1e-9)
    assert 1 <= solution.n_best_starts <= len(solution.starts)
    assert solution.gap == pytest.approx(solution.objective - solution.lower_bound)
    solution.save(tmp_path / "s.npz")
    again = Solution.load(tmp_path / "s.npz")
    assert again.proof == solution.proof
    assert again.lower_bound == solution.lower_bound
    assert again.starts == solution.starts


def test_the_robust_loss_starts_from_what_squares_choose():
    X, y = toy.labelled(n=40, d=30)
    starts = TopKSelector.paper(3, n_init=2).fit(X, y).solution_.starts
    assert {"squares", "kicks"} <= set(starts)
    assert set(TopKSelector.paper(3, n_init=0).fit(X, y).solution_.starts) <= {"forward", "last"}


def test_more_starts_never_hurt_and_polish_helps():
    X, y = toy.labelled(n=40, d=60)
    values = [
        TopKSelector.paper(5, r=2.0, **options).fit(X, y).solution_.objective
        for options in ({"n_init": 0, "polish": False}, {"n_init": 0}, {"n_init": 5})
    ]
    assert values[0] >= values[1] >= values[2]


@ROBUST_AND_SQUARED
def test_no_single_swap_improves_the_result(r):
    X, y = toy.labelled(n=30, d=25)
    chosen = TopKSelector.paper(3, r=r).fit(X, y)
    support = np.flatnonzero(chosen.support_)
    for i in range(3):
        for j in np.flatnonzero(~chosen.support_)[:: 1 if r == 2 else 6]:
            trial = np.sort(np.append(np.delete(support, i), j))
            value = quick(3, r=r, n_init=0, polish=False).fit(X[:, trial], y).solution_.objective
            assert value >= chosen.solution_.objective * (1 - 1e-5)


# -- solvers by name ------------------------------------------------------------------------------


@ROBUST_AND_SQUARED
def test_alm_finds_a_support_that_polish_improves(r):
    X, y = toy.labelled(n=30, d=40)
    plain = TopKSelector.paper(3, r=r, solver=ALM(rho=1.05), polish=False, n_init=2).fit(X, y)
    polished = TopKSelector.paper(3, r=r, solver=ALM(rho=1.05), n_init=2).fit(X, y)
    assert plain.support_.sum() == 3
    assert polished.solution_.objective <= plain.solution_.objective
    assert polished.solution_.solver == "ALM"
    assert set(plain.solution_.starts) == {"random 1", "random 2"}


def test_alm_that_does_not_converge_says_so():
    X, y = toy.labelled()
    with pytest.warns(ConvergenceWarning, match="out of iterations"):
        TopKSelector.paper(3, solver=ALM(max_iter=3), polish=False, n_init=1).fit(X, y)


def test_sfs_starts_from_the_convex_solution():
    X, y = toy.labelled(n=60, d=20)
    found = TopKSelector.paper(3, r=2.0, solver=SFS(), polish=False).fit(X, y)
    assert list(found.solution_.starts) == ["convex"]
    np.testing.assert_array_equal(np.flatnonzero(found.support_), toy.INFORMATIVE)


# -- control --------------------------------------------------------------------------------------


def test_the_seed_decides_and_none_is_a_seed():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 300)), rng.standard_normal(30)
    fits = [TopKSelector.paper(8, r=2.0, random_state=seed).fit(X, y) for seed in (None, 0, 0)]
    assert fits[0].solution_.starts == fits[1].solution_.starts == fits[2].solution_.starts
    other = TopKSelector.paper(8, r=2.0, random_state=np.random.RandomState(3)).fit(X, y)
    assert other.solution_.starts != fits[0].solution_.starts


@ROBUST_AND_SQUARED
def test_time_limit_and_callback_keep_the_best_so_far(r):
    X, y = toy.labelled(n=60, d=200)
    with pytest.warns(ConvergenceWarning, match="out of time"):
        late = TopKSelector.paper(5, r=r, solver=Splice(time_limit=0.0)).fit(X, y)
    assert late.solution_.status == Status.TIME_LIMIT
    assert list(late.solution_.starts) == ["forward"]
    assert np.all(late.scores_[late.support_] > 0)  # forward selection, not an empty model
    assert late.support_.sum() == 5
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        stopped = TopKSelector.paper(5, r=r, solver=Splice(callback=lambda step: True)).fit(X, y)
    assert len(stopped.solution_.starts) == 1
    assert "swap" not in stopped.solution_.proof


def test_table_of_features():
    X, y = toy.labelled()
    selector = quick(3).fit(X, y)
    table = selector.to_frame()
    assert table["selected"].sum() == 3
    assert "entered_alpha" not in table.columns


# -- path over k ----------------------------------------------------------------------------------


@ROBUST_AND_SQUARED
def test_objectives_along_k_never_increase(r):
    X, y = toy.labelled(n=40, d=30)
    path = selection_path(quick(6, r=r), X, y, ks=range(1, 7))
    np.testing.assert_array_equal(path.ks, range(1, 7))
    np.testing.assert_array_equal(path.n_rows, range(1, 7))
    assert np.all(np.diff(path.objectives) <= 1e-9)
    assert path[0].proof.startswith("proved optimal")
    alone = quick(1, r=r).fit(X, y).solution_.objective
    assert path[0].objective == pytest.approx(alone, rel=1e-6)


def test_path_over_k_refuses_what_it_cannot_do():
    X, y = toy.labelled()
    with pytest.raises(ValueError, match="no alpha"):
        selection_path(quick(3), X, y)
    with pytest.raises(ValueError, match="between 1 and 8"):
        selection_path(quick(3), X, y, ks=[0, 3])
    always = quick(3, feature_weights=replace_first(np.ones(8)))
    path = selection_path(always, X, y, ks=[2, 3])
    assert all(s.rows.size in (2, 3) and 0 in s.rows for s in path.solutions)


def replace_first(weights):
    weights[0] = 0.0
    return weights


@pytest.mark.parametrize("unit", [1e-99, 1e99])
def test_the_relaxation_bounds_y_of_extreme_units(unit):
    """1e99 was an OverflowError, 1e-99 had a bound of 0: the square of a sum of squares."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 32)), rng.standard_normal(20)
    plain = quick(3, r=2.0, ridge=0.5).fit(X, y).solution_
    lower = quick(3, r=2.0, ridge=0.5).fit(X, unit * y).solution_.lower_bound
    assert 0.5 * plain.objective < lower / unit**2 < plain.objective
