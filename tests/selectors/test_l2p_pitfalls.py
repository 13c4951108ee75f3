"""L2pSelector passes every shared check in its main variants."""

from functools import partial

import pytest
from estimator_checks.pitfalls import checks_for

from rowsparse import L2pSelector
from rowsparse.solvers import IRLS

VARIANTS = {
    "half": partial(L2pSelector, alpha=0.05),
    "one": partial(L2pSelector, alpha=0.1, p=1.0),
    "robust": partial(L2pSelector, alpha=0.1, r=1.0, p=1.0),
    "k": partial(L2pSelector, n_features_to_select=3),
    "irls": partial(L2pSelector, alpha=0.05, solver=IRLS()),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("check", checks_for())
def test_pitfall(check, variant):
    check.run(VARIANTS[variant])
