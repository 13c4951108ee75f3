"""Working sets around the descent: the fast solver for every r in (0, 2] and every penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...numerics.rows import nonzero_rows, row_norms
from ...problems.base import PENALTY
from ...problems.penalised import Evaluation, PenalisedProblem
from ..base import OutOfTime, Solver, State
from .descent import descend
from .model import GramModel
from .working_set import WorkingSet, guessed_rows

LOWERING = 0.1  # of the smoothing: its first value, of a typical residual, and from stage to stage
STAGE_DONE = 1e-4  # the violation under a smoothing at which it is lowered


@dataclass(kw_only=True)
class _State(State):
    evaluation: Evaluation
    smoothing: float
    working_set: WorkingSet
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
        nothing = WorkingSet(np.empty(0, dtype=int))
        return self._assessed(problem, W, _first_smoothing(problem, W), nothing)

    def step(self, problem: PenalisedProblem, state: _State, out_of_time: OutOfTime) -> _State:
        tol, finishing = self._inner_tolerance(problem, state)
        working_set = state.working_set.grown(
            problem, state.W, state.evaluation, self.attainable_tol(problem)
        )
        model = working_set.model(problem, state.W, state.evaluation)
        penalty = problem.penalty.take(working_set.rows)
        descend(model, penalty, tol * problem.violation_scale, out_of_time, finishing)
        W = state.W.copy()
        W[working_set.rows] = model.W
        new = self._assessed(problem, W, state.smoothing, working_set)
        if new.smoothing > problem.smoothing_floor and new.criterion <= STAGE_DONE:
            smoothing = max(new.smoothing * LOWERING, problem.smoothing_floor)
            return self._assessed(problem, W, smoothing, working_set)
        same_rows = working_set.rows.size == state.working_set.rows.size
        no_lower = new.objective >= state.objective * (1 - 1e-15)
        if same_rows and no_lower and new.criterion > 0.5 * state.criterion and not new.converged:
            new.n_idle = state.n_idle + 1
            new.stalled = new.n_idle > 2
        return new

    def _from_guess(
        self, problem: PenalisedProblem, W: np.ndarray, rows: np.ndarray
    ) -> _State | None:
        """The state with these rows solved for, before X is first read as a whole.

        None where what was read of it is not finite: the pass that follows will say so.
        """
        working_set = WorkingSet.of(problem, rows)
        gradient = problem.design.rmatmul_of(rows, problem.unexplained) / -len(problem.Y)
        G = working_set.G
        if G is None or not (np.isfinite(G).all() and np.isfinite(gradient).all()):
            return None
        model = GramModel(G, W[rows], gradient)
        tol = 0.5 * self.attainable_tol(problem) * problem.violation_scale
        descend(model, problem.penalty.take(rows), tol)
        W = W.copy()
        W[rows] = model.W
        return self._assessed(problem, W, problem.smoothing_floor, working_set)

    def _assessed(
        self, problem: PenalisedProblem, W: np.ndarray, smoothing: float, working_set: WorkingSet
    ) -> _State:
        """The state at W: one pass over X."""
        evaluation = problem.evaluate(W, smoothing)
        at_floor = smoothing <= problem.smoothing_floor
        return _State(
            W,
            evaluation.objective,
            evaluation.violation,
            converged=at_floor and evaluation.violation <= self.attainable_tol(problem),
            evaluation=evaluation,
            smoothing=smoothing,
            working_set=working_set,
        )

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
    return max(LOWERING * typical, problem.smoothing_floor)
