"""Lower bounds under a ridge: never above the optimum that enumeration or a fine search finds."""

import numpy as np
import pytest
from reference.enumerated import compared
from scipy.optimize import minimize

from rowsparse import L2pSelector, LpInfSelector, TopKSelector
from rowsparse.penalties import L2p
from rowsparse.penalties.families import Envelope
from rowsparse.solvers.base import never
from rowsparse.solvers.top_k.branch_and_bound import Tree, ridge_value
from rowsparse.solvers.top_k.columns import Columns
from rowsparse.solvers.top_k.search import Found

CASES = 60  # of top-k, by fixed seeds


@pytest.mark.parametrize("block", range(2))
def test_of_top_k_against_enumeration(block):
    """Two thousand by ``python tests/reference/enumerated.py 2000``."""
    proved = 0
    for seed in range(block * CASES // 2, (block + 1) * CASES // 2):
        pair = compared(seed)
        if pair is None:
            continue
        found, best = pair
        assert found.lower_bound <= best * (1 + 1e-10)
        if found.proof.startswith("proved"):
            proved += 1
            assert found.objective <= best * (1 + 1e-5)
    assert proved > 5


@pytest.mark.parametrize("kind", [L2pSelector, LpInfSelector])
@pytest.mark.parametrize("p", [0.0, 0.5])
def test_of_p_below_one_against_many_local_minima(kind, p):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, 3))
    Y = X @ rng.standard_normal((3, 2)) + rng.standard_normal((20, 2))
    for ridge in (0.1, 1.0):
        for alpha in (0.02, 0.3):
            selector = kind(alpha=alpha, p=p, ridge=ridge, task="regression").fit(X, Y)
            problem = selector.problem_and_solver(X, Y)[0]
            best = min(polished(problem, rng) for _ in range(12))
            assert selector.solution_.lower_bound <= best + 1e-9
            assert selector.solution_.objective <= best + 1e-6
            assert selector.solution_.gap >= 0


def polished(problem, rng):
    """The lowest of a random support's smooth minima: p < 1 is smooth where no row is zero."""
    used = np.append(rng.random(3) < 0.6, True)
    start = rng.standard_normal((int(used.sum()), 2))

    def value(entries):
        W = np.zeros((4, 2))
        W[used] = entries.reshape(start.shape)
        return problem.objective(W)

    return minimize(value, start.ravel(), method="Nelder-Mead", options={"maxiter": 4000}).fun


@pytest.mark.parametrize("p", [0.0, 0.3, 0.7])
def test_the_envelope_is_the_convex_hull_on_a_grid(p):
    alpha, ridge = 0.4, 0.8
    envelope = Envelope(alpha, None, p=p, ridge=ridge)
    t = np.linspace(0.0, 3.0, 3001)
    ridge_part = ridge / 2 * t**2
    true = alpha * L2p(1.0, None, p=p).phi(t) + ridge_part
    hull = alpha * np.where(t > 0, envelope.phi(np.maximum(t, 1e-300)), 0.0) + ridge_part
    assert np.all(hull <= true + 1e-12)
    assert np.all(np.diff(hull, 2) >= -1e-12)
    beyond = t >= envelope.knot
    np.testing.assert_allclose(hull[beyond], true[beyond])


def test_the_envelopes_shrinkage_is_lowest_on_a_grid():
    envelope = Envelope(0.4, None, p=0.5, ridge=0.8)
    t = np.linspace(0.0, 6.0, 60_001)[1:]
    for curvature in (0.9, 2.0, 10.0):
        for z in (0.1, 0.5, 1.0, 2.0, 5.0):
            at = float(envelope.shrink(np.array([z]), np.array([0.4 / curvature]))[0])
            values = (t - z) ** 2 / 2 + 0.4 / curvature * envelope.phi(t)
            own = (at - z) ** 2 / 2
            if at > 0:
                own += 0.4 / curvature * float(envelope.phi(np.array([at]))[0])
            assert own <= min(values.min(), z**2 / 2) + 1e-8


def test_without_a_ridge_nothing_is_claimed():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 50)), rng.standard_normal(30)
    found = L2pSelector(alpha=0.05).fit(X, y).solution_
    assert found.gap is None
    assert not found.proof


def test_what_branch_and_bound_drops_as_no_better_counts_in_its_bound():
    """A column that is better in the eighth digit is no reason to go on, and none to deny it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 6))
    X[:, 1] = X[:, 0] + 1e-8 * rng.standard_normal(20)
    y = X[:, 0] + 0.1 * rng.standard_normal(20)
    problem, _ = TopKSelector(1, ridge=1.0).problem_and_solver(X, y)
    columns = Columns.of(problem)
    first, second = (ridge_value(columns, np.array([j]), 20.0) for j in range(2))
    assert 0 < abs(first - second) < 1e-7 * first
    worse = int(second > first)
    polished = Found(np.array([worse]), max(first, second))
    tree = Tree(columns, 20.0, 1, *polished, lambda support: polished)
    tree.root()
    tree.run(never)
    assert tree.bound <= min(first, second) * (1 + 1e-14)
    assert tree.bound >= max(first, second) * (1 - 1e-5)


@pytest.mark.parametrize("r", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("kind", ["top k", "l2p"])
def test_bounds_of_float32_hold_in_double_precision(kind, r):
    """Products in single precision are wrong in the seventh digit, and a bound with them."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        X = (rng.standard_normal((12, 6)) + rng.uniform(-100, 100, 6)).astype(np.float32)
        y = np.asarray(X[:, 0] - X[:, 1] + rng.standard_normal(12), dtype=float)
        if kind == "top k":
            fit = TopKSelector(5, ridge=1.0, r=r).fit(X, y)
            best = TopKSelector(5, ridge=1.0, r=r).fit(X.astype(float), y)
        else:
            fit = L2pSelector(alpha=0.01, p=1.0, ridge=1.0, r=r).fit(X, y)
            best = L2pSelector(alpha=0.01, p=1.0, ridge=1.0, r=r).fit(X.astype(float), y)
        solution = fit.solution_
        assert solution.objective - solution.gap <= best.solution_.objective * (1 + 1e-12)
