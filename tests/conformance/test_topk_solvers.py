"""Solvers of the constraint keep the contract: feasible, certified, reproducible, honest."""

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from clock import Clock
from conformance.problems import Case

from rowsparse.designs import as_design
from rowsparse.losses import ResidualLoss
from rowsparse.penalties import Cardinality
from rowsparse.problems.penalised import PenalisedProblem
from rowsparse.results import Status
from rowsparse.solvers import ALM, IRLS, SFS, BlockDescent, Splice, run
from rowsparse.solvers.top_k.multistart import Start
from rowsparse.solvers.top_k.solve import solve_top_k, top_k_path

SOLVERS = {"ALM": ALM(rho=1.05), "SFS": SFS(), "Splice": Splice()}
SHAPES = [
    Case(n=40, d=12, c=3, weighted=True, factored=True),
    Case(n=40, d=12, c=1, intercept=False),
    Case(n=15, d=60, c=2),
    Case(n=15, d=60, c=3, weighted=True, factored=True, intercept=False),
]
PAIRS = [
    (name, case.but(r=r))
    for name in SOLVERS
    for case in SHAPES
    for r in ((2.0,) if name == "SFS" else (2.0, 1.0))
]
K = 3


def problem(case: Case, k: int = K) -> PenalisedProblem:
    penalty = cast(Any, Cardinality(k, case.factors.copy()))
    loss = ResidualLoss(case.r, case.s.copy() if case.weighted else None)
    return PenalisedProblem.build(
        as_design(case.X.copy()), case.Y.copy(), loss, penalty, case.intercept
    )


def random_start(the_problem: PenalisedProblem, seed: int = 0) -> np.ndarray:
    shape = the_problem.n_rows, the_problem.Y.shape[1]
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize(("name", "case"), PAIRS, ids=[f"{n} {c}" for n, c in PAIRS])
def test_the_point_is_allowed_certified_and_no_worse_than_its_own_support(name, case):
    here = problem(case)
    W0 = random_start(here)
    before = W0.copy()
    solution = run(SOLVERS[name], here, W0)
    np.testing.assert_array_equal(W0, before)
    W = case.joined(solution)
    assert here.penalty.value(W) == 0.0
    assert solution.objective == pytest.approx(here.objective(W), rel=1e-12)
    assert solution.converged
    assert solution.violation <= solution.tol
    counted = [j for j in solution.rows if case.factors[j] > 0]
    best = here.objective(here.refitted(np.array(counted)))
    assert solution.objective == pytest.approx(best, rel=1e-5)
    again = run(SOLVERS[name], here, W0)
    np.testing.assert_array_equal(again.W, solution.W)


def test_alm_holds_its_constraints_at_the_end():
    """W = V and XW - Y = E to the tolerance: without refit the point itself is nearly as good."""
    here = problem(SHAPES[2].but(r=1.0))
    raw = run(ALM(refit=False, rho=1.01, max_iter=3000), here, random_start(here))
    assert raw.converged
    best = here.objective(here.refitted(raw.rows))
    assert best <= raw.objective <= best * 1.02


def test_alm_factorises_the_smaller_system(monkeypatch):
    sizes = []
    import rowsparse.solvers.top_k.alm as module

    original = module.lifted_cholesky
    monkeypatch.setattr(
        module, "lifted_cholesky", lambda K, lift: sizes.append(len(K)) or original(K, lift)
    )
    for case in (SHAPES[1], SHAPES[2]):
        here = problem(case)
        run(ALM(max_iter=5), here, random_start(here))
    assert sizes == [12, 15]  # once each: features where d <= n, samples where d > n


@pytest.mark.parametrize("d", [12, 40])
def test_the_system_of_alm_is_solved_exactly(d):
    """Against the plain normal equations of |W - A|**2 + |XW + b - T|**2."""
    from rowsparse.solvers.top_k.alm import _System

    case = Case(n=20, d=d, c=2)
    here, rng = problem(case), np.random.default_rng(1)
    A, T = rng.standard_normal((d + 1, 2)), rng.standard_normal((20, 2))
    W, XW = _System(here).solve(A, case.A @ A, T)
    free = np.append(np.zeros(d), 1.0)
    G = case.A.T @ case.A + np.diag(1 - free)
    expected = np.linalg.solve(G, case.A.T @ T + np.where(free[:, None] > 0, 0.0, A))
    np.testing.assert_allclose(W, expected, atol=1e-9)
    np.testing.assert_allclose(XW, case.A @ W, atol=1e-9)


def test_sfs_never_increases_the_objective():
    here = problem(SHAPES[2])
    steps = [step.objective for step in run(SFS(), here, random_start(here)).history]
    assert np.all(np.diff(steps) <= 1e-12)
    assert len(steps) > 3


def test_running_out_is_said():
    here = problem(SHAPES[2].but(r=1.0))
    assert run(ALM(max_iter=2), here, random_start(here)).status == Status.MAX_ITER
    assert run(ALM(time_limit=0.0), here, random_start(here)).status == Status.TIME_LIMIT


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_a_penalty_is_refused(solver):
    with pytest.raises(ValueError, match="at most k nonzero rows"):
        run(solver, Case().problem)


# -- the search around a solver -------------------------------------------------------------------


@pytest.mark.parametrize("solver", [BlockDescent(), IRLS()], ids=["BlockDescent", "IRLS"])
def test_a_solver_of_penalties_is_refused_in_one_sentence(solver):
    here = problem(SHAPES[2])
    said = "cannot solve this problem: it is for a loss with a penalty on the rows"
    with pytest.raises(ValueError, match=said):
        solve_top_k(here, solver)
    with pytest.raises(ValueError, match=said):
        top_k_path(here, [1, 2], solver)


def test_a_solver_names_its_own_starts():
    class FromTheFirst(Splice):
        def starts(self, job):
            yield Start("first", np.arange(job.search.k))

    here = problem(SHAPES[2])
    found = solve_top_k(here, FromTheFirst(), n_init=0, polish=False)
    assert list(found.starts) == ["first"]
    np.testing.assert_array_equal(found.rows, np.arange(K))
    assert solve_top_k(here, FromTheFirst(), n_init=0).objective < found.objective


@pytest.mark.parametrize("r", [2.0, 1.0])
def test_iterations_are_starts_and_the_criterion_is_the_violation(r):
    found = solve_top_k(problem(SHAPES[2].but(r=r)), n_init=2)
    assert found.n_iter == len(found.history) == len(found.starts)
    assert found.criterion == found.violation


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_all_starts_of_a_path_share_one_time_limit(solver, monkeypatch):
    """By a clock that moves 1 ms at every look; kicks and random starts look at it too."""
    r = 2.0 if isinstance(solver, SFS) else 1.0
    here = problem(SHAPES[2].but(r=r), 8)
    clock = Clock.installed(monkeypatch)
    whole = top_k_path(here, list(range(1, 9)), replace(solver, time_limit=1e9))
    needed = clock.now
    clock = Clock.installed(monkeypatch)
    limit = needed / 4
    path = top_k_path(here, list(range(1, 9)), replace(solver, time_limit=limit))
    assert clock.now < limit + 0.5 * (needed - limit)
    assert path[-1].status == Status.TIME_LIMIT
    assert all(solution.converged for solution in whole)
