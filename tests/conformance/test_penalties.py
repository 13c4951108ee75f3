"""Every penalty against its definition: prox by search, majorizer, certificate, alpha_max.

A new penalty is one line in ``penalties.py`` and one in DEFINITIONS: norm, dual norm, and phi.
"""

import numpy as np
import pytest
from conformance.penalties import FACTORS, PENALTIES, C, D, at, rows
from conformance.plain import norms
from examples.group_mcp import GroupMCP
from scipy.integrate import quad

from rowsparse.penalties import Cardinality, L2p, LpInf


def mcp(penalty, t):
    """By its slope, which falls from one to zero at gamma."""
    return quad(lambda s: 1 - s / penalty.gamma, 0, min(t, penalty.gamma), epsabs=0, epsrel=1e-13)[
        0
    ]


def power(penalty, t):
    return t**penalty.p if t > 0 else 0.0


DEFINITIONS = {
    L2p: (np.linalg.norm, np.linalg.norm, power),
    LpInf: (lambda w: np.abs(w).max(), lambda g: np.abs(g).sum(), power),
    GroupMCP: (np.linalg.norm, np.linalg.norm, mcp),
}
REWEIGHTED = {name: p for name, p in PENALTIES.items() if p.reweighting_refusal is None}
EUCLIDEAN = [name for name, p in PENALTIES.items() if type(p) is not LpInf]


@pytest.fixture(params=PENALTIES)
def penalty(request):
    return PENALTIES[request.param]


@pytest.fixture(params=REWEIGHTED)
def reweighted(request):
    return REWEIGHTED[request.param]


@pytest.fixture(params=[None, FACTORS], ids=["equal", "factors"])
def weighed(request, penalty):
    """The penalty at a strength, with and without factors of its own for every row."""
    return at(penalty, 0.4, request.param)


def allowed(penalty, W):
    """W with the rows that the penalty excludes set to zero."""
    return np.where(penalty.excluded(len(W))[:, None], 0.0, W)


def value_of_row(penalty, j, row):
    alone = penalty.take(np.array([j]))
    return alone.value(row[None])


# -- value ----------------------------------------------------------------------------------------


def test_value_is_the_documented_sum(weighed):
    W = allowed(weighed, rows())
    f = np.ones(D) if weighed.factors is None else FACTORS
    size, _, phi = DEFINITIONS[type(weighed)]
    total = sum(0.4 * f[j] * phi(weighed, size(w)) for j, w in enumerate(W) if np.any(w != 0))
    assert weighed.value(W) == pytest.approx(total, rel=1e-14)


def test_zero_costs_nothing_and_excluded_rows_cost_everything(weighed):
    assert weighed.value(np.zeros((D, C))) == 0.0
    assert np.isinf(weighed.value(rows())) == weighed.excluded(D).any()


def test_value_of_rows_is_the_sum_of_their_values(weighed):
    W = allowed(weighed, rows())
    first, second = np.array([5, 0, 4]), np.array([1, 2, 3, 6])
    split = weighed.take(first).value(W[first]) + weighed.take(second).value(W[second])
    assert split == pytest.approx(weighed.value(W), rel=1e-14)


def test_alpha_scales_the_value_and_zero_alpha_still_excludes(weighed):
    W = allowed(weighed, rows())
    assert weighed.with_alpha(0.8).value(W) == pytest.approx(2 * weighed.value(W), rel=1e-14)
    nothing = weighed.with_alpha(0.0)
    assert nothing.value(W) == 0.0
    np.testing.assert_array_equal(np.isinf(nothing.strength(D)), weighed.excluded(D))


def test_free_and_excluded_rows_are_named(weighed):
    f = np.ones(D) if weighed.factors is None else FACTORS
    np.testing.assert_array_equal(weighed.free(D), f == 0)
    np.testing.assert_array_equal(weighed.excluded(D), np.isinf(f))


