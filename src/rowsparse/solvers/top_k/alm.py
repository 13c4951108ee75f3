r"""The augmented Lagrangian method of Cai, Nie & Huang (2013) for at most k nonzero rows.

    min  n L_r(E)   subject to   W = V,  X W - Y = E,  V has at most k nonzero rows,

by turns in W (one linear system, factorised once), V (projection), E (row shrinkage) and the two
multipliers, while mu grows by rho in every step. For r = 1 the scale is the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...numerics.rows import nonzero_rows
from ...numerics.systems import cholesky_solver
from ...problems.base import AT_MOST_K
from ...problems.penalised import PenalisedProblem
from ..base import OutOfTime, Solver, State
from .candidates import orthonormal, without
from .refit import refit


@dataclass(kw_only=True)
class _State(State):
    system: _System
    V: np.ndarray
    XV: np.ndarray
    E: np.ndarray
    row_multiplier: np.ndarray  # Lambda
    pulled_multiplier: np.ndarray  # X Lambda
    residual_multiplier: np.ndarray  # Sigma
    mu: float


@dataclass
class ALM(Solver[PenalisedProblem, _State]):
    """The paper's algorithm; ``W`` of a state is V, which keeps the constraint.

    Converged means that both constraints hold: ``|W - V|`` and ``|XW - Y - E|`` are at most ``tol``
    relative to V and Y. The support is then refitted unless ``refit`` is False (the paper's
    point). The result depends on the start; ``TopKSelector`` uses random ones as the paper does.
    """

    solves: ClassVar[tuple[str, ...]] = (AT_MOST_K,)
    from_random_points: ClassVar[bool] = True

    tol: float = 1e-4
    max_iter: int = 1000
    mu: float = 0.01
    rho: float = 1.02
    refit: bool = True

    def start(self, problem: PenalisedProblem, W: np.ndarray) -> _State:
        V = problem.penalty.prox(W, 1.0)
        E = problem.design.matmul(W) - problem.Y
        XV = problem.design.matmul(V)
        return _State(
            W=V, objective=problem.loss.value_of_residual(XV - problem.Y), criterion=np.inf,
            V=V, XV=XV, E=E, mu=self.mu, system=_System(problem),
            row_multiplier=np.zeros_like(V), pulled_multiplier=np.zeros_like(E),
            residual_multiplier=np.zeros_like(E),
        )  # fmt: skip

    def step(self, problem: PenalisedProblem, state: _State, out_of_time: OutOfTime) -> _State:
        mu, Y, design = state.mu, problem.Y, problem.design
        A = state.V - state.row_multiplier / mu
        XA = state.XV - state.pulled_multiplier / mu
        W, XW = state.system.solve(A, XA, Y + state.E - state.residual_multiplier / mu)
        V = problem.penalty.prox(W + state.row_multiplier / mu, 1.0)
        V = np.where(state.system.free, W, V)
        XV = design.matmul(V)
        E = problem.loss.prox(XW + state.residual_multiplier / mu, Y, len(Y) / mu) - Y
        rows_apart, residuals_apart = W - V, XW - Y - E
        apart = max(
            float(np.linalg.norm(rows_apart)) / max(float(np.linalg.norm(V)), 1e-300),
            float(np.linalg.norm(residuals_apart)) / max(float(np.linalg.norm(Y)), 1e-300),
        )
        converged = bool(apart <= self.tol)
        point, value = V, problem.loss.value_of_residual(XV - Y)
        if converged and self.refit:
            point = self._refitted(problem, V)
            value = problem.objective(point)
        return _State(
            W=point, objective=value, criterion=float(apart), converged=converged,
            V=V, XV=XV, E=E, mu=self.rho * mu, system=state.system,
            row_multiplier=state.row_multiplier + mu * rows_apart,
            pulled_multiplier=state.pulled_multiplier + mu * (XW - XV),
            residual_multiplier=state.residual_multiplier + mu * residuals_apart,
        )  # fmt: skip

    def _refitted(self, problem: PenalisedProblem, V: np.ndarray) -> np.ndarray:
        used = nonzero_rows(V) & ~problem.penalty.free(problem.n_rows)
        return refit(problem, np.flatnonzero(used))


class _System:
    """``min over W of |W - A|**2 + |X W - T|**2`` with no first term for the free rows.

    The free columns are projected out; what remains is solved in the smaller of feature and
    sample space (Woodbury), with a factor made once. X times A comes from the caller, who has it.
    """

    def __init__(self, problem: PenalisedProblem):
        design = problem.design
        n, d = design.shape
        free = problem.penalty.free(d)
        self.design, self.free = design, free[:, None]
        self.columns = design.take(np.flatnonzero(free))
        self.F = orthonormal(self.columns)
        self.wide = d > n
        if self.wide:
            self.outer = design.outer((~free).astype(float))
            K = without(self.F, without(self.F, self.outer).T)
        else:
            everything, pulled = np.arange(d), design.rmatmul(self.F)
            K = design.gram(everything, everything, np.ones(n)) - pulled @ pulled.T
            K[free], K[:, free] = 0.0, 0.0
        K[np.diag_indices_from(K)] += 1.0
        self.solve_positive = cholesky_solver(K)

    def solve(self, A: np.ndarray, XA: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """W and X W."""
        XA = XA - self.columns @ A[self.free[:, 0]]
        if self.wide:
            rest = without(self.F, self.solve_positive(without(self.F, T - XA)))
            W = np.where(self.free, 0.0, A + self.design.rmatmul(rest))
            XW = XA + self.outer @ rest
        else:
            pulled = A + self.design.rmatmul(without(self.F, T))
            W = self.solve_positive(np.where(self.free, 0.0, pulled))
            XW = self.design.matmul(W)
        if self.columns.shape[1]:
            B = np.linalg.lstsq(self.columns, T - XW, rcond=None)[0]
            W[self.free[:, 0]] = B
            XW = XW + self.columns @ B
        return W, XW
