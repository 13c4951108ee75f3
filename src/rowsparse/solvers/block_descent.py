"""Working sets around the descent: the fast solver for every r in (0, 2] and p in [0, 1]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..numerics.rows import largest
from ..numerics.threads import blas_threads_for
from ..problem import Evaluation, Problem
from .base import Solver, State
from .descent import descend
from .local import GramModel, Model, SampleModel

FIRST_SMOOTHING = 0.1  # of the residual's size; a tenth of the last one at every step
SMALLEST_GROWTH = 10


@dataclass
class _State(State):
    evaluation: Evaluation | None = None
    smoothing: float = 0.0
    working_set: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))
    G: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))


@dataclass
class BlockDescent(Solver):
    """Block sweeps and Newton steps on a growing working set.

    Each step passes once over X, scores every row by its prox fixed-point residual, adds the
    worst rows to the working set and descends on it. For r < 2 the samples are reweighted and the
    smoothing of the loss is lowered to its floor as it goes.
    """

    def supports(self, problem: Problem) -> str | None:
        return None

    def start(self, problem: Problem, W: np.ndarray) -> _State:
        W[problem.penalty.excluded(len(W))] = 0.0
        floor = problem.smoothing_floor
        smoothing = floor if problem.loss.quadratic else FIRST_SMOOTHING * problem.residual_scale
        return self._assess(problem, _State(W, np.inf, np.inf, smoothing=smoothing))

    def step(self, problem: Problem, state: State, out_of_time: Callable[[], bool]) -> _State:
        assert isinstance(state, _State)
        working_set, G = _grow(problem, state, self.attainable_tol(problem))
        tol = self._inner_tolerance(problem, state)
        W = state.W.copy()
        model = _model(problem, state, working_set, G)
        penalty = problem.penalty.take(working_set)
        descend(model, penalty, tol * problem.violation_scale, out_of_time)
        W[working_set] = model.W
        smoothing = max(state.smoothing / 10, problem.smoothing_floor)
        following = _State(
            W, np.inf, np.inf, smoothing=smoothing, working_set=working_set, G=G
        )
        following = self._assess(problem, following)
        following.stalled = (
            not following.converged
            and smoothing == state.smoothing
            and following.objective >= state.objective * (1 - 1e-15)
            and working_set.size == state.working_set.size
        )
        return following

    def _assess(self, problem: Problem, state: _State) -> _State:
        evaluation = problem.evaluate(state.W, state.smoothing)
        state.evaluation = evaluation
        state.objective, state.violation = evaluation.objective, evaluation.violation
        at_floor = state.smoothing <= problem.smoothing_floor
        state.converged = at_floor and state.violation <= self.attainable_tol(problem)
        return state

    def _inner_tolerance(self, problem: Problem, state: _State) -> float:
        """A tenth of what is wrong while much is; at the end the last digits cost one Newton step."""
        final = 0.5 * self.attainable_tol(problem)
        at_floor = state.smoothing <= problem.smoothing_floor
        return final if state.violation < 1e-3 and at_floor else 0.1 * state.violation


def _grow(problem: Problem, state: _State, tol: float) -> tuple[np.ndarray, np.ndarray]:
    """The working set with the worst rows added, and its Gram matrix where one is kept."""
    assert state.evaluation is not None
    old = state.working_set
    inside = np.zeros(problem.n_rows, bool)
    inside[old] = True
    needed = (state.W.any(axis=1) | problem.penalty.free(problem.n_rows)) & ~inside
    scores = np.where(inside | needed, 0.0, state.evaluation.scores)
    wrong = int(np.count_nonzero(scores > tol / 2))
    room = _room(problem, np.count_nonzero(state.W.any(axis=1)))
    new = np.union1d(np.flatnonzero(needed), largest(scores, min(wrong, room)))
    working_set = np.concatenate([old, new])
    if not _uses_gram(problem, working_set.size):
        return working_set, np.empty((0, 0))
    return working_set, _extended_gram(problem, old, new, state.G)


def _room(problem: Problem, n_nonzero: int) -> int:
    """How many rows may join: for convex problems many at once, else few, worst first."""
    if not problem.penalty.convex:
        return max(SMALLEST_GROWTH, n_nonzero)
    # as many as make the Gram matrix cost about ten passes over X
    balanced = int(np.sqrt(10 * problem.n_rows * problem.Y.shape[1]))
    return max(SMALLEST_GROWTH, balanced, n_nonzero)


def _uses_gram(problem: Problem, size: int) -> bool:
    return problem.loss.quadratic and size <= max(2 * problem.design.shape[0], 1000)


def _extended_gram(problem: Problem, old, new, G: np.ndarray) -> np.ndarray:
    """Only the new pairs are computed."""
    n_pairs = len(new) * (len(old) + len(new))
    with blas_threads_for(2.0 * len(problem.Y) * n_pairs):
        return _gram_with(problem, old, new, G)


def _gram_with(problem: Problem, old, new, G: np.ndarray) -> np.ndarray:
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


def _model(problem: Problem, state: _State, working_set: np.ndarray, G: np.ndarray) -> Model:
    assert state.evaluation is not None
    W = state.W[working_set]
    if len(G):
        return GramModel(G, W, state.evaluation.gradient[working_set])
    loss = problem.loss.smoothed(state.smoothing)
    X = problem.design.take(working_set)
    return SampleModel(X, W, state.evaluation.residual, loss, problem.metric_weights)
