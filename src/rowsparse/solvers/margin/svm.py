"""The zero-norm support vector machine of Huang, King and Lyu, for any norm from 0 to 2."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

import numpy as np

from ...numerics.rounding import NEGLIGIBLE
from ...numerics.svm.machine import Machine
from ...numerics.svm.solve import SMALL, solve_machine, way_for
from ...problems.margin import OUT_OF_REACH, MarginProblem
from ...results import Solution, Status
from ..base import Deadline, logger, run
from .alive import Alive, Image
from .feature_exchange import exchanged, worth_exchanging
from .reweighting import Reweighted, ReweightedState

LOWERING = 0.7  # of C, on the way down to k features
FLOPS = 1e10  # per second: 26 machines of 1560 x 617 by interior points took 62 s
WORTH_SAYING = 10.0  # seconds
GOES_ON = (Status.CONVERGED, Status.MAX_ITER, Status.STALLED)  # at a lower C: a step on the way


@dataclass
class ReweightedSVM(Reweighted):
    """``min C sum_i s_i xi_i + w'Lambda w`` with ``Lambda = diag(f_j |w_j|**-(2-p))`` from the last
    w, again and again: a plain support vector machine with parameter C/2 on scaled features.

    Wide data go through the n x n Gram matrix of the scaled columns that are alive (moves of pairs
    from the last multipliers, refined to full precision), tall data through an interior point
    that is linear in n.
    ``through`` names one of "pairs", "samples", "features" instead; without ``exact`` machines
    have five digits.

    Parameters
    ----------
    tol : float
        Bound on the change of any row's part in the margins, relative to the largest part.
    max_iter : int
        Most reweightings.
    time_limit, callback : as in ``Solver``
    keep : int, optional
        End when at most so many rows are left, and keep those that lived longest.
    cut : bool
        If it converges with more rows than ``keep``, take the largest of them.
    through : {"auto", "pairs", "samples", "features"}
        How the machines are solved.
    exact : bool
        Solve every machine to full precision, not to five digits.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import ZeroNormSVC
    >>> from rowsparse.solvers import ReweightedSVM
    >>> selector = ZeroNormSVC(3, solver=ReweightedSVM(tol=1e-4)).fit(X, y)
    >>> int(selector.support_.sum())
    3
    """

    loss: ClassVar[str] = "hinge"

    through: str = "auto"
    exact: bool = True

    def roughly(self) -> ReweightedSVM:
        return replace(self, exact=False)

    def start(self, problem: MarginProblem, W: np.ndarray) -> ReweightedState:
        seconds = _flops_of_first_round(problem) / FLOPS
        if seconds > WORTH_SAYING and not W.any():  # from a point that is known it is faster
            logger.warning("ReweightedSVM: the first of some ten rounds may take %.0f s", seconds)
        return super().start(problem, W)

    def image_of(self, alive: Alive, scales: np.ndarray, last: Image) -> Image:
        Y = alive.problem.Y
        n_outputs = Y.shape[1]
        dual = np.zeros(Y.shape)
        intercept = np.zeros(n_outputs)
        of_free = []  # per output: which rows are free or as good as free, and what they are
        gap = 0.0
        one_matrix_for_all = scales.shape[1] == 1
        for k, y in enumerate(Y.T):
            if alive.deadline.passed():
                return replace(last, dual=None, gap=np.inf)
            if k == 0 or not one_matrix_for_all:
                free, scale = _without_out_of_reach(alive, scales[:, k])
                F, to_rows = alive.free_basis(free)
                way, machine = self._machine(alive, scale, F)
            near, guess = _nearby(alive, last, k, way)
            of_k = replace(machine, y=y)
            found = solve_machine(of_k, way, near, self.exact, guess)
            dual[:, k] = y * found.a
            bias, *values = to_rows @ found.v
            intercept[k] = bias
            of_free.append((free, values))
            gap = max(gap, found.gap)
        # u = B'(y a) in the scaled columns, and w = scale u
        pulled = alive.rmatmul(dual)
        rows = scales**2 * pulled
        for k, (free, values) in enumerate(of_free):
            rows[free, k] = values
        return Image(rows, intercept, 2 * dual, gap)

    def _machine(self, alive: Alive, scale: np.ndarray, F: np.ndarray) -> tuple[str, Machine]:
        """The way to solve a machine with these scales, and all of it but y."""
        n, n_free = F.shape
        used = np.flatnonzero(scale)
        way = self.through
        if way == "auto":
            way = way_for(n, used.size, n_free)
        gram = cache(lambda: self._gram(alive, scale))
        # half of C: the norm of a machine is |u|**2 / 2, here it is |u|**2
        costs = alive.problem.C / 2 * alive.problem.weights
        y = np.ones(n)

        def by_columns() -> Machine:
            block = alive.columns.block
            if block is None:
                block = alive.columns.X.take(used)
            elif used.size < alive.index.size:
                block = block[:, used]
            return Machine(block, False, F, y, costs, scale[used], gram)

        if way == "features" or n > max(SMALL, used.size):
            return way, by_columns()
        # A Gram matrix of fewer columns than samples is singular: the columns may be asked for.
        of_low_rank = by_columns if used.size < n else None
        return way, Machine(gram(), True, F, y, costs, by_columns=of_low_rank)

    def _gram(self, alive: Alive, scale: np.ndarray) -> np.ndarray:
        """Of the samples, n x n: in single precision, in half the time, where nothing has to be
        exact."""
        block = alive.columns.block
        if block is None:
            return alive.columns.X.outer(scale)
        scaled = block * scale  # of the size of margins, whatever that of X
        if self.exact:
            return scaled @ scaled.T
        single = scaled.astype(np.float32)
        return (single @ single.T).astype(float)


def _nearby(
    alive: Alive, last: Image, k: int, way: str
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """What the last image tells of the machine of output k: multipliers, and what the samples are
    predicted, which says who is in doubt."""
    if last.dual is None:
        return None, None
    multipliers = np.abs(last.dual[:, k]) / 2  # the dual of an image is twice a machine's
    if way != "features":
        return multipliers, None
    of_output = last.rows[:, [k]]
    return multipliers, alive.matmul(of_output).ravel()


def _flops_of_first_round(problem: MarginProblem) -> float:
    """Of one machine per output, each with all columns: its ten further rounds have fewer."""
    n, n_outputs = problem.Y.shape
    m = int(np.count_nonzero(np.isfinite(problem.factors)))
    if way_for(n, m) == "features":
        steps = 20  # of an interior point, the most that are usual
        return n_outputs * steps * 2.0 * n * m**2
    inner_products = 2.0 * n**2 * m  # once, for all outputs
    # moves of pairs and a last system: 5,000 samples took 2.4 CPU seconds, a fifth of this
    return inner_products + n_outputs * float(n) ** 3


def _without_out_of_reach(alive: Alive, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns that are free, or as good as free, and the scales of the others.

    A column that counts for far more than its coefficient costs, such as one in tiny units, would
    leave no digits to the others: its penalty is left out, which is nothing beside any error.
    """
    parts = scale * alive.problem.sizes_of_columns[alive.index]
    reach = np.sqrt(OUT_OF_REACH / alive.problem.C)
    far = parts > reach
    if not far.any():
        return alive.free, scale
    return alive.free | far, np.where(far, 0.0, scale)


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
    thorough = thorough and problem.norm < 1
    solution, C = _searched(problem, solver, thorough)
    if solver.keep is None or problem.places(solution.W) <= solver.keep:
        return solution, C
    # time or the user has ended the search: of what there is, the largest rows
    rows = problem.largest_rows(solution.W, solver.keep)
    W = np.zeros_like(solution.W)
    W[rows] = solution.W[rows]
    whole = np.vstack([W, solution.intercept])
    objective = problem.with_C(C).objective(whole)
    return replace(solution, W=W, objective=objective, gap=None), C


