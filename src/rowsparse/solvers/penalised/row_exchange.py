"""Leave a local minimum of a non-convex problem: drop a row, let others take its place, compare.

A minimum reached by descent is optimal in every single row, yet a better one is often only an
exchange away. Each trial forbids one row, descends, allows it again and descends once more; all
of it on a working set of the most promising rows, so a trial never passes over X.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...numerics.rows import largest, nonzero_rows, row_norms
from ...penalties.base import Penalty
from ...problems.penalised import PenalisedProblem
from .block_descent import local_model
from .descent import descend
from .model import Model

CANDIDATES = 2000  # rows outside the support that may take a dropped row's place, at most
BLOCK_ENTRIES = 2e7  # bounds them on tall data
MAX_TRIALS = 60
ROUGH = 1e-4  # tolerance of a trial, relative to the data
FLOPS = 2e9  # bounds the trials on large problems


def exchange_rows(
    problem: PenalisedProblem, W: np.ndarray, out_of_time: Callable[[], bool] = lambda: False
) -> np.ndarray:
    """A W of lower objective than the given local minimum, or an equal copy if no trial helped."""
    W = W.copy()
    rows = _working_set(problem, W)
    penalty = problem.penalty.take(rows)
    model = local_model(problem, W, rows)
    best = model.loss_value() + penalty.value(model.W)
    tol = ROUGH * problem.violation_scale
    trials, improved = _allowed_trials(model), True
    while improved:
        improved = False
        for j in _weakest_first(model, penalty):
            if trials == 0 or out_of_time():
                break
            trials -= 1
            trial = _without(model, penalty, j, tol)
            descend(trial, penalty, tol)
            value = trial.loss_value() + penalty.value(trial.W)
            if value < best * (1 - 1e-6):
                model, best, improved = trial, value, True
                break
    W[rows] = model.W
    return W


def _working_set(problem: PenalisedProblem, W: np.ndarray) -> np.ndarray:
    evaluation = problem.evaluate(W)
    inside = nonzero_rows(W) | problem.penalty.free(len(W))
    closed = inside | problem.penalty.excluded(len(W)) | (problem.sample_curvatures == 0)
    L = np.where(closed, 1.0, problem.sample_curvatures)
    pulls = np.where(closed, -1.0, row_norms(evaluation.gradient) / np.sqrt(L))
    n_outside = min(CANDIDATES, int(BLOCK_ENTRIES) // len(problem.Y), int(np.sum(~closed)))
    return np.union1d(np.flatnonzero(inside), largest(pulls, n_outside))


def _allowed_trials(model: Model) -> int:
    m, c = model.W.shape
    nonzero = np.count_nonzero(nonzero_rows(model.W)) + 1
    return int(min(MAX_TRIALS, FLOPS / (100.0 * m * c * nonzero)))


def _weakest_first(model: Model, penalty: Penalty) -> np.ndarray:
    """The penalised nonzero rows, the one of least fitted size first."""
    size = np.sqrt(model.curvatures) * row_norms(model.W)
    order = np.argsort(size, kind="stable")
    return order[(size[order] > 0) & ~penalty.free(len(size))[order]]


def _without(model: Model, penalty: Penalty, j: int, tol: float) -> Model:
    """A descended copy of the model in which row j is zero."""
    trial = model.copy()
    trial.focus(np.array([j]))
    step = -trial.W[[j]]
    trial.along(step)
    trial.move(step)
    factors = np.ones(len(model.W)) if penalty.factors is None else penalty.factors.copy()
    factors[j] = np.inf
    descend(trial, penalty.with_factors(factors), tol)
    return trial
