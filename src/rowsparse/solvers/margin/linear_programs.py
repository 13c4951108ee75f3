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
        usable = np.isfinite(problem.factors)
        return ProgramState(
            W=np.array(W),
            objective=problem.objective(W),
            criterion=np.inf,
            deadline=Deadline(self.time_limit),
            columns=np.flatnonzero(usable),
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
        n, d = problem.design.shape
        if n * min(n, d) > LARGEST:
            return f"{n} samples make the program too large."
        return super().refusal(problem)

    def start(self, problem: MarginProblem, W: np.ndarray) -> ProgramState:
        # The gradient at W = 0 says which columns may come in first; free ones are in anyway.
        Y = problem.Y
        s = problem.weights
        centred = Y - np.average(Y, axis=0, weights=s)
        gradient = problem.design.rmatmul(s[:, None] * centred)
        free = np.flatnonzero(problem.free)
        columns = _grown(problem, free, gradient)
        state = super().start(problem, W)
        return replace(state, columns=columns)

    def step(
        self, problem: MarginProblem, state: ProgramState, out_of_time: OutOfTime
    ) -> ProgramState:
        columns = state.columns
        W = problem.null_point
        A = np.zeros(problem.Y.shape)
        block = problem.design.take(columns)
        for k in range(problem.Y.shape[1]):
            found = _absolute_program(problem, block, state, k)
            if found is None:
                return replace(state, stalled=not out_of_time())
            w, intercept, multipliers = found
            W[columns, k] = w
            W[-1, k] = intercept
            A[:, k] = multipliers
        gradient = problem.design.rmatmul(A)
        excess = _excess(problem, gradient)
        violation = max(float(excess.max(initial=0.0)), 0.0)
        gradient[excess <= 0] = 0.0  # columns that violate nothing stay out
        grown = _grown(problem, columns, gradient)
        # columns that were in already can violate by HiGHS's rounding only
        none_new = grown.size == columns.size
        objective = problem.objective(W)
        return ProgramState(
            W,
            objective,
            violation,
            converged=none_new or violation <= self.tol,
            evaluation=Certificate(objective, dual=A),
            deadline=state.deadline,
            columns=grown,
        )


def _excess(problem: MarginProblem, gradient: np.ndarray) -> np.ndarray:
    """``max_k |g_jk| / (2 f_j) - 1`` of the penalised columns, -1 of the others."""
    f = problem.factors
    counted = np.isfinite(f) & (f > 0)
    pulls = np.abs(gradient[counted]).max(axis=1)
    excess = np.full(f.size, -1.0)
    excess[counted] = pulls / (2 * f[counted]) - 1.0
    return excess


def _grown(problem: MarginProblem, columns: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """With the columns of largest gradient: as many as there are samples, later doubling."""
    pulls = np.abs(gradient).max(axis=1)
    pulls[~np.isfinite(problem.factors)] = 0.0
    pulls[columns] = 0.0
    room = max(columns.size, len(problem.Y))
    strongest = np.argsort(-pulls, kind="stable")[:room]
    pulling = pulls[strongest] > 0
    return np.union1d(columns, strongest[pulling])


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
    of_intercept = [0.0]
    of_norm = np.concatenate([f, f, of_intercept])
    of_slacks = problem.C * problem.weights
    costs, unit = _in_reach(of_norm, of_slacks)
    signless = np.zeros(costs.size, dtype=bool)
    signless[2 * m] = True
    limits = -np.ones(len(y))
    of_p_and_q = np.hstack([X, -X])
    matrix = _margins(of_p_and_q, y)
    found = _solved(costs, matrix, limits, signless, state.deadline)
    if found is None:
        return None
    p = found.x[:m]
    q = found.x[m : 2 * m]
    intercept = found.x[2 * m]
    multipliers = -unit * found.ineqlin.marginals
    return (p - q) / sizes, intercept, y * multipliers


def _in_reach(of_norm: np.ndarray, of_slacks: np.ndarray) -> tuple[np.ndarray, float]:
    """Both costs together in a unit, and the unit: HiGHS takes costs near its tolerance of 1e-7 for
    none and those above 1e20 for infinite."""
    largest_slack = float(of_slacks.max())
    # zero where all columns are free
    unit = min(float(of_norm.max()), largest_slack) or largest_slack
    costs = np.concatenate([of_norm, of_slacks]) / unit
    return np.minimum(costs, OUT_OF_REACH), unit


def _margins(X: np.ndarray, y: np.ndarray) -> Any:
    """The matrix of ``y_i (x_i'w + b) + xi_i >= 1`` in the form <= -1: columns w, b, xi."""
    n = len(y)
    with_ones = np.column_stack([X, np.ones(n)])
    signed = -y[:, None] * with_ones
    slacks = -sparse.eye_array(n)
    return sparse.hstack([sparse.csr_array(signed), slacks], format="csr")


def _solved(
    costs: np.ndarray, matrix: Any, limits: np.ndarray, signless: np.ndarray, deadline: Deadline
) -> Any:
    """linprog's answer for ``matrix x <= limits``, x >= 0 unless signless; None if not optimal."""
    lower = np.where(signless, -np.inf, 0.0)
    upper = np.full(costs.size, np.inf)
    bounds = np.column_stack([lower, upper])
    left = deadline.left()
    options = {} if left is None else {"time_limit": left}
    found = linprog(
        costs,
        A_ub=matrix,
        b_ub=limits,
        bounds=bounds,
        method="highs",
        options=options,
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
    m = usable.size
    n, c = problem.Y.shape
    sizes = problem.sizes_of_columns[usable]
    X = problem.design.take(usable) / sizes
    inverse, free, unit = _reach(problem, usable, sizes)
    matrix, limits = _rows_of_largest(X, problem.Y, inverse, free, problem.penalty.joint)
    size = m + 1 + n  # variables of an output
    n_t = matrix.shape[1] - c * size
    of_t = np.full(n_t, unit)
    slacks = np.tile(problem.C * problem.weights, c)
    costs, _ = _in_reach(of_t, slacks)
    of_own = np.zeros((c, size))
    of_own[:, m + 1 :] = costs[n_t:].reshape(c, n)
    signless = np.zeros((c, size), dtype=bool)
    signless[:, :m] = free
    signless[:, m] = True  # the intercept
    costs_in_order = np.append(of_own, costs[:n_t])
    signed_t = np.zeros(n_t, dtype=bool)
    signless_in_order = np.append(signless, signed_t)
    found = _solved(costs_in_order, matrix, limits, signless_in_order, state.deadline)
    if found is None:
        return None
    own = found.x[:-n_t].reshape(c, -1)
    t = found.x[-n_t:]
    shifted = own[:, :m].T
    w = shifted - np.outer(inverse, t)
    W = problem.null_point
    W[usable] = w / sizes[:, None]
    W[-1] = own[:, m]
    return W


def _reach(
    problem: MarginProblem, usable: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """How far t lets each scaled coefficient go, in a unit that suits columns of any scale; which
    ones are as good as free; and the unit."""
    f = np.maximum(problem.factors[usable], 1e-300)
    reach = sizes / f
    free = problem.C * reach > OUT_OF_REACH
    bounded = np.where(free, 0.0, reach)
    largest = bounded.max(initial=0.0)
    unit = 1 / (largest or 1.0)
    return unit * bounded, free, unit


def _rows_of_largest(
    X: np.ndarray, Y: np.ndarray, inverse: np.ndarray, free: np.ndarray, joint: bool
) -> tuple[Any, np.ndarray]:
    """Margins and upper bounds of all outputs as ``matrix x <= limits``."""
    n, m = X.shape
    below = sparse.eye_array(m, m + 1 + n, format="csr")[~free]  # q <= 2 t / f
    on_own = []
    on_t = []
    shift = X @ inverse
    for y in Y.T:
        margins = _margins(X, y)
        on_own.append(sparse.vstack([margins, below]))
        column = np.append(y * shift, -2 * inverse[~free])
        on_t.append(column[:, None])
    # one t for all outputs together, or one for each
    t_columns = np.vstack(on_t) if joint else sparse.block_diag(on_t)
    blocks = [sparse.block_diag(on_own), sparse.csr_array(t_columns)]
    matrix = sparse.hstack(blocks, format="csr")
    of_bounds = np.zeros(below.shape[0])
    of_one = np.append(-np.ones(n), of_bounds)
    return matrix, np.tile(of_one, Y.shape[1])
