"""Every loss against its definition: numerical derivatives, majorizer, conjugate, convexity.

A new loss is one line in LOSSES.
"""

import numpy as np
import pytest
from conformance.plain import loss as documented
from conformance.plain import norms

from rowsparse.losses import ResidualLoss

N, C = 9, 3
WEIGHTS = np.array([0.2, 3.0, 1.0, 1.0, 0.5, 0.3, 1.0, 1.5, 0.5])
ORDERS = (0.3, 0.5, 1.0, 1.5, 2.0)
LOSSES = {f"residual r={r}": (ResidualLoss, r) for r in ORDERS}


@pytest.fixture(params=LOSSES)
def kind(request):
    return LOSSES[request.param]


@pytest.fixture(params=[None, WEIGHTS], ids=["equal", "weighted"])
def loss(request, kind):
    return kind[0](kind[1], request.param)


@pytest.fixture(params=[name for name, (_, r) in LOSSES.items() if r >= 1])
def with_conjugate(request):
    return [LOSSES[request.param][0](LOSSES[request.param][1], s) for s in (None, WEIGHTS)]


@pytest.fixture(params=[0.0, 1e-3, 0.5])
def smooth(request, loss):
    """The loss with and without smoothing."""
    return loss.smoothed(request.param)


def points(seed=0, n=N, c=C):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, c)), rng.standard_normal((n, c))


def weights_of(loss, n=N):
    return np.ones(n) if loss.sample_weight is None else loss.sample_weight


# -- value and derivatives ------------------------------------------------------------------------


@pytest.mark.parametrize("c", [1, 3])
def test_value_is_the_documented_mean(loss, c):
    Z, Y = points(c=c)
    assert loss.value(Z, Y) == pytest.approx(documented(Z - Y, loss.r, weights_of(loss)), rel=1e-13)


def test_smoothing_adds_its_square_to_every_squared_residual(loss):
    Z, Y = points()
    wider = np.hstack([Z, np.full((N, 1), 0.5)]), np.hstack([Y, np.zeros((N, 1))])
    if loss.quadratic:
        assert loss.smoothed(0.5).value(Z, Y) == loss.value(Z, Y)
    else:
        assert loss.smoothed(0.5).value(Z, Y) == pytest.approx(loss.value(*wider), rel=1e-13)


def test_gradient_is_the_numerical_one(smooth):
    Z, Y = points()
    G = smooth.gradient(Z, Y)
    for i in range(N):
        for k in range(C):
            h = np.zeros_like(Z)
            h[i, k] = 1e-6
            slope = (smooth.value(Z + h, Y) - smooth.value(Z - h, Y)) / 2e-6
            assert G[i, k] == pytest.approx(slope, rel=1e-5, abs=1e-9)


def test_hessian_form_is_the_numerical_one(smooth):
    """Sample i has the Hessian h_i/n (I - kappa_i e e' / |e|**2)."""
    Z, Y = points()
    E = Z - Y
    h, kappa = smooth.residual_weights(E), smooth.radial_loss_of_curvature(E)
    for i in range(N):
        u = E[i] / np.linalg.norm(E[i])
        expected = h[i] / N * (np.eye(C) - kappa[i] * np.outer(u, u))
        for k in range(C):
            step = np.zeros_like(Z)
            step[i, k] = 1e-5
            column = (smooth.gradient(Z + step, Y) - smooth.gradient(Z - step, Y))[i] / 2e-5
            np.testing.assert_allclose(column, expected[:, k], rtol=1e-6, atol=1e-8)


def test_zero_residual_is_finite_and_has_no_pull(smooth):
    _, Y = points()
    Z = Y.copy()
    Z[1:] += 1.0
    with np.errstate(all="raise"):
        assert np.isfinite(smooth.value(Z, Y))
        G = smooth.gradient(Z, Y)
        assert np.isfinite(smooth.residual_weights(Z - Y)).all()
        assert np.isfinite(smooth.radial_loss_of_curvature(Z - Y)).all()
    assert np.isfinite(G).all()
    assert not G[0].any()


