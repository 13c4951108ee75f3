"""The same problem on fewer samples: every W has the same objective, gradient and violation."""

import numpy as np
import pytest
from conformance.problems import Case

from rowsparse import L2pSelector
from rowsparse.designs import as_design
from rowsparse.losses import ResidualLoss
from rowsparse.paths import selection_path
from rowsparse.penalties import L2p
from rowsparse.problems.compressed import compressed
from rowsparse.problems.penalised import PenalisedProblem
from rowsparse.solvers import BlockDescent, solve


def tall(seed, n=90, d=6, c=3, ridge=0.0, weights=None, scale=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.logspace(0, scale, d)
    X[:, 2] = X[:, 1]  # a singular matrix of products
    Y = X @ rng.normal(size=(d, c)) + rng.normal(size=(n, c))
    s = None if weights is None else weights(rng, n)
    loss = ResidualLoss(2.0, s)
    return PenalisedProblem.build(as_design(X), Y, loss, L2p(0.1, p=0.5), True, ridge), rng


def random_weights(rng, n):
    s = rng.uniform(0.1, 2.0, size=n)
    return s / s.mean()


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("weights", [None, random_weights])
@pytest.mark.parametrize("scale", [0.0, 6.0])
def test_every_point_has_the_same_value_gradient_and_violation(ridge, weights, scale):
    problem, rng = tall(0, ridge=ridge, weights=weights, scale=scale)
    few = compressed(problem)
    assert few.design.shape[0] == few.n_rows + 3
    for _ in range(5):
        W = rng.normal(size=(7, 3)) * (rng.random((7, 1)) < 0.7)
        here, there = problem.evaluate(W), few.evaluate(W)
        assert there.objective == pytest.approx(here.objective, rel=1e-11)
        size = np.abs(here.gradient).max()
        np.testing.assert_allclose(there.gradient, here.gradient, atol=1e-11 * size)
        np.testing.assert_allclose(there.scores, here.scores, atol=1e-8)
    assert few.alpha_max() == pytest.approx(problem.alpha_max(), rel=1e-11)


def test_solutions_and_their_bounds_are_those_of_the_problem():
    problem, _ = tall(1, ridge=0.2)
    convex = problem.with_penalty(L2p(0.1, problem.penalty.factors, p=1.0))
    here, there = (solve(p, BlockDescent()) for p in (convex, compressed(convex)))
    np.testing.assert_allclose(there.W, here.W, atol=1e-7)
    assert there.gap == pytest.approx(here.gap, abs=1e-9)


@pytest.mark.parametrize(("n", "r"), [(90, 1.0), (12, 2.0)])
def test_other_losses_and_few_samples_are_left_alone(n, r):
    case = Case(n=n, d=6, c=3, r=r)
    assert compressed(case.problem) is case.problem


def test_bad_numbers_are_left_for_the_problem_to_tell():
    X = np.random.default_rng(0).normal(size=(60, 4))
    X[3, 1] = np.nan
    Y = np.ones((60, 1))
    problem = PenalisedProblem.build(as_design(X), Y, ResidualLoss(2.0), L2p(0.1))
    assert compressed(problem) is problem


class Counting:
    """Counts the passes ``X'R`` over a design."""

    def __init__(self, monkeypatch, kind):
        self.passes = 0
        plain = kind.rmatmul

        def rmatmul(design, R):
            self.passes += 1
            return plain(design, R)

        monkeypatch.setattr(kind, "rmatmul", rmatmul)


def test_a_convex_path_passes_over_x_about_once_per_alpha(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 300))
    y = X[:, :5].sum(axis=1) + rng.normal(size=40)
    count = Counting(monkeypatch, type(as_design(X)))
    found = selection_path(L2pSelector(p=1.0, task="regression"), X, y, n_alphas=30)
    assert all(solution.converged for solution in found.solutions)
    assert count.passes <= 1.3 * len(found)
