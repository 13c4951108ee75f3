"""The parts of the top-k search that work in place or from memory, against plain NumPy."""

import itertools
from typing import Any, cast

import numpy as np
import pytest

from rowsparse.designs import as_design
from rowsparse.losses import ResidualLoss
from rowsparse.losses import few_columns as newton
from rowsparse.losses.few_columns import least_squares
from rowsparse.numerics import exchanges
from rowsparse.penalties import Cardinality
from rowsparse.problems.penalised import PenalisedProblem
from rowsparse.solvers.top_k import bounds, enumeration
from rowsparse.solvers.top_k import columns as candidate_columns
from rowsparse.solvers.top_k.columns import Columns
from rowsparse.solvers.top_k.solve import solve_top_k, top_k_path
from rowsparse.solvers.top_k.support_fit import Fit


def problem(X, Y, k, r=2.0):
    penalty = cast(Any, Cardinality(k, np.ones(X.shape[1])))
    return PenalisedProblem.build(as_design(X), Y, ResidualLoss(r), penalty)


def data(seed, n=30, d=40, c=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) @ rng.standard_normal((4, d)) + rng.standard_normal((n, d))
    return X, X[:, :5] @ rng.standard_normal((5, c)) + rng.standard_normal((n, c))


@pytest.mark.parametrize("room", [1 << 27, 5 * 8 * 41, 0])
def test_a_fit_that_grew_equals_one_of_all_members_at_once(monkeypatch, room):
    """With much, little and no room for products X'x_j."""
    monkeypatch.setattr(candidate_columns, "COPY_BYTES", room)
    X, Y = data(0)
    known, rng = Columns.of(problem(X, Y, 6)), np.random.default_rng(1)
    for _ in range(5):
        members = rng.choice(40, 6, replace=False)
        once, grown = Fit(known, 6, members), Fit(known, 6)
        for j in members:
            grown.add(int(j))
        for name in ("R", "C", "D"):
            a, b = getattr(once, name), getattr(grown, name)
            np.testing.assert_allclose(a, b, atol=1e-9 * np.abs(b).max())
        swaps = once.swap_gains()
        np.testing.assert_allclose(grown.swap_gains(), swaps, rtol=1e-9, atol=1e-9 * known.total)


@pytest.mark.parametrize("ridge", [0.0, 3.0])
@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("n_kicks", [0, 20])
def test_no_swap_improves_what_exchanges_end_at(n_kicks, stored, ridge):
    """By plain least squares, the ridge as samples of its own; kicks never end higher."""
    X, Y = data(2)
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    X[:, 9] = X[:, 8]
    long = np.vstack([X, np.sqrt(ridge) * np.eye(40)])
    wanted = np.vstack([Y, np.zeros((40, 2))])

    def value(support):
        B = np.linalg.lstsq(long[:, support], wanted, rcond=None)[0]
        return float(np.sum((long[:, support] @ B - wanted) ** 2))

    total = float(np.sum(Y**2))
    nothing = exchanges.NOTHING
    made = (nothing, X.T @ X) if stored else (np.ascontiguousarray(X.T), nothing)
    B = np.ascontiguousarray(Y.T @ X)
    products = exchanges.Products(*made, B, np.einsum("ij,ij->j", X, X), total)

    def found(members, n_kicks):
        kicks = exchanges.Kicks.drawn(np.random.default_rng(0), n_kicks, 4)
        first = np.zeros(4, int)
        return exchanges.exchanged(products, np.array(members), first, kicks, ridge)

    plain = found([8, 9, 30, 31, 32, 33], 0)  # too many, and two equal ones
    best = found([8, 9, 30, 31, 32, 33], n_kicks)
    assert len(set(best)) == 4
    assert value(best) <= value(plain) * (1 + 1e-9)
    for i, j in itertools.product(range(4), range(40)):
        assert value([*np.delete(best, i), j]) >= value(best) * (1 - 1e-8)


def test_members_that_depend_on_others_are_left_out():
    X, Y = data(1)
    X[:, 7] = X[:, 2] + X[:, 3]
    X[:, 8] = X[:, 2]
    fit = Fit(Columns.of(problem(X, Y, 6)), 6, [2, 3, 7, 8, 11])
    assert fit.members == [2, 3, 11]
    A = np.column_stack([X[:, [2, 3, 11]], np.ones(len(X))])
    E = Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]
    assert fit.value == pytest.approx(float(np.vdot(E, E)), rel=1e-10)
    gains = fit.swap_gains()
    for i, j in itertools.product(range(3), (7, 8)):
        others = np.delete([2, 3, 11], i)
        A = np.column_stack([X[:, [*others, j]], np.ones(len(X))])
        independent = np.linalg.matrix_rank(A) == 4
        E = Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]
        expected = fit.value - float(np.vdot(E, E)) if independent else -np.inf
        assert gains[i, j] == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_a_pool_of_columns_scores_them_as_all_columns_do():
    whole = Columns.of(problem(*data(3), 4))
    names = np.array([1, 3, 9, 20, 31])
    pool = whole.take(names)
    members = pool.positions(np.array([20, 1, 3]))
    assert pool.names[members].tolist() == [20, 1, 3]
    inside = Fit(pool, 4, members)
    outside = Fit(whole, 4, [20, 1, 3])
    assert inside.value == pytest.approx(outside.value, rel=1e-12)
    np.testing.assert_allclose(inside.gains(), outside.gains()[names], rtol=1e-9)
    np.testing.assert_allclose(inside.swap_gains(), outside.swap_gains()[:, names], rtol=1e-8)


