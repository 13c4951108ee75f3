"""Descent on a growing working set: the fast solver for every r in (0, 2] and every penalty.

On the working set, block sweeps (every row to its exact minimiser) find which rows are zero; once
they do, the objective is smooth in the nonzero rows and a few Newton steps, which belong to the
penalty, finish what sweeps would need thousands of rounds for.

Where sweeps settle slowly, Anderson's extrapolation guesses where they lead. Close to its end a
sweep is nearly affine in W, and of the last points W_0 ... W_K the mixture

    sum_k c_k W_k   (k = 1 ... K),   sum_k c_k = 1,   |sum_k c_k (W_k - W_{k-1})| smallest

is then far closer to the fixed point than W_K. It is taken only if it lowers the objective. The
gradient or residual that a model keeps is affine in W and is mixed alike, so a guess costs less
than a sweep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...numerics.compiling import worth_compiling
from ...numerics.rows import nonzero_rows
from ...numerics.threads import one_blas_thread
from ...penalties.base import Penalty
from ...penalties.local_model import LocalModel
from ...problems.base import PENALTY
from ...problems.penalised import Evaluation, PenalisedProblem
from ..base import OutOfTime, Solver, State, never
from .model import GramModel
from .moves import LITTLE, NO_MOVES, SEVERAL, Moves
from .working_set import WorkingSet, guessed_rows

ROUNDS = 200  # of sweeps and Newton steps before the working set is looked at again
# A violation that is the same to within this part for several rounds ends a descent: on 6 x 19
# columns equal up to 1e-7 (r = 1.2) it stays for all 200, and a fit took 14 s.
UNCHANGED = 0.01
LOWERING = 0.1  # of the smoothing: its first value, of a typical residual, and from stage to stage
# The violation at which a trial, a start or a stage of the smoothing ends: which rows matter is
# clear by then.
ROUGH = 1e-4
SWEEPS = 3  # over all rows, before those over the nonzero ones
# Of a Newton step: what sweeps before it may cost. 500 x 2000 x 2, r = 2, with hundreds of nonzero
# rows takes twice as long with half as much.
SWEEP_SHARE = 1 / 6
MOST_SWEEPS = 50  # before it
# Sweeps between two guesses. 200 x 1000 x 5 with r = 1 and neighbours correlated at 0.9 takes 1.5 s
# with guesses and 2.1 s without; for r = 2 they make no difference.
MEMORY = 8


@dataclass(kw_only=True)
class _State(State):
    evaluation: Evaluation
    smoothing: float
    working_set: WorkingSet
    alpha: float  # of the penalty
    moves: Moves = NO_MOVES
    near: bool = False  # what is left is little: a neighbour was solved
    origin: _State | None = None  # the start, where a smoothing may lead above it


@dataclass
class BlockDescent(Solver[PenalisedProblem, _State]):
    """Block sweeps and Newton steps on a growing working set.

    Each step passes once over X, scores every row by its prox fixed-point residual, adds the
    worst rows to the working set and descends on it. For r < 2 the samples are reweighted and the
    smoothing of the loss is lowered to its floor as it goes.

    Parameters
    ----------
    tol : float, bound on the violation of the returned W, in units of the data
    max_iter : int, most passes over X
    time_limit, callback : as in ``Solver``

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import L2pSelector
    >>> from rowsparse.solvers import BlockDescent
    >>> L2pSelector(3, solver=BlockDescent(tol=1e-10)).fit(X, y).solution_.violation < 1e-10
    True
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
        if problem.loss.quadratic:
            return self._assessed(problem, W, problem.smoothing_floor, nothing)
        E = problem.residual(W)
        begin = self._assessed(problem, W, _first_smoothing(problem, W, E), nothing, E)
        begin.origin = None if problem.convex else begin
        return begin

    def resume(
        self, problem: PenalisedProblem, state: _State, before: _State | None = None
    ) -> _State:
        """Where a neighbour's solution lies, or where two of them lead: for squared loss residual
        and gradient are affine in W, and tell without a pass over X what is wrong there."""
        residual = state.evaluation.residual
        if not problem.loss.quadratic or residual is None:
            smoothing = _first_smoothing(problem, state.W, residual)
            return self._assessed(problem, state.W, smoothing, state.working_set, residual)
        known = [state.W, residual, state.evaluation.gradient]
        if before is not None and before.alpha != state.alpha:
            share = (problem.penalty.alpha - state.alpha) / (state.alpha - before.alpha)
            old = [before.W, before.evaluation.residual, before.evaluation.gradient]
            ahead = [now + share * (now - then) for now, then in zip(known, old, strict=True)]
            known = min(ahead, known, key=lambda point: problem.value_of_residual(*point[:2]))
        W, E, gradient = known
        floor = problem.smoothing_floor
        begin = self._assessed(problem, W, floor, state.working_set, E, gradient)
        begin.near = True
        return begin

    def step(self, problem: PenalisedProblem, state: _State, out_of_time: OutOfTime) -> _State:
        new = self._lower(problem, state, out_of_time)
        new.origin = origin = state.origin
        ends = new.converged or new.stalled or out_of_time()
        if ends and origin is not None and new.objective > origin.objective * (1 + LITTLE):
            return self._back_at(problem, origin)
        return new

    def _back_at(self, problem: PenalisedProblem, origin: _State) -> _State:
        """Where it began, under the last smoothing, which mostly leads down; else for good: for
        small r this too is far from the loss itself where residuals vanish."""
        if origin.smoothing <= problem.smoothing_floor:
            return replace(origin, stalled=True)
        rows = origin.working_set
        E = origin.evaluation.residual
        again = self._assessed(problem, origin.W, problem.smoothing_floor, rows, E)
        again.origin = again
        return again

    def _lower(self, problem: PenalisedProblem, state: _State, out_of_time: OutOfTime) -> _State:
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
        if new.smoothing > problem.smoothing_floor and new.criterion <= ROUGH:
            smoothing = max(new.smoothing * LOWERING, problem.smoothing_floor)
            E = new.evaluation.residual
            return self._assessed(problem, W, smoothing, working_set, E)
        if not new.converged:
            same_rows = working_set.rows.size == state.working_set.rows.size
            new.moves = state.moves.then(new, same_rows)
            new.stalled = new.moves.lead_nowhere
        return new

    def _from_guess(
        self, problem: PenalisedProblem, W: np.ndarray, rows: np.ndarray
    ) -> _State | None:
        """The state with these rows solved for, before X is first read as a whole.

        None where what was read of it is not finite: the pass that follows will say so.
        """
        working_set = WorkingSet.of(problem, rows)
        gradient = problem.design.rmatmul_of(rows, problem.unexplained) / -len(problem.Y)
        gradient += problem.ridges[rows][:, None] * W[rows]
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
        self,
        problem: PenalisedProblem,
        W: np.ndarray,
        smoothing: float,
        working_set: WorkingSet,
        E: np.ndarray | None = None,
        gradient: np.ndarray | None = None,
    ) -> _State:
        """The state at W, whose residual E and gradient may be known: else one pass over X."""
        if E is None:
            evaluation = problem.evaluate(W, smoothing)
        else:
            evaluation = problem.evaluate_residual(W, E, smoothing, gradient)
        at_floor = smoothing <= problem.smoothing_floor
        return _State(
            W,
            evaluation.objective,
            evaluation.violation,
            converged=at_floor and evaluation.violation <= self.attainable_tol(problem),
            evaluation=evaluation,
            smoothing=smoothing,
            working_set=working_set,
            alpha=problem.penalty.alpha,
        )

    def _inner_tolerance(self, problem: PenalisedProblem, state: _State) -> tuple[float, bool]:
        """A tenth of what is wrong while much is; at the end the last digits cost one Newton step.

        The flag says that this is the end.
        """
        if state.smoothing > problem.smoothing_floor:
            return min(0.1 * state.criterion, ROUGH / 2), False
        # on more rows than samples a Newton step is dear: first let the working set settle
        wide = np.count_nonzero(nonzero_rows(state.W)) > len(problem.Y)
        if state.near or state.criterion < (1e-4 if wide else 1e-3):
            return 0.5 * self.attainable_tol(problem), True
        return 0.1 * state.criterion, False


