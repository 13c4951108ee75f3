"""The model without penalised rows, and the alpha at which the first one enters."""

import warnings

import numpy as np
import pytest
from conformance import plain
from conformance.problems import Case
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from rowsparse import L2pSelector
from rowsparse.designs import as_design
from rowsparse.losses import ResidualLoss
from rowsparse.losses.few_columns import distinct_samples, null_fit
from rowsparse.penalties import L2p
from rowsparse.problems.penalised import PenalisedProblem
from rowsparse.solvers import BlockDescent, run


@pytest.mark.parametrize("factored", [False, True])
@pytest.mark.parametrize("r", [2.0, 1.5, 1.0])
def test_null_model_is_the_best_of_the_free_rows(r, factored):
    case = Case(r=r, weighted=True, factored=factored)
    free = case.strength == 0
    F = case.A[:, free]

    def value(b):
        return plain.loss(F @ b.reshape(-1, case.c) - case.Y, r, case.s)

    found = minimize(value, np.zeros(F.shape[1] * case.c), method="BFGS", options={"gtol": 1e-9})
    W = case.problem.null_point
    assert not W[~free].any()
    assert value(W[free].ravel()) <= found.fun * (1 + 1e-10)
    E = F @ found.x.reshape(-1, case.c) - case.Y
    expected = np.sqrt(np.mean(case.s * plain.norms(E) ** 2))
    assert case.problem.residual_scale == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    "case",
    [*[Case(r=r, c=c) for r in (2.0, 1.5, 1.0) for c in (1, 3)], Case(size="max")],
    ids=str,
)
def test_zero_from_alpha_max_on_and_not_below(case):
    top = case.problem.alpha_max()
    at = run(BlockDescent(), case.problem.with_alpha(top * (1 + 1e-9)))
    below = run(BlockDescent(), case.problem.with_alpha(0.99 * top))
    assert at.rows.size == 0
    assert below.rows.size > 0


@pytest.mark.parametrize("size", ["l2", "max"])
@pytest.mark.parametrize("p", [0.0, 0.5])
def test_at_alpha_max_no_single_row_leaves_zero(p, size):
    case = Case(p=p, size=size)
    top = case.problem.alpha_max()
    null = case.problem.null_point
    at = run(BlockDescent(), case.problem.with_alpha(top * (1 + 1e-9)), null)
    below = run(BlockDescent(), case.problem.with_alpha(0.99 * top), null)
    assert at.rows.size == 0
    assert below.rows.size > 0


ROW_WISE = [(2.0, 1.0), (2.0, 0.5), (2.0, 0.0), (1.5, 1.0), (1.0, 1.0)]


@pytest.mark.parametrize("n", [40, 41])
@pytest.mark.parametrize("c", [1, 3])
@pytest.mark.parametrize(("r", "p"), ROW_WISE)
def test_at_alpha_max_no_single_row_lowers_the_objective_by_leaving_zero(r, p, c, n):
    """By brute force over each row, along its gradient."""
    case = Case(r=r, p=p, n=n, d=6, c=c)
    top, null = case.problem.alpha_max(), case.problem.null_point
    E = case.A @ null - case.Y
    strength = np.append(np.full(case.d, top), 0.0)
    zero = plain.objective(case.A, case.Y, null, r, p, case.s, strength)
    pull = case.A.T @ (E / np.maximum(plain.norms(E), 1e-9)[:, None] ** (2 - r))
    for j in range(case.d):
        for t in np.geomspace(1e-3, 10, 60):
            W = null.copy()
            W[j] = -t * pull[j] / np.linalg.norm(pull[j])
            value = plain.objective(case.A, case.Y, W, r, p, case.s, strength)
            assert value >= zero * (1 - 1e-6)


@pytest.mark.parametrize("c", [1, 3])
@pytest.mark.parametrize(("r", "p"), [*ROW_WISE, (1.5, 0.5), (1.0, 0.5)])
def test_alpha_max_hardly_depends_on_one_sample(r, p, c):
    """With an odd number of samples and one output, r = 1, the null model meets one exactly."""
    tops = []
    for drop in (0, 1):
        case = Case(r=r, p=p, n=40 + drop, d=6, c=c)
        design, Y = as_design(case.X[drop:]), case.Y[drop:]
        whole = PenalisedProblem.build(as_design(case.X), case.Y, ResidualLoss(r), L2p(p=p))
        tops += [
            whole.alpha_max(),
            PenalisedProblem.build(design, Y, whole.loss, L2p(p=p)).alpha_max(),
        ]
    assert max(tops) <= 4 * min(tops)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("factored", [False, True])
@pytest.mark.parametrize("r", [2.0, 1.0])
def test_the_null_model_is_evaluated_like_any_other(r, factored, weighted):
    problem = Case(r=r, weighted=weighted, factored=factored).problem
    W = problem.null_point
    E = problem.design.matmul(W) - problem.Y
    found, expected = problem.evaluate(W), problem.evaluate_residual(W, E)
    assert found.objective == pytest.approx(expected.objective, rel=1e-12)
    np.testing.assert_allclose(found.gradient, expected.gradient, atol=1e-13)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-12)


