"""The dual of a support vector machine, pair by pair: duality gap, libsvm, other starts."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from rowsparse.numerics.svm import smo

FAR = 10**6


def machine(n, d, seed, C=2.0, scale=1.0):
    rng = np.random.default_rng(seed)
    X = scale * rng.standard_normal((n, d))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(n) * scale > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X @ X.T, y, C * rng.uniform(0.5, 2.0, n)


def dual_value(K, y, a):
    return a.sum() - 0.5 * (y * a) @ K @ (y * a)


def primal_value(K, y, c, a, b):
    z = K @ (y * a)
    return 0.5 * (y * a) @ z + c @ np.maximum(1 - y * (z + b), 0)


@settings(deadline=None)
@given(st.integers(2, 40), st.integers(1, 8), st.integers(0, 50), st.sampled_from([0.1, 2.0, 50.0]))
@example(25, 2, 2, 50.0)
def test_multipliers_close_the_duality_gap(n, d, seed, C):
    K, y, c = machine(n, d, seed, C)
    a, b, apart = smo.pairwise(K, y, c, None, 1e-7, FAR)
    assert apart <= 1e-7 or C == 50  # few columns, large costs: moves may run out, and it says so
    assert np.all((a >= 0) & (a <= c))
    assert abs(y @ a) <= 1e-9 * c.sum()
    gap = primal_value(K, y, c, a, b) - dual_value(K, y, a)
    assert gap <= 2 * max(apart, 1e-7) * c.sum()


def test_too_few_moves_are_said():
    K, y, c = machine(40, 5, 0)
    assert smo.pairwise(K, y, c, None, 1e-7, 3)[2] > 1e-7


def test_equals_libsvm():
    K, y, c = machine(80, 5, 0)
    a, b, _ = smo.pairwise(K, y, c, None, 1e-7, FAR)
    theirs = SVC(kernel="precomputed", C=1.0, tol=1e-8).fit(K, y, sample_weight=c)
    np.testing.assert_allclose(K @ (y * a) + b, theirs.decision_function(K), atol=1e-3)


@pytest.mark.parametrize("factor", [1.0, 0.3, 4.0])
def test_a_start_from_other_costs_ends_at_the_same_optimum(factor):
    K, y, c = machine(60, 4, 1)
    near, *_ = smo.pairwise(K, y, factor * c, None, 1e-7, FAR)
    warm, *_ = smo.pairwise(K, y, c, near, 1e-7, FAR)
    cold, *_ = smo.pairwise(K, y, c, None, 1e-7, FAR)
    np.testing.assert_allclose(dual_value(K, y, warm), dual_value(K, y, cold), rtol=1e-7)


def test_a_good_start_is_kept():
    K, y, c = machine(60, 4, 2)
    a, *_ = smo.pairwise(K, y, c, None, 1e-7, FAR)
    again, *_ = smo.pairwise(K, y, c, a, 1e-5, FAR)
    np.testing.assert_allclose(again, a, atol=1e-12)


def test_compiled_and_plain_source_agree(monkeypatch):
    K, y, c = machine(30, 3, 3)
    compiled = smo.pairwise(K, y, c, None, 1e-6, 2000)
    monkeypatch.setattr(smo, "_kernel", lambda: smo._moves)
    plain = smo.pairwise(K, y, c, None, 1e-6, 2000)
    np.testing.assert_allclose(compiled[0], plain[0], atol=1e-9)
    np.testing.assert_allclose(compiled[1], plain[1], atol=1e-9)


def test_equal_points_of_both_classes_end_at_their_costs():
    """Points that cannot be told apart: no curvature between them, the box decides."""
    K, y, c = np.ones((4, 4)), np.array([1.0, -1.0, 1.0, -1.0]), np.array([1.0, 2.0, 3.0, 4.0])
    a, b, _ = smo.pairwise(K, y, c, None, 1e-7, FAR)
    assert primal_value(K, y, c, a, b) == pytest.approx(dual_value(K, y, a))
