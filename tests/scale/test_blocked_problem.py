"""Where r < 2 and X comes in blocks, passes say of a point what arrays of residuals say of it."""

import numpy as np
import pytest
from scale.holders import HOLDERS, D, assert_same_fit, table, weights
from sklearn.base import clone

from rowsparse import L2pSelector
from rowsparse.designs import CompletedDesign
from rowsparse.problems.block_sums import counts_together, median_of, size_counts
from rowsparse.problems.in_blocks import BlockedProblem
from rowsparse.solvers import IRLS
from rowsparse.solvers.penalised import blocked_model
from rowsparse.solvers.penalised.working_set import WorkingSet

X, Y = table()
ALWAYS = np.r_[np.ones(D - 1), 0]
SETTINGS = {
    "r=1": {"r": 1, "p": 1},
    "r=1, p=.5": {"r": 1, "p": 0.5},
    "r=.5": {"r": 0.5, "p": 1},
    "r=1.5, always in": {"r": 1.5, "p": 1, "feature_weights": ALWAYS},
    "r=1.2, ridge": {"r": 1.2, "p": 1, "ridge": 0.1},
    "r=1, as it is": {"r": 1, "p": 1, "fit_intercept": False, "standardize": False},
}


@pytest.fixture(params=SETTINGS)
def pair(request, tmp_path):
    """The problem in blocks and in memory."""
    selector = L2pSelector(alpha=0.2, **SETTINGS[request.param])
    held = HOLDERS["npy"](X, tmp_path)
    ours, _ = selector.problem_and_solver(held, Y, weights())
    theirs, _ = selector.problem_and_solver(X, Y, weights())
    assert isinstance(ours, BlockedProblem)
    return ours, theirs


def somewhere(problem):
    rng = np.random.default_rng(3)
    W = rng.standard_normal((problem.n_rows, 2)) * 0.3
    W[3:7] = 0
    return W


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11 * np.abs(theirs).max())


def test_of_a_point(pair):
    ours, theirs = pair
    W = somewhere(ours)
    for smoothing in (None, 0.3):
        mine, other = ours.evaluate(W, smoothing), theirs.evaluate(W, smoothing)
        assert mine.residual is None
        close(mine.objective, other.objective)
        close(mine.gradient, other.gradient)
        close(mine.scores, other.scores)
    close(ours.objective(W), theirs.objective(W))
    E = theirs.residual(W)
    close(ours.majorizer_curvatures(W, None), theirs.majorizer_curvatures(W, E))
    np.testing.assert_allclose(
        ours.typical_residual(W, None), theirs.typical_residual(W, E), rtol=0.02
    )


def test_of_the_null_model(pair):
    ours, theirs = pair
    close(ours.null_gradient, theirs.null_gradient)
    close(ours.alpha_max(), theirs.alpha_max())
    close(ours.objective(ours.null_point), theirs.objective(theirs.null_point))


def test_lower_bounds(pair):
    ours, theirs = pair
    if not ours.convex:
        assert ours.duality_gap(somewhere(ours), None) is None
        return
    for share in (0.0, 0.3):  # near the null model, whose bound is not zero
        W = ours.null_point + share * 0.1 * somewhere(ours)
        mine = ours.lower_bound(W, ours.evaluate(W))
        np.testing.assert_allclose(mine, theirs.lower_bound(W, theirs.evaluate(W)), rtol=1e-6)


def test_of_squares_all_is_known_after_one_pass(pair):
    ours, theirs = pair
    squared = ours.with_r(2.0)
    assert not isinstance(squared, BlockedProblem)
    assert not isinstance(squared.design, CompletedDesign)
    W = somewhere(ours)
    close(squared.objective(W), theirs.with_r(2.0).objective(W))
    assert isinstance(ours.with_r(1.7), BlockedProblem)


def test_normal_equations(pair):
    ours, theirs = pair
    W = somewhere(ours)
    columns = np.flatnonzero(W.any(axis=1))
    Z = theirs.design.take(columns)
    n = len(theirs.Y)
    for smoothing in (None, 0.1):
        h = theirs.loss.weights(n)
        if smoothing is not None:
            h = theirs.loss.smoothed(smoothing).residual_weights(Z @ W[columns] - theirs.Y)
        G, B = ours.normal_equations(W, columns, smoothing)
        close(G, Z.T @ (h[:, None] * Z) / n)
        close(B, Z.T @ (h[:, None] * theirs.Y) / n)


