"""Exchanges of rows after a descent: they lower the objective, and end when none does."""

from __future__ import annotations

import numpy as np
import pytest

from rowsparse import L2pSelector, LpInfSelector
from rowsparse.solvers import solve
from rowsparse.solvers.base import never
from rowsparse.solvers.penalised import row_exchange, starts


def nearly_equal_columns(seed=1, n=20, d=15):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 1)) + 1e-2 * rng.standard_normal((n, d))
    return X, rng.standard_normal((n, 3))


def duplicated_columns(seed=0, n=35, d=45):
    rng = np.random.default_rng(seed)
    half = rng.standard_normal((n, d))
    y = half[:, :3] @ rng.standard_normal(3) + 0.3 * rng.standard_normal(n)
    return np.hstack([half, half]), y


@pytest.mark.parametrize("r", [1.0, 2.0])
def test_where_none_helps_every_member_is_tried_once(monkeypatch, r):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12))
    Y = X[:, :4] @ rng.standard_normal((4, 2)) + 0.1 * rng.standard_normal((60, 2))
    problem, solver = L2pSelector(alpha=0.02, r=r).problem_and_solver(X, Y)
    found = solve(problem, solver)
    tried = []
    without = row_exchange._without

    def counted(model, penalty, j, *rest):
        tried.append(j)
        return without(model, penalty, j, *rest)

    monkeypatch.setattr(row_exchange, "_without", counted)
    W = problem.joined(found.W, found.intercept)
    np.testing.assert_array_equal(row_exchange.exchange_rows(problem, W, never), W)
    assert len(tried) == len(set(tried)) == found.rows.size


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
    assert selector.solution_.objective < 0.0101  # 0.01035 when trials went to equal values


def test_rows_of_what_zero_leads_to_are_exchanged_only_where_it_is_the_lowest(monkeypatch):
    exchanged = []
    exchange_rows = starts.exchange_rows

    def counted(problem, W, out_of_time):
        exchanged.append(problem.objective(W))
        return exchange_rows(problem, W, out_of_time)

    monkeypatch.setattr(starts, "exchange_rows", counted)
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 60))
    Y = X[:, :5] @ rng.standard_normal((5, 2)) + rng.standard_normal((40, 2))
    problem, solver = L2pSelector(alpha=0.05).problem_and_solver(X, Y)
    best = solve(problem, solver)
    zero = solve(problem, solver, "zero").objective
    assert best.objective < zero
    assert best.starts["zero"] == pytest.approx(zero, rel=1e-3)  # not lowered by exchanges
    assert len(exchanged) == 2
