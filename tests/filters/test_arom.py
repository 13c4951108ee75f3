"""l2-AROM against its definition written out, and as a filter."""

import numpy as np
import pytest
from sklearn.svm import SVC

from rowsparse import ScoreSelector
from rowsparse.filters import arom


def two_classes(n=60, d=25, seed=0):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 5 < 2).astype(int)
    X = rng.standard_normal((n, d))
    X[:, [2, 5]] += 2.0 * y[:, None]
    return X, y


def printed(X, y, k, C=100.0):
    """The algorithm as printed: train, multiply, repeat, with all features kept in the data."""
    z = np.ones(X.shape[1])
    S = (X - X.mean(axis=0)) / X.std(axis=0)
    for _ in range(20):
        z = z * np.abs(SVC(kernel="linear", C=C).fit(S * z, y).coef_[0])
        if np.sum(z > 1e-6 * z.max()) <= k:
            break
    return z


@pytest.mark.parametrize("k", [2, 5])
def test_the_survivors_are_those_of_the_printed_algorithm(k):
    X, y = two_classes()
    z = printed(X, y, k)
    order, scores = arom(X, y, k, max_iter=20)
    assert order.shape == (k,)
    assert scores.shape == (25,)
    left = np.flatnonzero(z > 1e-6 * z.max())
    best_first = left[np.argsort(-z[left])][:k]
    np.testing.assert_array_equal(order[: best_first.size], best_first)


def test_the_informative_survive():
    order, scores = arom(*two_classes(n=200), 2, C=1.0)
    assert set(order) == {2, 5}
    assert set(np.argsort(-scores, kind="stable")[:2]) == {2, 5}


def test_scales_weights_classes_and_constant_columns():
    X, y = two_classes()
    base, _ = arom(X, y, 4, C=1.0)
    moved = arom(X * np.logspace(-3, 3, 25) + 7, y, 4, C=1.0)[0]
    np.testing.assert_array_equal(moved, base)
    three = np.array(["a", "b", "c"])[np.arange(60) % 3]
    assert arom(X, three, 3, C=1.0)[0].size == 3
    X[:, 7] = 3.0
    order, scores = arom(X, y, 24)
    assert scores[7] == 0
    assert 7 not in order
    with pytest.warns(UserWarning, match="24"):
        assert arom(X, y, 25)[0].size == 24


@pytest.mark.parametrize(
    ("k", "params", "words"),
    [
        (0, {}, "n_features"),
        (26, {}, "n_features"),
        (3, {"C": 0.0}, "C"),
        (3, {"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_parameters_are_refused(k, params, words):
    with pytest.raises(ValueError, match=words):
        arom(*two_classes(), k, **params)


def test_the_selector_knows_it_by_name():
    X, y = two_classes(n=200)
    assert ScoreSelector("arom", 2).fit(X, y).support_[[2, 5]].all()
