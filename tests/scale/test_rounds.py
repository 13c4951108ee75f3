"""Fits that learn the products of few columns, round after round, end where all products lead."""

import numpy as np
import pytest
from scale.holders import HOLDERS, SELECTORS, SQUARED, assert_same_fit, table, weights
from sklearn.base import clone

import rowsparse
from rowsparse import L2pSelector, TopKSelector
from rowsparse.designs import CompletedDesign, as_design, chunked, moments
from rowsparse.designs.moments import summary
from rowsparse.selectors import blocks, rounds
from rowsparse.solvers import BlockDescent, Splice


@pytest.fixture(autouse=True)
def few_at_a_time(monkeypatch):
    monkeypatch.setattr(blocks, "SEARCH_FROM", 5)
    monkeypatch.setattr(rounds, "FEWEST_NEW", 2)


def correlated(n=200, d=60, outputs=2, seed=0):
    """Neighbours are much alike, so that what one column explains others seem to explain too."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = 0.8 * X[:, j - 1] + 0.6 * X[:, j]
    Y = X[:, ::10] @ rng.standard_normal((6, outputs)) + rng.standard_normal((n, outputs))
    return X, Y


def in_blocks(X, folder):
    np.save(folder / "X.npy", X)
    return as_design(rowsparse.open_rows(folder / "X.npy", block_bytes=20_000))


@pytest.mark.parametrize("name", SQUARED)
@pytest.mark.parametrize("holder", ["csr", "dask, uneven"])
@pytest.mark.parametrize("weight", [None, weights()], ids=["plain", "weighted"])
def test_same_as_in_memory(name, holder, weight, tmp_path):
    X, Y = table()
    expected = clone(SELECTORS[name]).fit(X, Y, sample_weight=weight)
    fitted = clone(SELECTORS[name]).fit(HOLDERS[holder](X, tmp_path), Y, sample_weight=weight)
    assert_same_fit(fitted, expected)
    assert fitted.solution_.n_passes > 1


@pytest.mark.parametrize(
    "selector",
    [TopKSelector(6), TopKSelector(6, ridge=0.1), L2pSelector(6), L2pSelector(6, p=1)],
    ids=["top k", "top k, ridge", "p=.5", "p=1"],
)
def test_most_columns_are_never_multiplied(selector, tmp_path, monkeypatch):
    """Few passes lead to the answer of all products, whatever neighbours have in common."""
    monkeypatch.setattr(rounds, "FEWEST_NEW", 6)
    X, Y = correlated()
    expected = clone(selector).fit(X, Y)
    held = in_blocks(X, tmp_path)
    monkeypatch.setattr(type(held), "summarise", None)  # what would multiply them all
    fitted = clone(selector).fit(held, Y)
    assert_same_fit(fitted, expected)
    assert fitted.solution_.n_passes <= 5
    # the certificate is that of all columns, in units that do not depend on the storage
    assert fitted.solution_.violation < 1e-7
    np.testing.assert_allclose(fitted.solution_.objective, expected.solution_.objective, rtol=1e-10)


def test_single_precision_far_from_zero(tmp_path):
    """Products with outsiders are made in float32, those that coefficients rest on are not."""
    X, Y = correlated()
    X = (X + 1000.0).astype(np.float32)
    expected = TopKSelector(6).fit(X.astype(float), Y)
    fitted = TopKSelector(6).fit(in_blocks(X, tmp_path), Y)
    np.testing.assert_array_equal(fitted.support_, expected.support_)
    np.testing.assert_allclose(fitted.coef_, expected.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-30, 1e30, 5e37])
def test_squares_that_single_precision_cannot_hold(unit, tmp_path):
    X, Y = correlated()
    X = (unit * X).astype(np.float32)
    expected = TopKSelector(6).fit(X.astype(float), Y)
    fitted = TopKSelector(6).fit(in_blocks(X, tmp_path), Y)
    np.testing.assert_array_equal(fitted.support_, expected.support_)
    np.testing.assert_allclose(fitted.coef_, expected.coef_, rtol=1e-9)


def test_columns_that_depend_on_others(tmp_path):
    """Copies and sums of columns become members beside them."""
    X, Y = correlated()
    X[:, 1] = X[:, 0]
    X[:, 21] = X[:, 20] + X[:, 30]
    X[:, 31] = 3 * X[:, 30]
    for selector in (TopKSelector(6), L2pSelector(6, p=1)):
        expected = clone(selector).fit(X, Y).solution_
        found = clone(selector).fit(in_blocks(X, tmp_path), Y).solution_
        np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-9)


@pytest.mark.parametrize("ends", ["in the first round", "in the second"])
@pytest.mark.parametrize("selector", [L2pSelector(alpha=0.1, p=1), TopKSelector(6, ridge=0)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_is_told_of_a_fit_that_was_ended_is_true(ends, selector, tmp_path):
    """Rows were chosen on guesses; the objective of W is that of X all the same."""
    X, Y = correlated()
    held = in_blocks(X, tmp_path)
    enough = {"in the first round": 1, "in the second": 2}[ends]

    def stop(_):
        return held.passes.count >= enough

    kind = BlockDescent if isinstance(selector, L2pSelector) else Splice
    fitted = clone(selector).set_params(solver=kind(callback=stop)).fit(held, Y)
    assert fitted.solution_.status == "interrupted"
    residual = fitted.predict(X) - Y
    loss = np.sum(residual**2) / (2 * len(Y))
    norms = np.linalg.norm(fitted.coef_ * X.std(axis=0), axis=0)
    penalty = 0.1 * norms.sum() if isinstance(selector, L2pSelector) else 0.0
    np.testing.assert_allclose(fitted.solution_.objective, loss + penalty, rtol=1e-8)


def test_nothing_is_proved_by_guesses(tmp_path):
    """Bounds rest on products of all columns; the best single column on squares alone."""
    X, Y = correlated()
    held = in_blocks(X, tmp_path)
    two = TopKSelector(2, ridge=0.5).fit(held, Y).solution_
    assert two.lower_bound == 0
    assert "optimum" not in two.proof
    assert "no single swap" in two.proof
    assert L2pSelector(6, ridge=0.5).fit(held, Y).solution_.lower_bound == 0
    one = TopKSelector(1).fit(held, Y)
    assert one.solution_.proof.startswith("proved optimal")
    np.testing.assert_array_equal(one.support_, TopKSelector(1).fit(X, Y).support_)


def test_members_too_many_for_memory(tmp_path, monkeypatch):
    """Then every step passes over X."""
    X, Y = table()
    monkeypatch.setattr(blocks, "MOST_PRODUCTS", 5)
    monkeypatch.setattr(chunked, "MOST_PRODUCTS", 5)
    monkeypatch.setattr(rounds, "MOST_PRODUCTS", 5)
    monkeypatch.setattr(rounds, "PRODUCT_BYTES", 8 * X.shape[1] * 2)
    selector = L2pSelector(alpha=0.2, p=1)
    fitted = clone(selector).fit(in_blocks(X, tmp_path), Y)
    assert_same_fit(fitted, clone(selector).fit(X, Y))
    assert fitted.solution_.n_passes > 5


def test_a_completed_design_is_a_matrix():
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((4, 7))
    own = np.array([1.0, 0.0, 2.0, 0.5, 0.0, 3.0, 1.5])
    place = np.array([0, 0, 1, 2, 1, 2, 0])  # two columns share a place
    shared[:, 4] = 0.0
    matrix = np.vstack([shared, np.zeros((3, 7))])
    matrix[4 + place, np.arange(7)] = own
    design = CompletedDesign(shared, own, place)
    W = rng.standard_normal((7, 2))
    W[3] = 0
    R = rng.standard_normal((7, 2))
    h = rng.uniform(0.5, 2, 7)
    some, others = np.array([6, 0, 3]), np.array([2, 5, 6])
    centers = rng.standard_normal(7)
    same = np.testing.assert_allclose
    assert design.shape == matrix.shape
    same(design.matmul(W), matrix @ W, atol=1e-14)
    same(design.rmatmul(R), matrix.T @ R, atol=1e-14)
    same(design.rmatmul_of(some, R), matrix[:, some].T @ R, atol=1e-14)
    same(design.take(some), matrix[:, some])
    same(design.squares(h), h @ matrix**2)
    same(design.squares(h, centers), h @ (matrix - centers) ** 2)
    for right in (some, others):
        expected = (matrix[:, some] * h[:, None]).T @ matrix[:, right]
        same(design.gram(some, right, h), expected, atol=1e-14)
    apart = matrix - centers
    expected = (apart[:, some] * h[:, None]).T @ apart[:, others]
    same(design.gram(some, others, h, centers), expected, atol=1e-14)
    same(design.constant_columns(), np.ptp(matrix, axis=0) == 0)


def test_products_of_single_precision_lose_no_digits():
    """Numbers of float32 are multiplied and summed in float64, from a center near their mean."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 5)) + np.array([0, 10, 100, 1000, 1e4])
    X = X.astype(np.float32)
    weights = rng.uniform(0.5, 2, len(X))
    Y = rng.standard_normal((len(X), 1))
    exact = np.cov(np.hstack([X.astype(float), Y]).T, aweights=weights, ddof=0) * weights.sum()
    for block in (X, X[::-1]):
        order = slice(None) if block is X else slice(None, None, -1)
        given = (np.ones(5), weights[order], Y[order])
        products = summary(block, False, *given).moments.products
        squares = summary(block, True, *given).moments.products
        np.testing.assert_allclose(products, exact, rtol=1e-11, atol=1e-10)
        np.testing.assert_allclose(squares, exact.diagonal(), rtol=1e-11)


