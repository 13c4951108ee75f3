"""Where a run starts: it may decide the minimum, and the solution says so."""

import numpy as np
import pytest
from conformance.problems import Case, tight

from rowsparse.solvers import BlockDescent, run, solve


@pytest.mark.parametrize(("r", "p"), [(2.0, 1.0), (2.0, 0.5), (2.0, 0.0), (1.0, 1.0), (1.5, 0.5)])
def test_block_descent_stays_at_its_own_solution(r, p):
    case = Case(r=r, p=p)
    solution = run(BlockDescent(), case.problem)
    again = run(BlockDescent(), case.problem, case.joined(solution))
    assert again.converged
    assert again.objective <= solution.objective * (1 + 1e-9)
    np.testing.assert_allclose(again.W, solution.W, atol=1e-5 * np.abs(solution.W).max())


@pytest.mark.parametrize("r", [2.0, 1.5, 1.0])
@pytest.mark.parametrize("seed", range(2))
def test_block_descent_forgets_its_start_where_there_is_one_minimum(r, seed):
    case = Case(r=r)
    W0 = np.random.default_rng(seed).standard_normal((case.problem.n_rows, case.c))
    warm = run(BlockDescent(), case.problem, 5 * W0)
    assert warm.converged
    assert warm.objective == pytest.approx(tight(case).objective, rel=1e-8)


@pytest.mark.parametrize(
    "case",
    [
        *[Case(p=p, n=30, d=40, seed=seed) for p in (0.5, 0.0) for seed in (0, 1)],
        *[Case(p=p, n=30, d=40, size="max") for p in (0.5, 0.0)],
        *[Case(r=r, p=p, n=20, d=8, c=2) for r, p in ((1.0, 0.5), (0.5, 1.0))],
    ],
    ids=str,
)
def test_best_start_is_no_worse_than_each_and_says_which_won(case):
    starts = case.problem.penalty.starts
    each = {name: solve(case.problem, BlockDescent(), name) for name in starts}
    best = solve(case.problem, BlockDescent(), "best")
    for name, solution in each.items():
        assert best.objective <= solution.objective * (1 + 1e-7), name
        assert solution.start == name
    passed_over = {"irls"} if case.problem.loss.quadratic else set()
    assert set(best.starts) == set(starts) - passed_over
    assert best.objective == min(best.starts.values()) == best.starts[best.start]
    assert best.objective == pytest.approx(case.objective(best), rel=1e-10)


@pytest.mark.parametrize("r", [2.0, 1.0])
def test_a_convex_problem_needs_no_choice_of_start(r):
    case = Case(r=r)
    inits = ("best", *case.problem.penalty.starts)
    reached = [solve(case.problem, BlockDescent(), init).objective for init in inits]
    np.testing.assert_allclose(reached, tight(case).objective, rtol=1e-8)


def test_a_start_may_be_an_array_of_features_by_outputs():
    case = Case(p=0.5)
    given = np.random.default_rng(0).standard_normal((case.d, case.c))
    before = given.copy()
    solution = solve(case.problem, BlockDescent(), given)
    assert solution.converged
    np.testing.assert_array_equal(given, before)
