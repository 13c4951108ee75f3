"""The constraint of at most k rows: projection by brute force, certificate, free rows."""

import itertools

import numpy as np
import pytest
from conformance.plain import norms
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rowsparse.penalties import Cardinality

D, C = 6, 2
FACTORS = np.array([1.0, 0.0, 2.0, np.inf, 1.0, 0.5])


def rows(seed=0):
    return np.random.default_rng(seed).standard_normal((D, C))


def nearest(W, k, factors):
    """The nearest allowed point, by trying every set of rows."""
    free = np.flatnonzero(factors == 0)
    open_rows = np.flatnonzero((factors > 0) & np.isfinite(factors))
    best = None
    for size in range(min(k, open_rows.size) + 1):
        for kept in itertools.combinations(open_rows, size):
            U = np.zeros_like(W)
            U[list(kept)], U[free] = W[list(kept)], W[free]
            distance = np.sum((U - W) ** 2)
            if best is None or distance < best[0] - 1e-12:
                best = distance, U
    return best[1]


@pytest.mark.parametrize("k", range(D + 1))
@pytest.mark.parametrize("factors", [np.ones(D), FACTORS], ids=["equal", "factors"])
def test_projection_is_the_nearest_allowed_point(k, factors):
    for seed in range(5):
        W = rows(seed)
        U = Cardinality(k, factors).prox(W, 1.0)
        np.testing.assert_array_equal(U, nearest(W, k, factors))
        assert Cardinality(k, factors).value(U) == 0.0


@given(arrays(float, (5, 1), elements=st.sampled_from([0.0, 1.0, -1.0, 2.0])), st.integers(0, 5))
def test_ties_go_to_the_lower_index_and_the_step_does_not_matter(W, k):
    kept = np.lexsort((np.arange(5), -np.abs(W[:, 0])))[:k]
    expected = np.zeros_like(W)
    expected[kept] = W[kept]
    for step in (0.0, 1.0, np.full(5, 7.0)):
        np.testing.assert_array_equal(Cardinality(k).prox(W, step), expected)


def test_value_is_zero_or_infinite():
    W = rows()
    W[3] = 0.0
    assert Cardinality(4, FACTORS).value(W) == 0.0  # row 1 is free, row 3 is zero
    assert Cardinality(3, FACTORS).value(W) == np.inf
    W[3, 1] = 1e-30
    assert Cardinality(6, FACTORS).value(W) == np.inf


def test_violation_is_what_a_single_row_can_still_change():
    W, G, L = rows(), rows(1), np.array([1.0, 4.0, 9.0, 1.0, 0.0, 2.0])
    W[[0, 3, 4]] = 0.0
    size = norms(G) / np.sqrt(np.where(L > 0, L, np.inf))
    full = Cardinality(2, FACTORS).violation(W, G, L)  # rows 2 and 5; 1 is free
    np.testing.assert_allclose(full, np.where([0, 1, 1, 0, 0, 1], size, 0.0))
    room = Cardinality(3, FACTORS).violation(W, G, L)  # row 0 may come in, 3 never, 4 is flat
    np.testing.assert_allclose(room, np.where([1, 1, 1, 0, 0, 1], size, 0.0))


def test_taking_rows_takes_their_factors():
    taken = Cardinality(1, FACTORS).take(np.array([1, 3]))
    np.testing.assert_array_equal(taken.free(2), [True, False])
    np.testing.assert_array_equal(taken.excluded(2), [False, True])
    assert not taken.convex
    assert Cardinality(1).take(np.array([0])).factors is None
