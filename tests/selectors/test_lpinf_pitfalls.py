"""LpInfSelector passes every shared check in its main variants."""

from functools import partial

import pytest
from estimator_checks.pitfalls import checks_for

from rowsparse import LpInfSelector
from rowsparse.solvers import ProximalGradient

VARIANTS = {
    "half": partial(LpInfSelector, alpha=0.05, init="ridge"),
    "one": partial(LpInfSelector, alpha=0.1, p=1.0),
    "k": partial(LpInfSelector, n_features_to_select=3),
    "gradient": partial(LpInfSelector, alpha=0.1, p=1.0, solver=ProximalGradient()),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("check", checks_for())
def test_pitfall(check, variant):
    check.run(VARIANTS[variant])