def _searched(problem: MarginProblem, solver: Reweighted, thorough: bool) -> tuple[Solution, float]:
    deadline = Deadline(solver.time_limit)
    exchanges = thorough and solver.loss == "hinge"
    if solver.keep and exchanges and worth_exchanging(problem, solver.keep):
        return _by_exchanges(problem, solver, deadline), problem.C
    solution, C = _along_C(problem, solver, deadline, warm=True)
    one_output = problem.Y.shape[1] == 1
    was_lowered = C < problem.C
    if not (thorough and one_output and was_lowered and solution.converged):
        return solution, C
    at_C = problem.with_C(C)
    anew, lower_C = _along_C(at_C, solver, deadline, warm=False)
    if anew.converged:
        return anew, lower_C
    return replace(solution, status=anew.status), C  # a whole solution rather than half of one


def _along_C(
    problem: MarginProblem, solver: Reweighted, deadline: Deadline, warm: bool
) -> tuple[Solution, float]:
    """The first solution with at most ``keep`` rows on the way down from C, and its C."""
    limited = deadline.limited(solver)
    solution = run(limited, problem, start="plain machine")
    least = NEGLIGIBLE * problem.C  # beside it; the k largest rows are then cut out
    while problem.C > least:
        if solver.keep is None or problem.places(solution.W) <= solver.keep:
            break
        if solution.status not in GOES_ON:
            break
        problem = problem.with_C(LOWERING * problem.C)
        limited = deadline.limited(solver)
        next_solver = replace(limited, cut=problem.C <= least)
        if warm:
            last = np.vstack([solution.W, solution.intercept])
            solution = run(next_solver, problem, last, "larger C")
        else:
            solution = run(next_solver, problem, None, "plain machine")
    return solution, problem.C


def _by_exchanges(problem: MarginProblem, solver: Reweighted, deadline: Deadline) -> Solution:
    """The k largest rows of the reweighting, exchanged, then the plain machine on them."""
    roughly = solver.roughly()
    to_k_rows = replace(roughly, cut=True)
    first = run(to_k_rows, problem, start="plain machine")
    if first.status not in GOES_ON:
        return first
    assert solver.keep is not None
    largest = problem.largest_rows(first.W, solver.keep)
    chosen, all_tried = exchanged(problem, roughly, largest, deadline)
    of_chosen = problem.only(chosen)
    last = replace(solver, time_limit=None)  # one machine on k columns
    solution = run(last, of_chosen, start="exchanges")
    if all_tried:
        return solution
    ended = Status.TIME_LIMIT if deadline.passed() else Status.INTERRUPTED
    return replace(solution, status=ended)