def test_convex_flag_is_that_of_the_midpoint_inequality(penalty):
    rng = np.random.default_rng(0)
    excess = []
    for _ in range(200):
        U, V = rng.standard_normal((2, D, C))
        V = rng.uniform(0.1, 3) * U if rng.random() < 0.5 else V
        excess.append(penalty.value((U + V) / 2) - (penalty.value(U) + penalty.value(V)) / 2)
    excess.append(penalty.value(U / 2) - penalty.value(U) / 2)  # the other end is zero
    assert penalty.convex == (max(excess) <= 1e-12)


def test_sizes_are_the_norm_and_dual_sizes_its_dual(penalty):
    W, G = rows(), rows(1)
    sizes, duals = penalty.sizes(W), penalty.dual_sizes(G)
    size, dual, _ = DEFINITIONS[type(penalty)]
    np.testing.assert_allclose(sizes, [size(w) for w in W], rtol=1e-14)
    np.testing.assert_allclose(duals, [dual(g) for g in G], rtol=1e-14)
    assert (np.abs(np.einsum("ij,ij->i", W, G)) <= sizes * duals * (1 + 1e-14)).all()


# -- phi ------------------------------------------------------------------------------------------


def test_dphi_is_the_slope_of_phi(penalty):
    t = np.geomspace(1e-3, 1e3, 40)
    h = 1e-5 * t
    slope = (penalty.phi(t + h) - penalty.phi(t - h)) / (2 * h)
    np.testing.assert_allclose(penalty.dphi(t), slope, rtol=1e-8, atol=1e-9)


def test_d2phi_is_the_slope_of_dphi(penalty):
    t = np.geomspace(1e-3, 1e3, 40)
    h = 1e-5 * t
    slope = (penalty.dphi(t + h) - penalty.dphi(t - h)) / (2 * h)
    np.testing.assert_allclose(penalty.d2phi(t), slope, rtol=1e-7, atol=1e-9)


def test_lost_curvature_is_relative_to_the_slope(penalty):
    t = np.geomspace(1e-3, 1e3, 40)
    along, across = penalty.d2phi(t), penalty.dphi(t) / t
    np.testing.assert_allclose(across * (1 - penalty.lost_curvature(t)), along, atol=1e-12)


def test_phi_is_zero_at_zero_and_grows(penalty):
    t = np.concatenate([[0.0], np.geomspace(1e-6, 1e3, 50)])
    values = penalty.phi(t)
    assert values[0] == 0.0
    assert (np.diff(values) >= 0).all()


# -- prox -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1e-3, 0.1, 1.0, 30.0])
def test_nothing_around_or_along_a_row_is_lower_than_its_prox(weighed, step):
    rng = np.random.default_rng(1)
    W = rows()
    U = weighed.prox(W, step)
    for j, (w, u) in enumerate(zip(W, U, strict=True)):

        def height(v, j=j, w=w):
            return 0.5 * np.sum((v - w) ** 2) + step * value_of_row(weighed, j, v)

        if weighed.excluded(D)[j]:
            assert not u.any()
            continue
        along = [t * w for t in np.linspace(0, 1.1, 300)]
        along += [np.clip(w, -t, t) for t in np.linspace(0, np.abs(w).max(), 100)]
        around = [
            u + size * rng.standard_normal(C) for size in (1e-6, 1e-3, 0.1, 1.0) for _ in range(20)
        ]
        lowest = min(height(v) for v in [*along, *around, np.zeros(C), w])
        assert height(u) <= lowest + 1e-13


@pytest.mark.parametrize("factors", [None, FACTORS], ids=["equal", "factors"])
@pytest.mark.parametrize("name", [name for name in PENALTIES if PENALTIES[name].convex])
def test_three_point_inequality_holds_for_convex_penalties(name, factors):
    """f(v) + 1/2 |v - w|**2 >= f(u) + 1/2 |u - w|**2 + 1/2 |v - u|**2 for u = prox(w)."""
    weighed = at(PENALTIES[name], 0.4, factors)
    rng = np.random.default_rng(2)
    W = rows()
    U = weighed.prox(W, 1.0)
    for _ in range(100):
        V = allowed(weighed, rng.standard_normal((D, C)) * rng.uniform(0, 4, (D, 1)))
        far = weighed.value(V) + 0.5 * np.sum((V - W) ** 2)
        near = weighed.value(U) + 0.5 * np.sum((U - W) ** 2)
        assert far >= near + 0.5 * np.sum((V - U) ** 2) - 1e-12


