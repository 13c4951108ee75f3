"""Mutual information from tables and supervised cuts, plain and compiled."""

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from rowsparse.numerics import tables


@pytest.mark.parametrize("compiled", [False, True])
def test_mutual_information_equals_scikit_learns(compiled):
    rng = np.random.default_rng(0)
    other = rng.integers(0, 4, 90)
    codes = np.vstack([rng.integers(0, k, 90) for k in (1, 2, 5, 9)] + [other])
    codes = codes.astype(tables.CODE)
    found = tables.mutual_information(codes, other, np.ones(90), 9, 4, compiled)
    np.testing.assert_allclose(found, [mutual_info_score(c, other) for c in codes], atol=1e-12)
    assert found[0] == 0.0


@pytest.mark.parametrize("compiled", [False, True])
def test_weights_are_counts(compiled):
    rng = np.random.default_rng(1)
    other, weights = rng.integers(0, 3, 40), rng.integers(1, 4, 40)
    codes = rng.integers(0, 5, (6, 40)).astype(tables.CODE)
    found = tables.mutual_information(codes, other, weights.astype(float), 5, 3, compiled)
    repeated = [mutual_info_score(np.repeat(c, weights), np.repeat(other, weights)) for c in codes]
    np.testing.assert_allclose(found, repeated, atol=1e-12)


def test_blocks_of_tables_do_not_matter(monkeypatch):
    rng = np.random.default_rng(2)
    codes, other = rng.integers(0, 5, (30, 50)).astype(tables.CODE), rng.integers(0, 3, 50)
    whole = tables.mutual_information(codes, other, np.ones(50), 5, 3, False)
    monkeypatch.setattr(tables, "CACHE_BYTES", 1)
    np.testing.assert_array_equal(
        tables.mutual_information(codes, other, np.ones(50), 5, 3, False), whole
    )


def sorted_columns(seed, n=70, d=9, c=3, step=0.3):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, c, n)
    X = np.round((rng.standard_normal((d, n)) + labels * rng.uniform(0, 2, (d, 1))) / step) * step
    order = np.argsort(X, axis=1, kind="stable")
    weights = rng.integers(1, 3, n).astype(float)
    return np.take_along_axis(X, order, axis=1), labels[order], weights[order]


def test_compiled_cuts_are_the_plain_ones():
    values, classes, weights = sorted_columns(0)
    plain = tables.supervised_cuts(values, classes, weights, 3, False)
    assert plain.any()
    compiled = tables.supervised_cuts(values, classes, weights, 3, True)
    np.testing.assert_array_equal(compiled, plain)


def test_cuts_lie_between_different_values():
    values, classes, weights = sorted_columns(1)
    cuts = tables.supervised_cuts(values, classes, weights, 3, False)
    assert not cuts[:, 0].any()
    assert not (cuts[:, 1:] & (values[:, 1:] == values[:, :-1])).any()


def test_many_classes_do_not_overflow():
    values, classes = np.arange(80.0)[None], (np.arange(80) // 2)[None]
    cuts = tables.supervised_cuts(values, classes, np.ones((1, 80)), 40, False)
    assert np.isfinite(cuts).all()


def test_pure_noise_gets_no_cut():
    rng = np.random.default_rng(5)
    values = np.sort(rng.standard_normal((50, 200)), axis=1)
    classes = rng.integers(0, 2, (50, 200))
    cuts = tables.supervised_cuts(values, classes, np.ones((50, 200)), 2, False)
    assert cuts.sum() <= 5
