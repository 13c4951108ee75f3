"""Working sets around the descent: the fast solver for every r in (0, 2] and p in [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ...numerics.rows import largest, nonzero_rows, row_norms
from ...numerics.threads import blas_threads_for
from ...problems.base import PENALTY
from ...problems.penalised import Evaluation, PenalisedProblem
from ..base import OutOfTime, Solver, State
from .descent import descend
from .model import GramModel, Model, SampleModel
from .working_set import guessed_rows

FIRST_SMOOTHING = 0.1  # of the typical residual
LOWERING = 0.1  # of the smoothing, as soon as the violation under it is below STAGE_DONE
STAGE_DONE = 1e-4
SMALLEST_GROWTH = 10


@dataclass
class _State(State):
    evaluation: Evaluation | None = None
    smoothing: float = 0.0
    working_set: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))
    G: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    n_idle: int = 0  # steps in a row that changed nothing


@dataclass
class BlockDescent(Solver[PenalisedProblem, _State]):
    """Block sweeps and Newton steps on a growing working set.

    Each step passes once over X, scores every row by its prox fixed-point residual, adds the
    worst rows to the working set and descends on it. For r < 2 the samples are reweighted and the
    smoothing of the loss is lowered to its floor as it goes.
    """

    solves: ClassVar[tuple[str, ...]] = (PENALTY,)

    def start(self, problem: PenalisedProblem, W: np.ndarray) -> _State:
        if W is problem.null_point:
            rows = guessed_rows(problem)
            state = None if rows is None else self._from_guess(problem, W, rows)
            if state is not None:
                return state
        W = W.copy()
        W[problem.penalty.excluded(len(W))] = 0.0
        return self._assess(
            problem, _State(W, np.inf, np.inf, smoothing=_first_smoothing(problem, W))
        )

    def step(self, problem: PenalisedProblem, state: _State, out_of_time: OutOfTime) -> _State:
        working_set, G = _grow(problem, state, self.attainable_tol(problem))
        tol, finishing = self._inner_tolerance(problem, state)
        W = state.W.copy()
        model = _model(problem, state, working_set, G)
        penalty = problem.penalty.take(working_set)
        descend(model, penalty, tol * problem.violation_scale, out_of_time, finishing)
        W[working_set] = model.W
        new = _State(W, np.inf, np.inf, smoothing=state.smoothing, working_set=working_set, G=G)
        new = self._assess(problem, new)
        if new.smoothing > problem.smoothing_floor and new.criterion <= STAGE_DONE:
            new.smoothing = max(new.smoothing * LOWERING, problem.smoothing_floor)
            return self._assess(problem, new)
        same = working_set.size == state.working_set.size and not new.converged
        no_lower = new.objective >= state.objective * (1 - 1e-15)
        if same and no_lower and new.criterion > 0.5 * state.criterion:
            new.n_idle = state.n_idle + 1
            new.stalled = new.n_idle > 2
        return new

    def _from_guess(
        self, problem: PenalisedProblem, W: np.ndarray, rows: np.ndarray
    ) -> _State | None:
        """The state with these rows solved for, before X is first read as a whole.

        None where what was read of it is not finite: the pass that follows will say so.
        """
        G = _extended_gram(problem, rows[:0], rows, np.empty((0, 0)))
        gradient = problem.design.rmatmul_of(rows, problem.unexplained) / -len(problem.Y)
        if not (np.isfinite(G).all() and np.isfinite(gradient).all()):
            return None
        model = GramModel(G, W[rows], gradient)
        tol = 0.5 * self.attainable_tol(problem) * problem.violation_scale
        descend(model, problem.penalty.take(rows), tol)
        W = W.copy()
        W[rows] = model.W
        floor = problem.smoothing_floor
        return self._assess(
            problem, _State(W, np.inf, np.inf, smoothing=floor, working_set=rows, G=G)
        )

    def _assess(self, problem: PenalisedProblem, state: _State) -> _State:
        evaluation = problem.evaluate(state.W, state.smoothing)
        state.evaluation = evaluation
        state.objective, state.criterion = evaluation.objective, evaluation.violation
        at_floor = state.smoothing <= problem.smoothing_floor
        state.converged = at_floor and state.criterion <= self.attainable_tol(problem)
        return state

    def _inner_tolerance(self, problem: PenalisedProblem, state: _State) -> tuple[float, bool]:
        """A tenth of what is wrong while much is; at the end the last digits cost one Newton step.

        The flag says that this is the end.
        """
        if state.smoothing > problem.smoothing_floor:
            return min(0.1 * state.criterion, STAGE_DONE / 2), False
        # on more rows than samples a Newton step is dear: first let the working set settle
        wide = np.count_nonzero(nonzero_rows(state.W)) > len(problem.Y)
        if state.criterion < (1e-4 if wide else 1e-3):
            return 0.5 * self.attainable_tol(problem), True
        return 0.1 * state.criterion, False


def _first_smoothing(problem: PenalisedProblem, W: np.ndarray) -> float:
    """A tenth of the typical residual: a good start, whose residuals are small, is not blurred."""
    if problem.loss.quadratic:
        return problem.smoothing_floor
    residuals = row_norms(problem.design.matmul(W) - problem.Y)
    typical = min(float(np.median(residuals)), problem.residual_scale)
    return max(FIRST_SMOOTHING * typical, problem.smoothing_floor)


def _grow(problem: PenalisedProblem, state: _State, tol: float) -> tuple[np.ndarray, np.ndarray]:
    """The working set with the worst rows added, and its Gram matrix where one is kept."""
    assert state.evaluation is not None
    old = state.working_set
    inside = np.zeros(problem.n_rows, bool)
    inside[old] = True
    support = nonzero_rows(state.W)
    needed = (support | problem.penalty.free(problem.n_rows)) & ~inside
    scores = np.where(inside | needed, 0.0, state.evaluation.scores)
    wrong = int(np.count_nonzero(scores > tol / 2))
    room = _room(problem, int(np.count_nonzero(support)), first=not old.size)
    new = np.union1d(np.flatnonzero(needed), largest(scores, min(wrong, room)))
    working_set = np.concatenate([old, new])
    if not _uses_gram(problem, working_set.size):
        return working_set, np.empty((0, 0))
    return working_set, _extended_gram(problem, old, new, state.G)


def _room(problem: PenalisedProblem, n_nonzero: int, first: bool) -> int:
    """How many rows may join: for convex problems many at once, else few, worst first."""
    if not problem.penalty.convex:
        return max(SMALLEST_GROWTH, n_nonzero)
    if first:  # as many as make the Gram matrix cost about ten passes over X
        return max(SMALLEST_GROWTH, int(np.sqrt(10 * problem.n_rows * problem.Y.shape[1])))
    return max(SMALLEST_GROWTH, 2 * n_nonzero)


def _uses_gram(problem: PenalisedProblem, size: int) -> bool:
    return problem.loss.quadratic and size <= max(2 * problem.design.shape[0], 1000)


def _extended_gram(problem: PenalisedProblem, old, new, G: np.ndarray) -> np.ndarray:
    """Only the new pairs are computed."""
    n_pairs = len(new) * (len(old) + len(new))
    with blas_threads_for(2.0 * len(problem.Y) * n_pairs):
        return _gram_with(problem, old, new, G)


def _gram_with(problem: PenalisedProblem, old, new, G: np.ndarray) -> np.ndarray:
    s = problem.loss.weights(len(problem.Y)) / len(problem.Y)
    if len(G) != len(old):  # the Gram matrix was not kept before
        both = np.concatenate([old, new])
        return problem.design.gram(both, both, s)
    if not len(new):
        return G
    extended = np.empty((len(old) + len(new),) * 2)
    extended[: len(old), : len(old)] = G
    extended[len(old) :, len(old) :] = problem.design.gram(new, new, s)
    if len(old):
        cross = problem.design.gram(old, new, s)
        extended[: len(old), len(old) :] = cross
        extended[len(old) :, : len(old)] = cross.T
    return extended


def _model(
    problem: PenalisedProblem, state: _State, working_set: np.ndarray, G: np.ndarray
) -> Model:
    assert state.evaluation is not None
    W = state.W[working_set]
    if len(G):
        return GramModel(G, W, state.evaluation.gradient[working_set])
    loss = problem.loss.smoothed(state.smoothing)
    X = problem.design.take(working_set)
    return SampleModel(X, W, state.evaluation.residual, loss, problem.metric_weights)


def local_model(problem: PenalisedProblem, W: np.ndarray, rows: np.ndarray) -> Model:
    """The problem at W restricted to the named rows."""
    floor = problem.smoothing_floor
    state = _State(W, np.inf, np.inf, evaluation=problem.evaluate(W, floor), smoothing=floor)
    G = np.empty((0, 0))
    if _uses_gram(problem, rows.size):
        G = _extended_gram(problem, rows[:0], rows, G)
    return _model(problem, state, rows, G)
