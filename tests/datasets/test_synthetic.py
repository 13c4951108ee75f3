"""Synthetic data: the stated truth is the truth."""

import numpy as np
import pytest

from rowsparse.datasets import make_row_sparse


def test_shapes_and_support():
    X, Y, support = make_row_sparse(30, 50, 7, 4, random_state=0)
    assert X.shape == (30, 50)
    assert Y.shape == (30, 4)
    assert len(set(support)) == 7
    assert (np.diff(support) > 0).all()
    assert support.min() >= 0
    assert support.max() < 50


def test_one_output_is_a_vector():
    assert make_row_sparse(30, 50, 7, 1, random_state=0)[1].shape == (30,)


def test_without_noise_the_support_explains_everything_and_no_less_does():
    X, Y, support = make_row_sparse(80, 40, 6, 3, noise=0.0, random_state=1)
    W = np.linalg.lstsq(X, Y, rcond=None)[0]
    norms = np.linalg.norm(W, axis=1)
    np.testing.assert_array_equal(np.flatnonzero(norms > 1e-8), support)
    assert ((norms[support] >= 1 - 1e-8) & (norms[support] <= 2 + 1e-8)).all()


def test_noise_is_in_units_of_the_signal():
    X, Y, support = make_row_sparse(20_000, 10, 5, 2, noise=0.5, random_state=2)
    W = np.linalg.lstsq(X[:, support], Y, rcond=None)[0]
    signal = X[:, support] @ W
    ratio = (Y - signal).std(axis=0) / signal.std(axis=0)
    np.testing.assert_allclose(ratio, 0.5, rtol=0.05)


def test_outliers_are_flipped_rows():
    same = {"noise": 0.0, "random_state": 3}
    X, clean, support = make_row_sparse(100, 20, 4, 3, **same)
    X_too, dirty, support_too = make_row_sparse(100, 20, 4, 3, outliers=0.2, **same)
    np.testing.assert_array_equal(X, X_too)
    np.testing.assert_array_equal(support, support_too)
    flipped = np.flatnonzero((dirty != clean).any(axis=1))
    assert flipped.size == 20
    np.testing.assert_array_equal(dirty[flipped], -clean[flipped])


def test_classes_are_the_largest_outputs():
    same = {"noise": 0.1, "random_state": 4}
    _, Y, _ = make_row_sparse(200, 30, 5, 4, **same)
    _, labels, _ = make_row_sparse(200, 30, 5, 4, task="classification", **same)
    np.testing.assert_array_equal(labels, Y.argmax(axis=1))
    assert set(labels) == {0, 1, 2, 3}


def test_same_seed_same_data():
    one, two = (make_row_sparse(20, 10, 3, 2, random_state=5) for _ in range(2))
    other = make_row_sparse(20, 10, 3, 2, random_state=6)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(one[0], other[0])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_samples": 0}, "n_samples: expected at least 1, got 0"),
        ({"n_informative": 0}, "n_informative: expected 1 to n_features=20, got 0"),
        ({"n_informative": 21}, "n_informative: expected 1 to n_features=20, got 21"),
        ({"n_outputs": 0}, "n_outputs: expected at least 1 for regression, got 0"),
        ({"n_outputs": 1, "task": "classification"}, "at least 2 for classification, got 1"),
        ({"noise": -1.0}, "noise: expected a number >= 0, got -1.0"),
        ({"noise": float("nan")}, "noise: expected a number >= 0, got nan"),
        ({"outliers": 1.5}, "outliers: expected a fraction from 0 to 1, got 1.5"),
        ({"task": "ranking"}, "task: expected 'regression' or 'classification', got 'ranking'"),
    ],
)
def test_wrong_arguments(wrong, message):
    with pytest.raises(ValueError, match=message):
        make_row_sparse(**{"n_features": 20, **wrong})