# -- majorizer ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-4, 0.1, 1.0, 20.0])
def test_majorizer_touches_and_lies_above(smooth, size):
    Z, Y = points()
    h, T = smooth.majorizer(Z, Y)
    rng = np.random.default_rng(1)

    def quadratic(V):
        return float(h @ norms(V - T) ** 2) / (2 * N)

    constant = smooth.value(Z, Y) - quadratic(Z)
    for _ in range(20):
        V = Z + size * rng.standard_normal(Z.shape)
        assert smooth.value(V, Y) <= quadratic(V) + constant + 1e-12


def test_majorizer_has_the_gradient_of_the_loss(smooth):
    Z, Y = points()
    h, T = smooth.majorizer(Z, Y)
    np.testing.assert_allclose(h[:, None] * (Z - T) / N, smooth.gradient(Z, Y), atol=1e-14)


# -- convexity ------------------------------------------------------------------------------------


def test_convex_flag_holds_on_random_segments(loss):
    rng = np.random.default_rng(2)
    excess = []
    for _ in range(200):
        U, V, Y = rng.standard_normal((3, N, C))
        V = Y + rng.uniform(0, 3) * (U - Y) if rng.random() < 0.5 else V  # along a residual
        t = rng.uniform(0.1, 0.9)
        chord = t * loss.value(U, Y) + (1 - t) * loss.value(V, Y)
        excess.append(loss.value(t * U + (1 - t) * V, Y) - chord)
    assert loss.convex == (max(excess) <= 1e-12)


# -- conjugate ------------------------------------------------------------------------------------


def feasible_points(loss, seed):
    """Random dual points; for r = 1 inside the balls of radius s_i / n."""
    rng = np.random.default_rng(seed)
    Theta = rng.standard_normal((N, C)) * rng.uniform(0, 2)
    if loss.r == 1:
        radius = weights_of(loss) / N
        Theta *= (radius * rng.uniform(0, 1, N) / norms(Theta))[:, None]
    return Theta


@pytest.mark.parametrize("which", [0, 1], ids=["equal", "weighted"])
def test_fenchel_young_holds_at_random_points(with_conjugate, which):
    loss = with_conjugate[which]
    for seed in range(30):
        Z, Y = points(seed)
        Theta = feasible_points(loss, seed)
        conjugate = -loss.dual_value(Theta, Y)
        assert np.isfinite(conjugate)
        assert loss.value(Z, Y) + conjugate >= np.vdot(Theta, Z) - 1e-12


@pytest.mark.parametrize("which", [0, 1], ids=["equal", "weighted"])
def test_fenchel_young_is_an_equality_at_the_gradient(with_conjugate, which):
    loss = with_conjugate[which]
    Z, Y = points()
    Theta = loss.gradient(Z, Y)
    conjugate = -loss.dual_value(Theta, Y)
    assert loss.value(Z, Y) + conjugate == pytest.approx(np.vdot(Theta, Z), abs=1e-12)


@pytest.mark.parametrize("s", [None, WEIGHTS], ids=["equal", "weighted"])
def test_the_conjugate_of_the_absolute_residual_is_infinite_outside_its_balls(s):
    loss = ResidualLoss(1.0, s)
    _, Y = points()
    Theta = feasible_points(loss, 0)
    Theta[4] *= 1.001 * weights_of(loss)[4] / N / np.linalg.norm(Theta[4])
    assert loss.dual_value(Theta, Y) == -np.inf


# -- proximal map ---------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [0.0, 0.3, 5.0, 80.0])
def test_prox_is_the_lowest_of_a_fine_search(loss, step):
    """Row by row along the residual, which is where the minimum must lie."""
    Z, Y = points()
    Z[0] = Y[0]  # zero in, zero out
    U = loss.prox(Z, Y, step)
    s = weights_of(loss)
    t = np.concatenate([[0.0], np.geomspace(1e-8, 1, 20_000)])
    for i in range(N):
        size = np.linalg.norm(Z[i] - Y[i])
        heights = 0.5 * (t * size - size) ** 2 + step * s[i] / (loss.r * N) * (t * size) ** loss.r
        reached = np.linalg.norm(U[i] - Y[i])
        own = 0.5 * np.sum((U[i] - Z[i]) ** 2) + step * s[i] / (loss.r * N) * reached**loss.r
        assert own <= heights.min() + 1e-12
        np.testing.assert_allclose((U - Y)[i] * size, (Z - Y)[i] * reached, atol=1e-12)


