"""Small fitted results that the tests of reports share."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine

from rowsparse import L2pSelector, ScoreSelector, TopKSelector
from rowsparse.model_selection import SelectorCV, StabilitySelector, compare
from rowsparse.paths import selection_path


@pytest.fixture(scope="session")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="session")
def selector(wine):
    return L2pSelector(4).fit(*wine)


@pytest.fixture(scope="session")
def path(wine):
    return selection_path(L2pSelector(), *wine, n_alphas=12)


@pytest.fixture(scope="session")
def search(wine):
    return SelectorCV(TopKSelector(), ks=[1, 2, 4], cv=3).fit(*wine)


@pytest.fixture(scope="session")
def stable(wine):
    return StabilitySelector(L2pSelector(p=1.0), q=3, n_pairs=5, random_state=0).fit(*wine)


@pytest.fixture(scope="session")
def comparison(wine):
    methods = {"l2p": L2pSelector(), "F": ScoreSelector("f"), "broken": ScoreSelector(_broken)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compare(methods, *wine, ks=[1, 3], cv=3)


def _broken(X, y):
    raise ValueError("this score <b>fails</b>")


@pytest.fixture(scope="session")
def everything(search, stable, comparison):
    return [search, stable, comparison]


@pytest.fixture(scope="session")
def wide():
    """As many columns as a microarray has, two classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((72, 7129))
    y = np.repeat([0, 1], 36)
    X[y == 1, :20] += 1.5
    return X, y


@pytest.fixture(scope="session")
def fifty():
    """Fifty classes, each with a direction of its own."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(50), 8)
    centres = rng.standard_normal((50, 60))
    return centres[y] + 0.3 * rng.standard_normal((400, 60)), y
