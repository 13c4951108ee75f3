"""Every bad input is refused in one sentence that names it."""

from functools import partial

import numpy as np
import pytest
from estimator_checks.bad_input import L2P_CASES, cases_for
from estimator_checks.toy import labelled

import rowsparse.solvers
from rowsparse import L2pSelector


@pytest.mark.parametrize("case", cases_for(extra=L2P_CASES))
def test_bad_input_is_refused_with_its_name(case):
    case.check(partial(L2pSelector, alpha=0.05))


@pytest.mark.parametrize("case", cases_for(lacks={"alpha"}, extra=L2P_CASES))
def test_bad_input_is_refused_on_the_way_to_k(case):
    case.check(partial(L2pSelector, n_features_to_select=2))


@pytest.mark.parametrize("call", [lambda s, X: s.transform(X), lambda s, X: s.to_frame()])
def test_use_before_fit_says_so(call):
    with pytest.raises(Exception, match="not fitted"):
        call(L2pSelector(), np.ones((3, 2)))


def test_other_number_of_columns_in_transform_is_refused():
    X, y = labelled()
    with pytest.raises(ValueError, match=r"7 features.*8 features"):
        L2pSelector(alpha=0.05).fit(X, y).transform(X[:, :7])


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("tol", -1.0), ("tol", float("nan")), ("max_iter", 0), ("time_limit", -1.0), ("callback", 3)],
)
@pytest.mark.parametrize("solver", ["IRLS", "BlockDescent"])
def test_bad_solver_parameters_are_refused_with_their_name(solver, parameter, value):
    X, y = labelled()
    with pytest.raises((ValueError, TypeError), match=parameter):
        L2pSelector(
            alpha=0.05, solver=getattr(rowsparse.solvers, solver)(**{parameter: value})
        ).fit(X, y)