def _first_smoothing(problem: PenalisedProblem, W: np.ndarray, E: Any) -> float:
    # of the typical residual: a good start, whose residuals are small, is not blurred
    return max(LOWERING * problem.typical_residual(W, E), problem.smoothing_floor)


def descend(
    model: LocalModel,
    penalty: Penalty,
    tol: float,
    out_of_time: OutOfTime = never,
    finishing: bool = False,
) -> None:
    """Lower the objective on the working set until no row moves by more than ``tol``.

    ``tol`` is in the scale of the violation before division by the data; ``finishing`` says that
    the point is nearly right and only digits are missing. The model holds the rows.
    """
    everything = np.arange(len(model.W))
    reached = marked = np.inf
    times = 1  # so many sweeps as usual
    settled = False
    with one_blas_thread():
        for i in range(ROUNDS):
            if i % SEVERAL == 0:
                if abs(reached - marked) <= UNCHANGED * reached < np.inf:
                    if settled:
                        return  # rounding is in the way
                    penalty.settle(model, tol)
                    settled = True
                marked = reached
            model.stuck = i >= SEVERAL
            model.sweep(penalty, everything, SWEEPS, tol / 10)
            support = np.flatnonzero(nonzero_rows(model.W))
            n_sweeps = affordable_sweeps(model, penalty, support.size, times)
            extrapolated_sweeps(model, penalty, support, n_sweeps, tol / 10)
            reached = violation(model, penalty)
            if reached <= tol or out_of_time():
                return
            times = 2 * times if penalty.newton(model, tol, finishing) else 1
            reached = violation(model, penalty)
            if reached <= tol or out_of_time():
                return


