"""The classifiers of a margin loss take a solver with its own tolerance, time and callback."""

import json
import warnings

import numpy as np
import pytest
from command import rowsparse
from estimator_checks.toy import labelled
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from rowsparse import (
    ProbitKernelClassifier,
    ProbitSelector,
    ZeroNormKernelSVC,
    ZeroNormSVC,
)
from rowsparse.results import Status
from rowsparse.solvers import AbsoluteNormLP, LargestNormLP, ProbitEM, ReweightedSVM

SOLVER = {
    ZeroNormSVC: ReweightedSVM,
    ProbitSelector: ProbitEM,
    ZeroNormKernelSVC: ReweightedSVM,
    ProbitKernelClassifier: ProbitEM,
}


@pytest.mark.parametrize("make", SOLVER)
def test_tol_and_max_iter_of_the_classifier_are_those_of_auto(make):
    X, y = labelled()
    ours = make(tol=1e-5, max_iter=60).fit(X, y)
    given = make(solver=SOLVER[make](tol=1e-5, max_iter=60)).fit(X, y)
    assert ours.solution_.tol == given.solution_.tol == 1e-5
    np.testing.assert_array_equal(ours.solution_.W, given.solution_.W)


@pytest.mark.parametrize("make", SOLVER)
def test_a_time_limit_ends_the_fit_with_the_best_so_far(make):
    X, y = labelled()
    with pytest.warns(ConvergenceWarning, match="out of time.*time_limit") as caught:
        model = make(solver=SOLVER[make](tol=1e-12, time_limit=0.0)).fit(X, y)
    assert model.solution_.status == Status.TIME_LIMIT
    assert model.predict(X).shape == y.shape
    assert caught[0].filename == __file__  # the line of the user that called fit
    assert len(caught) == 1  # the parameters are not blamed for what the clock did


@pytest.mark.parametrize("make", SOLVER)
def test_a_callback_sees_the_steps_and_may_end_them(make):
    seen = []

    def enough(step):
        seen.append(step.iteration)
        return True

    solver = SOLVER[make](tol=1e-14, callback=enough)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        model = clone(make(norm=1.5, solver=solver)).fit(*labelled())
    assert seen == [1]
    assert model.solution_.status == Status.INTERRUPTED


@pytest.mark.parametrize(("norm", "program"), [(1.0, AbsoluteNormLP), (np.inf, LargestNormLP)])
def test_linear_programs_are_solvers_too(norm, program):
    X, y = labelled()
    X = X[y < 2]
    y = y[y < 2]
    auto = ZeroNormSVC(norm=norm).fit(X, y)
    given = ZeroNormSVC(norm=norm, solver=program(time_limit=60.0)).fit(X, y)
    assert auto.solution_.solver == given.solution_.solver == program.__name__
    np.testing.assert_array_equal(auto.coef_, given.coef_)


def test_a_linear_program_keeps_no_number_of_features():
    X, y = labelled()
    with pytest.raises(ValueError, match=r"Expected a solver that reweights.*got AbsoluteNormLP"):
        ZeroNormSVC(2, norm=1.0, solver=AbsoluteNormLP()).fit(X, y)


@pytest.mark.parametrize("k", [None, 3])
def test_a_solver_that_was_given_is_not_changed(k):
    solver = ReweightedSVM(time_limit=60.0)
    selector = ZeroNormSVC(k, solver=solver).fit(*labelled())
    assert selector.solver is solver
    assert solver == ReweightedSVM(time_limit=60.0)


@pytest.mark.parametrize("arguments", [("zero-norm-svm", "--norm", "inf"), ("probit",)])
def test_a_time_limit_of_the_command_line_reaches_them(arguments):
    result = rowsparse("select", "iris", "--time-limit", 1e-9, "--json", "--method", *arguments)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["status"] == Status.TIME_LIMIT
