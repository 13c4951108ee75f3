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
from ..base import never
from .descent import descend, objective
from .model import Model
from .working_set import WorkingSet

CANDIDATES = 2000  # rows outside the support that may take a dropped row's place, at most
ROUGH = 1e-4  # tolerance of what is only a trial or a start, relative to the data


def exchange_rows(
    problem: PenalisedProblem, W: np.ndarray, out_of_time: Callable[[], bool] = never
) -> np.ndarray:
    """A W of lower objective than the given local minimum, or an equal copy if no trial helped."""
    W = W.copy()
    evaluation = problem.evaluate(W)
    rows = _promising_rows(problem, W, evaluation.gradient)
    penalty = problem.penalty.take(rows)
    model = WorkingSet.of(problem, rows).model(problem, W, evaluation)
    best = objective(model, penalty)
    tol = ROUGH * problem.violation_scale
    trials = _allowed_trials(model)
    improved = True
    while improved:
        improved = False
        for j in _weakest_first(model, penalty):
            if trials == 0 or out_of_time():
                break
            trials -= 1
            trial = _without(model, penalty, j, tol)
            descend(trial, penalty, tol)
            value = objective(trial, penalty)
            if value < best * (1 - 1e-6):
                model = trial
                best = value
                improved = True
                break
    W[rows] = model.W
    return W


def _promising_rows(problem: PenalisedProblem, W: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The support, and the rows outside it that the gradient pulls most."""
    inside = nonzero_rows(W) | problem.penalty.free(len(W))
    closed = inside | problem.penalty.excluded(len(W)) | (problem.sample_curvatures == 0)
    L = np.where(closed, 1.0, problem.sample_curvatures)
    pulls = np.where(closed, -1.0, row_norms(gradient) / np.sqrt(L))
    # on tall data a block of so many columns would be too large
    n_outside = min(CANDIDATES, 20_000_000 // len(problem.Y), int(np.sum(~closed)))
    return np.union1d(np.flatnonzero(inside), largest(pulls, n_outside))


def _allowed_trials(model: Model) -> int:
    """Sixty; fewer where they would cost more than 2e9 operations, a hundred sweeps each."""
    m, c = model.W.shape
    nonzero = np.count_nonzero(nonzero_rows(model.W)) + 1
    return int(min(60, 2e9 / (100.0 * m * c * nonzero)))


def _weakest_first(model: Model, penalty: Penalty) -> np.ndarray:
    """The penalised nonzero rows, the one of least fitted size first."""
    size = np.sqrt(model.curvatures) * row_norms(model.W)
    order = np.argsort(size, kind="stable")
    penalised = ~penalty.free(len(size))
    return order[(size[order] > 0) & penalised[order]]


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
