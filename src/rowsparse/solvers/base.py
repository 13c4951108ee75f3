"""The contract of a solver, and the one loop around all of them."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from ..numerics.rows import nonzero_rows
from ..numerics.threads import blas_threads_for
from ..problems.base import Evaluation, Problem, is_wide, proofs_wanted
from ..results import Solution, Status, Step
from ..values import Parameters

logger = logging.getLogger("rowsparse")

OutOfTime = Callable[[], bool]
Watcher = Callable[[Step], Any]

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Within the block ``watcher`` is called with every step of every solver, as a solver's own
    callback is: many fits are watched so, whose solvers nobody has at hand."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def never() -> bool:
    """The ``out_of_time`` of work that has no limit."""
    return False


@dataclass
class State:
    """Where a solver stands after a step; solvers add fields of their own.

    ``W`` is the best point so far and the objective its own. ``criterion`` is the number that the
    solver compares with its tolerance: the violation of W, the change of the last step, …
    """

    W: np.ndarray
    objective: float
    criterion: float
    converged: bool = False
    stalled: bool = False
    evaluation: Evaluation | None = None  # of W, if the solver has made one


P = TypeVar("P", bound=Problem)
S = TypeVar("S", bound=State)


@dataclass
class Solver(Parameters, ABC, Generic[P, S]):
    """Parameters that all solvers share; see ``run`` for their meaning.

    A solver names the kinds of problem that it solves; ``refusal`` says what else it cannot do.

    Parameters
    ----------
    tol : float
        What the solver's own criterion is compared with.
    max_iter : int
        Most steps.
    time_limit : float, optional
        Seconds after which the best point so far is returned.
    callback : callable, optional
        Called with the ``Step`` of every iteration; returning True ends the run.

    Examples
    --------
    >>> from rowsparse.solvers import BlockDescent, Solver
    >>> isinstance(BlockDescent(), Solver), BlockDescent().get_params()["tol"]
    (True, 1e-08)
    """

    solves: ClassVar[tuple[str, ...]] = ()

    tol: float = 1e-8
    max_iter: int = 500
    time_limit: float | None = None
    callback: Callable[[Any], Any] | None = None

    def supports(self, problem: Problem) -> str | None:
        """None if this solver can solve the problem, else the reason why not."""
        if problem.kind not in self.solves:
            return f"it is for {' or '.join(self.solves)}, and this is {problem.kind}."
        return self.refusal(problem)

    def refusal(self, problem: Any) -> str | None:
        """What keeps it from solving a problem of its kind, None for nothing."""
        return None

    @abstractmethod
    def start(self, problem: P, W: np.ndarray) -> S:
        """The state before the first step; W is not changed."""

    def resume(self, problem: P, state: S, before: S | None = None) -> S:
        """The state before the first step where ``state``, and perhaps one ``before`` it, is what
        was reached for a neighbour: the same data under another penalty."""
        return self.start(problem, state.W)

    @abstractmethod
    def step(self, problem: P, state: S, out_of_time: OutOfTime) -> S:
        """A new state at least as good; long steps look at ``out_of_time`` and may end early."""

    def ended_by(self, step: Step) -> bool:
        """Tell the callback, and whoever watches, of a step; whether one of them wants the end."""
        watcher = _watcher.get()
        # both are told, whatever the first of them wants
        own = self.callback is not None and self.callback(step)
        others = watcher is not None and watcher(step)
        return bool(own or others)

    def attainable_tol(self, problem: P) -> float:
        """The tolerance, or what rounding leaves of it."""
        return max(self.tol, problem.attainable_violation)


AnySolver = TypeVar("AnySolver", bound=Solver)


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


@dataclass(frozen=True)
class Reached:
    """A solution, and what its solver knows there: neighbours of the problem go on from it."""

    solution: Solution
    state: State


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

    Parameters
    ----------
    solver : Solver
    problem : a problem that it solves, such as that of a selector's ``problem_and_solver``
    W0 : array (rows of W x outputs), optional
    start : the name of this start in the solution
    nested : whether Ctrl-C is for the caller

    Returns
    -------
    Solution

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import L2pSelector
    >>> from rowsparse.solvers import BlockDescent, run
    >>> problem, _ = L2pSelector(alpha=0.1, p=1).problem_and_solver(X, y)
    >>> run(BlockDescent(), problem).converged
    True
    """
    return reach(solver, problem, W0, start, nested).solution


def reach(
    solver: Solver,
    problem: Problem,
    W0: np.ndarray | None = None,
    start: str = "given",
    nested: bool = False,
) -> Reached:
    """``run``, with what a neighbour of the problem may go on from."""
    W0 = problem.null_point if W0 is None else W0
    # begun inside of the loop, which looks at the clock and answers Ctrl-C
    return _reached(solver, problem, W0, lambda: solver.start(problem, W0), start, nested)


def resume(
    solver: Solver, problem: Problem, last: Reached, before: Reached | None = None
) -> Reached:
    """``reach`` from what was reached for a neighbour, and for another one before it."""
    older = None if before is None else before.state

    def begin() -> State:
        return solver.resume(problem, last.state, older)

    return _reached(solver, problem, last.state.W, begin, "warm", False)


def _reached(
    solver: Solver,
    problem: Problem,
    W0: np.ndarray,
    begin: Callable[[], State],
    start: str,
    nested: bool,
) -> Reached:
    refuse_unsupported(solver, problem)
    with blas_threads_for(2.0 * problem.Y.size * problem.n_rows):
        deadline = Deadline(solver.time_limit)
        # what is returned if Ctrl-C comes before the solver has a state of its own
        given = State(np.array(W0), np.inf, np.inf)
        state, status, history = _iterate(solver, problem, given, begin, deadline, nested)
        solution = certified(
            solver, problem, state.W, status, history, deadline,
            criterion=state.criterion, start=start, evaluation=state.evaluation,
        )  # fmt: skip
    return Reached(solution, state)


def refuse_unsupported(solver: Solver, problem: Problem) -> None:
    """Raise with the reason if the solver cannot solve the problem."""
    reason = solver.supports(problem)
    if reason is not None:
        name = type(solver).__name__
        raise ValueError(f"Expected another solver: {name} cannot solve this problem: {reason}")


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
    # a gradient under a larger smoothing, on the way, says nothing about the problem itself
    if evaluation is None or evaluation.smoothing != problem.smoothing_floor:
        evaluation = problem.evaluate(W)
    features, intercept = problem.split(W)
    steps = tuple(history)
    gap = problem.duality_gap(W, evaluation) if proofs_wanted() else None
    facts = {"gap": gap, **more}  # some solvers know a better one
    wide = "gap" not in more and is_wide(gap, evaluation.objective, solver.tol, problem)
    if wide and status == Status.CONVERGED:
        status = Status.STALLED
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
    solver: Solver,
    problem: Problem,
    state: State,
    begin: Callable[[], State],
    deadline: Deadline,
    nested: bool,
) -> tuple[State, str, list[Step]]:
    """Steps until something ends them."""
    history: list[Step] = []
    try:
        state = begin()
        history.append(_record(0, deadline, state))
        status = _ended(state, deadline)
        while status is None and len(history) <= solver.max_iter:
            state = solver.step(problem, state, deadline.passed)
            history.append(_record(len(history), deadline, state))
            logger.debug("%s %s", type(solver).__name__, history[-1])
            if solver.ended_by(history[-1]):
                raise KeyboardInterrupt
            status = _ended(state, deadline)
    except KeyboardInterrupt:  # from the keyboard, or because a callback wants the end
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
