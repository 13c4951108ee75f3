"""The l_{p,inf} row prox against search, closed forms, the l2,p prox and the ends of the range."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowsparse.numerics import clip, compiling
from rowsparse.numerics.clip import clip_levels, clip_rows, clip_strength_to_zero
from rowsparse.penalties import L2p

POWERS = (0.0, 0.05, 0.1, 0.25, 0.5, 2 / 3, 0.75, 0.9, 0.99, 1.0)
ALWAYS, NEVER = 0, 10**9


def height(B, t, rho, p):
    """phi(t) for rows of magnitudes B and a matrix of levels t, one row of levels per row of B."""
    cut = np.maximum(B[:, None, :] - t[:, :, None], 0.0)
    power = np.where(t > 0, t**p, 0.0)
    return 0.5 * np.einsum("ijk,ijk->ij", cut, cut) + rho[:, None] * power


def lowest_by_search(B, rho, p, n_grid=60, n_steps=45):
    """Lowest phi over a grid with all joints in it, refined by golden section around the best."""
    top = B.max(axis=1, keepdims=True)
    grid = np.sort(np.hstack([top * np.linspace(0, 1, n_grid), B]), axis=1)
    values = height(B, grid, rho, p)
    at = values.argmin(axis=1)
    best = values.min(axis=1)
    pick = lambda i: np.take_along_axis(grid, i[:, None], axis=1)  # noqa: E731
    low, high = pick(np.maximum(at - 1, 0)), pick(np.minimum(at + 1, grid.shape[1] - 1))
    ratio = (np.sqrt(5) - 1) / 2
    for _ in range(n_steps):
        pair = np.hstack([high - ratio * (high - low), low + ratio * (high - low)])
        left, right = height(B, pair, rho, p).T
        best = np.minimum(best, np.minimum(left, right))
        keep_left = (left < right)[:, None]
        low, high = np.where(keep_left, low, pair[:, :1]), np.where(keep_left, pair[:, 1:], high)
    return best


def random_rows(rng, n, c):
    """Rows of several kinds: spread evenly, over decades, tied, and mostly zero."""
    Z = rng.standard_normal((n, c))
    kind = rng.integers(0, 4, n)
    Z[kind == 1] *= 10.0 ** rng.uniform(-4, 0, (n, c))[kind == 1]
    Z[kind == 2] = np.round(2 * Z[kind == 2])
    Z[kind == 3] *= rng.random((n, c))[kind == 3] < 0.3
    return Z


@pytest.mark.parametrize("part", range(10))
def test_never_worse_than_a_refined_grid(part):
    """10,000 rows each: c from 1 to 40, p over [0, 1], rho over ten decades."""
    rng = np.random.default_rng(part)
    for c in range(1, 41):
        p = POWERS[(part + c) % len(POWERS)] if c % 2 else rng.uniform(0, 1)
        Z, rho = random_rows(rng, 250, c), 10.0 ** rng.uniform(-7, 3, 250)
        B = np.abs(Z)
        U = clip_rows(Z, rho, p)
        t = np.abs(U).max(axis=1, keepdims=True)
        ours = 0.5 * np.sum((U - Z) ** 2, axis=1) + rho * np.where(t > 0, t**p, 0.0)[:, 0]
        best = lowest_by_search(B, rho, p)
        assert (ours <= best * (1 + 1e-9)).all()


def test_the_example_of_the_paper():
    np.testing.assert_allclose(
        clip_rows(np.array([[5.0, 4.0, 3.0, 2.0, 1.0]]), 1.5, 1.0), [[3.75, 3.75, 3, 2, 1]]
    )


def test_of_two_local_minima_the_lower_one_is_taken():
    """One large entry and many small ones: a minimum near each, and rho decides."""
    z = np.array([[1.0] + [0.25] * 30])
    levels = [float(clip_levels(z, rho, 0.25)[0]) for rho in (0.2, 0.5, 0.62, 3.0)]
    assert levels[0] > 0.9
    assert levels[3] == 0.0
    for rho, t in zip((0.2, 0.5, 0.62, 3.0), levels, strict=True):
        grid = np.linspace(0, 1, 100_001)[None]
        best = grid[0, height(z, grid, np.array([rho]), 0.25)[0].argmin()]
        assert t == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize("p", POWERS)
def test_one_column_is_the_l2p_prox(p):
    rng = np.random.default_rng(0)
    z = rng.standard_normal((2000, 1)) * 10.0 ** rng.uniform(-6, 6, (2000, 1))
    rho = 10.0 ** rng.uniform(-7, 3, 2000)
    np.testing.assert_allclose(clip_rows(z, rho, p), L2p(p=p).prox_rows(z, rho), rtol=1e-13)


def test_p_one_subtracts_the_projection_on_the_l1_ball():
    """Moreau: z - prox(z) is the nearest point of l1 norm at most rho (found by bisection)."""
    rng = np.random.default_rng(1)
    Z, rho = rng.standard_normal((300, 7)), rng.uniform(0.01, 8, 300)
    for z, radius, u in zip(Z, rho, clip_rows(Z, rho, 1.0), strict=True):
        low, high = 0.0, np.abs(z).max()
        for _ in range(80):
            middle = (low + high) / 2
            inside = np.maximum(np.abs(z) - middle, 0).sum() <= radius
            low, high = (low, middle) if inside else (middle, high)
        nearest = z if np.abs(z).sum() <= radius else np.sign(z) * np.maximum(np.abs(z) - high, 0)
        np.testing.assert_allclose(z - u, nearest, atol=1e-12)


def test_p_zero_keeps_or_removes_a_row():
    Z = np.array([[1.0, 1.0], [1.0, 1.1], [0.0, 2.0]])
    np.testing.assert_array_equal(clip_rows(Z, 1.0, 0.0), [[0, 0], [1.0, 1.1], [0.0, 2.0]])


@pytest.mark.parametrize("p", POWERS)
def test_order_and_signs_of_the_entries_do_not_matter(p):
    """Permuting a row permutes the result; changing signs changes signs."""
    rng = np.random.default_rng(2)
    Z, rho = random_rows(rng, 200, 6), 10.0 ** rng.uniform(-3, 1, 200)
    U = clip_rows(Z, rho, p)
    order, signs = rng.permutation(6), np.array([1, -1, -1, 1, -1, 1.0])
    np.testing.assert_allclose(clip_rows(Z[:, order], rho, p), U[:, order], rtol=1e-14)
    np.testing.assert_allclose(clip_rows(Z * signs, rho, p), U * signs, rtol=1e-14)


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("scale", [1e-300, 1e-140, 1e-40, 1e40, 1e140, 1e300])
def test_scaling_the_row_scales_the_result(p, scale):
    """prox(s z, s**(2-p) rho) = s prox(z, rho), with s**(2-p) rho inside the range."""
    if not 1e-150 < scale < 1e150:
        p = 1.0  # the only power for which it is
    rng = np.random.default_rng(3)
    Z, rho = rng.standard_normal((80, 5)), 10.0 ** rng.uniform(-2, 0.5, 80)
    out = clip_rows(scale * Z, scale ** (2 - p) * rho, p)
    np.testing.assert_allclose(out / scale, clip_rows(Z, rho, p), rtol=1e-11)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("compiled_from", [ALWAYS, NEVER], ids=["compiled", "plain"])
@pytest.mark.parametrize("p", POWERS)
def test_every_input_gives_finite_numbers_without_warnings(p, compiled_from, monkeypatch):
    monkeypatch.setattr(clip, "COMPILED_FROM", compiled_from)
    sizes = np.array([0.0, 5e-324, 1e-300, 1e-150, 1e-8, 1.0, 1e8, 1e150, 1e300])
    rows = [[a, b, -a] for a in sizes for b in sizes]
    for rho in (0.0, 5e-324, 1e-300, 1e-10, 1.0, 1e10, 1e300, np.inf):
        Z = np.array(rows)
        U = clip_rows(Z, rho, p)
        assert np.isfinite(U).all()
        assert (np.abs(U) <= np.abs(Z)).all()
        assert (U * np.sign(Z) >= 0).all()


@pytest.mark.parametrize("p", POWERS)
def test_the_plain_corners(p):
    Z = np.array([[0.0, 0.0, 0.0], [2.0, -2.0, 2.0], [1.0, 2.0, -3.0]])
    np.testing.assert_array_equal(clip_rows(Z, 0.0, p), Z)
    np.testing.assert_array_equal(clip_rows(Z, np.inf, p), np.zeros((3, 3)))
    np.testing.assert_array_equal(clip_rows(Z, 1e9, p), np.zeros((3, 3)))
    assert not clip_rows(Z, 0.1, p)[0].any()
    equal = clip_rows(Z, 0.3, p)[1]
    # c equal entries are one entry at rho / c
    np.testing.assert_allclose(np.abs(equal), L2p(p=p).prox_rows(np.array([[2.0]]), 0.1)[0, 0])
    assert clip_rows(np.zeros((0, 3)), 0.1, p).shape == (0, 3)


def test_float32_rows_give_the_numbers_of_their_values():
    rng = np.random.default_rng(4)
    Z = rng.standard_normal((100, 6)).astype(np.float32)
    np.testing.assert_array_equal(clip_rows(Z, 0.5, 0.5), clip_rows(Z.astype(float), 0.5, 0.5))


def test_arguments_are_left_alone():
    Z, rho = np.random.default_rng(5).standard_normal((100, 4)), np.full(100, 0.3)
    copies = Z.copy(), rho.copy()
    clip_rows(Z, rho, 0.5)
    clip_strength_to_zero(Z, 0.5)
    np.testing.assert_array_equal(Z, copies[0])
    np.testing.assert_array_equal(rho, copies[1])


# -- the strength that removes a row --------------------------------------------------------------


@pytest.mark.parametrize("c", [1, 2, 5, 26])
@pytest.mark.parametrize("p", [*POWERS, 0.9999])
def test_strength_to_zero_from_both_sides(p, c):
    Z = random_rows(np.random.default_rng(c), 500, c)
    Z = Z[Z.any(axis=1)]
    rho = clip_strength_to_zero(Z, p)
    assert not clip_rows(Z, rho * (1 + 1e-12), p).any()
    assert clip_rows(Z, rho * (1 - 1e-9), p).any(axis=1).all()


@pytest.mark.parametrize("p", POWERS)
def test_strength_to_zero_at_the_ends_of_the_range(p):
    strength = clip_strength_to_zero(np.array([[0.0, 0.0], [1e-300, 0.0], [1e140, 1.0]]), p)
    assert strength[0] == 0.0
    assert np.isfinite(strength).all()
    assert (np.diff(strength) >= 0).all()


# -- compiled and plain ---------------------------------------------------------------------------


def both_ways(monkeypatch, *args):
    for size in (ALWAYS, NEVER):
        monkeypatch.setattr(clip, "COMPILED_FROM", size)
        yield clip_levels(*args)


@pytest.mark.parametrize("p", POWERS)
def test_compiled_equals_plain_source(monkeypatch, p):
    rng = np.random.default_rng(6)
    Z, rho = random_rows(rng, 300, 9), 10.0 ** rng.uniform(-5, 2, 300)
    fast, slow = both_ways(monkeypatch, Z, rho, p)
    np.testing.assert_allclose(fast, slow, rtol=1e-14)


def test_compiled_code_is_really_used():
    assert clip._KERNEL.compiled is not clip._clip_levels


def test_without_numba_the_same_numbers(monkeypatch):
    Z = np.random.default_rng(7).standard_normal((100, 5))
    expected = clip_levels(Z, 0.7, 0.5)
    monkeypatch.setattr(compiling, "_numba", lambda: None)
    np.testing.assert_allclose(clip_levels(Z, 0.7, 0.5), expected, rtol=1e-14)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0, 1e3), max_size=300))
def test_the_sort_of_the_compiled_code_sorts(numbers):
    b = np.array(numbers)
    clip._sort_loops(b)
    np.testing.assert_array_equal(b, np.sort(numbers))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=8),
    st.floats(0, 1e4),
    st.floats(0, 1),
)
def test_no_level_is_lower_whatever_the_row(z, rho, p):
    z = np.array([z])
    t = clip_levels(z, rho, p)[:, None]
    top = float(np.abs(z).max())
    others = np.hstack([np.linspace(0, top, 200), np.abs(z[0]), t[0] * 0.999, t[0] * 1.001])[None]
    B, strength = np.abs(z), np.array([rho])
    best = height(B, others, strength, p).min()
    assert height(B, t, strength, p)[0, 0] <= best * (1 + 1e-9) + 1e-300
