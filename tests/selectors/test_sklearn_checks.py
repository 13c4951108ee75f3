"""scikit-learn's own estimator checks, without a single expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from rowsparse import L2pSelector, LpInfSelector
from rowsparse.solvers import IRLS, BlockDescent, ProximalGradient

VARIANTS = [
    L2pSelector(),
    L2pSelector(alpha=0.1, p=1.0),
    L2pSelector(alpha=0.01, p=0.0),
    L2pSelector(alpha=0.1, r=1.0, p=1.0),
    L2pSelector(n_features_to_select=1),
    L2pSelector(alpha=0.05, solver=IRLS()),
    L2pSelector(alpha=0.05, solver=BlockDescent(), init="zero"),
    L2pSelector(alpha=0.05, p=1.0, standardize=False),
    L2pSelector(alpha=0.05, p=1.0, fit_intercept=False),
    LpInfSelector(),
    LpInfSelector(alpha=0.1, p=1.0),
    LpInfSelector(n_features_to_select=1),
    LpInfSelector(alpha=0.05, init="ridge", solver=ProximalGradient()),
]


@parametrize_with_checks(VARIANTS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