def test_the_null_model_of_a_problem_without_free_rows_is_evaluated_from_the_target():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, 6)), rng.standard_normal((20, 3))
    problem = PenalisedProblem(as_design(X), Y, ResidualLoss(2.0), L2p(alpha=0.1, p=1.0))
    expected = -X.T @ Y / 20
    np.testing.assert_allclose(problem.evaluate(np.zeros((6, 3))).gradient, expected, atol=1e-14)
    np.testing.assert_allclose(problem.with_alpha(0.2).null_gradient, expected, atol=1e-14)


@pytest.mark.parametrize("r", [2.0, 1.0])
def test_another_penalty_keeps_what_is_about_the_data_and_no_null_model_of_other_free_rows(r):
    case = Case(r=r, n=40, d=6)
    problem = case.problem
    problem.evaluate(problem.null_point)
    assert problem.alpha_max() > 0  # both compute all that is kept
    assert problem.sample_curvatures.all()
    freed = np.append(np.ones(6), 0.0)
    freed[2] = 0.0
    other = problem.with_penalty(problem.penalty.with_factors(freed))
    fresh = PenalisedProblem(problem.design, problem.Y, problem.loss, other.penalty, True)
    np.testing.assert_array_equal(other.null_point, fresh.null_point)
    assert other.null_point[2].any()
    assert other.residual_scale == fresh.residual_scale
    assert other.alpha_max() == fresh.alpha_max()
    weaker = problem.with_alpha(0.5)
    assert weaker.null_point is problem.null_point
    assert weaker.sample_curvatures is problem.sample_curvatures


def test_a_constraint_has_no_alpha_and_says_so():
    limited = Case().problem.with_limit(3)
    for ask in (limited.alpha_max, lambda: limited.with_alpha(1.0), lambda: limited.penalty.alpha):
        with pytest.raises(ValueError, match=r"strength alpha, got Cardinality, a constraint; use"):
            ask()


def test_problems_are_equal_by_value():
    case = Case(weighted=True, factored=True)
    problem = case.problem
    same = PenalisedProblem(
        problem.design, problem.Y.copy(), problem.loss, problem.penalty, problem.has_constant
    )
    assert problem == same
    assert problem != problem.with_alpha(2 * case.alpha)
    assert problem != problem.with_limit(3)
    W = problem.null_point
    assert problem.evaluate(W) == same.evaluate(W)
    assert problem.evaluate(W) != problem.evaluate(W + 1)


def test_many_samples_of_few_classes_are_fitted_as_one_sample_each():
    rng = np.random.default_rng(0)
    Y = np.eye(3)[rng.choice(3, 3000, p=[0.6, 0.3, 0.1])]
    s = rng.uniform(0.5, 1.5, 3000)
    F, distinct, loss = distinct_samples(np.ones((3000, 1)), Y, ResidualLoss(1.0, s / s.mean()))
    assert len(F) == len(distinct) == 3
    totals = np.array([s[Y[:, j] == 1].sum() for j in distinct.argmax(axis=1)])
    np.testing.assert_allclose(loss.sample_weight, 3 * totals / totals.sum(), rtol=1e-12)
    # the geometric median of classes is the vertex of one that holds more than half of the weight
    B = null_fit(np.ones((3000, 1)), Y, ResidualLoss(1.0, s / s.mean()))
    np.testing.assert_allclose(B, [[1.0, 0.0, 0.0]], atol=1e-6)


def test_samples_that_differ_are_left_as_they_are():
    Y = np.random.default_rng(0).normal(size=(30, 2))
    F, distinct, loss = distinct_samples(np.ones((30, 1)), Y, ResidualLoss(1.0))
    assert len(F) == 30
    assert distinct is Y
    assert loss.sample_weight is None


@pytest.mark.parametrize("r", [0.1, 0.5, 0.9])
def test_for_r_below_one_the_null_model_is_no_worse_than_any_sample_as_a_constant(r):
    rng = np.random.default_rng(3)
    Y = np.where(rng.random((20, 1)) < 0.7, 1.0, -1.0)  # the mean is no local minimum
    loss = ResidualLoss(r)
    design = as_design(rng.standard_normal((20, 4)))
    problem = PenalisedProblem.build(design, Y, loss, L2p(0.1, p=1.0))
    constants = [plain.loss(y - Y, r, np.ones(20)) for y in Y]
    assert problem.objective(problem.null_point) <= min(constants) * (1 + 1e-12)


@pytest.mark.parametrize("r", [0.1, 0.5])
@pytest.mark.parametrize("k", [None, 3])
def test_no_start_ends_above_the_null_model(r, k):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 8))
    y = np.array([1.0] * 14 + [-1.0] * 6)
    start = 5 * rng.standard_normal((8, 1))
    constant = plain.loss(1.0 - y[:, None], r, np.ones(20))
    for init in ("zero", "irls", "convex", start):
        model = L2pSelector(k, alpha=1e-6, p=1.0, r=r, ridge=1.0, init=init, task="regression")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert model.fit(X, y).solution_.objective <= constant * (1 + 1e-6)
