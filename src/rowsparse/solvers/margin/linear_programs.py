"""Support vector machines that are linear programs: with the l1 norm, with the largest coefficient.

Both are solved by HiGHS; several programs of one run share its time limit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ...problems.base import MARGIN
from ...problems.margin import OUT_OF_REACH, Certificate, MarginProblem
from ..base import Deadline, OutOfTime, Solver, State

LARGEST_COST = 1e12  # of the smallest: beyond that no digit of the objective depends on it
LARGEST = 4e4  # entries of a program with the l1 norm, up to which it takes a second or two


@dataclass(kw_only=True)
class ProgramState(State):
    deadline: Deadline  # of all programs together
    columns: np.ndarray  # of the next program


@dataclass
class LinearPrograms(Solver[MarginProblem, ProgramState]):
    """What both solvers share: a program that ends early leaves the last point, and says so."""

    solves: ClassVar[tuple[str, ...]] = (MARGIN,)

    tol: float = 1e-6
    max_iter: int = 100

    def refusal(self, problem: MarginProblem) -> str | None:
        if problem.loss.name == "hinge":
            return None
        return f"it is for the hinge loss, got the {problem.loss.name} loss."

    def start(self, problem: MarginProblem, W: np.ndarray) -> ProgramState:
        columns = np.flatnonzero(np.isfinite(problem.factors))
        deadline = Deadline(self.time_limit)
        return ProgramState(
            np.array(W), problem.objective(W), np.inf, deadline=deadline, columns=columns
        )


@dataclass
class AbsoluteNormLP(LinearPrograms):
    """``min C sum_ik s_i xi_ik + 2 sum_jk f_j |w_jk|``, exact where reweighting is slow.

    The multipliers A of a program on some columns are feasible for all of them, that is optimal, if
    ``|x_j'a_k| <= 2 f_j`` for all j and k; columns that violate this join the next program.

    Parameters
    ----------
    tol : float
        How far a column left out may violate its bound, relative to it.
    max_iter : int
        Most programs.
    time_limit, callback : as in ``Solver``

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import ZeroNormSVC
    >>> from rowsparse.solvers import AbsoluteNormLP
    >>> selector = ZeroNormSVC(norm=1, multi_class="ovr", solver=AbsoluteNormLP()).fit(X, y)
    >>> selector.solution_.converged
    True
    """

    def refusal(self, problem: MarginProblem) -> str | None:
        if problem.norm != 1:
            return f"it is for norm=1, got {problem.norm:g}."
        if problem.penalty.joint and problem.Y.shape[1] > 1:
            return "the joint norm of several outputs is not linear."
        n = len(problem.Y)
        if n * min(n, problem.factors.size) > LARGEST:
            return f"{n} samples make the program too large."
        return super().refusal(problem)

    def start(self, problem: MarginProblem, W: np.ndarray) -> ProgramState:
        s = problem.weights
        centred = s[:, None] * (problem.Y - np.average(problem.Y, axis=0, weights=s))
        columns = _grown(problem, np.flatnonzero(problem.free), problem.design.rmatmul(centred))
        return replace(super().start(problem, W), columns=columns)

    def step(
        self, problem: MarginProblem, state: ProgramState, out_of_time: OutOfTime
    ) -> ProgramState:
        W = problem.null_point
        A = np.zeros(problem.Y.shape)
        block = problem.design.take(state.columns)
        for k in range(problem.Y.shape[1]):
            found = _absolute_program(problem, block, state, k)
            if found is None:
                return replace(state, stalled=not out_of_time())
            W[state.columns, k], W[-1, k], A[:, k] = found
        gradient = problem.design.rmatmul(A)
        excess = _excess(problem, gradient)
        violation = max(float(excess.max(initial=0.0)), 0.0)
        grown = _grown(problem, state.columns, np.where(excess[:, None] > 0, gradient, 0.0))
        objective = problem.objective(W)
        return ProgramState(
            W,
            objective,
            violation,
            converged=violation <= self.tol or grown.size == state.columns.size,
            evaluation=Certificate(objective, dual=A),
            deadline=state.deadline,
            columns=grown,
        )


def _excess(problem: MarginProblem, gradient: np.ndarray) -> np.ndarray:
    """``max_k |g_jk| / (2 f_j) - 1`` of the penalised columns, -1 of the others."""
    f = problem.factors
    counted = np.isfinite(f) & (f > 0)
    largest = np.abs(gradient).max(axis=1)
    return np.divide(largest, 2 * f, out=np.zeros(f.size), where=counted) - 1.0


def _grown(problem: MarginProblem, columns: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """With the columns of largest gradient: as many as there are samples, later doubling."""
    wish = np.where(np.isfinite(problem.factors), np.abs(gradient).max(axis=1), 0.0)
    wish[columns] = 0.0
    order = np.argsort(-wish, kind="stable")[: max(columns.size, len(problem.Y))]
    return np.union1d(columns, order[wish[order] > 0])


def _absolute_program(
    problem: MarginProblem, X: np.ndarray, state: ProgramState, k: int
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """Coefficients, intercept and signed multipliers of one output: w = (p - q) / size, p and q
    both >= 0, for columns of any scale."""
    m = X.shape[1]
    y = problem.Y[:, k]
    sizes = problem.sizes_of_columns[state.columns]
    X = X / sizes
    f = 2 * problem.factors[state.columns] / sizes
    costs, unit = _in_reach(np.concatenate([f, f, [0.0]]), problem.C * problem.weights)
    matrix = _margins(np.hstack([X, -X]), y)
    free = np.zeros(costs.size, dtype=bool)
    free[2 * m] = True
    found = _solved(costs, matrix, -np.ones(len(y)), free, state.deadline)
    if found is None:
        return None
    x = found.x
    return (x[:m] - x[m : 2 * m]) / sizes, x[2 * m], -y * unit * found.ineqlin.marginals


def _in_reach(of_norm: np.ndarray, of_slacks: np.ndarray) -> tuple[np.ndarray, float]:
    """Both costs together in a unit, and the unit: HiGHS takes costs near its tolerance of 1e-7 for
    none and those above 1e20 for infinite."""
    unit = min(float(of_norm.max()), float(of_slacks.max())) or float(of_slacks.max())
    return np.minimum(np.concatenate([of_norm, of_slacks]) / unit, LARGEST_COST), unit


def _margins(X: np.ndarray, y: np.ndarray) -> Any:
    """The matrix of ``y_i (x_i'w + b) + xi_i >= 1`` in the form <= -1: columns w, b, xi."""
    signed = y[:, None] * np.hstack([X, np.ones((len(y), 1))])
    return sparse.hstack([sparse.csr_array(-signed), -sparse.eye_array(len(y))], format="csr")


def _solved(
    cost: np.ndarray, matrix: Any, limits: np.ndarray, free: np.ndarray, deadline: Deadline
) -> Any:
    """linprog's answer for ``matrix x <= limits``, x >= 0 unless free; None if not optimal."""
    lower = np.where(free, -np.inf, 0.0)
    left = deadline.left()
    found = linprog(
        cost,
        A_ub=matrix,
        b_ub=limits,
        bounds=np.column_stack([lower, np.full(cost.size, np.inf)]),
        method="highs",
        options={} if left is None else {"time_limit": left},
    )
    return found if found.status == 0 else None


@dataclass
class LargestNormLP(LinearPrograms):
    """``min C sum_i s_i xi_i + max_jk f_j |w_jk|``, one program.

    The printed reweighting for this norm has a singular matrix, so there is nothing to iterate.
    Jointly for several outputs there is one maximum over all of them, otherwise one each.

    Parameters
    ----------
    tol : float
        Nothing is compared with it: one program is the answer.
    max_iter : int
        Nothing is repeated.
    time_limit, callback : as in ``Solver``

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import ZeroNormSVC
    >>> from rowsparse.solvers import LargestNormLP
    >>> ZeroNormSVC(norm=float("inf"), solver=LargestNormLP()).fit(X, y).solution_.converged
    True
    """

    def refusal(self, problem: MarginProblem) -> str | None:
        if not np.isinf(problem.norm):
            return f"it is for norm=inf, got {problem.norm:g}."
        return super().refusal(problem)

    def step(
        self, problem: MarginProblem, state: ProgramState, out_of_time: OutOfTime
    ) -> ProgramState:
        W = _largest_program(problem, state)
        if W is None:
            return replace(state, stalled=not out_of_time())
        objective = problem.objective(W)
        # HiGHS solves to optimality, 1e-7 by a measure of its own: nothing is left to compare
        known = Certificate(objective)
        return replace(
            state, W=W, objective=objective, criterion=0.0, converged=True, evaluation=known
        )


def _largest_program(problem: MarginProblem, state: ProgramState) -> np.ndarray | None:
    """Variables: per output q = w + t/f >= 0, intercept and slacks; then the bounds t.

    Shifted so, one side of ``|w| <= t/f`` is the sign of a variable, and half of the rows go.
    """
    usable = state.columns
    sizes = problem.sizes_of_columns[usable]
    X = problem.design.take(usable) / sizes
    m = usable.size
    c = problem.Y.shape[1]
    f = np.maximum(problem.factors[usable], 1e-300)
    free = problem.C * sizes / f > OUT_OF_REACH
    inverse = np.where(free, 0.0, sizes / f)
    unit = 1 / (inverse.max(initial=0.0) or 1.0)  # of the bounds t, for columns of any scale
    inverse *= unit
    size = m + 1 + len(X)  # variables of an output
    below = sparse.eye_array(m, size, format="csr")[~free]  # q <= 2 t / f
    inside = [sparse.vstack([_margins(X, y), below]) for y in problem.Y.T]
    on_t = [np.append(y * (X @ inverse), -2 * inverse[~free])[:, None] for y in problem.Y.T]
    t_columns = np.vstack(on_t) if problem.penalty.joint else sparse.block_diag(on_t)
    n_t = t_columns.shape[1]
    limits = np.append(-np.ones(len(X)), np.zeros(below.shape[0]))
    slacks = np.tile(problem.C * problem.weights, c)
    costs, _ = _in_reach(np.full(n_t, unit), slacks)
    own = np.hstack([np.zeros((c, m + 1)), costs[n_t:].reshape(c, -1)])
    signless = np.concatenate([free, [True], np.zeros(len(X), dtype=bool)])
    found = _solved(
        np.append(own, costs[:n_t]),
        sparse.hstack([sparse.block_diag(inside), sparse.csr_array(t_columns)], format="csr"),
        np.tile(limits, c),
        np.append(np.tile(signless, c), np.zeros(n_t, dtype=bool)),
        state.deadline,
    )
    if found is None:
        return None
    own = found.x[:-n_t].reshape(c, size)
    W = problem.null_point
    W[usable] = (own[:, :m].T - np.outer(inverse, found.x[-n_t:])) / sizes[:, None]
    W[-1] = own[:, m]
    return W
