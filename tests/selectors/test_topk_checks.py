"""TopKSelector passes scikit-learn's checks, the shared pitfalls, and refuses bad input by name."""

from functools import partial

import numpy as np
import pytest
from estimator_checks.bad_input import L2P_CASES, BadInput, cases_for
from estimator_checks.pitfalls import checks_for
from sklearn.utils.estimator_checks import parametrize_with_checks

from rowsparse import TopKSelector
from rowsparse.solvers import ALM, SFS, BlockDescent

SCIKIT_LEARN = [
    TopKSelector(1),
    TopKSelector(1, r=2.0),
    TopKSelector(1, r=2.0, n_init=0, polish=False),
    TopKSelector(1, solver=ALM(rho=1.2), n_init=1),
    TopKSelector(1, r=2.0, solver=SFS(), standardize=False, fit_intercept=False),
]
VARIANTS = {
    "robust": partial(TopKSelector, n_features_to_select=3),
    "squared": partial(TopKSelector, n_features_to_select=3, r=2.0),
    "forward": partial(TopKSelector, n_features_to_select=3, r=2.0, n_init=0, polish=False),
}


@parametrize_with_checks(SCIKIT_LEARN)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("check", checks_for(lacks={"alpha"}))
def test_pitfall(check, variant):
    check.run(VARIANTS[variant])


OWN_PARAMETERS = [
    case for case in L2P_CASES if not case.id.startswith(("p=", "init="))
]  # r, solver, task, fit_intercept, standardize
BAD = [
    BadInput(f"{name}={value!r}", (rf"\b{name}\b", word), {name: value})
    for name, value, word in (
        ("n_init", -1, "-1"),
        ("n_init", 2.5, r"2\.5"),
        ("n_init", True, "True"),
        ("polish", "yes", "yes"),
        ("n_features_to_select", None, "None"),
    )
]


@pytest.mark.parametrize("case", cases_for(lacks={"alpha"}, extra=[*OWN_PARAMETERS, *BAD]))
def test_bad_input_is_refused_with_its_name(case):
    case.check(partial(TopKSelector, n_features_to_select=3))


def test_a_solver_for_penalties_is_refused():
    X = np.random.default_rng(0).standard_normal((20, 4))
    with pytest.raises(ValueError, match=r"BlockDescent.*Splice, ALM or SFS"):
        TopKSelector(2, solver=BlockDescent()).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="squared loss"):
        TopKSelector(2, r=1.0, solver=SFS()).fit(X, X[:, 0])
