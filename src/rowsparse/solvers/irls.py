"""Iteratively reweighted least squares: the algorithm of GSR-FS (Peng & Fan) and of l2,p (Wang & Chen)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..designs.base import Design
from ..designs.convert import as_design
from ..numerics.rows import row_norms
from ..numerics.systems import ridge_by_features, ridge_by_samples
from ..numerics.threads import blas_threads_for
from ..problem import SMOOTHING_FLOOR, Problem
from .base import Solver, State

DROP_BELOW = 1e-5  # relative to the largest row: such rows leave the system
SMALLEST_SMOOTHING = 1e-7  # of the largest row
LOWERING = 0.3  # of both smoothings, at every step
MAX_RETURNS = 10  # of dropped rows that the final check wants back


@dataclass
class _State(State):
    active: np.ndarray | None = None  # rows still in the system
    design: Design | None = None  # X restricted to them
    G: np.ndarray | None = None  # X'SX of them, where it does not change (r = 2, d <= n)
    smoothing_rows: float = np.inf
    smallest_smoothing: float = 0.0  # of the rows
    smoothing_samples: float = np.inf
    n_returns: int = 0


@dataclass
class IRLS(Solver):
    """Majorise loss and penalty by quadratics at the current point, minimise, repeat.

    The system is solved in the smaller of feature and sample space; rows that become negligible
    leave it and are checked again at the end. The smoothed objective, which the history records,
    never increases. ``tol`` bounds its relative change in the last step, once the smoothing is at
    its floor; for p < 1 the certificate of the result may be larger (see ``violation``), since
    reweighting alone does not reach row-wise optimality.
    """

    def supports(self, problem: Problem) -> str | None:
        if getattr(problem.penalty, "p", None) == 0:
            return "reweighting needs p > 0, got p = 0; use BlockDescent."
        return None

    def start(self, problem: Problem, W: np.ndarray) -> _State:
        """From W; from the null model, the paper's start: all weights equal to one."""
        penalty = problem.penalty
        usable = (problem.sample_curvatures > 0) & ~penalty.excluded(len(W))
        active = np.flatnonzero(usable)
        state = _State(W, np.inf, np.nan)
        state.active, state.design, state.G = active, problem.design, None
        if active.size < problem.n_rows:
            state.design = _restricted(problem.design, active)
        if not W[~penalty.free(len(W))].any():
            h = problem.loss.weights(len(problem.Y))
            q = np.where(penalty.free(len(W)), 0.0, penalty.strength(len(W)))[active]
            state.W[active] = _reweighted_fit(problem, state, h, q)
        largest = float(row_norms(state.W).max(initial=0.0)) or 1.0
        state.smoothing_rows = 0.1 * largest
        state.smallest_smoothing = SMALLEST_SMOOTHING * largest
        state.smoothing_samples = 0.1 * problem.residual_scale
        state.objective = self._smoothed_objective(problem, state)
        return state

    def step(self, problem: Problem, state: State, out_of_time: Callable[[], bool]) -> _State:
        assert isinstance(state, _State)
        new = _State(state.W.copy(), np.inf, np.nan, active=state.active, design=state.design)
        new.G, new.n_returns = state.G, state.n_returns
        new.smallest_smoothing = state.smallest_smoothing
        loss = problem.loss.smoothed(state.smoothing_samples)
        W_active = state.W[state.active]
        h = loss.residual_weights(state.design.matmul(W_active) - problem.Y)
        q = problem.penalty.take(state.active).weights(W_active, state.smoothing_rows)
        n, d = state.design.shape
        with blas_threads_for(2.0 * n * d * min(n, d)):
            new.W[new.active] = _reweighted_fit(problem, new, h, q)
        self._drop_negligible(problem, new)
        floor_samples = SMOOTHING_FLOOR * problem.residual_scale
        new.smoothing_rows = max(LOWERING * state.smoothing_rows, state.smallest_smoothing)
        new.smoothing_samples = max(LOWERING * state.smoothing_samples, floor_samples)
        new.objective = self._smoothed_objective(problem, new)
        at_floor = (
            new.smoothing_rows == state.smallest_smoothing
            and new.smoothing_samples == floor_samples
        )
        change = abs(state.objective - new.objective)
        if at_floor and change <= self.tol * abs(new.objective):
            self._check_dropped(problem, new)
        return new

    def _smoothed_objective(self, problem: Problem, state: _State) -> float:
        W = state.W[state.active]
        E = state.design.matmul(W) - problem.Y
        loss = problem.loss.smoothed(state.smoothing_samples).value_of_residual(E)
        penalty = problem.penalty.take(state.active)
        norms = np.sqrt(row_norms(W) ** 2 + state.smoothing_rows**2)
        return loss + float(penalty.strength(len(W)) @ penalty.phi(norms))

    def _drop_negligible(self, problem: Problem, state: _State) -> None:
        norms = row_norms(state.W[state.active])
        free = problem.penalty.free(len(state.W))[state.active]
        kept = free | (norms > DROP_BELOW * norms[~free].max(initial=0.0))
        state.W[state.active[~kept]] = 0.0
        if np.count_nonzero(kept) <= 0.8 * kept.size:
            state.active = state.active[kept]
            state.design = _restricted(problem.design, state.active)
            state.G = None if state.G is None else state.G[np.ix_(kept, kept)]

    def _check_dropped(self, problem: Problem, state: _State) -> None:
        """Done, unless a row that was dropped would lower a convex objective."""
        evaluation = problem.evaluate(state.W)
        state.violation = evaluation.violation
        wrong = evaluation.scores > max(self.attainable_tol(problem), 1e-6)
        wrong &= ~state.W.any(axis=1)
        if problem.convex and wrong.any() and state.n_returns < MAX_RETURNS:
            state.n_returns += 1
            used = state.W.any(axis=1)
            size = 1e-3 * row_norms(state.W).max(initial=1.0)
            G = evaluation.gradient
            state.W[wrong] = -size * G[wrong] / row_norms(G[wrong])[:, None]
            state.active, state.G = np.flatnonzero(used | wrong), None
            state.design = _restricted(problem.design, state.active)
            state.objective = self._smoothed_objective(problem, state)
        else:
            state.converged = True


def _restricted(design: Design, columns: np.ndarray) -> Design:
    """The active columns as a dense block once they are few; X itself is never copied whole."""
    return as_design(design.take(columns))


def _reweighted_fit(problem: Problem, state: _State, h: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The minimiser of the majorizer on the active rows."""
    design, Y = state.design, problem.Y
    n, d = design.shape
    h = np.maximum(h, 1e-300) / n
    if d <= n:
        everything = np.arange(d)
        G = state.G if state.G is not None else design.gram(everything, everything, h)
        if problem.loss.quadratic:
            state.G = G
        return ridge_by_features(G, q, design.rmatmul(h[:, None] * Y))
    free = np.flatnonzero(q == 0)
    inverse = np.divide(1.0, q, out=np.zeros_like(q), where=q > 0)
    Theta, beta = ridge_by_samples(design.outer(inverse), h, design.take(free), Y)
    W = inverse[:, None] * design.rmatmul(Theta)
    W[free] = beta
    return W
