"""The zero-norm support vector machine of Huang, King and Lyu, for any norm from 0 to 2."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...numerics.rows import row_norms
from ...numerics.svm.solve import Machine, solve_machine, way_for
from ...problems.margin import MarginProblem
from ...results import Solution, Status
from ..loop import Deadline, run
from .feature_exchange import exchanged, worth_exchanging
from .reweighting import Columns, Image, Reweighted

LOWERING = 0.7  # of C, on the way down to k features
MAX_LOWERINGS = 60


@dataclass
class ReweightedSVM(Reweighted):
    """``min C sum_i s_i xi_i + w'Lambda w`` with ``Lambda = diag(f_j |w_j|**-(2-p))`` from the last
    w, again and again: a plain support vector machine with parameter C/2 on scaled features.

    Wide data go through the n x n Gram matrix of the scaled columns that are alive (moves of pairs
    from the last multipliers, refined to full precision), tall data through an interior point
    that is linear in n.
    ``through`` names one of "pairs", "samples", "features" instead; without ``exact`` machines
    have five digits.
    """

    loss: ClassVar[str] = "hinge"

    through: str = "auto"
    exact: bool = True

    def roughly(self) -> ReweightedSVM:
        return replace(self, exact=False)

    def image_of(self, problem: MarginProblem, columns: Columns, scales, last: Image) -> Image:
        n, c = problem.Y.shape
        costs = problem.C / 2 * problem.weights
        free = problem.free[columns.index]
        F = np.ones((n, 1))
        if free.any():
            F = np.hstack([F, columns.design.take(columns.index[free])])
        rows, b, dual = np.zeros((columns.index.size, c)), np.zeros(c), np.zeros((n, c))
        gram, auto = None, self.through == "auto"
        for k in range(c):
            scale, y = scales[:, min(k, scales.shape[1] - 1)], problem.Y[:, k]
            used = scale > 0
            way = way_for(n, int(used.sum()), F.shape[1]) if auto else self.through
            if way != "features" and (gram is None or not problem.joint):
                gram = columns.outer(scale, self.exact)  # one for all if they share the scales
            B = columns.dense()[:, used] * scale[used] if way == "features" else gram
            near = None if last.dual is None else np.abs(last.dual[:, k]) / 2
            machine = Machine(B, way != "features", F, y, costs)
            a, v = solve_machine(machine, way, near, self.exact)
            dual[:, k] = y * a
            rows[free, k], b[k] = v[1:], v[0]
        rows += scales**2 * columns.rmatmul(dual)
        return Image(rows, b, 2 * dual)


def solve_margin(
    problem: MarginProblem, solver: Reweighted, thorough: bool = True
) -> tuple[Solution, float]:
    """The solution, and the C that belongs to it.

    With ``keep=k`` C is lowered, each time from the last solution, until k rows are left. For
    p < 1, where it matters which rows are lost first, a ``thorough`` search then begins anew at the
    plain machine of that C; with many more samples than features it exchanges the k largest rows
    at the given C instead. With several outputs nothing begins anew: their plain machines at a
    small C leave rows that serve one class only.
    """
    deadline = Deadline(solver.time_limit)
    k, thorough = solver.keep, thorough and problem.norm < 1
    if k and thorough and isinstance(solver, ReweightedSVM) and worth_exchanging(problem, k):
        return _by_exchanges(problem, solver, deadline), problem.C
    solution, C = _along_C(problem, solver, deadline, warm=True)
    if thorough and C < problem.C and solution.converged and problem.Y.shape[1] == 1:
        return _along_C(problem.with_C(C), solver, deadline, warm=False)
    return solution, C


def _along_C(
    problem: MarginProblem, solver: Reweighted, deadline: Deadline, warm: bool
) -> tuple[Solution, float]:
    """The first solution with at most ``keep`` rows on the way down from C, and its C."""
    solution = run(deadline.limited(solver), problem, start="plain machine")
    for lowering in range(1, MAX_LOWERINGS + 1):
        if solver.keep is None or solution.rows.size <= solver.keep or not solution.converged:
            break
        problem = problem.with_C(LOWERING * problem.C)
        next_solver = replace(deadline.limited(solver), cut=lowering == MAX_LOWERINGS)
        last = np.vstack([solution.W, solution.intercept]) if warm else None
        solution = run(next_solver, problem, last, "larger C" if warm else "plain machine")
    return solution, problem.C


def _by_exchanges(problem: MarginProblem, solver: ReweightedSVM, deadline: Deadline) -> Solution:
    roughly = solver.roughly()
    first = run(replace(roughly, cut=True), problem, start="plain machine")
    if not first.converged:
        return first
    never = np.isinf(problem.factors)
    order = np.lexsort((-row_norms(first.W), ~problem.free, never))
    chosen = np.sort(order[: solver.keep])
    chosen, all_tried = exchanged(problem, roughly, chosen, deadline.passed)
    elsewhere = np.full(never.size, np.inf)
    elsewhere[chosen] = problem.factors[chosen]
    last = replace(solver, time_limit=None)  # one machine on k columns
    solution = run(last, replace(problem, factors=elsewhere), start="exchanges")
    if all_tried:
        return solution
    ended = Status.TIME_LIMIT if deadline.passed() else Status.INTERRUPTED
    return replace(solution, status=ended)