def test_ranges_tell_which_columns_vary(monkeypatch):
    """However late they begin to."""
    monkeypatch.setattr(moments, "CACHE_BYTES", 8 * 6 * 10)  # ten rows at a time
    X = np.random.default_rng(0).standard_normal((95, 6))
    X[:, 1] = 3.0
    X[:94, 2] = 0.0
    X[:, 3] = 1.0 + 1e-9 * X[:, 3]
    X[:50, 4] = -1.0
    lowest, highest = moments.ranges(X)
    np.testing.assert_array_equal(lowest == highest, [False, True, False, False, False, False])
    np.testing.assert_array_equal([lowest[3], highest[3]], [X[:, 3].min(), X[:, 3].max()])


def test_fewer_samples_than_columns(tmp_path, monkeypatch):
    """Products would take as much memory as X: then every step passes over X, or nothing does."""
    X, Y = correlated(n=40)
    held = in_blocks(X, tmp_path)
    monkeypatch.setattr(blocks, "MOST_PRODUCTS", 5)
    monkeypatch.setattr(chunked, "MOST_PRODUCTS", 5)
    selector = L2pSelector(alpha=0.5, p=1)
    fitted = clone(selector).fit(held, Y)
    np.testing.assert_allclose(fitted.coef_, clone(selector).fit(X, Y).coef_, atol=1e-6)
    assert fitted.solution_.n_passes > 5
    with pytest.raises(ValueError, match="twice as many samples, got shape"):
        TopKSelector(2).fit(held, Y)
