"""ZeroNormKernelSVC: few support vectors, the names of SVC."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from rowsparse import ProbitKernelClassifier, ZeroNormKernelSVC
from rowsparse.selectors.kernels import KernelColumns, kernel_width
from rowsparse.solvers.margin.alive import Alive

X, y = make_moons(160, noise=0.15, random_state=0)
X_TEST, Y_TEST = make_moons(600, noise=0.15, random_state=1)


def test_few_support_vectors_are_enough():
    ours = ZeroNormKernelSVC(10.0, gamma=1.0).fit(X, y)
    theirs = SVC(C=10.0, gamma=1.0).fit(X, y)
    assert ours.support_.size <= theirs.support_.size / 2
    assert ours.score(X_TEST, Y_TEST) >= theirs.score(X_TEST, Y_TEST) - 0.03


@pytest.mark.parametrize("kind", [ZeroNormKernelSVC(10.0), ProbitKernelClassifier(prior=0.1)])
def test_fitted_names_are_those_of_svc(kind):
    labels = np.array(["n", "p"])[y]
    machine = kind.fit(X, labels)
    n = machine.support_.size
    assert machine.dual_coef_.shape == (1, n)
    assert machine.intercept_.shape == (1,)
    assert machine.n_support_.sum() == n
    np.testing.assert_array_equal(machine.support_vectors_, X[machine.support_])
    of_class = labels[machine.support_]
    np.testing.assert_array_equal(of_class, np.sort(of_class))  # by class, as in SVC
    np.testing.assert_array_equal([np.sum(of_class == c) for c in "np"], machine.n_support_)
    K = rbf_kernel(X_TEST, machine.support_vectors_, kernel_width("scale", X))
    Z = K @ machine.dual_coef_[0] + machine.intercept_
    np.testing.assert_allclose(machine.decision_function(X_TEST), Z)


def test_norm_two_is_the_quadratic_problem_in_the_kernel_columns():
    K = rbf_kernel(X, X, 1.0)
    machine = ZeroNormKernelSVC(2.0, gamma=1.0, norm=2.0).fit(X, y)
    assert machine.support_.size == len(X)
    plain = SVC(kernel="linear", C=1.0, tol=1e-9).fit(K, y)  # the rows of K as data
    np.testing.assert_allclose(
        machine.decision_function(X), plain.decision_function(K), rtol=1e-3, atol=1e-3
    )


@pytest.mark.parametrize(
    "kernel",
    ["linear", "poly", "rbf", "sigmoid", lambda A, B: np.exp(-0.5 * (A[:, :1] - B.T[:1]) ** 2)],
)
def test_every_kernel_equals_its_precomputed_matrix(kernel):
    machine = ZeroNormKernelSVC(5.0, kernel=kernel, gamma=0.3, coef0=0.5, degree=2).fit(X, y)
    matrix = machine._kernel()
    other = ZeroNormKernelSVC(5.0, kernel="precomputed").fit(matrix(X, X), y)
    np.testing.assert_array_equal(machine.support_, other.support_)
    np.testing.assert_allclose(machine.dual_coef_, other.dual_coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        machine.decision_function(X_TEST),
        other.decision_function(matrix(X_TEST, X)),
        rtol=1e-4,
        atol=1e-5,
    )


def test_sparse_data_equal_dense():
    A = np.where(np.abs(X) > 0.4, X, 0.0)
    dense, sparse = (ZeroNormKernelSVC(5.0).fit(B, y) for B in (A, sp.csr_array(A)))
    np.testing.assert_array_equal(dense.support_, sparse.support_)
    np.testing.assert_allclose(
        dense.decision_function(A), sparse.decision_function(sp.csr_array(A)), atol=1e-6
    )


def test_equal_points_are_kept_once_and_count_as_weight():
    twice = np.vstack([X, X])
    machine = ZeroNormKernelSVC(5.0, gamma=1.0).fit(twice, np.tile(y, 2))
    assert machine.support_.max() < len(X)
    weighted = ZeroNormKernelSVC(5.0, gamma=1.0).fit(X, y, sample_weight=np.full(len(X), 2.0))
    np.testing.assert_array_equal(machine.support_, weighted.support_)
    np.testing.assert_allclose(machine.dual_coef_, weighted.dual_coef_, atol=1e-5)


def test_points_of_weight_zero_are_not_candidates():
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    machine = ZeroNormKernelSVC(5.0, gamma=1.0).fit(X, y, sample_weight=weight)
    assert np.all(weight[machine.support_] > 0)
    other = ZeroNormKernelSVC(5.0, gamma=1.0).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(machine.support_vectors_, other.support_vectors_)


def test_several_classes_share_their_support_vectors():
    three = y + (X[:, 0] > 1.0)
    machine = ZeroNormKernelSVC(20.0, gamma=1.0).fit(X, three)
    assert machine.dual_coef_.shape == (3, machine.support_.size)
    assert machine.decision_function(X).shape == (len(X), 3)
    assert machine.score(X, three) > 0.85


@pytest.mark.parametrize("kind", [ZeroNormKernelSVC(1e-6), ProbitKernelClassifier(prior=1e6)])
def test_nothing_left_is_said_and_predicts_the_majority(kind):
    labels = np.where(np.arange(len(X)) < 100, "many", "few")
    with pytest.warns(UserWarning, match="majority class"):
        machine = clone(kind).fit(X, labels)
    assert machine.support_.size == 0
    assert set(machine.predict(X)) == {"many"}


def test_memory_shrinks_as_points_die(monkeypatch):
    held = []
    keep = Alive.keep

    def watched(self, mask):
        kept = keep(self, mask)
        held.append(kept.columns.block.nbytes)
        return kept

    monkeypatch.setattr(Alive, "keep", watched)
    machine = ZeroNormKernelSVC(5.0, gamma=1.0).fit(X, y)
    n = len(X)
    assert max(held) <= 8 * n * n
    assert held[-1] <= 8 * n * machine.support_.size
    assert len(set(held)) > 2


def test_kernel_columns_are_a_design():
    machine = ZeroNormKernelSVC(5.0, gamma=1.0).fit(X, y)
    weights = np.linspace(0.5, 2, len(X))
    design = KernelColumns(machine._kernel(), X, X[:20], weights)
    K = rbf_kernel(X, X[:20], 1.0)
    K = K - np.average(K, axis=0, weights=weights)
    W, R = np.random.default_rng(0).standard_normal((20, 2)), np.ones((len(X), 3))
    np.testing.assert_allclose(design.take(np.array([3, 1])), K[:, [3, 1]])
    np.testing.assert_allclose(design.matmul(W), K @ W)
    np.testing.assert_allclose(design.rmatmul(R), K.T @ R, atol=1e-9)
    np.testing.assert_allclose(design.squares(weights), weights @ K**2)
    np.testing.assert_allclose(design.squares(R[:, 0]), (K**2).sum(axis=0))
    assert not design.constant_columns().any()


def test_width_of_the_kernel_is_that_of_svc():
    for gamma in ("scale", "auto", 0.7):
        expected = SVC(gamma=gamma).fit(X, y)._gamma
        assert kernel_width(gamma, X) == pytest.approx(expected)
        assert kernel_width(gamma, sp.csr_array(X)) == pytest.approx(expected)


def test_width_of_the_kernel_does_not_depend_on_where_X_lies():
    """From sums of squares nothing of a variance of 1 is left at 1e8."""
    expected = 1 / (2 * X.var())
    for shift in (0.0, 1e4, 1e8):
        assert kernel_width("scale", X + shift) == pytest.approx(expected, rel=1e-6)
        assert kernel_width("scale", sp.csr_array(X + shift)) == pytest.approx(expected, rel=1e-6)


def test_width_of_the_kernel_of_weighted_sparse_rows_is_that_of_repeated_rows():
    thin = np.where(np.abs(X) > 0.5, X, 0.0)
    counts = np.arange(len(X)) % 3 + 1
    repeated = np.repeat(thin, counts, axis=0)
    expected = 1 / (2 * repeated.var())
    assert kernel_width("scale", thin, counts) == pytest.approx(expected)
    assert kernel_width("scale", sp.csr_array(thin), counts) == pytest.approx(expected)


@pytest.mark.parametrize("kind", [ZeroNormKernelSVC(), ProbitKernelClassifier()])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_fit_leaves_the_arrays_of_the_caller_alone(kind, kernel):
    given = sp.csr_array(X if kernel == "rbf" else rbf_kernel(X, X))
    given.indices = given.indices.reshape(len(X), -1)[:, ::-1].ravel().copy()  # out of order
    given.data = given.data.reshape(len(X), -1)[:, ::-1].ravel().copy()
    given.has_sorted_indices = False
    weights = np.linspace(0.5, 2, len(X))
    labels = y.copy()
    before = [a.copy() for a in (given.data, given.indices, given.indptr, weights, labels)]
    machine = clone(kind).set_params(kernel=kernel, n_vectors_to_select=5)
    machine.fit(given, labels, sample_weight=weights).predict(given)
    after = [given.data, given.indices, given.indptr, weights, labels]
    for ours, theirs in zip(before, after, strict=True):
        np.testing.assert_array_equal(theirs, ours)


@pytest.mark.parametrize("kind", [ZeroNormKernelSVC(), ProbitKernelClassifier()])
@pytest.mark.parametrize("k", [1, 4, 20])
def test_exactly_k_support_vectors(kind, k):
    machine = clone(kind).set_params(n_vectors_to_select=k, gamma=1.0).fit(X, y)
    assert machine.support_.size == k
    assert machine.dual_coef_.all()


def test_fewer_distinct_points_than_wanted_are_all_kept_and_said():
    few = np.repeat(X[:10], 4, axis=0)
    with pytest.warns(UserWarning, match="Expected 15 support vectors, got 10"):
        machine = ZeroNormKernelSVC(n_vectors_to_select=15).fit(few, np.repeat(y[:10], 4))
    assert machine.support_.size == 10


def test_refit_on_all_points_is_the_plain_machine():
    """Keeping every point leaves nothing to choose: only SVC's own problem remains."""
    machine = ZeroNormKernelSVC(gamma=1.0, n_vectors_to_select=len(X), refit_C=3.0).fit(X, y)
    plain = SVC(C=3.0, gamma=1.0, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(
        machine.decision_function(X_TEST), plain.decision_function(X_TEST), atol=2e-3
    )


@pytest.mark.parametrize("precomputed", [False, True])
def test_refit_minimises_the_machine_of_the_kernel_in_the_span(precomputed):
    """No move of the coefficients or the intercept lowers 1/2 a'Ka + C sum of the losses."""
    C, K = 2.0, rbf_kernel(X, X, 1.0)
    machine = ZeroNormKernelSVC(5.0, gamma=1.0, n_vectors_to_select=9, refit_C=C)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    if precomputed:
        machine.set_params(kernel="precomputed").fit(K, y, weights)
    else:
        machine.fit(X, y, weights)
    S, signs = machine.support_, 2.0 * y - 1

    def objective(a, b):
        losses = np.maximum(1 - signs * (K[:, S] @ a + b), 0)
        return 0.5 * a @ K[np.ix_(S, S)] @ a + C * weights @ losses

    a, b = machine.dual_coef_[0], machine.intercept_[0]
    lowest = objective(a, b)
    rng = np.random.default_rng(1)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(50):
            move = size * rng.standard_normal(S.size + 1)
            assert objective(a + move[1:], b + move[0]) >= lowest - 1e-7


def test_refit_of_several_classes_fits_each():
    many = (X[:, 0] > 0.5).astype(int) + y
    machine = ZeroNormKernelSVC(gamma=1.0, n_vectors_to_select=12, refit_C=10.0).fit(X, many)
    assert machine.dual_coef_.shape == (3, 12)
    assert machine.score(X, many) > 0.9


def test_refit_needs_a_kernel_that_is_a_norm():
    with pytest.raises(ValueError, match=r"positive semidefinite.*refit_C=None"):
        ZeroNormKernelSVC(
            10.0, kernel=lambda A, B: -rbf_kernel(A, B), n_vectors_to_select=3, refit_C=1.0
        ).fit(X, y)