@pytest.mark.parametrize("block", [1, 4, 256])
def test_the_best_pair_is_that_of_plain_enumeration(monkeypatch, block):
    monkeypatch.setattr(enumeration, "PAIR_BLOCK", block)
    for seed in range(4):
        X, Y = data(seed, n=20, d=15)
        X[:, 7] = X[:, 2] + 1e-4 * X[:, 7]
        X[:, 8] = X[:, 3]
        X[:, 9] = X[:, 2] + 1e-2 * Y[:, 0]  # far better with column 2 than either alone
        values = {}
        for pair in itertools.combinations(range(15), 2):
            A = np.column_stack([X[:, pair], np.ones(len(X))])
            E = Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]
            values[pair] = float(np.vdot(E, E)) / (2 * len(X))
        best = min(values, key=values.__getitem__)
        found = enumeration.best_pair(Columns.of(problem(X, Y, 2)), len(X), lambda: False)
        assert tuple(found.support) == best
        assert found.value == pytest.approx(values[best], rel=1e-8)


@pytest.mark.parametrize("r", [1.0, 1.5])
def test_every_step_of_stacked_fits_is_a_weighted_fit(r):
    rng = np.random.default_rng(0)
    A, Y, s = rng.standard_normal((5, 12, 3)), rng.standard_normal((12, 2)), rng.random(12)
    A[2, :, 2] = 2 * A[2, :, 0] - A[2, :, 1]
    fits = newton.StackedFits(A, Y, ResidualLoss(r, s), fading=0.5, floor=0.1)
    for i in range(6):
        before = fits.squares
        h = fits.step()
        if i:
            smoothing = np.maximum(0.5**i * before.mean(axis=1, keepdims=True), 0.01)
            np.testing.assert_allclose(h, s * (before + smoothing) ** (r / 2 - 1), rtol=1e-12)
        for t in range(5):
            root = np.sqrt(h[t])[:, None]
            E = Y - A[t] @ np.linalg.lstsq(root * A[t], root * Y, rcond=None)[0]
            np.testing.assert_allclose(fits.squares[t], (E**2).sum(axis=1), rtol=1e-7)
            loss = ResidualLoss(r, s).value_of_residual(E)
            assert fits.values()[t] == pytest.approx(loss, rel=1e-8)


@pytest.mark.parametrize("near", [1.0, 1e-3, 1e-7, 0.0])
def test_least_squares_by_normal_equations_or_not(near):
    rng = np.random.default_rng(0)
    A, Y = rng.standard_normal((40, 6)), rng.standard_normal((40, 3))
    A[:, 5] = A[:, 4] + near * A[:, 5]
    expected = np.linalg.lstsq(A, Y, rcond=1e-11)[0]
    np.testing.assert_allclose(least_squares(A, Y), expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("r", [1.0, 1.5, 2.0])
def test_a_fit_with_ridges_is_where_its_gradient_vanishes(r):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 4)) * np.array([1.0, 3.0, 0.2, 1.0])
    A[:, 3] = A[:, 0]  # equal columns share what a ridge leaves
    Y = A @ rng.standard_normal((4, 2)) + rng.standard_normal((30, 2)) ** 3
    ridges = np.array([0.1, 1.0, 0.0, 0.1])
    loss = ResidualLoss(r, rng.uniform(0.5, 1.5, 30))
    B = newton.fit(A, Y, loss, 1e-9, ridges)
    gradient = A.T @ loss.slopes(A @ B - Y) + ridges[:, None] * B
    np.testing.assert_allclose(gradient, 0.0, atol=1e-6)
    np.testing.assert_allclose(B[3], B[0], atol=1e-6)


@pytest.mark.parametrize("d", [40, 1100])
@pytest.mark.parametrize("r", [2.0, 1.0])
def test_a_path_has_no_swap_that_improves_it_and_never_rises(r, d):
    X, Y = data(5, d=d)
    path = top_k_path(problem(X, Y, 6, r), [1, 2, 3, 5, 6], n_init=1)
    objectives = [solution.objective for solution in path]
    assert all(b <= a for a, b in itertools.pairwise(objectives))
    assert [len(solution.rows) for solution in path] == [1, 2, 3, 5, 6]
    if r == 2:
        for solution in path:
            fit = Fit(Columns.of(problem(X, Y, 6)), 6, solution.rows)
            assert fit.swap_gains().max() <= 1e-8 * fit.columns.total
            assert fit.value == pytest.approx(2 * len(X) * solution.objective, rel=1e-9)
    alone = solve_top_k(problem(X, Y, 6, r), n_init=1)
    assert objectives[-1] <= alone.objective * (1 + 1e-9)


@pytest.mark.parametrize("eps", [1e-5, 1e-8])
def test_no_bound_on_pairs_where_columns_are_nearly_equal(eps):
    """Together they explain what their difference does, which correlations do not show."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 1)) + eps * rng.standard_normal((20, 6))
    Y = (X[:, [1]] - X[:, [4]]) / eps
    here = problem(X, Y, 2)
    found = solve_top_k(here)
    assert found.lower_bound is not None
    assert found.lower_bound <= here.objective(here.refitted(np.array([1, 4])))


def test_equal_columns_leave_a_bound_on_pairs():
    X, Y = data(3)
    X = np.hstack([X, X[:, ::-1], -X[:, :3]])
    found = solve_top_k(problem(X, Y, 2))
    assert found.proof == "proved optimal: all pairs of columns compared"


def test_no_bound_on_columns_that_the_free_ones_nearly_hold():
    rng = np.random.default_rng(0)
    X = 1.0 + 1e-8 * rng.standard_normal((20, 3))
    here = problem(np.hstack([X, rng.standard_normal((20, 3))]), X[:, :1] - 1.0, 1)
    assert bounds.bound(here, 1, 0.0) is None
