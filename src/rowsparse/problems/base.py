"""The contract of a problem: what the loop and the certifier ask of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import numpy as np

# The kinds of problem. A solver names those that it solves; a problem says which one it is.
PENALTY = "a loss with a penalty on the rows"
AT_MOST_K = "a loss with at most k nonzero rows"
MARGIN = "a margin loss with a norm"

WIDE = 1e-2  # a gap of this part of the objective leaves its second digit open

_proving: ContextVar[bool] = ContextVar("proving", default=True)


class Evaluation(Protocol):
    """What is known about a point W."""

    @property
    def objective(self) -> float: ...  # of the true problem, without smoothing
    @property
    def violation(self) -> float | None: ...  # the certificate; None where a problem has none
    @property
    def smoothing(self) -> float: ...  # of the loss that the violation belongs to
    @property
    def gradient(self) -> np.ndarray | None: ...  # of that loss in W; None if it was not needed


class Problem(Protocol):
    """What is minimised over W, which has one row per feature and those of free columns below."""

    @property
    def kind(self) -> str: ...  # one of the kinds above
    @property
    def Y(self) -> np.ndarray: ...
    @property
    def n_rows(self) -> int: ...

    # the best W whose penalised rows are zero: where a solver begins if not told
    @property
    def null_point(self) -> np.ndarray: ...

    # the smoothing of the loss under which results are certified
    @property
    def smoothing_floor(self) -> float: ...
    @property
    def attainable_violation(self) -> float: ...  # what rounding leaves of a violation

    def split(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...  # features and intercept
    def objective(self, W: np.ndarray) -> float: ...
    def evaluate(self, W: np.ndarray) -> Evaluation: ...
    def duality_gap(self, W: np.ndarray, evaluation: Any) -> float | None: ...


@contextmanager
def without_proofs() -> Iterator[None]:
    """Within the block solutions come without the gaps and bounds that nothing but a reader would
    use: nobody reads those of the many fits inside a resampling. What is found is the same."""
    token = _proving.set(False)
    try:
        yield
    finally:
        _proving.reset(token)


def proofs_wanted() -> bool:
    """Whether somebody will read what is proved of a solution."""
    return _proving.get()


def is_wide(gap: float | None, objective: float, tol: float, problem: Problem) -> bool:
    """Whether so much may be missing that the criterion of a solver cannot be believed: in float32
    it ends far from the optimum of a small alpha, and that of reweighting does not see zero rows.
    A gap of ``tol`` times the null objective is as much as was asked for."""
    if gap is None or gap <= WIDE * abs(objective):
        return False
    return gap > tol * problem.objective(problem.null_point)
