"""The one loop around all solvers: tolerance, iterations, time, history, callback, status."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ..numerics.rows import nonzero_rows
from ..numerics.threads import blas_threads_for
from ..problems.base import Evaluation, Problem
from ..results import Solution, Status, Step
from .base import Solver, State

AnySolver = TypeVar("AnySolver", bound=Solver)

logger = logging.getLogger("rowsparse")


class Deadline:
    """A time limit shared by several runs."""

    def __init__(self, limit: float | None):
        self.began = time.perf_counter()
        self.limit = limit

    def elapsed(self) -> float:
        """Seconds since it was made."""
        return time.perf_counter() - self.began

    def left(self) -> float | None:
        """Seconds until it passes; None without a limit."""
        return None if self.limit is None else max(self.limit - self.elapsed(), 0.0)

    def passed(self) -> bool:
        """Whether the time is over."""
        return self.limit is not None and self.elapsed() >= self.limit

    def limited(self, solver: AnySolver) -> AnySolver:
        """The solver with what is left of the time."""
        return solver if self.limit is None else replace(solver, time_limit=self.left())


def run(
    solver: Solver,
    problem: Problem,
    W0: np.ndarray | None = None,
    start: str = "given",
    nested: bool = False,
) -> Solution:
    """Solve the problem from W0 (default: the null point) and certify the returned point.

    Ends when the solver's criterion is at most ``tol``, after ``max_iter`` steps, after
    ``time_limit`` seconds, when the callback returns True, or on Ctrl-C: the best point so far is
    kept. A ``nested`` run is part of a larger one and hands Ctrl-C on to it.
    """
    refuse_unsupported(solver, problem)
    with blas_threads_for(2.0 * problem.Y.size * problem.n_rows):
        deadline = Deadline(solver.time_limit)
        W0 = problem.null_point if W0 is None else W0
        state, status, history = _iterate(solver, problem, W0, deadline, nested)
        return certified(
            solver, problem, state.W, status, history, deadline,
            criterion=state.criterion, start=start, evaluation=state.evaluation,
        )  # fmt: skip


def refuse_unsupported(solver: Solver, problem: Problem) -> None:
    """Raise with the reason if the solver cannot solve the problem."""
    reason = solver.supports(problem)
    if reason is not None:
        raise ValueError(f"{type(solver).__name__} cannot solve this problem: {reason}")


def certified(
    solver: Solver,
    problem: Problem,
    W: np.ndarray,
    status: str,
    history: Iterable[Step],
    deadline: Deadline,
    *,
    criterion: float | None,
    evaluation: Evaluation | None = None,
    tol: float | None = None,
    **more: Any,
) -> Solution:
    """The solution at W, every number of it about W: the one place where solutions are made.

    ``evaluation`` saves a pass over X where W has been evaluated as results are certified; ``more``
    are fields that only some solvers can fill.
    """
    if evaluation is None or evaluation.smoothing != problem.smoothing_floor:
        evaluation = problem.evaluate(W)
    features, intercept = problem.split(W)
    steps = tuple(history)
    facts = {"gap": problem.duality_gap(W, evaluation), **more}
    if evaluation.gradient is not None:
        facts["gradient"] = problem.split(evaluation.gradient)[0]
    return Solution(
        W=features.copy(),
        intercept=intercept.copy(),
        objective=evaluation.objective,
        violation=evaluation.violation,
        criterion=criterion,
        tol=solver.attainable_tol(problem) if tol is None else tol,
        status=status,
        n_iter=steps[-1].iteration if steps else 0,
        seconds=deadline.elapsed(),
        history=steps,
        solver=type(solver).__name__,
        **facts,
    )


def _iterate(
    solver: Solver, problem: Problem, W0: np.ndarray, deadline: Deadline, nested: bool
) -> tuple[State, str, list[Step]]:
    """Steps until something ends them."""
    status: str | None = None
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


def _ended(state: State, deadline: Deadline) -> str | None:
    # NaN in a column that W does not use shows in the criterion alone
    if not np.isfinite(state.objective) or np.isnan(state.criterion):
        return Status.NOT_FINITE
    if state.converged:
        return Status.CONVERGED
    if state.stalled:
        return Status.STALLED
    return Status.TIME_LIMIT if deadline.passed() else None


def _record(iteration: int, deadline: Deadline, state: State) -> Step:
    rows = int(np.count_nonzero(nonzero_rows(state.W)))
    return Step(iteration, deadline.elapsed(), state.objective, state.criterion, rows)
