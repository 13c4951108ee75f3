"""Every warning names the line of the user that led to it, whatever lies between."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rowsparse import L2pSelector, ScoreSelector, TopKSelector, ZeroNormKernelSVC, ZeroNormSVC
from rowsparse.filters import f_score, mrmr
from rowsparse.model_selection import KnockoffSelector, SelectorCV, StabilitySelector
from rowsparse.solvers import BlockDescent

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 6))
NOISE = RNG.standard_normal(60)
LABELS = (X[:, 0] > 0).astype(int)
PRICES = np.round(1000 * RNG.standard_normal(60))  # whole numbers that are no classes
FEW = np.hstack([X[:, :2], np.ones((60, 2))])  # two columns that vary

CALLS = {
    "whole numbers": lambda: L2pSelector(2).fit(X, PRICES),
    "whole numbers, filter": lambda: f_score(X, PRICES),
    "whole numbers, transformed": lambda: TopKSelector(2, r=2.0).fit_transform(X, PRICES),
    "whole numbers, pipeline": lambda: make_pipeline(StandardScaler(), L2pSelector(2)).fit(
        X, PRICES
    ),
    "whole numbers, tuned": lambda: SelectorCV(L2pSelector(), ks=[1, 2], cv=3).fit(X, PRICES),
    "fewer columns, l2p": lambda: L2pSelector(3).fit(FEW, LABELS),
    "fewer columns, top k": lambda: TopKSelector(3).fit(FEW, LABELS),
    "fewer columns, score": lambda: ScoreSelector("f", 3).fit(FEW, LABELS),
    "fewer columns, mrmr": lambda: mrmr(FEW, LABELS, n_features_to_select=3),
    "fewer columns, svm": lambda: ZeroNormSVC(3).fit(FEW, LABELS),
    "a column of labels": lambda: ZeroNormSVC(C=1.0).fit(X, LABELS[:, None]),
    "nothing left, svm": lambda: ZeroNormSVC(C=1e-9).fit(X, LABELS),
    "nothing left, kernel": lambda: ZeroNormKernelSVC(C=1e-9).fit(X, LABELS),
    "nothing left, l2p": lambda: L2pSelector(alpha=1e9).fit(X, LABELS),
    "not converged": lambda: L2pSelector(alpha=0.01, r=1.0, solver=BlockDescent(max_iter=1)).fit(
        X, NOISE
    ),
    "no score": lambda: ScoreSelector(lambda X, y: np.full(6, np.nan), 2).fit(X, LABELS),
    "knockoffs": lambda: KnockoffSelector(L2pSelector(2), random_state=0).fit(X, NOISE),
    "stability": lambda: StabilitySelector(L2pSelector(1), n_pairs=4, random_state=0).fit(X, NOISE),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_names_the_line_that_called(name):
    call = CALLS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    first = inspect.getsourcelines(call)[1]
    for warning in caught:
        assert warning.filename == __file__, warning.message
        assert first <= warning.lineno <= first + 2
