"""The one loop around all solvers: tolerance, iterations, time, history, callback, status."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ..numerics.rows import nonzero_rows
from ..numerics.threads import blas_threads_for
from ..results import Solution, Status, Step
from .base import Solvable, Solver, State

S = TypeVar("S", bound=Solver)

logger = logging.getLogger("rowsparse")


class Deadline:
    """A time limit shared by several runs."""

    def __init__(self, limit: float | None):
        self.began, self.limit = time.perf_counter(), limit

    def elapsed(self) -> float:
        """Seconds since it was made."""
        return time.perf_counter() - self.began

    def passed(self) -> bool:
        """Whether the time is over."""
        return self.limit is not None and self.elapsed() >= self.limit

    def limited(self, solver: S) -> S:
        """The solver with what is left of the time."""
        if self.limit is None:
            return solver
        return replace(solver, time_limit=max(self.limit - self.elapsed(), 0.0))


def run(
    solver: Solver,
    problem: Solvable,
    W0: np.ndarray | None = None,
    start: str = "given",
    nested: bool = False,
) -> Solution:
    """Solve the problem from W0 (default: the null model) and certify the returned point.

    Ends when the violation is at most ``tol``, after ``max_iter`` steps, after ``time_limit``
    seconds, when the callback returns True, or on Ctrl-C: the best point so far is kept. A
    ``nested`` run is part of a larger one and hands Ctrl-C on to it.
    """
    reason = solver.supports(problem)
    if reason is not None:
        raise ValueError(f"{type(solver).__name__} cannot solve this problem: {reason}")
    with blas_threads_for(2.0 * problem.Y.size * problem.n_rows):
        deadline = Deadline(solver.time_limit)
        W0 = problem.null_weights if W0 is None else W0
        state, status, history = _iterate(solver, problem, W0, deadline, nested)
        return _certified(solver, problem, state, status, history, deadline.began, start)


def _iterate(
    solver: Solver, problem: Solvable, W0: np.ndarray, deadline: Deadline, nested: bool
) -> tuple[State, Status, list[Step]]:
    """Steps until something ends them."""
    status: Status | None = None
    history: list[Step] = []
    state = State(np.array(W0), np.inf, np.inf)
    try:
        state = solver.start(problem, W0)
        history.append(_record(0, deadline, state))
        for iteration in range(1, solver.max_iter + 1):
            status = _ended(state, deadline)
            if status is not None:
                break
            state = solver.step(problem, state, deadline.passed)
            history.append(_record(iteration, deadline, state))
            logger.debug("%s %s", type(solver).__name__, history[-1])
            if solver.callback is not None and solver.callback(history[-1]):
                raise KeyboardInterrupt
        else:
            status = _ended(state, deadline)
    except KeyboardInterrupt:
        if nested:
            raise
        status = Status.INTERRUPTED
    return state, Status.MAX_ITER if status is None else status, history


def _ended(state: State, deadline: Deadline) -> Status | None:
    if not np.isfinite(state.objective):
        return Status.NOT_FINITE
    if state.converged:
        return Status.CONVERGED
    if state.stalled:
        return Status.STALLED
    return Status.TIME_LIMIT if deadline.passed() else None


def _record(iteration: int, deadline: Deadline, state: State) -> Step:
    rows = int(np.count_nonzero(nonzero_rows(state.W)))
    return Step(iteration, deadline.elapsed(), state.objective, state.violation, rows)


def _certified(solver, problem, state, status, history, began, start) -> Solution:
    evaluation = state.evaluation
    if evaluation is None or evaluation.smoothing != problem.smoothing_floor:
        evaluation = problem.evaluate(state.W)
    W, intercept = problem.split(state.W)
    return Solution(
        W=W.copy(),
        intercept=intercept.copy(),
        objective=evaluation.objective,
        violation=evaluation.violation,
        gap=problem.duality_gap(state.W, evaluation),
        tol=solver.attainable_tol(problem),
        status=status,
        n_iter=max(len(history) - 1, 0),
        seconds=time.perf_counter() - began,
        history=tuple(history),
        solver=type(solver).__name__,
        start=start,
    )
