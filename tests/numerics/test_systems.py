"""The reweighted ridge system against the explicit normal equations, in both spaces."""

import numpy as np
import pytest

from rowsparse.designs import as_design
from rowsparse.numerics.systems import (
    cholesky_solver,
    conjugate_gradients,
    lifted_cholesky,
    normal_equations,
    ridge,
    ridge_by_features,
    solve_positive,
)

SHAPES = [(30, 8), (8, 30), (10, 10)]


def data(n, d, c=3, decades=2.0, seed=0):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, d)), rng.standard_normal((n, c))
    h = 10 ** rng.uniform(-1, 1, n)
    return X, Y, h, 10 ** rng.uniform(-decades, decades, d)


def explicit(X, Y, h, q):
    return np.linalg.solve(X.T @ (h[:, None] * X) + np.diag(q), X.T @ (h[:, None] * Y))


def through_features(X, Y, h, q):
    G, B = normal_equations(as_design(X), Y, h, np.arange(len(q)))
    return ridge_by_features(G, q, B)


def through_the_smaller(X, Y, h, q):
    return ridge(as_design(X), Y, h, q)


SPACES = [through_features, through_the_smaller]


@pytest.mark.parametrize("c", [1, 3])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("space", SPACES)
def test_solves_the_normal_equations(space, shape, c):
    X, Y, h, q = data(*shape, c)
    np.testing.assert_allclose(space(X, Y, h, q), explicit(X, Y, h, q), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("n_free", [1, 3])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("space", SPACES)
def test_free_rows_are_not_penalised(space, shape, n_free):
    X, Y, h, q = data(*shape)
    q[:n_free] = 0.0
    W = space(X, Y, h, q)
    np.testing.assert_allclose(W, explicit(X, Y, h, q), rtol=1e-8, atol=1e-10)
    gradient = X.T @ (h[:, None] * (X @ W - Y)) + q[:, None] * W
    assert np.abs(gradient).max() <= 1e-10


@pytest.mark.parametrize("shape", SHAPES)
def test_both_spaces_agree_over_twenty_decades_of_weights(shape):
    """The smallest rows keep their digits: each is compared in its own size."""
    X, Y, h, q = data(*shape, decades=10.0)
    q = np.maximum(q, 1e-4)
    by_features, by_samples = through_features(X, Y, h, q), through_the_smaller(X, Y, h, q)
    sizes = np.linalg.norm(by_samples, axis=1, keepdims=True)
    np.testing.assert_allclose(by_features / sizes, by_samples / sizes, atol=1e-6)


def test_constant_columns_may_be_free_twice_over():
    """Two equal free columns leave the split open but not the prediction."""
    X, Y, h, q = data(8, 30)
    X[:, 1] = X[:, 0] = 1.0
    q[:2] = 0.0
    once = explicit(X[:, 1:], Y, h, q[1:])
    np.testing.assert_allclose(X @ through_the_smaller(X, Y, h, q), X[:, 1:] @ once, atol=1e-9)


def test_a_singular_matrix_still_gives_a_solution_of_a_solvable_system():
    rng = np.random.default_rng(0)
    B = rng.standard_normal((5, 3))
    A, target = B @ B.T, B @ rng.standard_normal((3, 2))
    A[-1] = A[:, -1] = 0.0
    A[-1, -1] = 1.0
    target[-1] = 0.0
    A = A + 1e-9 * np.eye(5)
    np.testing.assert_allclose(A @ solve_positive(A.copy(), target), target, atol=1e-6)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_a_singular_matrix_is_solved_in_least_squares_without_a_warning(size, order):
    A = size * np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]], order=order)
    B = size * np.array([[2.0], [2.0], [0.0]])
    np.testing.assert_allclose(solve_positive(A, B), [[1.0], [1.0], [0.0]])


def test_numbers_that_are_not_finite_end_in_nan_not_in_an_error():
    A = np.array([[np.nan, 1.0], [1.0, 1.0]])
    assert np.isnan(solve_positive(A, np.ones((2, 1)))).all()


