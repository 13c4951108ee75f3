"""Exchanges of rows after a descent: they lower the objective, and end when none does."""

from __future__ import annotations

import numpy as np
import pytest

from rowsparse import L2pSelector, LpInfSelector
from rowsparse.solvers import solve
from rowsparse.solvers.base import never
from rowsparse.solvers.penalised import row_exchange


def nearly_equal_columns(seed=1, n=20, d=15):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 1)) + 1e-2 * rng.standard_normal((n, d))
    return X, rng.standard_normal((n, 3))


def duplicated_columns(seed=0, n=35, d=45):
    rng = np.random.default_rng(seed)
    half = rng.standard_normal((n, d))
    y = half[:, :3] @ rng.standard_normal(3) + 0.3 * rng.standard_normal(n)
    return np.hstack([half, half]), y


def exchange_of(selector, X, Y):
    problem, solver = selector.problem_and_solver(X, Y)
    found = solve(problem, solver, "zero")
    W = problem.joined(found.W, found.intercept)
    return problem, W, row_exchange._Exchange(problem, W, None, never)


@pytest.mark.parametrize("p", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("r", [1.0, 2.0])
def test_a_pair_changes_the_objective_by_at_most_what_was_judged(r, p):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 30))
    Y = X[:, :6] @ rng.standard_normal((6, 2)) + rng.standard_normal((40, 2))
    problem, W, exchange = exchange_of(L2pSelector(alpha=0.05, r=r, p=p, ridge=0.1), X, Y)
    W = exchange.reached(W)
    exchange.model.focus(np.flatnonzero(exchange._members()))
    pairs = row_exchange._Pairs.of(exchange.model, exchange.penalty)
    before = problem.objective(W)
    judged = pairs.best_of_each_member()
    assert len(judged) >= 5
    for leaving, entering in judged:
        after = W.copy()
        after[exchange.rows] += pairs.step(exchange.model, exchange.penalty, leaving, entering)
        change = pairs.changes[leaving, entering]
        # the members are at their best to a tolerance of 1e-4 only
        assert problem.objective(after) - before <= change + 1e-5 * before
        if leaving < len(pairs.members):
            assert not after[exchange.rows[pairs.members[leaving]]].any()


@pytest.mark.parametrize("kind", [L2pSelector, LpInfSelector])
def test_exchanges_lead_below_the_local_minimum_of_the_null_model(kind):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 60))
    Y = X[:, :5] @ rng.standard_normal((5, 2)) + rng.standard_normal((40, 2))
    problem, W, _ = exchange_of(kind(alpha=0.05), X, Y)
    lower = row_exchange.exchange_rows(problem, W, never)
    assert problem.objective(lower) < 0.999 * problem.objective(W)
    again = row_exchange.exchange_rows(problem, lower, never)
    assert problem.objective(again) == pytest.approx(problem.objective(lower), rel=1e-3)


def test_trials_that_do_not_settle_are_ended(monkeypatch):
    rounds = []
    another = row_exchange._Patience.another_round

    def counted(self):
        rounds.append(self)
        return another(self)

    monkeypatch.setattr(row_exchange._Patience, "another_round", counted)
    selector = LpInfSelector(alpha=1e-4).fit(*nearly_equal_columns())
    assert selector.solution_.converged
    assert selector.solution_.objective == pytest.approx(0.181702384, rel=1e-6)
    assert len(rounds) < 1000  # 1905 when equal values counted as lower


def test_small_alphas_end_where_the_exchanges_lead():
    selector = L2pSelector(alpha=1e-3, task="regression").fit(*duplicated_columns())
    assert selector.solution_.converged
    # .01003 with sixty trials of whole descents, at five times the cost; .0109 without exchanges
    assert selector.solution_.objective < 0.0104
