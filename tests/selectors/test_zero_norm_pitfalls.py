"""The margin classifiers pass every shared check that applies to them."""

from functools import partial

import pytest
from estimator_checks.pitfalls import checks_for

from rowsparse import ProbitSelector, ZeroNormSVC

LACKS = {"alpha", "regression", "multilabel", "relative_weights"}
VARIANTS = {
    "zero": partial(ZeroNormSVC, C=1.0),
    "probit": partial(ProbitSelector, gamma=3.0, tol=1e-3),
}
ABOUT_K = [param for param in checks_for(lacks=LACKS) if "k" in param.values[0].needs]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("check", checks_for(lacks=LACKS))
def test_pitfall(check, variant):
    check.run(VARIANTS[variant])


@pytest.mark.parametrize("check", ABOUT_K)
def test_pitfall_on_the_way_to_k(check):
    check.run(partial(ZeroNormSVC, n_features_to_select=3))