@pytest.mark.parametrize("factors", [None, FACTORS], ids=["equal", "factors"])
@pytest.mark.parametrize("name", EUCLIDEAN)
def test_prox_of_euclidean_norms_keeps_directions(name, factors):
    W = rows()
    U = at(PENALTIES[name], 0.4, factors).prox(W, 0.05)
    np.testing.assert_allclose(U * norms(W)[:, None], W * norms(U)[:, None], atol=1e-14)


def test_prox_keeps_signs_zero_rows_and_free_rows(weighed):
    W = rows()
    U = weighed.prox(W, 0.05)
    assert (U * W >= 0).all()
    assert (np.abs(U) <= np.abs(W)).all()
    assert not U[1].any()
    np.testing.assert_array_equal(U[weighed.free(D)], W[weighed.free(D)])


def test_every_row_has_its_own_step(weighed):
    W, steps = rows(), np.linspace(0.01, 1, D)
    one_by_one = [weighed.take(np.array([j])).prox(W[j : j + 1], steps[j])[0] for j in range(D)]
    np.testing.assert_allclose(weighed.prox(W, steps), one_by_one, rtol=1e-14)


def test_a_step_of_zero_changes_only_excluded_rows(weighed):
    W = rows()
    np.testing.assert_allclose(weighed.prox(W, 0.0), allowed(weighed, W), rtol=1e-15)


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e300])
def test_prox_is_finite_at_both_ends_of_the_range(weighed, size):
    U = weighed.prox(size * rows(), 0.1)
    assert np.isfinite(U).all()
    assert (norms(U / size) <= norms(rows()) * (1 + 1e-12)).all()


def test_W_is_left_alone(weighed):
    W, G = rows(), rows(1)
    W0, G0 = W.copy(), G.copy()
    weighed.prox(W, 0.5)
    weighed.violation(W, G, np.ones(D))
    weighed.value(W)
    np.testing.assert_array_equal(W, W0)
    np.testing.assert_array_equal(G, G0)


# -- violation ------------------------------------------------------------------------------------


def test_violation_is_zero_at_fixed_points_of_the_prox(weighed):
    L = np.linspace(0.5, 3, D)
    Z = rows(3)
    W = weighed.prox(Z, 1 / L)
    assert weighed.violation(W, L[:, None] * (W - Z), L).max() <= 1e-14


def test_violation_is_the_weighted_distance_to_the_prox_elsewhere(weighed):
    L, W, G = np.linspace(0.5, 3, D), allowed(weighed, rows()), rows(4)
    scores = weighed.violation(W, G, L)
    moved = weighed.prox(W - G / L[:, None], 1 / L)
    np.testing.assert_allclose(scores, np.sqrt(L) * norms(W - moved), rtol=1e-13)
    changed = norms(W - moved) > 1e-12
    assert changed.any()
    assert (scores[changed] > 0).all()


def test_a_row_has_violation_zero_only_if_no_change_of_it_lowers_the_quadratic(weighed):
    """A big gradient at a zero row is seen, also where the subdifferential is everything."""
    W, L = np.zeros((D, C)), np.ones(D)
    scores = weighed.violation(W, np.full((D, C), 50.0), L)
    np.testing.assert_array_equal(scores > 0, ~weighed.excluded(D))
    quiet = weighed.violation(W, np.full((D, C), 1e-6), L)
    np.testing.assert_array_equal(quiet > 0, weighed.free(D))


def test_a_row_without_curvature_has_no_violation(weighed):
    L = np.ones(D)
    L[3] = 0.0
    scores = weighed.violation(allowed(weighed, rows()), rows(1), L)
    assert scores[3] == 0.0
    assert np.isfinite(scores).all()


# -- the quadratic above --------------------------------------------------------------------------


def smoothed_value(penalty, W, smoothing):
    phi = DEFINITIONS[type(penalty)][2]
    return sum(0.4 * phi(penalty, t) for t in np.sqrt(norms(W) ** 2 + smoothing**2))


