"""The zero-norm support vector machine of Huang, King and Lyu, for any norm from 0 to 2."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..numerics.machine import solve_machine, way_for
from ..results import Solution
from .loop import Deadline, run
from .reweighted import Columns, Image, MarginProblem, Reweighted

LOWERING = 0.7  # of C, on the way down to k features
MAX_LOWERINGS = 60


@dataclass
class ReweightedSVM(Reweighted):
    """``min C sum_i s_i xi_i + w'Lambda w`` with ``Lambda = diag(f_j |w_j|**-(2-p))`` from the last
    w, again and again: a plain support vector machine with parameter C/2 on scaled features.

    Wide data go through the n x n Gram matrix of the scaled columns that are alive (moves of pairs
    from the last multipliers, refined to full precision), tall data through an interior point
    that is linear in n.
    ``through`` names one of "pairs", "samples", "features" instead.
    """

    through: str = "auto"

    def _image(self, problem: MarginProblem, columns: Columns, scales, last: Image) -> Image:
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
                gram = columns.outer(scale**2)  # one for all outputs if they share the scales
            B = columns.dense()[:, used] * scale[used] if way == "features" else None
            near = None if last.dual is None else np.abs(last.dual[:, k]) / 2
            a, v = solve_machine(way, None if B is not None else gram, B, F, y, costs, near)
            dual[:, k] = y * a
            rows[free, k], b[k] = v[1:], v[0]
        rows += scales**2 * columns.rmatmul(dual)
        return Image(rows, b, 2 * dual)


def solve_margin(problem: MarginProblem, solver: Reweighted) -> tuple[Solution, float]:
    """The solution, and the C that belongs to it.

    With ``keep=k`` C is lowered, each time from the last solution, until k rows are left:
    reweighting removes rows but never brings one back, so the path goes down.
    """
    deadline = Deadline(solver.time_limit)
    solution = run(solver, problem, start="plain machine")  # type: ignore[arg-type]
    if solver.keep is None:
        return solution, problem.C
    for lowering in range(1, MAX_LOWERINGS + 1):
        if solution.rows.size <= solver.keep or not solution.converged:
            break
        problem = problem.with_C(LOWERING * problem.C)
        warm = np.vstack([solution.W, solution.intercept])
        last = replace(deadline.limited(solver), cut=lowering == MAX_LOWERINGS)
        solution = run(last, problem, warm, "larger C")  # type: ignore[arg-type]
    return solution, problem.C
