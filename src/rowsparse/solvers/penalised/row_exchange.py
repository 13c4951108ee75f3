"""Exchanges of rows, by which a local minimum is left for a lower one.

A minimum reached by descent is optimal in every single row, yet a better one is often only an
exchange away. Each trial forbids one row, descends, allows it again and descends once more; all
of it on a working set of the most promising rows, so a trial never passes over X.
"""

from __future__ import annotations

import numpy as np

from ...numerics.rows import largest, nonzero_rows, row_norms
from ...penalties.base import LocalModel, Penalty
from ...problems.penalised import PenalisedProblem
from ..base import OutOfTime
from .block_descent import descend, objective
from .working_set import WorkingSet

ROUGH = 1e-4  # tolerance of what is only a trial or a start: which rows matter is clear by then
# Rounds that trials may leave unsettled between exchanges: ordinary descents leave one or none in
# sixty trials of two, those on 20 x 15 columns equal up to 1e-2 four to seven.
PATIENCE = 200
IMPROVES = 1e-6  # decrease that counts, of the objective


class _Patience:
    """Ends trials that do not settle: on nearly equal columns each takes rounds without number,
    and hardly one helps."""

    def __init__(self, out_of_time: OutOfTime):
        self.out_of_time = out_of_time
        self.renew()

    def renew(self) -> None:
        """After a trial that helped others are worth their time."""
        self.left = PATIENCE

    def another_round(self) -> bool:
        """Count a round of descent that has not settled; whether it should be the last."""
        self.left -= 1
        return self.over()

    def over(self) -> bool:
        return self.left <= 0 or self.out_of_time()


def exchange_rows(problem: PenalisedProblem, W: np.ndarray, out_of_time: OutOfTime) -> np.ndarray:
    """A W of lower objective than the given local minimum, or an equal copy if no trial helped."""
    patience = _Patience(out_of_time)
    W = W.copy()
    evaluation = problem.evaluate(W)
    rows = _promising_rows(problem, W, evaluation.gradient)
    penalty = problem.penalty.take(rows)
    model = WorkingSet.of(problem, rows).model(problem, W, evaluation)
    best = objective(model, penalty)
    constant = evaluation.objective - best  # which the model lacks: its values may be negative
    tol = ROUGH * problem.violation_scale
    trials = _allowed_trials(model)
    improved = True
    while improved:
        improved = False
        for j in _weakest_first(model, penalty):
            if trials == 0 or patience.over():
                break
            trials -= 1
            trial = _without(model, penalty, j, tol, patience)
            descend(trial, penalty, tol, patience.another_round)
            value = objective(trial, penalty)
            if value < best - IMPROVES * (best + constant):
                model = trial
                best = value
                improved = True
                patience.renew()
                break
    W[rows] = model.W
    return W


def _promising_rows(problem: PenalisedProblem, W: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The support, and the rows outside it that the gradient pulls most."""
    inside = nonzero_rows(W) | problem.penalty.free(len(W))
    closed = inside | problem.penalty.excluded(len(W)) | (problem.sample_curvatures == 0)
    L = np.where(closed, 1.0, problem.sample_curvatures)
    pulls = np.where(closed, -1.0, row_norms(gradient) / np.sqrt(L))
    # at most 2000, which a trial sweeps in milliseconds, and on tall data what memory can hold
    n_outside = min(2000, 20_000_000 // len(problem.Y), int(np.sum(~closed)))
    return np.union1d(np.flatnonzero(inside), largest(pulls, n_outside))


def _allowed_trials(model: LocalModel) -> int:
    """Sixty; fewer where they would cost more than 2e9 operations, a hundred sweeps each."""
    m, c = model.W.shape
    nonzero = np.count_nonzero(nonzero_rows(model.W)) + 1
    return int(min(60, 2e9 / (100.0 * m * c * nonzero)))


def _weakest_first(model: LocalModel, penalty: Penalty) -> np.ndarray:
    """The penalised nonzero rows, the one of least fitted size first."""
    size = np.sqrt(model.curvatures) * row_norms(model.W)
    order = np.argsort(size, kind="stable")
    penalised = ~penalty.free(len(size))
    return order[(size[order] > 0) & penalised[order]]


def _without(
    model: LocalModel, penalty: Penalty, j: int, tol: float, patience: _Patience
) -> LocalModel:
    """A descended copy of the model in which row j is zero."""
    trial = model.copy()
    trial.focus(np.array([j]))
    step = -trial.W[[j]]
    trial.along(step)
    trial.move(step)
    factors = np.ones(len(model.W)) if penalty.factors is None else penalty.factors.copy()
    factors[j] = np.inf
    descend(trial, penalty.with_factors(factors), tol, patience.another_round)
    return trial
