"""Paths over alpha and over k, against cold solves."""

from dataclasses import replace

import numpy as np
import pytest
from clock import Clock
from conformance.problems import Case
from sklearn.exceptions import ConvergenceWarning

from rowsparse import L2pSelector
from rowsparse import paths as paths_module
from rowsparse.paths import path_to_k, selection_path
from rowsparse.results import Status
from rowsparse.solvers import IRLS, BlockDescent, run, solve

CASE = Case(n=50, d=15, c=3)


def selector(p=1.0, r=2.0, **params):
    params = {"standardize": False, "task": "regression", **params}
    return L2pSelector(p=p, r=r, **params)


def path(p=1.0, r=2.0, **options):
    return selection_path(selector(p, r), CASE.X, CASE.Y, **options)


# -- grids ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("r", "p"), [(2.0, 1.0), (2.0, 0.5), (2.0, 0.0), (1.5, 1.0)])
def test_grid_starts_at_alpha_max_with_no_row_and_falls_geometrically(r, p):
    found = path(p, r, n_alphas=8, alpha_min_ratio=0.05)
    assert len(found) == 8
    assert found.n_rows[0] == 0
    ratios = found.alphas[1:] / found.alphas[:-1]
    np.testing.assert_allclose(ratios, 0.05 ** (1 / 7), rtol=1e-12)
    assert found.n_rows[-1] > 0


@pytest.mark.filterwarnings("ignore:No feature was selected")
@pytest.mark.parametrize("r", [2.0, 1.5, 1.0])
def test_convex_path_equals_cold_solves(r):
    found = path(1.0, r, n_alphas=6, alpha_min_ratio=0.02)
    for alpha, solution in zip(found.alphas, found.solutions, strict=True):
        cold = selector(1.0, r, alpha=alpha).fit(CASE.X, CASE.Y).solution_
        assert solution.converged
        assert solution.objective == pytest.approx(cold.objective, rel=1e-7)


@pytest.mark.filterwarnings("ignore:No feature was selected")
@pytest.mark.parametrize("p", [0.5, 0.0])
def test_nonconvex_path_is_no_worse_than_cold_solves_from_zero(p):
    found = path(p, n_alphas=6, alpha_min_ratio=0.02)
    for alpha, solution in zip(found.alphas, found.solutions, strict=True):
        cold = selector(p, alpha=alpha, init="zero").fit(CASE.X, CASE.Y).solution_
        assert solution.converged
        assert solution.objective <= cold.objective * (1 + 1e-8)


@pytest.mark.parametrize("p", [1.0, 0.5])
def test_objectives_fall_with_alpha_and_belong_to_their_alpha(p):
    """The optimal value is nondecreasing in alpha; W and intercept are those of centred columns."""
    X = CASE.X - CASE.X.mean(axis=0)
    found = path(p, n_alphas=8, alpha_min_ratio=0.02)
    assert (np.diff(found.objectives) <= 1e-9).all()
    for alpha, solution in zip(found.alphas, found.solutions, strict=True):
        E = X @ solution.W + solution.intercept - CASE.Y
        norms = np.linalg.norm(solution.W, axis=1)
        value = np.sum(E**2) / (2 * CASE.n) + alpha * np.sum(norms[norms > 0] ** p)
        assert solution.objective == pytest.approx(value, rel=1e-10)


def test_given_alphas_are_sorted_downwards():
    found = path(alphas=[0.1, 1.0, 0.3])
    np.testing.assert_array_equal(found.alphas, [1.0, 0.3, 0.1])


@pytest.mark.parametrize("alphas", [[], [np.nan], [-1.0], [np.inf]])
def test_impossible_alphas_are_refused(alphas):
    with pytest.raises(ValueError, match="Expected alphas that are finite and >= 0"):
        path(alphas=alphas)


@pytest.mark.parametrize(
    "options", [{"n_alphas": 0}, {"alpha_min_ratio": 0}, {"alpha_min_ratio": 2}]
)
def test_impossible_grids_are_refused(options):
    with pytest.raises(ValueError, match="Expected n_alphas >= 1"):
        path(**options)


def test_sample_weights_reach_every_solve():
    counts = 1 + np.arange(CASE.n) % 3
    weighted = path(alphas=[0.5, 0.1], sample_weight=counts)
    X, Y = np.repeat(CASE.X, counts, axis=0), np.repeat(CASE.Y, counts, axis=0)
    repeated = selection_path(selector(), X, Y, alphas=[0.5, 0.1])
    np.testing.assert_allclose(weighted.objectives, repeated.objectives, rtol=1e-8)


def test_entered_is_the_largest_alpha_with_a_nonzero_row():
    found = path(n_alphas=10, alpha_min_ratio=0.05)
    for j, alpha in enumerate(found.entered):
        nonzero = [a for a, s in zip(found.alphas, found.solutions, strict=True) if s.W[j].any()]
        assert (np.isnan(alpha) and not nonzero) or alpha == max(nonzero)


# -- down to k rows -------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3, 4, 8])
@pytest.mark.parametrize("p", [1.0, 0.5, 0.0])
def test_path_to_k_reaches_k_rows(p, k):
    case = CASE.but(p=p)
    alpha, solution, seen = path_to_k(case.problem, BlockDescent(), k)
    assert solution.rows.size >= k
    at_alpha = case.problem.with_alpha(alpha)
    assert solution.objective == pytest.approx(at_alpha.objective(case.joined(solution)), rel=1e-10)
    assert (np.diff(seen.alphas) < 0).all()
    assert alpha in seen.alphas


