"""Tolerance, iterations, time, Ctrl-C, and the way weights and solver parameters are routed."""

import warnings

import numpy as np
import pytest
from clock import Clock
from estimator_checks.toy import labelled
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from rowsparse import L2pSelector
from rowsparse.solvers import IRLS, BlockDescent, ProximalGradient

SOLVERS = [IRLS, BlockDescent]


def hard():
    """Correlated columns and a small alpha: nothing converges in one step."""
    X, y = labelled(n=80, d=150, c=4)
    return X + 0.9 * X[:, ::-1] + X[:, [0]], y


@pytest.mark.parametrize("p", [0.5, 1.0])
@pytest.mark.parametrize("solver", SOLVERS)
def test_out_of_iterations_is_one_warning_with_numbers_and_advice(solver, p):
    selector = L2pSelector(alpha=0.01, p=p, init="zero", solver=solver(tol=1e-12, max_iter=1))
    with pytest.warns(ConvergenceWarning) as caught:
        selector.fit(*hard())
    about = [w for w in caught if issubclass(w.category, ConvergenceWarning)]
    assert len(about) == 1
    message = str(about[0].message)
    assert "max_iter" in message
    assert "1e-12" in message
    assert selector.solution_.violation > selector.solution_.tol
    assert not selector.solution_.converged


@pytest.mark.parametrize("p", [0.5, 1.0])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_converged_fit_does_not_warn(solver, p):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        selector = L2pSelector(alpha=0.05, p=p, solver=solver()).fit(*labelled())
    solution = selector.solution_
    assert solution.converged
    if solver is BlockDescent:  # the tolerance of IRLS is one of the objective
        assert solution.violation <= solution.tol


@pytest.mark.parametrize("params", [{"alpha": 1e-4}, {"n_features_to_select": 40}])
def test_out_of_time_warns_and_leaves_a_usable_selector(params):
    X, y = hard()
    selector = L2pSelector(**params, solver=BlockDescent(tol=1e-14, time_limit=1e-6))
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        selector.fit(X, y)
    assert np.all(np.isfinite(selector.coef_))
    assert selector.transform(X).shape == (80, selector.support_.sum())
    assert np.isfinite(selector.solution_.objective)


def test_time_limit_holds_for_all_starts_together(monkeypatch):
    """By a clock that moves 1 ms at every look: the starts share the limit."""
    clock = Clock.installed(monkeypatch)
    with pytest.warns(ConvergenceWarning, match="out of time"):
        L2pSelector(alpha=1e-4, solver=BlockDescent(tol=1e-14, time_limit=0.05)).fit(*hard())
    assert 0.05 <= clock.now < 0.1


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_callback_is_called_during_the_fit(solver):
    calls = []
    L2pSelector(alpha=0.05, solver=solver(callback=lambda *a, **k: calls.append(a))).fit(
        *labelled()
    )
    assert calls


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("params", [{"alpha": 0.001}, {"n_features_to_select": 40}])
def test_ctrl_c_returns_the_best_point_so_far_with_a_warning(params, solver):
    X, y = hard()
    calls = []

    def interrupt(*_, **__):
        calls.append(1)
        raise KeyboardInterrupt

    selector = L2pSelector(**params, solver=solver(tol=1e-13, callback=interrupt))
    with pytest.warns(UserWarning, match=r"(?i)interrupt"):
        selector.fit(X, y)
    assert len(calls) == 1
    assert np.all(np.isfinite(selector.coef_))
    assert selector.transform(X).shape[0] == 80


class Steps:
    """Counts the steps of all solvers and presses Ctrl-C in one of them."""

    def __init__(self, monkeypatch, interrupt_at=None):
        self.count, self.interrupt_at = 0, interrupt_at
        for solver in SOLVERS:
            monkeypatch.setattr(solver, "step", self.around(solver.step))

    def around(self, step):
        def counted(*args):
            self.count += 1
            if self.count == self.interrupt_at:
                raise KeyboardInterrupt
            return step(*args)

        return counted


