"""The support vector machine with the largest-coefficient norm, as one linear program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ...problems.base import MARGIN
from ...problems.margin import Certificate, MarginProblem
from ..base import OutOfTime, Solver, State


@dataclass
class LargestNormLP(Solver[MarginProblem, State]):
    """``min C sum_i s_i xi_i + max_jk f_j |w_jk|`` by HiGHS.

    The printed reweighting for this norm has a singular matrix, so there is nothing to iterate.
    Jointly for several outputs there is one maximum over all of them, otherwise one each.
    """

    solves: ClassVar[tuple[str, ...]] = (MARGIN,)

    tol: float = 1e-6
    max_iter: int = 1

    def refusal(self, problem: MarginProblem) -> str | None:
        if problem.loss.name != "hinge":
            return f"only the hinge loss is linear, got the {problem.loss.name} loss."
        return None if np.isinf(problem.norm) else f"it is for norm=inf, got {problem.norm:g}."

    def start(self, problem: MarginProblem, W: np.ndarray) -> State:
        return State(np.array(W), problem.objective(W), np.inf)

    def step(self, problem: MarginProblem, state: State, out_of_time: OutOfTime) -> State:
        W = self._program(problem)
        if W is None:
            state.stalled = True
            return state
        objective = problem.objective(W)
        # HiGHS solves to optimality, 1e-7 by a measure of its own: nothing is left to compare
        return State(W, objective, 0.0, True, False, Certificate(objective))

    def _program(self, problem: MarginProblem) -> np.ndarray | None:
        """Variables: per output q = w + t/f >= 0, intercept and slacks; then the bounds t."""
        usable = np.flatnonzero(np.isfinite(problem.factors))
        X, c = problem.design.take(usable), problem.Y.shape[1]
        parts = [_output_program(problem, X, usable, k) for k in range(c)]
        cost = np.concatenate([part[0] for part in parts])
        inside = sparse.block_diag([part[1] for part in parts])
        bounds = np.vstack([part[2] for part in parts])
        limits = np.concatenate([part[3] for part in parts])
        on_t = [part[4] for part in parts]
        t_columns = sparse.vstack(on_t) if problem.joint else sparse.block_diag(on_t)
        n_t = t_columns.shape[1]
        found = linprog(
            np.append(cost, np.ones(n_t)),
            A_ub=sparse.hstack([inside, t_columns], format="csr"),
            b_ub=limits,
            bounds=np.vstack([bounds, np.tile([0.0, np.inf], (n_t, 1))]),
            method="highs",
            options={} if self.time_limit is None else {"time_limit": self.time_limit},
        )
        if found.x is None:
            return None
        W, t = np.zeros((problem.n_rows, c)), found.x[-n_t:]
        size = len(cost) // c
        for k in range(c):
            own = found.x[k * size : (k + 1) * size]
            shift = t[min(k, n_t - 1)] * _inverse(problem.factors[usable])
            W[usable, k], W[-1, k] = own[: usable.size] - shift, own[usable.size]
        return W


def _inverse(factors: np.ndarray) -> np.ndarray:
    return np.divide(1.0, factors, out=np.zeros_like(factors), where=factors > 0)


def _output_program(problem: MarginProblem, X: np.ndarray, usable: np.ndarray, k: int):
    """Cost, matrix, bounds and limits of one output, and its column of the matrix for t."""
    n, m = X.shape
    y, inverse, free = problem.Y[:, k], _inverse(problem.factors[usable]), problem.free[usable]
    cost = np.concatenate([np.zeros(m + 1), problem.C * problem.weights])
    margins = sparse.hstack(
        [sparse.csr_array(-y[:, None] * X), sparse.csr_array(-y[:, None]), -sparse.eye_array(n)]
    )
    below = sparse.eye_array(m, m + 1 + n).tocsr()[~free]  # q <= 2 t / f
    matrix = sparse.vstack([margins, below])
    limits = np.concatenate([-np.ones(n), np.zeros(below.shape[0])])
    on_t = np.concatenate([y * (X @ inverse), -2 * inverse[~free]])[:, None]
    bounds = np.tile([0.0, np.inf], (m + 1 + n, 1))
    bounds[:m][free] = -np.inf, np.inf
    bounds[m] = -np.inf, np.inf
    return cost, matrix, bounds, limits, sparse.csr_array(on_t)
