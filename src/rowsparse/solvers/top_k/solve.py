"""The best k rows of a problem, from one support or many, for one k or a path of them."""

from __future__ import annotations

import numpy as np

from ...numerics.threads import blas_threads_for
from ...problems.penalised import PenalisedProblem
from ...results import Solution, Status
from ..base import Solver
from ..loop import Deadline
from .alm import ALM
from .bounds import bound
from .multistart import Job, Report, Splice, search_for, solution_of
from .refit import refit
from .sfs import SFS

__all__ = ["Splice", "polish", "solve_top_k", "top_k_path"]


def solve_top_k(
    problem: PenalisedProblem,
    solver: Solver | None = None,
    n_init: int = 5,
    polish: bool = True,
    rng: np.random.Generator | None = None,
    given: dict[str, np.ndarray] | None = None,
) -> Solution:
    """The lowest objective of all starts, refitted and solution_of.

    ``given`` adds supports to start from, by name. Ctrl-C and the solver's time limit end the
    search; the best support so far is returned.
    """
    solver = Splice() if solver is None else solver
    if not isinstance(solver, Splice | ALM | SFS):
        raise ValueError(
            f"{type(solver).__name__} cannot keep a constraint on the number of rows; "
            "use Splice, ALM or SFS."
        )
    reason = solver.supports(problem)
    if reason is not None:
        raise ValueError(f"{type(solver).__name__} cannot solve this problem: {reason}")
    rng = np.random.default_rng(0) if rng is None else rng
    deadline = Deadline(solver.time_limit)
    report = Report(problem, deadline, solver.callback)
    with blas_threads_for(0.0):
        job = Job(problem, solver, n_init, polish, rng, report, given or {})
        try:
            job.run()
            status = Status.TIME_LIMIT if deadline.passed() else Status.CONVERGED
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        return solution_of(job, status)


def polish(
    problem: PenalisedProblem,
    support: np.ndarray,
    kicks: int = 0,
    rng: np.random.Generator | None = None,
) -> tuple[np.ndarray, float]:
    """Swaps from one support, then kicks: the support they end at and its objective.

    A single row needs no search: all are compared.
    """
    with blas_threads_for(0.0):
        search = search_for(problem)
        best = bound(problem, 1, np.inf) if search.k == 1 else None
        if best is not None and best.support is not None:
            support = best.support
        else:
            support, _ = search.descend(support)
            if kicks:
                rng = np.random.default_rng(0) if rng is None else rng
                support, _ = search.kicked(support, kicks, rng)
        return support, problem.objective(refit(problem, support))


def top_k_path(
    problem: PenalisedProblem,
    ks: list[int],
    solver: Solver | None = None,
    n_init: int = 5,
    polish: bool = True,
    rng: np.random.Generator | None = None,
) -> list[Solution]:
    """One solution per k: the largest in full, the others from their neighbours on both sides.

    A support for k grows from the one for the next smaller k and is also had by leaving rows out of
    the one for the next larger; both are polished, so the objectives never increase with k.
    """
    solver = Splice() if solver is None else solver
    deadline = Deadline(solver.time_limit)
    rng = np.random.default_rng(0) if rng is None else rng
    jobs: dict[int, Job] = {}
    status = Status.CONVERGED
    with blas_threads_for(0.0):
        search = None
        for k in sorted(ks, reverse=True):
            report = Report(problem, deadline, solver.callback)
            smaller = problem.with_limit(k)
            shared = None if search is None else search.with_k(k)
            jobs[k] = Job(smaller, solver, n_init, polish, rng, report, {}, shared)
            search = jobs[k].search if search is None else search
        try:
            _visit_all(jobs)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        if status == Status.CONVERGED and deadline.passed():
            status = Status.TIME_LIMIT
        return [solution_of(jobs[k], status) for k in sorted(jobs) if jobs[k].report.starts]


def _visit_all(jobs: dict[int, Job]) -> None:
    order = sorted(jobs)
    jobs[order[-1]].run()
    larger = order[-1]
    for k in reversed(order[:-1]):
        jobs[k].start("larger", jobs[larger].report.support, in_pool=True)
        larger = k
    smaller = np.array([], dtype=int)
    for k in order:
        jobs[k].start("smaller", smaller, in_pool=True)
        jobs[k].finish()
        if k <= 2:
            jobs[k].prove()
        smaller = jobs[k].report.support