@pytest.mark.parametrize("params", [{"alpha": 0.02}, {"n_features_to_select": 10}])
def test_ctrl_c_in_any_phase_of_a_fit_ends_it(params, monkeypatch):
    X, y = hard()
    with monkeypatch.context() as patch:
        steps = Steps(patch)
        L2pSelector(**params).fit(X, y)
    for at in {1, 2, steps.count // 3, steps.count // 2, steps.count}:
        with monkeypatch.context() as patch:
            interrupted = Steps(patch, interrupt_at=at)
            with pytest.warns(UserWarning, match=r"(?i)interrupt"):
                selector = L2pSelector(**params).fit(X, y)
        # one step adapts k rows that are cut out of more
        assert at <= interrupted.count <= at + 1
        assert np.all(np.isfinite(selector.coef_))


def test_an_error_in_the_callback_is_not_swallowed():
    def fail(*_, **__):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        L2pSelector(alpha=0.05, solver=BlockDescent(callback=fail)).fit(*labelled())


def test_a_smaller_tol_gives_a_smaller_violation():
    X, y = hard()
    loose, tight = (
        L2pSelector(alpha=0.02, p=1.0, solver=BlockDescent(tol=tol)).fit(X, y).solution_
        for tol in (1e-2, 1e-9)
    )
    assert tight.violation <= 1e-9 < loose.violation <= 1e-2
    assert tight.objective <= loose.objective


# -- scikit-learn around it -----------------------------------------------------------------------


def test_solver_parameters_can_be_set_and_read_from_outside():
    selector = L2pSelector(alpha=0.05, solver=BlockDescent(tol=1e-3))
    assert selector.get_params()["solver__tol"] == 1e-3
    other = clone(selector).set_params(solver__tol=1e-5)
    assert other.solver.tol == 1e-5
    assert selector.solver.tol == 1e-3


def test_weights_and_solver_tol_go_through_pipeline_and_grid_search():
    X, y = labelled()
    weight = np.where(np.arange(60) < 30, 5.0, 0.2)
    with config_context(enable_metadata_routing=True):
        selector = L2pSelector(alpha=0.05, solver=BlockDescent()).set_fit_request(
            sample_weight=True
        )
        model = LogisticRegression().set_fit_request(sample_weight=False)
        # a scorer of its own: scikit-learn 1.6.0 has no requests for Pipeline.score
        scoring = get_scorer("accuracy").set_score_request(sample_weight=True)
        pipeline = Pipeline([("select", selector), ("model", model)])
        grid = {"select__solver__tol": [1e-4, 1e-8], "select__p": [0.5, 1.0]}
        search = GridSearchCV(pipeline, grid, scoring=scoring, cv=2, error_score="raise")
        search.fit(X, y, sample_weight=weight)
    inside = search.best_estimator_["select"]
    alone = clone(inside).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(inside.scores_, alone.scores_)
    assert not np.allclose(inside.scores_, clone(inside).fit(X, y).scores_, rtol=1e-2)
    assert search.best_params_["select__solver__tol"] == inside.solver.tol


def test_a_pipeline_without_a_request_refuses_the_weights():
    X, y = labelled()
    with config_context(enable_metadata_routing=True):
        pipeline = Pipeline([("select", L2pSelector(alpha=0.05)), ("model", LogisticRegression())])
        with pytest.raises(Exception, match="sample_weight"):
            pipeline.fit(X, y, sample_weight=np.ones(60))


def test_solver_objects_of_two_selectors_are_independent_after_clone():
    selector = L2pSelector(alpha=0.05, solver=IRLS())
    twin = clone(selector)
    assert twin.solver is not selector.solver
    assert twin.get_params()["solver__tol"] == selector.get_params()["solver__tol"]


def test_a_gap_that_stays_wide_is_named_and_the_advice_fits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1)) + 0.05 * rng.normal(size=(40, 60))
    Y = X @ rng.normal(size=(60, 2)) + rng.normal(size=(40, 2))
    selector = L2pSelector(alpha=0.01, p=1.0, ridge=0, solver=ProximalGradient(tol=1e-3))
    with pytest.warns(ConvergenceWarning, match=r"duality gap .* lower the solver's tol"):
        solution = selector.fit(X, Y).solution_
    assert solution.criterion <= solution.tol
    assert solution.relative_gap > 0.1
