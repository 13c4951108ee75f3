"""FSV against its definition: one linear program by cvxpy, and the descent of the objective."""

import cvxpy as cp
import numpy as np
import pytest

from rowsparse import ScoreSelector
from rowsparse.filters import fsv
from rowsparse.filters.fsv import _Programs


def two_classes(n=40, d=10, seed=0):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 5 < 2).astype(int)
    X = rng.standard_normal((n, d))
    X[:, [2, 5]] += 1.5 * y[:, None]
    return X, y


def machine(X, y, lam=0.05, alpha=5.0):
    signs = np.where(y > 0, 1.0, -1.0)
    return _Programs(X, signs, np.ones(len(y)), lam, alpha)


def test_one_program_is_the_printed_one():
    X, y = two_classes()
    slopes = np.random.default_rng(1).uniform(0.1, 1, 10)
    found, errors = machine(X, y)._program(slopes)
    w, b, v = cp.Variable(10), cp.Variable(), cp.Variable(10)
    up = cp.pos(1 - (X[y == 1] @ w + b))
    down = cp.pos(1 + (X[y == 0] @ w + b))
    loss = 0.95 * (cp.sum(up) / np.sum(y == 1) + cp.sum(down) / np.sum(y == 0))
    program = cp.Problem(cp.Minimize(loss + 0.05 * 5.0 * (slopes @ v)), [-v <= w, w <= v])
    optimum = program.solve()
    assert errors + 0.25 * slopes @ np.abs(found) == pytest.approx(optimum, rel=1e-6)


def test_the_concave_objective_falls_with_every_program():
    X, y = two_classes()
    own = machine(X, y)

    def value(w):
        b = cp.Variable()
        up, down = cp.pos(1 - (X[y == 1] @ w + b)), cp.pos(1 + (X[y == 0] @ w + b))
        loss = cp.Problem(cp.Minimize(cp.sum(up) / np.sum(y == 1) + cp.sum(down) / np.sum(y == 0)))
        return 0.95 * loss.solve() + 0.05 * np.sum(1 - np.exp(-5 * np.abs(w)))

    values = [value(own.solved(k)) for k in (1, 2, 3, 10)]
    assert np.all(np.diff(values) <= 1e-7)


def test_few_scores_are_positive_and_the_informative_are_among_them():
    X, y = two_classes(n=80, d=30)
    scores = fsv(X, y)
    assert scores.shape == (30,)
    assert set(np.argsort(-scores)[:2]) == {2, 5}
    assert np.count_nonzero(scores) < 20
    assert np.count_nonzero(fsv(X, y, lam=0.3)) <= np.count_nonzero(scores)


def test_scales_weights_classes_and_constant_columns():
    X, y = two_classes()
    base = fsv(X, y)
    np.testing.assert_allclose(fsv(X * np.logspace(-3, 3, 10) + 7, y), base, atol=1e-6)
    weight = 1 + np.arange(40) % 2
    repeated = fsv(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(fsv(X, y, sample_weight=weight), repeated, atol=1e-6)
    X[:, 7] = 3.0
    assert fsv(X, y)[7] == 0
    assert fsv(X, np.array(["a", "b", "c"])[np.arange(40) % 3]).shape == (10,)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"lam": 1.0}, "lam"),
        ({"lam": -0.1}, "lam"),
        ({"alpha": 0.0}, "alpha"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_parameters_are_refused(params, words):
    with pytest.raises(ValueError, match=words):
        fsv(*two_classes(), **params)


def test_numbers_are_refused_and_the_selector_knows_it_by_name():
    X, y = two_classes()
    with pytest.raises(ValueError, match="class"):
        fsv(X, X[:, 0])
    assert ScoreSelector("fsv", 2).fit(X, y).support_[[2, 5]].all()
