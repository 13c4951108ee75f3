"""r < 2: steps on the structure, and the way of the convex start, where they cost most."""

from __future__ import annotations

import numpy as np
import pytest

from rowsparse import L2pSelector
from rowsparse.losses import ResidualLoss
from rowsparse.paths import selection_path
from rowsparse.penalties import L2p, families
from rowsparse.solvers import run
from rowsparse.solvers.penalised import starts
from rowsparse.solvers.penalised.block_descent import BlockDescent
from rowsparse.solvers.penalised.model import SampleModel


class _Followed(Exception):
    """The structure was followed."""


def stuck_model(n_nonzero, n=10, d=30):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    W = np.zeros((d, 1))
    W[:n_nonzero] = 1.0
    loss = ResidualLoss(1.0).smoothed(1e-3)
    model = SampleModel(X, W, X @ W - 1.0, loss, lambda h: h, np.zeros(d))
    model.stuck = True
    return model


def test_structure_is_followed_only_where_rows_are_as_few_as_samples(monkeypatch):
    def followed(*_):
        raise _Followed

    monkeypatch.setattr(families, "newton_on_levels", followed)
    penalty = L2p(0.01, p=1.0)
    with pytest.raises(_Followed):
        penalty.newton(stuck_model(10), 1e-6, False)
    penalty.newton(stuck_model(11), 1e-6, False)


@pytest.mark.parametrize("r", [0.5, 1.0, 1.5])
def test_way_to_a_robust_problem_begins_at_squares(r):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((12, 40))
    y = X[:, 0] + 0.1 * rng.standard_normal(12)
    problem, _ = L2pSelector(r=r, p=0.5, task="regression").problem_and_solver(X, y)
    first, second = list(starts._towards(problem))[:2]
    assert (first.loss.r, first.penalty.p) == (2.0, 1.0)
    assert (second.loss.r, second.penalty.p) == (max(r, 1.0), 1.0)


def test_squares_lead_to_the_minimum_that_the_null_model_leads_to():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20, 60))
    y = X[:, :3].sum(axis=1) + 0.1 * rng.standard_t(2, 20)
    problem, _ = L2pSelector(r=1.0, p=1.0, task="regression").problem_and_solver(X, y)
    problem = problem.with_alpha(0.1 * problem.alpha_max())
    squares = next(starts._towards(problem))
    squares = squares.with_alpha(0.1 * squares.alpha_max())
    led = run(BlockDescent(), squares)
    found = run(BlockDescent(), problem, problem.joined(led.W, led.intercept))
    assert found.objective == pytest.approx(run(BlockDescent(), problem).objective, rel=1e-8)


@pytest.mark.parametrize(("r", "again"), [(1.0, False), (2.0, True)])
def test_a_robust_path_starts_from_the_null_model_once(r, again):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, 60))
    y = X[:, :3].sum(axis=1) + 0.1 * rng.standard_t(2, 20)
    selector = L2pSelector(r=r, p=0.5, task="regression")
    path = selection_path(selector, X, y, n_alphas=3)
    assert "zero" in path[0].starts
    assert ("zero" in path[1].starts) == again
    assert ("irls" in path[1].starts) == (r < 2)
    assert "convex" in path[1].starts
