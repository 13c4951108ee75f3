"""The contract of a solver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from ..problems.base import Evaluation, Problem
from ..values import Parameters

OutOfTime = Callable[[], bool]


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
    """Parameters that all solvers share; see ``rowsparse.solvers.loop.run`` for their meaning.

    A solver names the kinds of problem that it solves; ``refusal`` says what else it cannot do.
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

    @abstractmethod
    def step(self, problem: P, state: S, out_of_time: OutOfTime) -> S:
        """A new state at least as good; long steps look at ``out_of_time`` and may end early."""

    def attainable_tol(self, problem: P) -> float:
        """The tolerance, or what rounding leaves of it."""
        return max(self.tol, problem.attainable_violation)
