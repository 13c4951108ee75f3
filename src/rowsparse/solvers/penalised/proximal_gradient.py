"""Accelerated proximal gradient steps over all rows at once, for the squared loss.

FISTA (Beck & Teboulle) with backtracking and adaptive restart. The squared loss is quadratic, so
residual and gradient at an extrapolated point are combinations of those already known: a step is
one product with X and one with X', and the certificate of every iterate comes for free.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from ...numerics.rows import row_norms, row_squares
from ...numerics.threads import blas_threads_for
from ...problems.base import PENALTY
from ...problems.penalised import Evaluation, PenalisedProblem
from ..base import OutOfTime, Solver, State
from .block_descent import ROUNDS

# Of the violation: where steps move less, single rows are wrong that steps cannot see.
SLOW = 0.1


@dataclass(kw_only=True)
class _State(State):
    curvature: float  # L of the last step
    evaluation: Evaluation
    W_before: np.ndarray
    before: Evaluation  # of W_before
    momentum: float = 1.0
    n_idle: int = 0
    smallest: float = np.inf  # violation so far


@dataclass
class ProximalGradient(Solver[PenalisedProblem, _State]):
    """FISTA with backtracking; a step that would raise the objective is taken again unaccelerated.

    The objective therefore never rises, for p < 1 as for p = 1. For p < 1 a fixed point of such
    steps, which are short, may still have rows that are not optimal by themselves; these are then
    minimised over one at a time, so the certificate means the same as for the other solvers.
    Slower than ``BlockDescent`` on most problems, but simple, and it never forms a Gram matrix.

    Parameters
    ----------
    tol : float
        Bound on the violation of the returned W, in units of the data.
    max_iter : int
        Most gradient steps.
    time_limit, callback : as in ``Solver``

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import LpInfSelector
    >>> from rowsparse.solvers import ProximalGradient
    >>> LpInfSelector(3, solver=ProximalGradient()).fit(X, y).solution_.converged
    True
    """

    solves: ClassVar[tuple[str, ...]] = (PENALTY,)

    max_iter: int = 20_000

    def refusal(self, problem: PenalisedProblem) -> str | None:
        if not problem.loss.quadratic:
            return (
                f"it needs the squared loss (r = 2), got r = {problem.loss.r:g}, whose gradient "
                "has no bounded curvature; use BlockDescent."
            )
        return None

    def start(self, problem: PenalisedProblem, W: np.ndarray) -> _State:
        W = W.copy()
        W[problem.penalty.excluded(len(W))] = 0.0
        evaluation = problem.evaluate(W)
        largest = float(problem.sample_curvatures.max(initial=0.0)) + problem.ridge or 1.0
        state = _State(
            W,
            evaluation.objective,
            evaluation.violation,
            curvature=largest,
            evaluation=evaluation,
            W_before=W,
            before=evaluation,
        )
        return self._checked(problem, state)

    def step(self, problem: PenalisedProblem, state: _State, out_of_time: OutOfTime) -> _State:
        with blas_threads_for(2.0 * problem.Y.size * problem.n_rows):
            new = self._accelerated(problem, state) if state.momentum > 1 else None
            if new is None:
                new = self._plain(problem, state)
            if not problem.penalty.convex and self._misses_rows(problem, state, new):
                new = self._worst_row(problem, new)
        # near the end most steps overshoot, and only some of them lead nearer
        lower = new.objective < state.objective - _rounding(problem, state)
        new.smallest = min(state.smallest, new.criterion)
        nearer = new.smallest < state.smallest
        new.n_idle = 0 if lower or nearer else state.n_idle + 1
        new.stalled = new.n_idle >= ROUNDS
        return self._checked(problem, new)

    def _checked(self, problem: PenalisedProblem, state: _State) -> _State:
        state.converged = state.criterion <= self.attainable_tol(problem)
        return state

    def _accelerated(self, problem: PenalisedProblem, state: _State) -> _State | None:
        """The step from beyond W, or None where it does not lower the objective."""
        now = state.evaluation
        before = state.before
        beta = (state.momentum - 1) / _next_momentum(state.momentum)
        # both are affine in W for squared loss: no pass over X
        residual = now.residual + beta * (now.residual - before.residual)
        gradient = now.gradient + beta * (now.gradient - before.gradient)
        W = state.W + beta * (state.W - state.W_before)
        beyond = _Origin(W, residual, gradient)
        reached = _step(problem, beyond, state.curvature)
        W = reached.W
        value = problem.value_of_residual(W, reached.residual)
        if value > state.objective + _rounding(problem, state):
            return None
        back = beyond.W - W
        forth = W - state.W
        if problem.convex and np.vdot(back, forth) > 0:  # the momentum points uphill
            return None
        # a shorter step has come less far: the momentum is that of steps of its length
        longer = state.momentum * np.sqrt(reached.curvature / state.curvature)
        return _moved(problem, state, reached, _next_momentum(longer))

    def _plain(self, problem: PenalisedProblem, state: _State) -> _State:
        """The step from W, which never raises the objective; momentum starts afresh."""
        now = state.evaluation
        here = _Origin(state.W, now.residual, now.gradient)
        reached = _step(problem, here, state.curvature)
        new = _moved(problem, state, reached, _next_momentum(1.0))
        if new.objective <= state.objective + _rounding(problem, state):
            return new
        return replace(state, momentum=1.0, W_before=state.W, before=now)  # overflow

    def _misses_rows(self, problem: PenalisedProblem, state: _State, new: _State) -> bool:
        curvatures = problem.sample_curvatures + problem.ridge
        moves = np.sqrt(curvatures) * row_norms(new.W - state.W)
        largest = float(moves.max(initial=0.0))
        return largest < SLOW * new.criterion * problem.violation_scale

    def _worst_row(self, problem: PenalisedProblem, state: _State) -> _State:
        """The row of largest violation moved to its exact minimiser."""
        now = state.evaluation
        worst = int(np.argmax(now.scores))
        j = np.array([worst])
        curvature = problem.sample_curvatures[j] + problem.ridges[j]
        step = 1 / curvature
        target = state.W[j] - step[:, None] * now.gradient[j]
        own = problem.penalty.take(j)
        W = state.W.copy()
        W[j] = own.prox(target, step)
        moved = W[j] - state.W[j]
        change = problem.design.take(j) @ moved  # one column: no pass over X
        residual = now.residual + change
        reached = _Reached(W, residual, state.curvature)
        new = _moved(problem, state, reached, 1.0)
        return new if new.objective < state.objective else state


class _Origin(NamedTuple):
    """Where a step begins."""

    W: np.ndarray
    residual: np.ndarray
    gradient: np.ndarray


class _Reached(NamedTuple):
    """Where it ends, and the curvature that was enough for it."""

    W: np.ndarray
    residual: np.ndarray
    curvature: float


def _step(problem: PenalisedProblem, origin: _Origin, curvature: float) -> _Reached:
    """The prox step with a curvature that bounds the loss's between its ends."""
    n = len(origin.residual)
    shares = problem.loss.weights(n) / n
    while True:
        target = origin.W - origin.gradient / curvature
        W = problem.penalty.prox(target, 1 / curvature)
        residual = problem.design.matmul(W) - problem.Y
        change = residual - origin.residual
        step = W - origin.W
        length = float(np.vdot(step, step))
        bend = float(shares @ row_squares(change))
        bend += float(problem.ridges @ row_squares(step))
        # a step so short that its square underflows has no curvature to measure
        if length == 0 or not bend > curvature * length * (1 + 1e-12):
            return _Reached(W, residual, curvature)
        curvature = min(bend / length, 2 * curvature)


def _moved(problem: PenalisedProblem, state: _State, reached: _Reached, momentum: float) -> _State:
    evaluation = problem.evaluate_residual(reached.W, reached.residual)
    return _State(
        reached.W,
        evaluation.objective,
        evaluation.violation,
        curvature=reached.curvature,
        evaluation=evaluation,
        W_before=state.W,
        before=state.evaluation,
        momentum=momentum,
    )


def _rounding(problem: PenalisedProblem, state: _State) -> float:
    """128 units in the last place of the objective: columns far from zero lose that much."""
    return 128 * float(np.finfo(problem.design.dtype).eps) * abs(state.objective)


def _next_momentum(t: float) -> float:
    return (1 + float(np.sqrt(1 + 4 * t * t))) / 2