@pytest.mark.parametrize("most", [0, 100])
def test_the_model_of_a_working_set(pair, most, monkeypatch):
    """With and without products of all columns and the Hessian at every pass."""
    monkeypatch.setattr(blocked_model, "MOST_PRODUCTS", most)
    monkeypatch.setattr(blocked_model, "DIRECT", most)
    ours, theirs = pair
    rows = np.array([5, 0, ours.n_rows - 1, 2, 8, 4])
    W = np.zeros((ours.n_rows, 2))
    W[[0, 2, 8]] = somewhere(ours)[[0, 2, 8]]
    models = [
        WorkingSet.of(problem, rows).model(problem, W, problem.evaluate(W, 0.2)).take(np.arange(5))
        for problem in (ours, theirs)
    ]
    mine, other = models
    support = np.array([1, 3, 4])
    D = np.random.default_rng(4).standard_normal((3, 2)) * 0.1
    for _ in range(2):
        close(mine.loss_value(), other.loss_value())
        close(mine.gradient(), other.gradient())
        close(mine.curvatures, other.curvatures)
        close(mine.metric, other.metric)
        for model in models:
            model.focus(support)
        close(mine.gram(), other.gram())
        close(mine.cross(), other.cross())
        for undamped in (0.0, 0.6):
            close(mine.hessian_times(D, undamped), other.hessian_times(D, undamped))
        ones = np.ones(3)
        close(mine.preconditioner(ones)(D), other.preconditioner(ones)(D))
        close(mine.along(D), other.along(D))
        for model in models:
            model.move(D)
        close(mine.W, other.W)


def test_a_sweep_lowers_the_loss_and_what_is_taken_comes_back(pair):
    ours, _ = pair
    rows = np.arange(6)
    W = np.zeros((ours.n_rows, 2))
    model = WorkingSet.of(ours, rows).model(ours, W, ours.evaluate(W, 0.2))
    penalty = ours.penalty.take(rows)
    before = model.loss_value() + penalty.value(model.W)
    some = model.take(np.arange(3))
    assert some.sweep(penalty.take(np.arange(3)), np.arange(3), 3, 0.0) > 0
    model.absorb(np.arange(3), some)
    close(model.copy().gradient(), model.gradient())
    assert model.loss_value() + penalty.value(model.W) < before


@pytest.mark.parametrize("holder", ["npy", "dask, uneven", "dask, sparse"])
@pytest.mark.parametrize(
    "selector",
    [
        L2pSelector(4, r=1.5, p=0.5),
        L2pSelector(alpha=0.1, r=1, p=0.5),
        L2pSelector(alpha=0.2, r=1.5, p=1, feature_weights=ALWAYS),
        L2pSelector(alpha=0.2, r=1, p=1, ridge=0.1),
    ],
    ids=lambda selector: f"r={selector.r}, p={selector.p}, ridge={selector.ridge}",
)
def test_same_fit_as_in_memory(holder, selector, tmp_path):
    expected = clone(selector).fit(X, Y, sample_weight=weights())
    fitted = clone(selector).fit(HOLDERS[holder](X, tmp_path), Y, sample_weight=weights())
    assert_same_fit(fitted, expected)


@pytest.mark.parametrize("p", [1, 0.5])
def test_reweighting_ends_where_it_ends_in_memory(p, tmp_path):
    """To the digits that it reaches: rounding decides which step is its last."""
    selector = L2pSelector(alpha=0.2, r=1, p=p, solver=IRLS(tol=1e-12))
    expected = clone(selector).fit(X, Y)
    fitted = clone(selector).fit(HOLDERS["npy"](X, tmp_path), Y)
    np.testing.assert_array_equal(fitted.support_, expected.support_)
    np.testing.assert_allclose(fitted.coef_, expected.coef_, atol=1e-4)
    assert fitted.solution_.objective == pytest.approx(expected.solution_.objective, rel=1e-9)


def test_fewer_samples_than_columns_are_held_as_they_were(tmp_path):
    few, y = X[:9], Y[:9]
    selector = L2pSelector(alpha=0.2, r=1, p=1)
    problem, _ = selector.problem_and_solver(HOLDERS["npy"](few, tmp_path), y)
    assert not isinstance(problem, BlockedProblem)


def test_the_median_of_sizes_counted_in_parts():
    sizes = np.random.default_rng(0).lognormal(0, 3, 1001)
    parts = [
        size_counts(np.zeros((len(some), 1)), some[:, None], None, np.zeros((1, 1)))
        for some in (sizes[:400], sizes[400:401], sizes[401:])
    ]
    counts = counts_together(counts_together(parts[0], parts[1]), parts[2])
    assert counts[1].sum() == 1001
    assert median_of(*counts) == pytest.approx(np.median(sizes), rel=1 / 4096)
    nothing = size_counts(np.zeros((3, 1)), np.zeros((3, 1)), None, np.zeros((1, 1)))
    assert median_of(*nothing) == 0.0
