"""L2pSelector passes every shared check in its main variants."""

from functools import partial

import numpy as np
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


@pytest.mark.parametrize("p", [1.0, 0.5])
def test_a_column_of_huge_entries_does_not_make_the_others_constant(p):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    y = 3 * X[:, 1] + 0.3 * rng.normal(size=40)
    X[:, 0] *= 1e11
    selector = L2pSelector(alpha=0.01, p=p, standardize=False).fit(X, y)
    assert selector.coef_[0, 1] == pytest.approx(3, abs=0.2)
    assert selector.solution_.objective < 0.1 * np.var(y) / 2
