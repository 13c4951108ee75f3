"""Iteratively reweighted least squares, as in GSR-FS (Peng & Fan) and l2,p (Wang & Chen)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...designs.wrappers import Restriction
from ...losses.residual import SMOOTHING_FLOOR
from ...numerics.memory import beyond_memory
from ...numerics.rows import nonzero_rows, row_norms
from ...numerics.systems import normal_equations, ridge, ridge_by_features
from ...numerics.threads import blas_threads_for
from ...problems.base import PENALTY
from ...problems.in_blocks import BlockedProblem
from ...problems.penalised import Evaluation, PenalisedProblem
from ..base import OutOfTime, Solver, State

DROP_BELOW = 1e-5  # relative to the largest row: such rows leave the system
LOWERING = 0.3  # of both smoothings, at every step: twelve steps from a tenth to the floor


@dataclass(kw_only=True)
class _State(State):
    columns: Restriction  # of the rows still in the system
    # X'SX and X'SY of them, where they do not change (r = 2, d <= n)
    normal: tuple[np.ndarray, np.ndarray] | None = None
    smoothing_rows: float = np.inf
    smallest_smoothing: float = 0.0  # of the rows
    smoothing_samples: float = np.inf
    n_returns: int = 0

    @property
    def active(self) -> np.ndarray:
        """The rows still in the system."""
        return self.columns.index


@dataclass
class IRLS(Solver[PenalisedProblem, _State]):
    """Majorise loss and penalty by quadratics at the current point, minimise, repeat.

    The system is solved in the smaller of feature and sample space; rows that become negligible
    leave it and are checked again at the end. The smoothed objective, which the history records,
    never increases. ``tol`` bounds its relative change in the last step, once the smoothing is at
    its floor, as in the papers. That is not the tolerance of the certificate: reweighting is slow
    for p = 1 and does not reach row-wise optimality for p < 1, so read ``violation`` and ``gap``.

    Parameters
    ----------
    tol : float
        Bound on the relative change of the objective in the last step.
    max_iter : int
        Most reweightings.
    time_limit, callback : as in ``Solver``

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import L2pSelector
    >>> from rowsparse.solvers import IRLS
    >>> selector = L2pSelector.rfs(3, solver=IRLS()).fit(X, y)
    >>> selector.solution_.solver
    'IRLS'
    """

    solves: ClassVar[tuple[str, ...]] = (PENALTY,)

    def refusal(self, problem: PenalisedProblem) -> str | None:
        unknowns = min(problem.design.shape)
        system = 2 * 8.0 * unknowns**2  # bytes: itself, and its factor
        reason = problem.penalty.reweighting_refusal or beyond_memory(system)
        return None if reason is None else f"{reason}; use BlockDescent."

    def start(self, problem: PenalisedProblem, W: np.ndarray) -> _State:
        """From W; from the null model, the paper's start: all weights equal to one."""
        penalty = problem.penalty
        free = penalty.free(len(W))
        varies = problem.sample_curvatures > 0
        usable = varies & ~penalty.excluded(len(W))
        active = np.flatnonzero(usable)
        W = np.where(usable[:, None], W, 0.0)
        columns = _restricted(problem, active)
        state = _State(W, np.inf, np.inf, columns=columns)
        if not W[~free].any():
            strength = penalty.strength(len(W))
            strength[free] = 0.0
            q = strength[active] + problem.ridges[active]
            state.W[active] = _reweighted_fit(problem, state, q, None)
        # both smoothings begin at a tenth of what they smooth
        norms = row_norms(state.W)
        largest = float(norms.max(initial=0.0)) or 1.0
        state.smoothing_rows = 0.1 * largest
        state.smallest_smoothing = SMOOTHING_FLOOR * largest
        state.smoothing_samples = 0.1 * problem.residual_scale
        state.objective = self._smoothed_objective(problem, state, state)
        return state

    def resume(
        self, problem: PenalisedProblem, state: _State, before: _State | None = None
    ) -> _State:
        """From the null model again: rows that reweighting has zeroed cannot come back."""
        return self.start(problem, problem.null_point)

    def step(self, problem: PenalisedProblem, state: _State, out_of_time: OutOfTime) -> _State:
        shrunk = _without_negligible(problem, state)
        new = self._minimise_majorizer(problem, state, shrunk)
        reached = self._smoothed_objective(problem, new, state)
        # not ``>``: NaN, from a system beyond the range of floats, is no lower either
        if not reached <= state.objective and shrunk is not state:  # some of them mattered
            new = self._minimise_majorizer(problem, state, state)
            reached = self._smoothed_objective(problem, new, state)
        if not reached <= state.objective * (1 + 1e-11):  # the system is beyond this precision
            new = replace(state, stalled=True)
            reached = state.objective
        of_rows = LOWERING * state.smoothing_rows
        of_samples = LOWERING * state.smoothing_samples
        new.smoothing_rows = max(of_rows, state.smallest_smoothing)
        new.smoothing_samples = max(of_samples, problem.smoothing_floor)
        new.objective = self._smoothed_objective(problem, new, new)
        rows_at_floor = new.smoothing_rows == state.smoothing_rows
        samples_at_floor = new.smoothing_samples == state.smoothing_samples
        # the papers' criterion, under one smoothing for both points
        gain = state.objective - reached
        new.criterion = gain / (abs(reached) or 1.0)
        if rows_at_floor and samples_at_floor and new.criterion <= self.tol:
            return self._with_dropped_checked(problem, new)
        return new

    def _minimise_majorizer(
        self, problem: PenalisedProblem, state: _State, within: _State
    ) -> _State:
        """Minimise the quadratic that touches the objective at ``state`` over the rows that
        ``within`` keeps in the system."""
        penalty = problem.penalty.take(within.active)
        q = penalty.quadratic_above(state.W[within.active], state.smoothing_rows)
        q += problem.ridges[within.active]
        new = replace(within, W=np.zeros_like(state.W))
        n = len(problem.Y)
        d = within.active.size
        with blas_threads_for(2.0 * n * d * min(n, d)):
            new.W[new.active] = _reweighted_fit(problem, new, q, state)
        return new

    def _smoothed_objective(self, problem: PenalisedProblem, point: _State, level: _State) -> float:
        """The objective of a point under the smoothing of a level."""
        W = point.W[point.active]
        if point.normal is not None:  # without a pass over X
            G, B = point.normal
            at_zero = problem.loss.value_of_residual(problem.Y)
            value = at_zero + float(np.vdot(W, G @ W / 2 - B))
        elif isinstance(problem, BlockedProblem):
            value = problem.smoothed_loss(point.W, level.smoothing_samples)
        else:
            E = point.columns.X.matmul(W) - problem.Y
            loss = problem.loss.smoothed(level.smoothing_samples)
            value = loss.value_of_residual(E)
        value += problem.ridge_value(point.W)
        return value + problem.penalty.smoothed_value(point.W, level.smoothing_rows)

    def _with_dropped_checked(self, problem: PenalisedProblem, state: _State) -> _State:
        """Converged, unless a row that was dropped would lower a convex objective."""
        norms = row_norms(state.W)
        floor = DROP_BELOW * norms.max(initial=0.0)
        negligible = norms < floor
        cleaned = np.where(negligible[:, None], 0.0, state.W)
        if problem.objective(cleaned) <= problem.objective(state.W):
            state.W = cleaned
        evaluation = problem.evaluate(state.W)
        # reweighting reaches few digits: what is wrong by less would come back for nothing
        tol = max(self.attainable_tol(problem), 1e-6)
        wrong = (evaluation.scores > tol) & ~nonzero_rows(state.W)
        # rows that come back again and again will not settle: ten times are enough
        if problem.convex and wrong.any() and state.n_returns < 10:
            returned = _with_rows_returned(problem, state, evaluation, wrong)
            returned.objective = self._smoothed_objective(problem, returned, state)
            if returned.objective < state.objective:
                return returned
        state.converged = True
        return state