def test_prox_undoes_a_gradient_step(loss):
    """U = prox(Z) means Z - U = step * gradient at U, wherever no residual vanishes."""
    Z, Y = points()
    U = loss.prox(Z, Y, 0.7)
    apart = norms(U - Y) > 0
    np.testing.assert_allclose((Z - U)[apart], 0.7 * loss.gradient(U, Y)[apart], atol=1e-10)


# -- sample weights -------------------------------------------------------------------------------


def test_a_sample_weight_is_a_repetition(kind):
    Z, Y = points()
    counts = np.array([1, 2, 3, 1, 1, 2, 4, 1, 3])
    weighted = kind[0](kind[1], counts / counts.mean())
    repeated = kind[0](kind[1])
    again = [np.repeat(A, counts, axis=0) for A in (Z, Y)]
    assert weighted.value(Z, Y) == pytest.approx(repeated.value(*again), rel=1e-13)
    first = np.cumsum(counts) - counts
    per_copy = repeated.gradient(*again)[first]
    np.testing.assert_allclose(weighted.gradient(Z, Y), counts[:, None] * per_copy, rtol=1e-12)


def test_a_sample_weight_of_zero_is_an_absent_sample(kind):
    Z, Y = points()
    s = np.where(np.arange(N) < 6, N / 6, 0.0)
    assert kind[0](kind[1], s).value(Z, Y) == pytest.approx(
        kind[0](kind[1]).value(Z[:6], Y[:6]), rel=1e-13
    )
    assert not kind[0](kind[1], s).gradient(Z, Y)[6:].any()


def test_inputs_are_left_alone(smooth):
    Z, Y = points()
    Z0, Y0, s0 = Z.copy(), Y.copy(), weights_of(smooth).copy()
    smooth.value(Z, Y)
    smooth.gradient(Z, Y)
    smooth.majorizer(Z, Y)
    np.testing.assert_array_equal(Z, Z0)
    np.testing.assert_array_equal(Y, Y0)
    np.testing.assert_array_equal(weights_of(smooth), s0)


def test_smoothing_gives_a_new_value_and_r_two_needs_none(loss):
    smoothed = loss.smoothed(0.1)
    assert loss.smoothing == 0.0
    assert smoothed.smoothing == (0.0 if loss.quadratic else 0.1)


@pytest.mark.parametrize("r", [1.0, 1.05, 1.2, 1.5, 2.0])
@pytest.mark.parametrize("size", [1e-140, 1e-30, 1.0, 1e30])
def test_the_best_multiple_proves_most_at_any_scale(r, size):
    rng = np.random.default_rng(0)
    # powers of residuals in the range of floats: what a solver's gradient is made of
    size = size ** min(1.0, 1 / (20 * (r - 1))) if r > 1 else size
    Y = size * rng.normal(size=(6, 2))
    loss = ResidualLoss(r, np.array([0.0, 1.0, 2.0, 1.0, 1.0, 1.0]))
    Theta = -loss.gradient(np.zeros_like(Y), Y)
    best = loss.dual_sums(-Theta, Y).best(np.inf)
    multiples = [loss.dual_value(-t * Theta, Y) for t in np.linspace(0, 1, 101)]
    assert best >= max(multiples) * (1 - 1e-12) > 0


def test_a_dual_point_too_small_for_its_powers_still_proves_something():
    # |theta|**21 is beyond the range of floats: the multiple is found without it
    Y = np.full((4, 1), 1e-30)
    loss = ResidualLoss(1.05)
    assert loss.dual_sums(np.full((4, 1), -1e-20), Y).best(np.inf) > 0
