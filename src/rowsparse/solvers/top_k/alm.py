r"""The augmented Lagrangian method of Cai, Nie & Huang (2013) for at most k nonzero rows.

    min  n L_r(E) + n ridge/2 |V|**2
    subject to   W = V,  X W - Y = E,  V has at most k nonzero rows,

by turns in W (one linear system, factorised once), V (projection), E (row shrinkage) and the two
multipliers, while mu grows by rho in every step. For r = 1 the scale is the paper's, and so is the
problem without a ridge. A ridge is on V, where it only shortens the rows that are kept: the system
of W stays the same while mu grows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...numerics.rounding import LAST_DIGITS
from ...numerics.systems import lifted_cholesky
from ...problems.penalised import PenalisedProblem
from ..base import OutOfTime, State
from .columns import orthonormal, without
from .multistart import Job, Start, TopKSolver, support_of


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
class ALM(TopKSolver[_State]):
    """The paper's algorithm; ``W`` of a state is V, which keeps the constraint.

    Converged means that both constraints hold: ``|W - V|`` and ``|XW - Y - E|`` are at most ``tol``
    relative to V and Y. The support is then refitted unless ``refit`` is False (the paper's
    point). The result depends on the start; ``TopKSelector`` uses random ones as the paper does.

    Parameters
    ----------
    tol : float
        Bound on ``|W - V|`` and ``|XW - Y - E|``, relative to V and Y.
    max_iter : int
        Most updates of the multipliers.
    time_limit, callback : as in ``Solver``
    mu : float
        The penalty parameter at the start.
    rho : float > 1
        What ``mu`` is multiplied by after every update.
    refit : bool
        Fit the coefficients of the support found once more.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import TopKSelector
    >>> from rowsparse.solvers import ALM
    >>> int(TopKSelector.paper(3, random_state=0, solver=ALM(rho=1.1)).fit(X, y).support_.sum())
    3
    """

    tol: float = 1e-4
    max_iter: int = 1000
    mu: float = 0.01
    rho: float = 1.02
    refit: bool = True

    def starts(self, job: Job) -> Iterator[Start]:
        """From random points, as in the paper; all are drawn before the first run."""
        n_outputs = job.problem.Y.shape[1]
        shape = job.problem.n_rows, n_outputs
        n_points = max(job.n_init, 1)
        points = [job.rng.standard_normal(shape) for _ in range(n_points)]
        for i, W in enumerate(points):
            if i and job.deadline.passed():
                return
            yield job.reached_from(f"random {i + 1}", W)

    def start(self, problem: PenalisedProblem, W: np.ndarray) -> _State:
        V = problem.penalty.prox(W, 1.0)
        E = problem.design.matmul(W) - problem.Y
        XV = problem.design.matmul(V)
        loss = problem.loss.value_of_residual(XV - problem.Y)
        return _State(
            W=V,
            objective=loss + problem.ridge_value(V),
            criterion=np.inf,
            V=V,
            XV=XV,
            E=E,
            mu=self.mu,
            system=_System(problem),
            row_multiplier=np.zeros_like(V),
            pulled_multiplier=np.zeros_like(E),
            residual_multiplier=np.zeros_like(E),
        )

    def step(self, problem: PenalisedProblem, state: _State, out_of_time: OutOfTime) -> _State:
        """One update of W, V, E and the multipliers. Of the augmented Lagrangian

            n L_r(E) + n ridge/2 |V|**2 + mu/2 |W - V + Lambda/mu|**2
                + mu/2 |X W - Y - E + Sigma/mu|**2

        each of the three is minimised in turn, the other two held.
        """
        mu = state.mu
        Y = problem.Y
        n = len(Y)
        shift = state.row_multiplier / mu
        residual_shift = state.residual_multiplier / mu
        # X (V - Lambda/mu) from products that are known: X Lambda is kept up to date for that
        XA = state.XV - state.pulled_multiplier / mu
        W, XW = state.system.solve(state.V - shift, XA, Y + state.E - residual_shift)
        shortening = 1 + n * problem.ridges[:, None] / mu
        V = problem.penalty.prox(W + shift, 1.0) / shortening
        V = np.where(state.system.free[:, None], W, V)
        XV = problem.design.matmul(V)
        E = problem.loss.prox(XW + residual_shift, Y, n / mu) - Y
        rows_apart = W - V
        residuals_apart = XW - Y - E
        first_apart = _relative(rows_apart, V)
        second_apart = _relative(residuals_apart, Y)
        apart = max(first_apart, second_apart)
        converged = apart <= self.tol
        point = V
        loss = problem.loss.value_of_residual(XV - Y)
        objective = loss + problem.ridge_value(V)
        if converged and self.refit:
            point = problem.refitted(support_of(problem, V))
            objective = problem.objective(point)
        return _State(
            W=point,
            objective=objective,
            criterion=apart,
            converged=converged,
            V=V,
            XV=XV,
            E=E,
            mu=self.rho * mu,
            system=state.system,
            row_multiplier=state.row_multiplier + mu * rows_apart,
            pulled_multiplier=state.pulled_multiplier + mu * (XW - XV),
            residual_multiplier=state.residual_multiplier + mu * residuals_apart,
        )


def _relative(difference: np.ndarray, to: np.ndarray) -> float:
    """The size of a difference beside that of another matrix, which may be zero."""
    size = float(np.linalg.norm(difference))
    return size / max(float(np.linalg.norm(to)), 1e-300)


class _System:
    """``min over W of |W - A|**2 + |X W - T|**2``, no first term for rows free of any price.

    The free columns are projected out; what remains is solved in the smaller of feature and
    sample space (Woodbury), with a factor made once. X times A comes from the caller, who has it.
    """

    def __init__(self, problem: PenalisedProblem):
        self.design = problem.design
        n, d = self.design.shape
        self.free = problem.penalty.free(d) & (problem.ridges == 0)  # a ridged one has its V
        self.columns = self.design.take(np.flatnonzero(self.free))
        self.F = orthonormal(self.columns)
        self.wide = d > n
        if self.wide:
            priced = (~self.free).astype(float)
            self.outer = self.design.outer(priced)
            # projected from both sides; the matrix is symmetric, so its transpose will do
            K = without(self.F, without(self.F, self.outer).T)
        else:
            everything = np.arange(d)
            in_F = self.design.rmatmul(self.F)
            gram = self.design.gram(everything, everything, np.ones(n))
            K = gram - in_F @ in_F.T
            # nothing but rounding is left of a column that the free ones hold, of either sign
            held = K.diagonal() <= LAST_DIGITS * gram.diagonal()
            settled = self.free | held
            K[settled] = 0.0
            K[:, settled] = 0.0
        # the columns may be so long that rounding of their products outweighs the 1
        self.inverse = lifted_cholesky(K, 1.0)

    def solve(self, A: np.ndarray, XA: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """W and X W: ``A + X'(I + XX')**-1 (T - XA)`` if wide, else ``(I + X'X)**-1 (A + X'T)``."""
        W, XW = self._priced(A, XA, T)
        if self.columns.shape[1]:
            # what the priced columns leave of T, which is what the free ones can still explain
            B = np.linalg.lstsq(self.columns, T - XW, rcond=None)[0]
            W[self.free] = B
            XW = XW + self.columns @ B
        return W, XW

    def _priced(
        self, A: np.ndarray, XA: np.ndarray, T: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same without the free columns, whose rows are zero."""
        free = self.free
        if self.wide:
            XA = XA - self.columns @ A[free]
            missing = without(self.F, T - XA)
            solved = self.inverse(missing)
            rest = without(self.F, solved)
            W = A + self.design.rmatmul(rest)
            W[free] = 0.0
            return W, XA + self.outer @ rest
        T_left = without(self.F, T)
        pulled = A + self.design.rmatmul(T_left)
        pulled[free] = 0.0
        W = self.inverse(pulled)
        return W, self.design.matmul(W)