def _with_rows_returned(
    problem: PenalisedProblem, state: _State, evaluation: Evaluation, wrong: np.ndarray
) -> _State:
    """The state with the wrong rows in the system again, each on a part of its way by itself."""
    active = np.flatnonzero(nonzero_rows(state.W) | wrong)
    L = problem.majorizer_curvatures(state.W, evaluation.residual)[wrong]
    targets = -evaluation.gradient[wrong] / L[:, None]
    steps = problem.penalty.take(wrong).prox(targets, 1 / L)
    W = state.W.copy()
    # together they may overshoot: the mean of points that are all lower is lower where it is convex
    W[wrong] = steps / np.count_nonzero(wrong)
    return replace(
        state,
        W=W,
        columns=_restricted(problem, active),
        normal=None,
        n_returns=state.n_returns + 1,
    )


def _restricted(problem: PenalisedProblem, active: np.ndarray) -> Restriction:
    """These columns, copied once they are a quarter of all; those of X in blocks stay there."""
    few = 0 if isinstance(problem, BlockedProblem) else problem.n_rows // 4
    return Restriction.of(problem.design, active, few)


def _without_negligible(problem: PenalisedProblem, state: _State) -> _State:
    """The state with only the rows that count in the system, once that makes it a fifth smaller."""
    norms = row_norms(state.W[state.active])
    free = problem.penalty.free(len(state.W))[state.active]
    floor = DROP_BELOW * norms[~free].max(initial=0.0)
    kept = free | (norms > floor)
    if np.count_nonzero(kept) > 0.8 * kept.size:
        return state
    smaller = replace(state, columns=state.columns.keep(kept))
    if state.normal is not None:
        G, B = state.normal
        smaller.normal = G[np.ix_(kept, kept)], B[kept]
    return smaller


def _reweighted_fit(
    problem: PenalisedProblem, system: _State, q: np.ndarray, at: _State | None
) -> np.ndarray:
    """The minimiser over the active rows of a system of the majorizer at a point; without one,
    under the weights of the samples."""
    if isinstance(problem, BlockedProblem):
        smoothing = None if at is None else at.smoothing_samples
        W = np.zeros_like(system.W) if at is None else at.W
        G, B = problem.normal_equations(W, system.active, smoothing)
        return ridge_by_features(G, q, B)
    X = system.columns.X
    n, d = X.shape
    # a system in sample space divides by them
    h = np.maximum(_sample_weights(problem, at), 1e-300) / n
    if problem.loss.quadratic and d <= n and system.normal is None:
        system.normal = normal_equations(X, problem.Y, h, np.arange(d))
    if system.normal is None:
        return ridge(X, problem.Y, h, q)
    G, B = system.normal
    return ridge_by_features(G, q, B)


def _sample_weights(problem: PenalisedProblem, at: _State | None) -> np.ndarray:
    """Those of the majorizer at a point."""
    if at is None or problem.loss.quadratic:
        return problem.loss.weights(len(problem.Y))
    E = at.columns.X.matmul(at.W[at.active]) - problem.Y
    return problem.loss.smoothed(at.smoothing_samples).residual_weights(E)
