"""Margin machines where systems become singular, costs huge or nothing is left: the truth or a
refusal in words, never a wrong "converged"."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from rowsparse import ProbitKernelClassifier, ProbitSelector, ZeroNormKernelSVC, ZeroNormSVC
from rowsparse.solvers import ReweightedSVM

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # that nothing was selected


def optimum(X, y, C, norm, factors):
    """By an interior point of another house, on standardised columns; y is ±1."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    penalty = 2 / norm * factors @ cp.power(cp.abs(w), norm)
    errors = cp.sum(cp.pos(1 - cp.multiply(y, Z @ w + b)))
    return cp.Problem(cp.Minimize(C * errors + penalty)).solve(solver="CLARABEL")


def claimed(machine, X, y, norm):
    """The objective of coef_ and intercept_; without weights of samples or features."""
    Y = np.where(y[:, None] == machine.classes_, 1.0, -1.0)[:, -machine.coef_.shape[0] :]
    errors = np.maximum(1 - Y * (X @ machine.coef_.T + machine.intercept_), 0).sum()
    sizes = np.linalg.norm(machine.coef_ * X.std(axis=0), axis=0)
    return machine.C_ * errors + (2 / norm * (sizes**norm).sum() if norm else (sizes > 0).sum())


@pytest.mark.parametrize("norm", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("kind", ["equal", "sum", "many", "collinear with a penalised one"])
@pytest.mark.parametrize("C", [1e-3, 10.0])
def test_always_in_columns_that_depend_on_each_other(kind, norm, C):
    rng = np.random.default_rng(5)
    n, d = 14, 6
    X = rng.standard_normal((n, d))
    factors = np.array([0.0, 0.0, 1.0, 2.0, 1.0, 1.0])
    y = np.where(X[:, 2] + rng.standard_normal(n) > 0, 1, -1)
    if kind == "equal":
        X[:, 1] = X[:, 0]
    elif kind == "sum":
        X[:, 1], factors[3] = 3 - X[:, 0] / 7, 0.0
    elif kind == "many":
        X, factors = rng.standard_normal((n, 40)), np.repeat([0.0, 1.0], 20)
    else:
        X[:, 2] = 2 * X[:, 0]
    machine = ZeroNormSVC(C=C, norm=norm, feature_weights=factors, tol=1e-4).fit(X, y)
    solution, best = machine.solution_, optimum(X, y, C, norm, factors)
    assert solution.converged
    nothing = 1e-6 * C * n
    assert solution.objective <= best * 1.002 + nothing
    assert solution.objective - solution.gap <= best * (1 + 1e-6) + nothing


def test_a_bound_is_claimed_from_feasible_multipliers_only():
    rng = np.random.default_rng(0)
    for _ in range(30):
        X = rng.standard_normal((8, 3))
        X[:, 2] = X[:, 0] + 10.0 ** rng.integers(-8, 1) * X[:, 2]
        y = np.where(rng.random(8) < 0.5, 1, -1)
        y[:2] = -1, 1
        factors = np.array([0.0, 1.0, 0.0])
        norm, C = float(rng.choice([1.0, 1.5, 2.0])), 10.0 ** rng.integers(-6, 4)
        solution = ZeroNormSVC(C=C, norm=norm, feature_weights=factors).fit(X, y).solution_
        best = optimum(X, y, C, norm, factors)
        assert solution.objective - solution.gap <= best * (1 + 1e-5) + 1e-7 * C


@pytest.mark.parametrize("norm", [0.5, 1.0, 1.5, 2.0])
def test_many_samples_of_low_rank_and_huge_costs(norm):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((30, 6)) @ rng.standard_normal((6, 10))
    y = rng.integers(0, 3, 30)
    machine = ZeroNormSVC(C=1e6, norm=norm, n_features_to_select=6).fit(X, y)
    assert machine.solution_.converged
    # a machine has five digits or more; C = 1e6 on 30 samples
    assert claimed(machine, X, y, norm) == pytest.approx(machine.solution_.objective, rel=1e-6)
    alone = ZeroNormSVC(C=machine.C_, norm=norm).fit(X[:, machine.support_], y).solution_.objective
    assert machine.solution_.objective <= 1.05 * alone


@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
def test_columns_of_any_scale_without_standardizing(norm):
    """Where a column is huge its coefficient costs nothing: as if it were always in."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, 3))
    y = np.where(X[:, 0] + rng.standard_normal(20) > 0, 1, -1)
    huge = X * [1e11, 1.0, 1.0]
    found = ZeroNormSVC(norm=norm, standardize=False).fit(huge, y)
    free = ZeroNormSVC(norm=norm, standardize=False, feature_weights=[0, 1, 1]).fit(X, y)
    assert found.solution_.converged
    assert found.support_[0]
    assert found.solution_.objective == pytest.approx(free.solution_.objective, rel=1e-3, abs=1e-8)


def test_numbers_out_of_reach_are_refused():
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((12, 3)), np.arange(12) % 2
    for estimator in (ZeroNormSVC(standardize=False), ProbitSelector(standardize=False)):
        with pytest.raises(ValueError, match=r"size between .* standardize=True"):
            estimator.fit(1e150 * X, y)
    with pytest.raises(ValueError, match="Expected kernel values up to"):
        ZeroNormKernelSVC(kernel="poly", gamma=1.0, degree=3).fit(1e90 * X, y)
    assert np.isfinite(ZeroNormSVC().fit(1e150 * X, y).coef_).all()


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("multi_class", ["joint", "ovr"])
def test_the_largest_coefficient_with_k_is_solved_on_k_columns(k, multi_class):
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((20, 4)), rng.integers(0, 3, 20)
    machine = ZeroNormSVC(
        k, norm=np.inf, multi_class=multi_class, feature_weights=[1, 2, 1, 0]
    ).fit(X, y)
    chosen = machine.support_
    assert chosen.sum() == k
    assert chosen[3]
    assert not machine.coef_[:, ~chosen].any()
    weights = np.array([1, 2, 1, 0])[chosen]
    alone = ZeroNormSVC(norm=np.inf, multi_class=multi_class, feature_weights=weights)
    assert machine.solution_.objective == pytest.approx(
        alone.fit(X[:, chosen], y).solution_.objective
    )


@pytest.mark.parametrize("solver", ["auto", ReweightedSVM(time_limit=0.0)])
@pytest.mark.filterwarnings("ignore:The solver stopped")
def test_what_is_claimed_where_nothing_is_selected(solver):
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((30, 4)), np.repeat([0, 1, 2], [5, 15, 10])
    machine = ZeroNormSVC(C=1e-4, norm=0.5, solver=solver).fit(X, y)
    assert not machine.coef_.any()
    assert machine.solution_.objective == pytest.approx(claimed(machine, X, y, 0.5), rel=1e-6)
    assert (machine.predict(X) == 1).all()


@pytest.mark.filterwarnings("ignore:The solver stopped")
@pytest.mark.parametrize("stop_after", [0, 1, 3])
@pytest.mark.parametrize("classes", [2, 3])
def test_k_rows_however_the_search_ends(stop_after, classes):
    rng = np.random.default_rng(8)
    X, y = rng.standard_normal((40, 60)), np.arange(40) % classes
    solver = ReweightedSVM(callback=lambda step: step.iteration >= stop_after)
    machine = ZeroNormSVC(3, solver=solver).fit(X, y)
    assert machine.support_.sum() == 3
    assert not machine.coef_[:, ~machine.support_].any()
    assert claimed(machine, X, y, 0) == pytest.approx(machine.solution_.objective)


def test_equal_always_in_columns_are_both_among_the_k():
    rng = np.random.default_rng(11)
    X = rng.standard_normal((20, 3))
    X = X[:, [0, 0, 1, 2]]
    y = np.where(X[:, 0] + X[:, 2] > 0, 1, -1)
    machine = ZeroNormSVC(2, norm=0.5, feature_weights=[0, 0, 1, 1]).fit(X, y)
    assert machine.support_.tolist() == [True, True, False, False]
    assert not machine.coef_[:, 2:].any()


def test_converged_means_a_small_gap():
    rng = np.random.default_rng(9)
    for _ in range(20):
        X, y = rng.standard_normal((10, 12)), np.arange(10) % 3
        solution = ZeroNormSVC(C=10.0 ** rng.integers(-1, 4), norm=1.0).fit(X, y).solution_
        assert not solution.converged or solution.gap <= 0.0101 * solution.objective


@pytest.mark.parametrize("Classifier", [ZeroNormKernelSVC, ProbitKernelClassifier])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "sigmoid"])
def test_points_that_no_kernel_tells_apart(Classifier, kernel):
    for X in (np.ones((6, 2)), sparse.csr_array((6, 2))):
        with pytest.raises(ValueError, match="Expected points that the kernel tells apart"):
            Classifier(kernel=kernel).fit(X, np.arange(6) % 2)


@pytest.mark.parametrize("norm", [0.0, 1.5])
def test_probit_on_singular_systems(norm):
    """A RuntimeWarning, of which LinAlgWarning is one, is an error here."""
    rng = np.random.default_rng(10)
    X = rng.standard_normal((20, 15)) * 10.0 ** rng.uniform(-8, 8, 15)
    y = np.where(X[:, 0] > 0, 1, 0)
    for model in (
        ProbitKernelClassifier(kernel="linear", prior=0.1, norm=norm, max_iter=2000),
        ProbitSelector(norm=norm, gamma=1e-6, feature_weights=np.arange(15) % 2),
    ):
        assert np.isfinite(model.fit(X, y).decision_function(X)).all()
