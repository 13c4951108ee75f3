"""Losses of the margin against their definitions: numerical derivatives, majorizer, convexity.

A new loss is one line in LOSSES.
"""

import numpy as np
import pytest
from scipy.stats import norm

from rowsparse.losses import HingeLoss, ProbitLoss

N, C = 9, 3
WEIGHTS = np.array([0.2, 3.0, 1.0, 1.0, 0.5, 0.3, 1.0, 1.5, 0.5])
LOSSES = {
    "hinge": (HingeLoss, lambda m: np.maximum(0, 1 - m)),
    "probit": (ProbitLoss, lambda m: -norm.logcdf(m)),
}


def points(seed=0):
    rng = np.random.default_rng(seed)
    return 2 * rng.standard_normal((N, C)), np.sign(rng.standard_normal((N, C)))


@pytest.fixture(params=LOSSES)
def pair(request):
    return LOSSES[request.param]


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_value_is_the_documented_mean(pair, weights):
    kind, documented = pair
    Z, Y = points()
    s = np.ones(N) if weights is None else weights
    assert kind(weights).value(Z, Y) == pytest.approx(s @ documented(Y * Z).sum(axis=1) / N)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_gradient_is_the_slope_of_the_value(pair, weights):
    loss = pair[0](weights)
    Z, Y = points(1)
    G, h = loss.gradient(Z, Y), 1e-6
    for i in range(N):
        for k in range(C):
            step = np.zeros_like(Z)
            step[i, k] = h
            slope = (loss.value(Z + step, Y) - loss.value(Z - step, Y)) / (2 * h)
            assert G[i, k] == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_majorizer_touches_and_lies_above(pair, weights):
    loss = pair[0](weights)
    Z, Y = points(2)
    h, T = loss.majorizer(Z, Y)

    def quadratic(U):
        return float(h @ ((U - T) ** 2).sum(axis=1)) / (2 * N)

    gap = quadratic(Z) - loss.value(Z, Y)
    rng = np.random.default_rng(3)
    for scale in (0.01, 1.0, 10.0):
        for _ in range(50):
            U = Z + scale * rng.standard_normal(Z.shape)
            assert quadratic(U) - gap >= loss.value(U, Y) - 1e-9


def test_convex_along_lines(pair):
    loss = pair[0]()
    assert loss.convex
    rng = np.random.default_rng(4)
    _, Y = points()
    for _ in range(50):
        A, B = 3 * rng.standard_normal((2, N, C))
        middle = loss.value((A + B) / 2, Y)
        assert middle <= (loss.value(A, Y) + loss.value(B, Y)) / 2 + 1e-12
