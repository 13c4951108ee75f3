"""The same numbers as the packages that users come from, where their definition can be chosen.

Recorded with mrmr-selection 0.2.8, skrebate 0.8.4 (n_neighbors=10) and skfeature-chappers 1.2.1
(k=10, mode="raw") on scikit-learn's own data.
"""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from rowsparse import filters

LOAD = {"wine": load_wine, "cancer": load_breast_cancer}
MRMR = {
    "wine": [6, 9, 12, 11, 0, 10, 5, 3, 1, 8],
    "cancer": [27, 22, 7, 20, 2, 23, 0, 6, 26, 3],
}
SKREBATE = {
    "wine": [0.11072220579538733, 0.0752570280232713, 0.038367481824190336, 0.058662979265608706,
             0.04011358085002444, 0.11560732274312283, 0.18516036125728919, 0.07783018867924525,
             0.06872629638818983, 0.11090424531196068, 0.1092226180688773, 0.19992077211178316,
             0.15730777861481995],
    "cancer": [0.08302076265797484, 0.05835463554058073, 0.08274984002305559, 0.07116974394623596],
}  # fmt: skip
SKFEATURE = {
    "wine": [587.5765042024751, 909.310046411236, 188.6731186589878, 2345.0464409763667,
             10133.694383603883, 537.1307031809504, 998.3985905794948, 93.00635333611837,
             401.84987512433355, 1894.1536931638161, 201.02946880222018, 724.9141137403518,
             141789.80823137975],
    "cancer": [620.0781999999997, 956.2329999999988, 4409.6849999999995, 60573.680000000066],
}  # fmt: skip


@pytest.mark.parametrize("name", LOAD)
def test_fcq_picks_what_mrmr_selection_picks(name):
    X, y = LOAD[name](return_X_y=True)
    assert filters.mrmr(X, y, 10, criterion="fcq")[0].tolist() == MRMR[name]


def test_fcq_picks_what_mrmr_selection_picks_for_numbers():
    X, y = load_diabetes(return_X_y=True)
    order, _ = filters.mrmr(X, y, 10, criterion="fcq", task="regression")
    assert order.tolist() == [2, 8, 3, 6, 9, 7, 0, 4, 5, 1]


@pytest.mark.parametrize("name", LOAD)
def test_uniform_priors_give_skrebates_scores(name):
    X, y = LOAD[name](return_X_y=True)
    found = filters.relieff(X, y, priors="uniform")
    np.testing.assert_allclose(found[: len(SKREBATE[name])], SKREBATE[name], rtol=1e-10)


@pytest.mark.parametrize("name", LOAD)
def test_inverse_priors_without_scaling_give_scikit_features_scores(name):
    X, y = LOAD[name](return_X_y=True)
    found = filters.relieff(X, y, scaling="none", priors="inverse", discrete_features=None)
    expected = np.array(SKFEATURE[name]) / len(y)  # scikit-feature does not divide by n
    np.testing.assert_allclose(found[: len(expected)], expected, rtol=1e-10)
