"""Every bad input of LpInfSelector is refused in one sentence that names it."""

from functools import partial

import pytest
from estimator_checks.bad_input import L2P_CASES, cases_for
from estimator_checks.toy import labelled

from rowsparse import LpInfSelector
from rowsparse.solvers import IRLS, BlockDescent, ProximalGradient

CASES = [case for case in L2P_CASES if "r" not in case.params]


@pytest.mark.parametrize("case", cases_for(extra=CASES))
def test_bad_input_is_refused_with_its_name(case):
    case.check(partial(LpInfSelector, alpha=0.05))


@pytest.mark.parametrize("case", cases_for(lacks={"alpha"}, extra=CASES))
def test_bad_input_is_refused_on_the_way_to_k(case):
    case.check(partial(LpInfSelector, n_features_to_select=2))


def test_a_start_of_the_other_family_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"'zero', 'ridge', 'convex', 'best'.*'irls'"):
        LpInfSelector(alpha=0.05, init="irls").fit(*labelled())


def test_a_solver_that_cannot_is_refused_with_its_reason():
    with pytest.raises(ValueError, match=r"IRLS cannot solve .*LpInf.*BlockDescent"):
        LpInfSelector(alpha=0.05, solver=IRLS()).fit(*labelled())


@pytest.mark.parametrize("solver", [BlockDescent, ProximalGradient])
@pytest.mark.parametrize(
    ("parameter", "value"),
    [("tol", -1.0), ("tol", float("nan")), ("max_iter", 0), ("time_limit", -1.0), ("callback", 3)],
)
def test_bad_solver_parameters_are_refused_with_their_name(solver, parameter, value):
    with pytest.raises((ValueError, TypeError), match=parameter):
        LpInfSelector(alpha=0.05, solver=solver(**{parameter: value})).fit(*labelled())
