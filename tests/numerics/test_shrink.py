"""The scalar prox against its own definition: nothing on a fine grid may lie lower."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowsparse.numerics.rows import shrink, strength_to_zero, threshold
from rowsparse.penalties import L2p

POWERS = [0.0, 0.1, 0.25, 0.5, 2 / 3, 0.75, 0.9, 1.0]
CAREFUL = settings(max_examples=60, deadline=None, derandomize=True)


def height(s, relative, p):
    """The objective in units of z**2: 1/2 (s - 1)**2 + relative s**p, with s = t / z."""
    return 0.5 * (s - 1) ** 2 + relative * np.where(s > 0, np.maximum(s, 1e-300) ** p, 0.0)


def lowest_on_a_grid(relative, p):
    """Lowest height over s in [0, 1], on a fine grid that is refined around its best points."""
    grid = np.concatenate([[0.0], np.geomspace(1e-12, 1, 400), np.linspace(1e-3, 1, 1000)])
    grid = np.unique(grid)
    for _ in range(6):
        best = int(np.argmin(height(grid, relative, p)))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
        grid = np.unique(np.concatenate([[0.0, 1.0], np.linspace(low, high, 200)]))
    return height(grid, relative, p).min()


def assert_lowest(z, rho, p):
    relative = rho * z ** (p - 2)
    t = float(shrink(z, rho, p))
    assert 0 <= t <= z
    reached = float(height(np.array(t / z), relative, p))
    assert reached <= lowest_on_a_grid(relative, p) + 1e-14 * (1 + min(relative, 1.0))


@pytest.mark.parametrize("p", POWERS)
def test_nothing_on_a_grid_is_lower(p):
    rng = np.random.default_rng(0)
    for log_rho, log_z in rng.uniform([-5, -2], [5, 2], (60, 2)):
        assert_lowest(10.0**log_z, 10.0**log_rho, p)


@pytest.mark.parametrize("p", POWERS)
def test_nothing_on_a_grid_is_lower_on_both_sides_of_the_threshold(p):
    for rho in np.logspace(-5, 5, 11):
        for factor in (0.9, 1 - 1e-6, 1 + 1e-6, 1.1):
            assert_lowest(factor * float(threshold(rho, p)), rho, p)


@CAREFUL
@given(st.floats(0, 1), st.floats(-3, 3), st.floats(-5, 5))
def test_nothing_on_a_grid_is_lower_for_any_p(p, log_z, log_rho):
    assert_lowest(10.0**log_z, 10.0**log_rho, p)


@pytest.mark.parametrize("p", POWERS)
def test_the_output_is_stationary(p):
    z = np.geomspace(1e-2, 1e3, 200)
    t = shrink(z, 0.3, p)
    t, z = t[t > 0], z[t > 0]
    assert t.size
    np.testing.assert_allclose(t + 0.3 * p * t ** (p - 1), z, rtol=1e-13)


@pytest.mark.parametrize("p", POWERS)
def test_zero_in_gives_zero_out(p):
    assert not shrink(np.zeros(4), np.array([0.0, 1e-300, 1.0, np.inf]), p).any()


@pytest.mark.parametrize("p", POWERS)
def test_no_strength_changes_nothing(p):
    z = np.array([0.0, 1e-300, 1e-200, 1e-10, 1.0, 1e10, 1e200, 1e300])
    np.testing.assert_array_equal(shrink(z, 0.0, p), z)


@pytest.mark.parametrize("p", POWERS)
def test_infinite_strength_gives_zero(p):
    assert not shrink(np.array([0.0, 1e-300, 1.0, 1e300]), np.inf, p).any()


@pytest.mark.parametrize("p", POWERS)
def test_ties_go_to_zero(p):
    rho = np.logspace(-5, 5, 101)
    at = threshold(rho, p)
    assert not shrink(at, rho, p).any()
    assert (shrink(at * (1 + 1e-12), rho, p) > 0).all()


@pytest.mark.parametrize("p", [q for q in POWERS if q < 1])
def test_the_jump_at_the_threshold_makes_both_sides_equally_low(p):
    for rho in (1e-4, 0.3, 1e4):
        z = float(threshold(rho, p)) * (1 + 1e-13)
        t = float(shrink(z, rho, p))
        assert 0.5 * (t - z) ** 2 + rho * t**p == pytest.approx(0.5 * z**2, rel=1e-10)


@pytest.mark.parametrize("p", POWERS)
def test_never_nan_and_never_longer_from_one_end_of_the_range_to_the_other(p):
    z, rho = np.meshgrid(10.0 ** np.arange(-300, 301, 20), 10.0 ** np.arange(-300, 301, 20))
    t = shrink(z, rho, p)
    assert np.isfinite(t).all()
    assert ((t >= 0) & (t <= z)).all()


@CAREFUL
@given(st.floats(0, 1), st.floats(1e-300, 1e300), st.floats(0, 1e300))
def test_never_nan_for_any_numbers(p, z, rho):
    with np.errstate(all="ignore"):
        assert 0 <= float(shrink(z, rho, p)) <= z


@pytest.mark.parametrize("p", POWERS)
def test_monotone_in_z_and_in_rho(p):
    z = np.linspace(0, 5, 500)
    assert (np.diff(shrink(z, 0.7, p)) >= -1e-15).all()
    assert (np.diff(shrink(3.0, z, p)) <= 1e-15).all()


@pytest.mark.parametrize("p", POWERS)
def test_threshold_and_strength_to_zero_are_inverses(p):
    rho = np.logspace(-10, 10, 81)
    np.testing.assert_allclose(strength_to_zero(threshold(rho, p), p), rho, rtol=1e-12)
    np.testing.assert_allclose(threshold(strength_to_zero(rho, p), p), rho, rtol=1e-12)


def test_closed_form_for_p_one_is_the_soft_threshold():
    z = np.linspace(0, 4, 101)
    np.testing.assert_allclose(shrink(z, 1.5, 1.0), np.maximum(z - 1.5, 0), atol=1e-15)


def test_closed_form_for_p_zero_is_the_hard_threshold():
    z = np.linspace(0, 4, 101)
    np.testing.assert_array_equal(shrink(z, 1.5, 0.0), np.where(z**2 > 3.0, z, 0.0))


def test_closed_form_for_p_one_half():
    """Xu, Chang, Xu & Zhang 2012: 2/3 z (1 + cos(2/3 (pi - acos(rho/4 (z/3)**-1.5))))."""
    rho = 0.8
    z = np.linspace(1.5 * rho ** (2 / 3) * 1.0001, 20, 300)
    angle = np.arccos(rho / 4 * (z / 3) ** -1.5)
    np.testing.assert_allclose(
        shrink(z, rho, 0.5), 2 / 3 * z * (1 + np.cos(2 / 3 * (np.pi - angle))), rtol=1e-12
    )
    assert float(threshold(rho, 0.5)) == pytest.approx(1.5 * rho ** (2 / 3), rel=1e-14)


def test_closed_form_for_p_two_thirds():
    """With x = t**(1/3) the stationary equation is the quartic x**4 - z x + 2/3 rho = 0."""
    for z in (2.0, 3.0, 10.0):
        roots = np.roots([1, 0, 0, -z, 2 / 3 * 0.8])
        largest = roots[np.abs(roots.imag) < 1e-9].real.max()
        assert float(shrink(z, 0.8, 2 / 3)) == pytest.approx(largest**3, rel=1e-12)


@pytest.mark.parametrize("p", POWERS)
def test_rows_keep_their_direction_and_shrink_their_norm(p):
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((30, 4)) * np.logspace(-3, 2, 30)[:, None]
    Z[7] = 0.0
    rho = rng.uniform(0, 1, 30)
    U = L2p(p=p).prox_rows(Z, rho)
    norms = np.linalg.norm(Z, axis=1)
    np.testing.assert_allclose(np.linalg.norm(U, axis=1), shrink(norms, rho, p), rtol=1e-13)
    assert not U[7].any()
    np.testing.assert_allclose(U * norms[:, None], Z * np.linalg.norm(U, axis=1)[:, None])


@pytest.mark.parametrize("p", POWERS)
def test_rows_may_lie_at_both_ends_of_the_range(p):
    Z = np.array([[3e-300, 4e-300], [3e300, 4e300], [0.0, 0.0]])
    U = L2p(p=p).prox_rows(Z, 0.0)
    np.testing.assert_allclose(U, Z, rtol=1e-14)


def test_inputs_are_left_alone():
    Z, rho = np.ones((3, 2)), np.full(3, 0.5)
    L2p(p=0.5).prox_rows(Z, rho)
    shrink(Z, 0.5, 0.5)
    assert (Z == 1).all()
    assert (rho == 0.5).all()
