"""Sweeps and Newton steps of every penalty, on both models of the loss."""

import numpy as np
import pytest
from conformance.penalties import FACTORS, PENALTIES, C, D, at, rows
from conformance.plain import norms

from rowsparse.losses import ResidualLoss
from rowsparse.penalties import L2p
from rowsparse.penalties.newton_norms import _Rows
from rowsparse.solvers.penalised.model import GramModel, SampleModel


@pytest.fixture(params=PENALTIES)
def penalty(request):
    return PENALTIES[request.param]


@pytest.fixture(params=[None, FACTORS], ids=["equal", "factors"])
def weighed(request, penalty):
    """The penalty at a strength, with and without factors of its own for every row."""
    return at(penalty, 0.4, request.param)


def models(seed=0, n=20):
    """The squared loss of the same data as a Gram matrix and as samples, without and with ridge."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D)) * np.sqrt(1 / n)
    Y = X @ rows(seed) + 0.1 * rng.standard_normal((n, C))
    loss = ResidualLoss(2.0)
    for ridge in (0.0, 0.002):
        ridges = np.full(D, ridge)
        yield GramModel(X.T @ X / n + np.diag(ridges), np.zeros((D, C)), -X.T @ Y / n)
        yield SampleModel(X, np.zeros((D, C)), -Y, loss, lambda h: h, ridges)


def swept(penalty, model):
    """Every row minimised over in turn, by the prox that the other tests have checked."""
    W, Q = model.W.copy(), model.gradient().copy()
    if isinstance(model, SampleModel):
        G = model.X.T @ model.X / len(model.X) + np.diag(model.ridges)
    else:
        G = model.G
    for j in range(D):
        L = G[j, j]
        new = penalty.take(np.array([j])).prox(W[j : j + 1] - Q[j] / L, 1 / L)[0]
        Q += np.outer(G[:, j], new - W[j])
        W[j] = new
    return W, Q


@pytest.mark.parametrize("alpha", [1e-4, 1e-3])
def test_a_sweep_minimises_over_one_row_after_the_other(weighed, alpha):
    penalty = weighed.with_alpha(alpha)
    for model in models():
        for _ in range(3):
            W, Q = swept(penalty, model)
            before = model.W.copy()
            moved = model.sweep(penalty, np.arange(D), 1, 0.0)
            np.testing.assert_allclose(model.W, W, atol=1e-12)
            np.testing.assert_allclose(model.gradient(), Q, atol=1e-12)
            assert moved == pytest.approx((np.sqrt(model.curvatures) * norms(W - before)).max())


@pytest.mark.parametrize("alpha", [1e-5, 1e-3])
def test_newton_steps_lower_the_objective_and_end_at_stationary_rows(weighed, alpha):
    """Of the rows that sweeps have left nonzero; which rows are zero is not theirs to say."""
    penalty = weighed.with_alpha(alpha)
    for model in models():
        model.sweep(penalty, np.arange(D), 3, 0.0)
        before = model.loss_value() + penalty.value(model.W)
        for _ in range(5):
            penalty.newton(model, 1e-12, finishing=False)
        after = model.loss_value() + penalty.value(model.W)
        assert after <= before
        kept = norms(model.W) > 0
        scores = penalty.violation(model.W, model.gradient(), model.metric)
        assert scores[kept].max(initial=0.0) <= 1e-7


@pytest.mark.parametrize("alpha", [1e-5, 1e-3, 1.0])
def test_settling_never_raises_the_objective(weighed, alpha):
    penalty = weighed.with_alpha(alpha)
    for model in models():
        model.sweep(penalty, np.arange(D), 3, 0.0)
        before = model.loss_value() + penalty.value(model.W)
        penalty.settle(model, 1e-12)
        after = model.loss_value() + penalty.value(model.W)
        assert after <= before


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_smoothed_step_solves_the_system_of_its_docstring(outputs):
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(9, 6))
    W = rng.normal(size=(6, outputs))
    W[2] = 0.0  # smoothing has derivatives there
    model = GramModel(factor.T @ factor / 9, W, rng.normal(size=(6, outputs)))
    model.focus(np.arange(6))
    smoothing = 0.3
    rows = _Rows.at(model, L2p(0.2, p=1.0), smoothing)
    lengths = np.sqrt((W**2).sum(axis=1) + smoothing**2)
    D = rows.step(undamped=1.0, accuracy=0.1)
    for j in range(6):
        along = W[j] / lengths[j] ** 2 * (W[j] @ D[j])
        bend = 0.2 / lengths[j] * (D[j] - along)
        pull = model.Q[j] + 0.2 * W[j] / lengths[j]
        np.testing.assert_allclose(model.G[j] @ D + bend, -pull, atol=1e-10)
