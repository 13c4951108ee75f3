"""Row norms over the whole range of numbers, and the order of the largest rows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rowsparse.numerics.rows import largest, largest_first, nonzero_rows, row_norms


@pytest.mark.parametrize("exponent", [-320, -300, -200, -160, -140, -10, 0, 10, 140, 160, 200, 300])
def test_norms_are_exact_over_the_range_of_numbers(exponent):
    row = np.array([3.0, 0.0, -4.0]) * 10.0**exponent
    assert row_norms(row[None])[0] == pytest.approx(math.hypot(*row), rel=1e-15, abs=0)


def test_rows_of_very_different_size_do_not_disturb_each_other():
    W = np.array([[3e-300, 4e-300], [3.0, 4.0], [3e300, 4e300], [0.0, 0.0]])
    np.testing.assert_allclose(row_norms(W), [5e-300, 5.0, 5e300, 0.0], rtol=1e-15)


@pytest.mark.parametrize("size", [1e-30, 1e-20, 1.0, 1e20, 1e30])
def test_float32_neither_under_nor_overflows(size):
    W = np.array([[3, 4]], dtype=np.float32) * np.float32(size)
    assert float(row_norms(W)[0]) == pytest.approx(5 * size, rel=1e-6)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(arrays(float, (3, 4), elements=st.floats(-1e300, 1e300)))
def test_norms_equal_hypot(W):
    np.testing.assert_allclose(row_norms(W), [math.hypot(*row) for row in W], rtol=1e-14)


def test_no_rows_and_unwritten_input():
    assert row_norms(np.zeros((0, 3))).shape == (0,)
    W = np.array([[1e300, 1e300]])
    row_norms(W)
    assert (W == 1e300).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_row_is_nonzero_if_any_of_its_entries_is(order):
    W = np.zeros((5, 3), order=order)
    W[1, 2], W[3, 0], W[4] = 5e-324, -1.0, np.nan
    np.testing.assert_array_equal(nonzero_rows(W), [False, True, False, True, True])


def test_largest_first_breaks_ties_by_index():
    np.testing.assert_array_equal(largest_first(np.array([1, 3, 2, 3, 1])), [1, 3, 2, 0, 4])


def test_largest_are_returned_in_increasing_order_of_index():
    scores = np.array([1.0, 3.0, 2.0, 3.0, 2.0])
    np.testing.assert_array_equal(largest(scores, 3), [1, 2, 3])
    assert largest(scores, 0).size == 0
    np.testing.assert_array_equal(largest(scores, 9), np.arange(5))