@pytest.mark.parametrize("smoothing", [1e-3, 0.1, 1.0])
def test_the_quadratic_majorises(reweighted, smoothing):
    """The quadratic touches the smoothed penalty at W and lies above it everywhere."""
    penalty = reweighted.with_alpha(0.4)
    rng = np.random.default_rng(5)
    W = rows()
    q = penalty.quadratic_above(W, smoothing)
    assert np.isfinite(q).all()
    at_W = smoothed_value(penalty, W, smoothing)
    assert penalty.smoothed_value(W, smoothing) == pytest.approx(at_W, rel=1e-12)
    for size in (1e-4, 0.01, 0.3, 1.0, 10.0):
        V = W + size * rng.standard_normal(W.shape)
        quadratic = at_W + 0.5 * float(q @ (norms(V) ** 2 - norms(W) ** 2))
        assert smoothed_value(penalty, V, smoothing) <= quadratic + 1e-12 * (1 + abs(quadratic))


def test_the_quadratic_has_the_slope_of_the_penalty(reweighted):
    """Touching means equal gradients: q_j w_j is the gradient of the penalty."""
    penalty = reweighted.with_alpha(0.4)
    W = np.delete(rows(), 1, axis=0)
    q = penalty.quadratic_above(W)
    for j, w in enumerate(W):
        for k in range(C):
            h = np.zeros_like(W)
            h[j, k] = 1e-6
            slope = (penalty.value(W + h) - penalty.value(W - h)) / 2e-6
            assert q[j] * w[k] == pytest.approx(slope, rel=1e-5, abs=1e-8)


def test_the_quadratic_follows_the_factors(reweighted):
    q = at(reweighted, 0.4, FACTORS).quadratic_above(rows(), 0.1)
    plain = at(reweighted, 0.4).quadratic_above(rows(), 0.1)
    counted = np.isfinite(FACTORS)
    np.testing.assert_allclose(q[counted], plain[counted] * FACTORS[counted], rtol=1e-14)
    assert q[2] == 0.0
    assert q[4] == np.inf


# -- alpha_max ------------------------------------------------------------------------------------


@pytest.mark.parametrize("factors", [None, FACTORS], ids=["equal", "factors"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_alpha_max_from_both_sides(penalty, factors, scale):
    L, G = np.linspace(0.5, 3, D), scale * rows(6)
    penalty = at(penalty, 1.0, factors)
    top = penalty.alpha_max(G, L)
    W = np.zeros((D, C))
    penalised = ~penalty.free(D)
    above = penalty.with_alpha(top).violation(W, G, L)[penalised]
    assert not above.any()
    below = penalty.with_alpha(top * (1 - 1e-9)).violation(W, G, L)[penalised]
    assert np.count_nonzero(below) == 1


def test_alpha_max_looks_only_at_rows_that_could_enter(penalty):
    G, L = rows(6), np.ones(D)
    G[2] = G[4] = G[6] = 1e9  # free, excluded, and without curvature
    L[6] = 0.0
    some = at(penalty, 1.0, FACTORS)
    others = at(penalty, 1.0, FACTORS[[0, 1, 3, 5]])
    rest = np.array([0, 1, 3, 5])
    assert some.alpha_max(G, L) == pytest.approx(others.alpha_max(G[rest], L[rest]), rel=1e-14)
    assert at(penalty, 1.0, np.zeros(D)).alpha_max(G, L) == 0.0


def test_a_penalty_is_a_value(weighed):
    with pytest.raises(AttributeError):
        weighed.alpha = 2.0
    if weighed.factors is not None:
        before = weighed.factors.copy()
        weighed.take(np.array([0])).prox(np.ones((1, C)), 1.0)
        np.testing.assert_array_equal(weighed.factors, before)


def test_equal_by_value(weighed):
    factors = None if weighed.factors is None else weighed.factors.copy()
    assert weighed == at(weighed, 0.4, factors)
    assert weighed != at(weighed, 0.5, factors)
    assert weighed != at(weighed, 0.4, np.arange(1.0, D + 1))
    assert weighed != Cardinality(3, factors)
    assert Cardinality(3, FACTORS) == Cardinality(3, FACTORS.copy())
    assert Cardinality(3, FACTORS) != Cardinality(2, FACTORS)