def affordable_sweeps(model: LocalModel, penalty: Penalty, n_rows: int, times: int = 1) -> int:
    """How often to sweep over the nonzero rows: for a part of the time that a Newton step takes, so
    many times as often after those that were cut short, but never for longer than it takes."""
    if not worth_compiling(len(model.W)) or n_rows == 0:
        return SWEEPS
    most = penalty.newton_flops(model, n_rows) / model.sweep_flops(n_rows)
    usual = np.clip(SWEEP_SHARE * most, 1, MOST_SWEEPS)
    return int(min(times * usual, max(most, usual)))


def violation(model: LocalModel, penalty: Penalty) -> float:
    """The largest of the rows that the model holds, before division by the data."""
    scores = penalty.violation(model.W, model.gradient(), model.metric)
    return float(scores.max(initial=0.0))


def objective(model: LocalModel, penalty: Penalty) -> float:
    """Of the rows that the model holds, up to a constant that its copies share."""
    return model.loss_value() + penalty.value(model.W)


def extrapolated_sweeps(
    model: LocalModel, penalty: Penalty, rows: np.ndarray, n_sweeps: int, tol: float
) -> float:
    """Sweep over ``rows`` up to ``n_sweeps`` times, or until none moves by more than ``tol``.

    Returns the largest move of the last sweep.
    """
    if n_sweeps < 2 * MEMORY:
        return model.sweep(penalty, rows, n_sweeps, tol)
    points = [(model.W.copy(), model.image.copy())]
    moved = np.inf
    for _ in range(n_sweeps):
        moved = model.sweep(penalty, rows, 1, tol)
        if moved <= tol:
            break
        points.append((model.W.copy(), model.image.copy()))
        if len(points) > MEMORY:
            _extrapolate(model, penalty, points)
            points = [(model.W.copy(), model.image.copy())]
    return moved


def _extrapolate(
    model: LocalModel, penalty: Penalty, points: list[tuple[np.ndarray, np.ndarray]]
) -> None:
    """Go to the mixture of the points (W and its image) if the objective is lower there."""
    rows, images = zip(*points, strict=True)
    shares = shares_of_steps(rows)
    if shares is None:
        return
    reached = objective(model, penalty)
    model.place(np.tensordot(shares, rows[1:], axes=1), np.tensordot(shares, images[1:], axes=1))
    if not objective(model, penalty) < reached:
        model.place(*points[-1])


def shares_of_steps(points: Sequence[np.ndarray]) -> np.ndarray | None:
    """The c_k of the module's formula; None where the steps do not tell."""
    steps = np.diff([W.ravel(order="K") for W in points], axis=0)
    products = steps @ steps.T
    # steps that hardly differ still give finite shares
    products[np.diag_indices_from(products)] += 1e-12 * np.trace(products)
    try:
        shares = np.linalg.solve(products, np.ones(len(steps)))
    except np.linalg.LinAlgError:
        return None
    total = shares.sum()
    return shares / total if np.isfinite(total) and total > 0 else None