@pytest.mark.parametrize("k", [1, 3, 4, 8])
def test_convex_path_to_k_overshoots_by_little(k):
    """At the next larger alpha that was seen there are fewer than k rows."""
    alpha, _, seen = path_to_k(CASE.problem, BlockDescent(), k)
    larger = seen.n_rows[seen.alphas > alpha]
    assert larger.size == 0 or larger[-1] < k


def test_path_to_k_gives_up_with_the_last_solution_where_k_cannot_be_reached():
    factors = np.where(np.arange(15) < 3, 1.0, np.inf)
    penalty = replace(CASE.problem.penalty, factors=np.append(factors, 0.0))
    _, solution, _ = path_to_k(CASE.problem.with_penalty(penalty), BlockDescent(), 5)
    assert solution.rows.size == 3


@pytest.mark.parametrize("p", [1.0, 0.5])
def test_ks_give_one_solution_each(p):
    found = path(p, ks=[5, 2, 2, 3])
    assert len(found) == 3
    assert (found.n_rows >= [2, 3, 5]).all()
    assert (np.diff(found.alphas) <= 0).all()


@pytest.fixture
def solves(monkeypatch):
    """Counts the solves of a walk."""
    count = []

    def counted(function):
        def call(*args, **options):
            count.append(args)
            return function(*args, **options)

        return call

    for name in ("reach", "resume", "search"):
        monkeypatch.setattr(paths_module, name, counted(getattr(paths_module, name)))
    return count


@pytest.mark.parametrize(("p", "most"), [(1.0, 30), (0.5, 60)])
def test_one_walk_serves_all_ks(p, most, solves):
    """Alone, k = 1 … 15 make 124 solves at p = 1 and 201 at p = 0.5, and find the same."""
    together = path(p, ks=range(1, 16))
    np.testing.assert_array_equal(together.ks, np.arange(1, 16))
    assert len(solves) <= most
    problem, solver = selector(p).problem_and_solver(CASE.X, CASE.Y, k=15)
    for k in (1, 4, 9, 15):
        alpha, alone, _ = path_to_k(problem, solver, k)
        assert together.alphas[k - 1] == pytest.approx(alpha, rel=1e-9)
        assert together[k - 1].objective == pytest.approx(alone.objective, rel=1e-8)


def test_the_time_limit_is_for_all_ks_together(monkeypatch):
    clock = Clock.installed(monkeypatch)
    solver = BlockDescent(tol=1e-14, time_limit=0.2)
    found = selection_path(selector(0.5, solver=solver), CASE.X, CASE.Y, ks=range(1, 16))
    assert 0.2 <= clock.now < 0.3
    assert len(found.ks) == len(found) < 15
    assert found[-1].status == Status.TIME_LIMIT


def test_a_fit_down_to_k_tells_the_iterations_and_seconds_of_the_whole_way():
    fitted = selector(0.5, n_features_to_select=4).fit(CASE.X, CASE.Y)
    problem, solver = selector(0.5).problem_and_solver(CASE.X, CASE.Y)
    alone = solve(problem.with_alpha(fitted.alpha_), solver, "zero")
    assert fitted.solution_.n_iter > alone.n_iter
    assert fitted.n_iter_ == fitted.solution_.n_iter


@pytest.mark.parametrize("ks", [[], [0], [16]])
def test_impossible_ks_are_refused(ks):
    with pytest.raises(ValueError, match="Expected ks between 1 and 15"):
        path(ks=ks)


@pytest.mark.parametrize("kind", [list, "frame"])
def test_ks_work_for_everything_that_can_be_fitted(kind):
    pandas = pytest.importorskip("pandas")
    X = CASE.X.tolist() if kind is list else pandas.DataFrame(CASE.X)
    assert (selection_path(selector(), X, CASE.Y, ks=[2]).n_rows >= 2).all()


def test_an_interrupted_path_keeps_what_it_has():
    calls = []

    def press_ctrl_c(step):
        calls.append(step)
        if len(calls) == 4:
            raise KeyboardInterrupt

    found = selection_path(
        selector(solver=BlockDescent(callback=press_ctrl_c)), CASE.X, CASE.Y, n_alphas=10
    )
    assert 1 <= len(found) < 10
    assert len(found.alphas) == len(found)
    assert found[-1].status == Status.INTERRUPTED


@pytest.mark.parametrize("r", [2.0, 1.0])
def test_a_way_to_k_rows_that_is_interrupted_beyond_them_keeps_k(r):
    """Columns that enter all at once: the interrupt comes where more than k rows are nonzero."""
    X = CASE.X[:, :1] + 1e-3 * CASE.X
    model = selector(r=r, n_features_to_select=3, ridge=0.1)

    def press_ctrl_c(step):
        if step.n_rows > 3:
            raise KeyboardInterrupt

    model.set_params(solver=BlockDescent(callback=press_ctrl_c))
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(X, CASE.Y)
    used = np.any(model.coef_ != 0, axis=0)
    assert used.sum() == 3
    np.testing.assert_array_equal(used, model.support_)
    assert model.solution_.status == Status.INTERRUPTED
    residual = model.predict(X) - CASE.Y
    claimed = np.mean(np.linalg.norm(residual, axis=1) ** r) / r
    claimed += model.alpha_ * np.linalg.norm(model.coef_, axis=0).sum()
    claimed += 0.1 / 2 * np.sum(model.coef_**2)
    assert model.solution_.objective == pytest.approx(claimed, rel=1e-9)


def test_path_with_irls_equals_cold_solves():
    found = selection_path(selector(solver=IRLS()), CASE.X, CASE.Y, alphas=[0.5, 0.1])
    for alpha, solution in zip(found.alphas, found.solutions, strict=True):
        cold = run(IRLS(), CASE.problem.with_alpha(alpha))
        assert solution.objective == pytest.approx(cold.objective, rel=1e-6)
