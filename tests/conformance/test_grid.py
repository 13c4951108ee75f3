"""Every solver on every kind of problem: it solves, or it refuses with one sentence.

A new solver is one line in SOLVERS, a new kind of problem one in PROBLEMS.
"""

from dataclasses import replace
from functools import cache

import margins
import numpy as np
import pytest
from conformance.problems import Case
from examples.group_mcp import GroupMCP

from rowsparse.losses import HingeLoss, ProbitLoss
from rowsparse.penalties import L2p, LpInf, MarginNorm
from rowsparse.problems.base import AT_MOST_K, MARGIN, PENALTY
from rowsparse.problems.margin import MarginProblem
from rowsparse.results import Status
from rowsparse.selectors.kernels import Kernel, KernelColumns
from rowsparse.solvers import ALM, IRLS, SFS, BlockDescent, ProximalGradient, Splice, run
from rowsparse.solvers.margin.linear_programs import AbsoluteNormLP, LargestNormLP
from rowsparse.solvers.margin.probit import ProbitEM
from rowsparse.solvers.margin.svm import ReweightedSVM

SOLVERS = {
    solver.__name__: solver
    for solver in (
        BlockDescent, ProximalGradient, IRLS,
        Splice, ALM, SFS,
        ReweightedSVM, ProbitEM, AbsoluteNormLP, LargestNormLP,
    )
}  # fmt: skip
ORDERS = (2.0, 1.0, 0.5)
PENALTIES = [
    *[kind(p=p) for kind in (L2p, LpInf) for p in (1.0, 0.5, 0.0)],
    GroupMCP(gamma=2.0),
]
NORMS = (0.0, 0.5, 1.0, 2.0, np.inf)


def penalised(r, penalty):
    problem = Case(r=r, n=30, d=6, c=2).problem
    problem = problem.with_penalty(penalty.with_factors(problem.penalty.factors))
    return problem.with_alpha(0.2 * problem.alpha_max())


def margin(loss, norm, n_outputs=1):
    X, y = margins.two_classes(n=30, d=5)
    Y = np.column_stack([y, np.sign(X[:, 3] + 0.1)])[:, :n_outputs]
    return margins.problem(X, Y, C=1.0, norm=norm, loss=loss)


def kernel(loss, norm):
    """The problem of the kernel classifiers: a column per sample, computed when asked for."""
    X, y = margins.two_classes(n=30, d=5)
    design = KernelColumns(Kernel("rbf", 0.2, 3, 0.0), X, X, np.ones(30))
    return MarginProblem(design, y[:, None], loss(), 1.0, MarginNorm(norm, np.ones(30)))


PROBLEMS = {
    **{f"r={r:g} {p}": lambda r=r, p=p: penalised(r, p) for r in ORDERS for p in PENALTIES},
    **{
        f"r={r:g} at most 3 rows": lambda r=r: Case(r=r, n=30, d=6, c=2).problem.with_limit(3)
        for r in (2.0, 1.0)
    },
    **{
        f"{loss.__name__} norm={norm:g} outputs={c}": lambda f=loss, p=norm, c=c: margin(f, p, c)
        for loss in (HingeLoss, ProbitLoss)
        for norm in NORMS
        for c in (1, 2)
    },
    **{
        f"{loss.__name__} norm={norm:g} kernel": lambda f=loss, p=norm: kernel(f, p)
        for loss in (HingeLoss, ProbitLoss)
        for norm in NORMS
    },
}
GRID = [(solver, problem) for solver in SOLVERS for problem in PROBLEMS]


@cache
def made(name):
    return PROBLEMS[name]()


def joined(problem, solution):
    """W as the problem has it, the intercept below."""
    return np.vstack([solution.W, solution.intercept])


@pytest.mark.parametrize(("solver", "problem"), GRID)
def test_solves_or_refuses_with_a_sentence(solver, problem):
    solver, problem = SOLVERS[solver](time_limit=60.0), made(problem)
    reason = solver.supports(problem)
    if reason is not None:
        with pytest.raises(ValueError, match=f"{type(solver).__name__} cannot solve") as refused:
            run(solver, problem)
        message = str(refused.value)
        assert message.endswith(f": {reason}")
        assert message.endswith(".")
        assert len(reason.split()) >= 4
        return
    assert problem.kind in solver.solves
    solution = run(solver, problem)
    assert solution.status in (Status.CONVERGED, Status.STALLED)
    assert_means_what_it_says(problem, solution)


@pytest.mark.parametrize(("solver", "problem"), GRID)
def test_ends_early_at_a_sound_point_and_leaves_the_start_alone(solver, problem):
    solver, problem = SOLVERS[solver](time_limit=60.0, max_iter=1), made(problem)
    if solver.supports(problem) is not None:
        return
    W0 = np.random.default_rng(0).standard_normal(problem.null_point.shape)
    if problem.kind == AT_MOST_K:
        W0 = problem.penalty.prox(W0, 1.0)
    before = W0.copy()
    solution = run(solver, problem, W0)
    np.testing.assert_array_equal(W0, before)
    assert_means_what_it_says(problem, solution)


def assert_means_what_it_says(problem, solution):
    """Every field as ``results.Solution`` documents it."""
    W = joined(problem, solution)
    assert np.isfinite(W).all()
    assert solution.objective == pytest.approx(problem.objective(W), rel=1e-10)
    if problem.kind == MARGIN:
        assert solution.violation is None
    else:
        violation = problem.evaluate(W).violation
        assert solution.violation == pytest.approx(violation, rel=1e-6, abs=1e-12)
    if solution.converged and solution.criterion is not None:
        assert solution.criterion <= solution.tol
    if solution.gap is not None:
        assert solution.gap >= 0
    if problem.kind == AT_MOST_K:
        assert solution.rows.size <= 3
    assert solution.n_iter == solution.history[-1].iteration
    assert solution.history[-1].n_rows == np.count_nonzero(W.any(axis=1))


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_solves_some_problem_and_refuses_other_kinds(solver):
    solver = SOLVERS[solver]()
    reasons = {name: solver.supports(made(name)) for name in PROBLEMS}
    solved = {made(name).kind for name, reason in reasons.items() if reason is None}
    assert solved == set(solver.solves)
    kinds = {PENALTY, AT_MOST_K, MARGIN}
    for name, reason in reasons.items():
        if made(name).kind in kinds - set(solver.solves):
            assert "this is" in reason


def test_criterion_of_block_descent_and_proximal_gradient_is_the_violation():
    for kind in (BlockDescent, ProximalGradient):
        for max_iter in (2, 1000):
            solution = run(kind(max_iter=max_iter), penalised(2.0, L2p(p=0.5)))
            assert solution.criterion == pytest.approx(solution.violation, rel=1e-9, abs=1e-15)


def test_criterion_of_irls_is_the_last_relative_change_of_its_smoothed_objective():
    problem = penalised(2.0, L2p(p=1.0))
    solution = run(replace(IRLS(), max_iter=400), problem)
    assert solution.converged
    assert 0 <= solution.criterion <= solution.tol == IRLS().tol
    before, after = (step.objective for step in solution.history[-2:])
    assert solution.criterion == pytest.approx((before - after) / after, abs=1e-12)
