"""The contract of a solver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem import Evaluation, Problem
from ..values import Parameters


@dataclass
class State:
    """Where a solver stands after a step; solvers add fields of their own.

    ``W`` is the best point so far; the objective and violation are its own.
    """

    W: np.ndarray
    objective: float
    violation: float
    converged: bool = False
    stalled: bool = False
    evaluation: Evaluation | None = None  # of W, if the solver has made one


@dataclass
class Solver(Parameters, ABC):
    """Parameters that all solvers share; see ``rowsparse.solvers.loop.run`` for their meaning."""

    tol: float = 1e-8
    max_iter: int = 500
    time_limit: float | None = None
    callback: Callable[[Any], Any] | None = None

    @abstractmethod
    def supports(self, problem: Problem) -> str | None:
        """None if this solver can solve the problem, else the reason why not."""

    @abstractmethod
    def start(self, problem: Problem, W: np.ndarray) -> State:
        """The state before the first step; W is not changed."""

    @abstractmethod
    def step(self, problem: Problem, state: State, out_of_time: Callable[[], bool]) -> State:
        """A new state at least as good; long steps look at ``out_of_time`` and may end early."""

    def attainable_tol(self, problem: Problem) -> float:
        """The tolerance, or what rounding leaves of it."""
        return max(self.tol, problem.attainable_violation)
