"""scikit-learn's own checks of the three estimators, without a single expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from rowsparse import L2pSelector, TopKSelector
from rowsparse.model_selection import KnockoffSelector, SelectorCV, StabilitySelector

TOPK = TopKSelector(n_init=0, polish=False)
VARIANTS = [
    SelectorCV(L2pSelector(p=1), grid={"alpha": 3}, cv=2),
    SelectorCV(TOPK, ks=[1], cv=2, rule="1se"),
    StabilitySelector(TOPK, q=1, n_pairs=2, random_state=0),
    KnockoffSelector(L2pSelector(p=1), fdr=0.5, random_state=0),
]


@parametrize_with_checks(VARIANTS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
