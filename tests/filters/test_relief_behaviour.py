"""ReliefF sees interactions, and neither chunks, threads nor compilation change what it sees."""

import numpy as np
import pytest
import scipy.sparse as sp

from rowsparse import filters
from rowsparse.filters import relief
from rowsparse.numerics import compiling


def exclusive_or(seed, n=300, d=20, numbers=False):
    """The target depends on columns 3 and 11 together and on neither alone."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d)) if seed % 2 else rng.integers(0, 2, (n, d)).astype(float)
    product = X[:, 3] * X[:, 11] if seed % 2 else np.logical_xor(X[:, 3], X[:, 11])
    y = (product > 0).astype(int)
    return X, 3.0 * y + 0.1 * rng.standard_normal(n) if numbers else y


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_planted_interactions_are_on_top(seed, numbers):
    X, y = exclusive_or(seed, numbers=numbers)
    scores = filters.relieff(X, y)
    assert set(np.argsort(-scores)[:2]) == {3, 11}


def test_one_by_one_filters_cannot_see_them():
    hits = 0
    for seed in range(6):
        X, y = exclusive_or(seed)
        hits += set(np.argsort(-filters.f_score(X, y))[:2]) == {3, 11}
    assert hits == 0


@pytest.mark.parametrize("size", [16, 23, 60, 61])
def test_chunks_do_not_matter(monkeypatch, size):
    X, y = exclusive_or(1, n=60)
    whole = filters.relieff(X, y)
    monkeypatch.setattr(relief, "CACHE_BYTES", 8 * 60 * size)
    np.testing.assert_allclose(filters.relieff(X, y), whole, atol=1e-13)


@pytest.mark.parametrize("width", [1, 7, 20, 21])
def test_blocks_of_columns_do_not_matter(monkeypatch, width):
    X, y = exclusive_or(1, n=60)
    X[:, :5] = np.round(X[:, :5])
    whole = filters.relieff(X, y)
    monkeypatch.setattr(relief, "BLOCK_WIDTH", width)
    np.testing.assert_allclose(filters.relieff(X, y), whole, atol=1e-13)
    np.testing.assert_allclose(filters.relieff(sp.csr_array(X), y), whole, atol=1e-13)


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_do_not_change_a_bit(monkeypatch, n_jobs):
    X, y = exclusive_or(1, n=200)
    monkeypatch.setattr(relief, "CACHE_BYTES", 8 * 200 * 16)
    np.testing.assert_array_equal(filters.relieff(X, y, n_jobs=n_jobs), filters.relieff(X, y))


@pytest.mark.parametrize("numbers", [False, True])
def test_compiled_and_plain_agree(monkeypatch, numbers):
    X, y = exclusive_or(3, n=80, numbers=numbers)
    X[:, :5] = np.round(2 * X[:, :5])  # discrete, many ties
    plain = filters.relieff(X, y)
    monkeypatch.setattr(compiling, "WORTH_LOADING", 0)
    np.testing.assert_allclose(filters.relieff(X, y), plain, atol=1e-13)


def test_sampling_needs_a_seed_to_be_repeated():
    X, y = exclusive_or(1, n=100)
    first, again, other = (
        filters.relieff(X, y, n_samples=20, random_state=seed) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)
    np.testing.assert_allclose(filters.relieff(X, y, n_samples=100), filters.relieff(X, y))


def test_progress_goes_to_the_log(caplog):
    with caplog.at_level("INFO", "rowsparse.filters"):
        filters.relieff(*exclusive_or(1, n=60))
    assert "relieff: 60 rows in 1 chunks" in caplog.text
