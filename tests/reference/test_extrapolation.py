"""Sweeps that guess where they lead: the formula, and what a guess must not break."""

import numpy as np
import pytest

from rowsparse.losses import ResidualLoss
from rowsparse.penalties import L2p
from rowsparse.solvers.penalised.block_descent import MEMORY, extrapolated_sweeps, shares_of_steps
from rowsparse.solvers.penalised.model import GramModel, SampleModel

ROWS = np.arange(70)


def test_an_affine_iteration_is_solved_by_as_many_steps_as_it_has_eigenvalues_and_one():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((12, 12)))[0]
    A = basis @ np.diag(np.repeat([0.99, 0.9, -0.5], 4)) @ basis.T
    b = rng.standard_normal((12, 2))
    points = [np.zeros((12, 2))]
    for _ in range(4):
        points.append(A @ points[-1] + b)
    shares = shares_of_steps(points)
    assert shares.sum() == pytest.approx(1)
    guess = np.tensordot(shares, points[1:], axes=1)
    fixed = np.linalg.solve(np.eye(12) - A, b)
    np.testing.assert_allclose(guess, fixed, atol=1e-4 * np.abs(fixed).max())
    assert np.abs(points[-1] - fixed).max() > 0.5 * np.abs(fixed).max()


def test_points_that_do_not_move_give_no_guess():
    assert shares_of_steps([np.ones((3, 2))] * 4) is None


def slow_models(r):
    """Columns that are nearly equal, of which sweeps tire."""
    rng = np.random.default_rng(1)
    n, m = 40, ROWS.size
    X = rng.standard_normal((n, 1)) + 0.2 * rng.standard_normal((n, m))
    Y = X[:, :5] @ rng.standard_normal((5, 3)) + 0.1 * rng.standard_normal((n, 3))
    loss = ResidualLoss(r=r).smoothed(1e-3)
    yield X, Y, SampleModel(X, np.zeros((m, 3)), -Y, loss, lambda h: h, np.zeros(m))
    if r == 2:
        yield X, Y, GramModel(X.T @ X / n, np.zeros((m, 3)), -X.T @ Y / n)


@pytest.mark.parametrize("p", [1.0, 0.5])
@pytest.mark.parametrize("r", [2.0, 1.0])
def test_guesses_lower_the_objective_and_keep_the_image_of_w(r, p):
    penalty = L2p(0.02, p=p)
    for X, Y, model in slow_models(r):
        objective = model.loss_value() + penalty.value(model.W)
        for _ in range(3):
            extrapolated_sweeps(model, penalty, ROWS, 2 * MEMORY, 0.0)
            reached = model.loss_value() + penalty.value(model.W)
            assert reached <= objective
            objective = reached
        residual = X @ model.W - Y
        image = X.T @ residual / len(X) if isinstance(model, GramModel) else residual
        np.testing.assert_allclose(model.image, image, atol=1e-10)


def test_on_a_slow_convex_problem_they_get_further_than_plain_sweeps():
    penalty, n_sweeps = L2p(0.02), 5 * MEMORY
    for _, _, model in slow_models(2.0):
        plain = model.copy()
        extrapolated_sweeps(model, penalty, ROWS, n_sweeps, 0.0)
        plain.sweep(penalty, ROWS, n_sweeps, 0.0)
        reached, plainly = (m.loss_value() + penalty.value(m.W) for m in (model, plain))
        assert reached < plainly


def test_few_sweeps_are_plain_sweeps():
    penalty = L2p(0.02)
    for _, _, model in slow_models(2.0):
        plain = model.copy()
        moved = extrapolated_sweeps(model, penalty, ROWS, 4, 0.0)
        assert moved == plain.sweep(penalty, ROWS, 4, 0.0)
        np.testing.assert_array_equal(model.W, plain.W)