def test_an_indefinite_matrix_is_solved_by_the_pivoted_method():
    A = np.array([[1.0, 2.0], [2.0, 1.0]])
    B = np.array([[3.0], [3.0]])
    np.testing.assert_allclose(solve_positive(A, B), [[1.0], [1.0]])


@pytest.mark.parametrize("space", SPACES)
def test_inputs_are_left_alone(space):
    arrays = data(20, 6)
    before = [a.copy() for a in arrays]
    space(*arrays)
    for now, then in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_the_given_matrices_are_left_alone():
    X, Y, _, q = data(20, 6)
    G = X.T @ X
    before = G.copy()
    ridge_by_features(G, q, X.T @ Y)
    lifted_cholesky(G, q)
    np.testing.assert_array_equal(G, before)


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_of_infinite_weight_are_zero(shape):
    X, Y, h, q = data(*shape)
    q[::3] = np.inf
    W = ridge(as_design(X), Y, h, q)
    kept = np.isfinite(q)
    assert not W[~kept].any()
    np.testing.assert_allclose(W[kept], explicit(X[:, kept], Y, h, q[kept]), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(5,), (5, 3)])
def test_cholesky_solver_solves(order, dtype, shape):
    rng = np.random.default_rng(0)
    M = rng.standard_normal((8, 5))
    A, B = np.asarray(M.T @ M, dtype=dtype, order=order), rng.standard_normal(shape)
    found = cholesky_solver(A.copy(order="K"))(B.astype(dtype))
    assert found.dtype == dtype
    np.testing.assert_allclose(A @ found, B, atol=1e-3 if dtype == np.float32 else 1e-12)


def test_cholesky_solver_without_unknowns():
    assert cholesky_solver(np.zeros((0, 0)))(np.zeros((0, 2))).shape == (0, 2)


def test_cholesky_solver_refuses_what_is_not_positive_definite():
    with pytest.raises(np.linalg.LinAlgError, match="order 2"):
        cholesky_solver(np.diag([1.0, -1.0, 1.0]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_matrix_that_rounding_made_singular_is_lifted(dtype):
    column = np.arange(1.0, 6.0)[:, None].astype(dtype)
    A = column @ column.T
    found = lifted_cholesky(A)(A[:, 0])
    np.testing.assert_allclose(A @ found, A[:, 0], rtol=1e-3 if dtype == np.float32 else 1e-6)


def test_an_indefinite_matrix_is_not_lifted():
    with pytest.raises(np.linalg.LinAlgError):
        lifted_cholesky(np.diag([1.0, -1.0]))


def test_the_halves_of_a_factor_solve_together():
    X, Y, _, q = data(20, 6)
    factor = lifted_cholesky(X.T @ X, q)
    right = X.T @ Y
    np.testing.assert_allclose(factor.back(factor.forward(right)), factor(right), rtol=1e-10)


@pytest.mark.parametrize("accuracy", [1e-1, 1e-6, 1e-12])
def test_conjugate_gradients_reach_the_accuracy_in_the_norm_of_the_preconditioner(accuracy):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 12))
    A = A @ A.T + np.diag(10.0 ** np.linspace(-2, 2, 12))
    B = rng.standard_normal((12, 3))
    d = A.diagonal()[:, None]
    D = conjugate_gradients(lambda V: A @ V, lambda R: R / d, B, accuracy, 200)

    def size(R):
        return np.sqrt(np.sum(R**2 / d))

    assert size(B - A @ D) <= accuracy * size(B) * (1 + 1e-9)


def test_conjugate_gradients_end_at_the_first_direction_of_negative_curvature():
    A = np.diag([2.0, -1.0])
    downhill = np.array([[0.0], [1.0]])
    D = conjugate_gradients(lambda V: A @ V, lambda R: R, downhill, 1e-8, 10)
    np.testing.assert_array_equal(D, downhill)  # nothing but the direction itself is known
    mixed = np.array([[1.0], [0.1]])
    D = conjugate_gradients(lambda V: A @ V, lambda R: R, mixed, 1e-8, 10)
    assert np.vdot(D, mixed) > 0  # still a direction of descent
