"""The contract of a solver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..values import Parameters


class Known(Protocol):
    """What is known about a point."""

    @property
    def objective(self) -> float: ...
    @property
    def violation(self) -> float: ...
    @property
    def smoothing(self) -> float:
        """Of the loss that both belong to."""
        ...


class Solvable(Protocol):
    """What the loop needs of a problem; W has one row per feature, those of free columns below."""

    @property
    def Y(self) -> np.ndarray: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def null_weights(self) -> np.ndarray: ...
    @property
    def smoothing_floor(self) -> float: ...
    @property
    def attainable_violation(self) -> float: ...
    def split(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the features, and the intercept."""
        ...

    def evaluate(self, W: np.ndarray) -> Known: ...
    def duality_gap(self, W: np.ndarray, evaluation: Any) -> float | None: ...


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
    evaluation: Known | None = None  # of W, if the solver has made one


@dataclass
class Solver(Parameters, ABC):
    """Parameters that all solvers share; see ``rowsparse.solvers.loop.run`` for their meaning.

    Each names the kind of problem that it solves: ``Problem``, or that of a margin loss.
    """

    tol: float = 1e-8
    max_iter: int = 500
    time_limit: float | None = None
    callback: Callable[[Any], Any] | None = None

    @abstractmethod
    def supports(self, problem: Any) -> str | None:
        """None if this solver can solve the problem, else the reason why not."""

    @abstractmethod
    def start(self, problem: Any, W: np.ndarray) -> State:
        """The state before the first step; W is not changed."""

    @abstractmethod
    def step(self, problem: Any, state: State, out_of_time: Callable[[], bool]) -> State:
        """A new state at least as good; long steps look at ``out_of_time`` and may end early."""

    def attainable_tol(self, problem: Solvable) -> float:
        """The tolerance, or what rounding leaves of it."""
        return max(self.tol, problem.attainable_violation)
