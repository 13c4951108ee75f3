"""The loops over pairs of rows, plain and compiled, against NumPy written out."""

import numpy as np
import pytest

from rowsparse.numerics import compiling, differences

RNG = np.random.default_rng(0)
A = RNG.standard_normal((23, 5))
CODES = RNG.integers(0, 3, (23, 5)).astype(float)
ROWS = np.array([4, 0, 22, 7, 7, 1, 2, 3, 5, 6, 11])


def diffs(discrete):
    block = CODES if discrete else A
    apart = block[ROWS][:, None, :] - block[None, :, :]
    return block, (apart != 0).astype(float) if discrete else np.abs(apart)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("discrete", [False, True])
def test_distances_are_added(discrete, compiled):
    block, each = diffs(discrete)
    D = np.ones((ROWS.size, 23))
    differences.add_distances(block, ROWS, D, discrete, compiled)
    np.testing.assert_allclose(D, 1.0 + each.sum(axis=2), atol=1e-12)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("discrete", [False, True])
def test_weighted_differences(discrete, compiled):
    block, each = diffs(discrete)
    partners = RNG.integers(0, 23, (ROWS.size, 4))
    weights = RNG.standard_normal(partners.shape)
    weights[2, 1] = 0.0
    expected = sum(
        weights[r, p] * each[r, partners[r, p]] for r in range(ROWS.size) for p in range(4)
    )
    found = differences.weighted_differences(block, ROWS, partners, weights, discrete, compiled)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("count", [1, 3, 12])
def test_nearest_members_with_ties_by_position(count, compiled):
    D = RNG.integers(0, 4, (9, 23)).astype(float)
    D[0, :] = np.inf
    members = np.arange(0, 23, 2)
    expected = [sorted(members, key=lambda j: (row[j], j))[:count] for row in D]
    np.testing.assert_array_equal(differences.nearest(D, members, count, compiled), expected)


def test_the_sources_of_the_compiled_loops_run_as_they_are():
    D, out = np.zeros((ROWS.size, 23)), np.zeros(5)
    differences._add_distances(A, ROWS, D, False)
    np.testing.assert_allclose(D, diffs(False)[1].sum(axis=2), atol=1e-12)
    near = np.empty((ROWS.size, 2), dtype=np.intp)
    differences._nearest(D, np.arange(23), near, np.empty(2))
    np.testing.assert_array_equal(near, differences.nearest(D, np.arange(23), 2, False))
    differences._add_weighted(A, ROWS, near, np.ones(near.shape), out, False)
    each = diffs(False)[1]
    np.testing.assert_allclose(out, np.take_along_axis(each, near[:, :, None], 1).sum((0, 1)))
    D[:], out[:] = 0.0, 0.0
    differences._add_distances(CODES, ROWS, D, True)
    differences._add_weighted(CODES, ROWS, near, np.ones(near.shape), out, True)
    each = diffs(True)[1]
    np.testing.assert_array_equal(D, each.sum(axis=2))
    np.testing.assert_allclose(out, np.take_along_axis(each, near[:, :, None], 1).sum((0, 1)))


def test_without_numba_the_answer_is_the_same(monkeypatch):
    monkeypatch.setattr(compiling, "_numba", lambda: None)
    D = np.zeros((ROWS.size, 23))
    differences.add_distances(A, ROWS, D, False, True)
    np.testing.assert_allclose(D, diffs(False)[1].sum(axis=2), atol=1e-12)
