"""Bounds on the number of false columns, against linear programs and a search over shapes."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from rowsparse.model_selection.error_bounds import (
    BOUNDS,
    completed,
    concave_tail,
    pfer_bound,
    unimodal_tail,
)


def test_the_published_figure_of_meinshausen_and_buehlmann():
    assert pfer_bound(0.8, 10, 50, 50, "worst-case") == pytest.approx(10 / 3)


def largest_tail(mean, first, B):
    """Over all unimodal distributions on 0 … B with at most this mean: a program per mode."""
    i = np.arange(B + 1)
    best = 0.0
    for mode in range(B + 1):
        up = np.where(np.arange(B) < mode, 1.0, -1.0)
        shape = up[:, None] * (np.eye(B, B + 1) - np.eye(B, B + 1, 1))
        found = linprog(
            -(i >= first).astype(float),
            A_ub=np.vstack([shape, i / B]),
            b_ub=np.append(np.zeros(B), mean),
            A_eq=np.ones((1, B + 1)),
            b_eq=[1.0],
        )
        if found.success:  # with its mode far out none has so small a mean
            best = max(best, -found.fun)
    return best


@pytest.mark.parametrize("share", [0.05, 0.3])
@pytest.mark.parametrize("t", [0.65, 0.75, 0.8, 1.0])
def test_the_unimodal_bound_is_the_largest_tail(t, share):
    B = 10
    exact = largest_tail(share**2, round(B * (2 * t - 1)), B)
    assert unimodal_tail(share**2, t, B) == pytest.approx(exact, rel=1e-6)


def mass(x, m, r):
    """Any r-concave distribution on 0 … m: f**r is convex, its second differences are >= 0."""
    slopes = x[0] + np.concatenate([[0.0], np.cumsum(np.abs(x[1:m]))])
    g = 1 + np.concatenate([[0.0], np.cumsum(slopes)])
    if g.min() <= 0:
        return None
    f = g ** (1 / r)
    return f / f.sum()


@pytest.mark.parametrize("r", [-0.5, -0.25])
def test_no_r_concave_distribution_has_a_larger_tail(r):
    B, mean, first = 4, 0.1, 2
    bound = concave_tail(mean, first / B, B, r)
    rng = np.random.default_rng(0)

    def minus_tail(x, m):
        f = mass(x, m, r)
        if f is None:
            return 1.0
        return -f[first:].sum() + 50 * max(0.0, f @ np.arange(m + 1) / B - mean)

    best = 0.0
    for m in (2, 3, 4):
        for _ in range(3):
            x = rng.exponential(1.0, m)
            x = minimize(minus_tail, x, args=(m,), method="Nelder-Mead", tol=1e-10).x
            f = mass(x, m, r)
            if f is not None and f @ np.arange(m + 1) / B <= mean:
                best = max(best, f[first:].sum())
    assert 0.99 * bound <= best <= bound * (1 + 1e-6)


@pytest.mark.parametrize("bound", BOUNDS)
def test_two_of_the_three_give_the_third(bound):
    d, n_pairs = 200, 50
    threshold, q, pfer = completed(0.7, None, 1.0, d, n_pairs, bound)
    assert (threshold, pfer) == (0.7, pfer_bound(0.7, q, d, n_pairs, bound))
    assert pfer <= 1.0 < pfer_bound(0.7, q + 1, d, n_pairs, bound)
    least, _, pfer = completed(None, 12, 1.0, d, n_pairs, bound)
    assert pfer <= 1.0 < pfer_bound(least - 0.01, 12, d, n_pairs, bound)
    assert completed(0.9, 5, None, d, n_pairs, bound)[2] == pfer_bound(0.9, 5, d, n_pairs, bound)


def test_the_bounds_are_ordered_and_fall_with_the_threshold():
    shares = np.arange(0.55, 1.0, 0.05)
    curves = {b: [pfer_bound(t, 20, 500, 50, b) for t in shares] for b in BOUNDS}
    for lower, higher in (("r-concave", "unimodal"), ("unimodal", "worst-case")):
        assert (np.array(curves[lower]) <= curves[higher]).all()
    assert all((np.diff(curve) < 0).all() for curve in curves.values())


def test_a_pfer_that_cannot_be_kept_is_refused():
    with pytest.raises(ValueError, match=r"pfer=0.001.*even q=1"):
        completed(0.6, None, 0.001, 10, 50, "worst-case")
    with pytest.raises(ValueError, match=r"even threshold=1"):
        completed(None, 8, 0.1, 10, 50, "worst-case")
