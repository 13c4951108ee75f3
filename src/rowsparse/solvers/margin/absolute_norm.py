"""The support vector machine with the l1 norm, as linear programs on a growing set of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ...problems.base import MARGIN
from ...problems.margin import Certificate, MarginProblem
from ..base import OutOfTime, Solver, State

LARGEST = 4e4  # entries of the program, up to which it takes a second or two


@dataclass(kw_only=True)
class _State(State):
    columns: np.ndarray  # of the next program


@dataclass
class AbsoluteNormLP(Solver[MarginProblem, _State]):
    """``min C sum_ik s_i xi_ik + 2 sum_jk f_j |w_jk|`` by HiGHS, exact where reweighting is slow.

    The multipliers A of a program on some columns are feasible for all of them, that is optimal, if
    ``|x_j'a_k| <= 2 f_j`` for all j and k; columns that violate this join the next program.
    """

    solves: ClassVar[tuple[str, ...]] = (MARGIN,)

    tol: float = 1e-6
    max_iter: int = 100

    def refusal(self, problem: MarginProblem) -> str | None:
        if problem.loss.name != "hinge":
            return f"only the hinge loss is linear, got the {problem.loss.name} loss."
        if problem.norm != 1:
            return f"it is for norm=1, got {problem.norm:g}."
        if problem.joint and problem.Y.shape[1] > 1:
            return "the joint norm of several outputs is not linear."
        n = len(problem.Y)
        if n * min(n, problem.factors.size) > LARGEST:
            return f"{n} samples make the program too large."
        return None

    def start(self, problem: MarginProblem, W: np.ndarray) -> _State:
        s = problem.weights
        centred = s[:, None] * (problem.Y - np.average(problem.Y, axis=0, weights=s))
        columns = _grown(problem, np.flatnonzero(problem.free), problem.design.rmatmul(centred))
        return _State(np.array(W), problem.objective(W), np.inf, columns=columns)

    def step(self, problem: MarginProblem, state: _State, out_of_time: OutOfTime) -> _State:
        c = problem.Y.shape[1]
        block = problem.design.take(state.columns)
        W, A = np.zeros((problem.n_rows, c)), np.zeros(problem.Y.shape)
        for k in range(c):
            found = _program(problem, block, state.columns, k, self.time_limit)
            if found is None:
                state.stalled = True
                return state
            W[state.columns, k], W[-1, k], A[:, k] = found
        gradient = problem.design.rmatmul(A)
        excess = _excess(problem, gradient)
        violation = max(float(excess.max(initial=0.0)), 0.0)
        grown = _grown(problem, state.columns, np.where(excess > 0, gradient.T, 0.0).T)
        done = violation <= self.tol or grown.size == state.columns.size
        objective = problem.objective(W)
        known = Certificate(objective, dual=A)
        return _State(W, objective, violation, done, False, known, columns=grown)


def _excess(problem: MarginProblem, gradient: np.ndarray) -> np.ndarray:
    """``max_k |g_jk| / (2 f_j) - 1`` of the penalised columns, -1 of the others."""
    f = problem.factors
    counted = np.isfinite(f) & ~problem.free
    largest = np.abs(gradient).max(axis=1)
    return np.divide(largest, 2 * f, out=np.zeros(f.size), where=counted) - 1.0


def _grown(problem: MarginProblem, columns: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """With the columns of largest gradient: as many as there are samples, later doubling."""
    wish = np.where(np.isfinite(problem.factors), np.abs(gradient).max(axis=1), 0.0)
    wish[columns] = 0.0
    order = np.argsort(-wish, kind="stable")[: max(columns.size, len(problem.Y))]
    return np.union1d(columns, order[wish[order] > 0])


def _program(problem: MarginProblem, X: np.ndarray, columns: np.ndarray, k: int, time_limit):
    """Coefficients, intercept and signed multipliers of one output: w = p - q, both >= 0."""
    n, m = X.shape
    y, f = problem.Y[:, k], problem.factors[columns]
    signed = y[:, None] * X
    cost = np.concatenate([2 * f, 2 * f, [0.0], problem.C * problem.weights])
    margins = np.hstack([-signed, signed, -y[:, None]])
    bounds = np.tile([0.0, np.inf], (cost.size, 1))
    bounds[2 * m] = -np.inf, np.inf
    found = linprog(
        cost,
        A_ub=sparse.hstack([sparse.csr_array(margins), -sparse.eye_array(n)], format="csr"),
        b_ub=-np.ones(n),
        bounds=bounds,
        method="highs",
        options={} if time_limit is None else {"time_limit": time_limit},
    )
    if found.x is None:
        return None
    p, q, b = found.x[:m], found.x[m : 2 * m], found.x[2 * m]
    return p - q, b, -y * found.ineqlin.marginals
