"""The best k rows of a problem, from one support or many, for one k or a path of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics.threads import blas_threads_for
from ...problems.penalised import PenalisedProblem
from ...results import Solution, Status
from ..base import Deadline, OutOfTime, Solver, State, certified, refuse_unsupported
from .bounds import PROVED, bound
from .multistart import Effort, Job, Start, TopKSolver, search_for, support_of
from .search import NO_ROWS

__all__ = ["Splice", "polish", "solve_top_k", "top_k_path"]


@dataclass
class Splice(TopKSolver[State]):
    """Starts, swaps and kicks; the solver that ``TopKSelector`` uses by itself.

    ``tol`` bounds the violation of the refitted W (r < 2: Newton steps reach about 1e-6), ``kicks``
    is the number of kicks for each random start. As a solver of one start (``run``) it polishes
    the support of W, or the greedy one where W has none.
    """

    tol: float = 1e-5
    max_iter: int = 1
    kicks: int | None = None  # None: up to 6, as many as the size of the problem warrants

    def wanted_kicks(self) -> int | None:
        return self.kicks

    def start(self, problem: PenalisedProblem, W: np.ndarray) -> State:
        W = problem.penalty.prox(W, 1.0)
        return State(W=W, objective=problem.objective(W), criterion=np.inf)

    def step(self, problem: PenalisedProblem, state: State, out_of_time: OutOfTime) -> State:
        search = search_for(problem, out_of_time)
        given = support_of(problem, state.W)
        support, _ = search.descend(given if given.size else search.forward())
        W = problem.refitted(support)
        known = certificate(problem, support, W)
        converged = known.violation <= self.attainable_tol(problem) and not out_of_time()
        return State(W, known.objective, known.violation, converged, not converged, known)

    def starts(self, job: Job) -> Iterator[Start]:
        """For r < 2 the support found for squared loss; greedy forward selection; the l_{2,1}
        path; random ones."""
        search = job.search
        if not job.problem.loss.quadratic:  # first: it wins where the loss cannot decide
            yield Start("squares", job.best_for_squares())
        yield Start("forward", search.forward())
        if not job.effort.polish and not job.effort.n_init:
            return
        if len(search.pool.chosen.union(job.report.support.tolist())) == search.k:
            return  # every column is in already
        if job.convex_is_cheap():
            nearest = job.problem.penalty.prox(job.convex_point(), 1.0)
            yield Start("convex", support_of(job.problem, nearest))
        for i in range(job.effort.n_init):
            if job.deadline.passed() or job.exact:
                return
            yield Start(f"random {i + 1}", search.forward(job.effort.rng), in_pool=True)


def solve_top_k(
    problem: PenalisedProblem,
    solver: Solver[Any, Any] | None = None,
    n_init: int = 5,
    polish: bool = True,
    rng: np.random.Generator | None = None,
) -> Solution:
    """The lowest objective of all starts, refitted and certified.

    Ctrl-C and the solver's time limit end the search; the best support so far is returned.
    """
    solver = _solver_of(problem, solver)
    effort = Effort(n_init, polish) if rng is None else Effort(n_init, polish, rng)
    deadline = Deadline(solver.time_limit)
    with blas_threads_for(0.0):
        job = Job(problem, solver, effort, deadline)
        try:
            job.run()
            status = Status.TIME_LIMIT if deadline.passed() else Status.CONVERGED
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        return solution_of(job, status)


def top_k_path(
    problem: PenalisedProblem,
    ks: list[int],
    solver: Solver[Any, Any] | None = None,
    n_init: int = 5,
    polish: bool = True,
    rng: np.random.Generator | None = None,
) -> list[Solution]:
    """One solution per k: the largest in full, the others from their neighbours on both sides.

    A support for k grows from the one for the next smaller k and is also had by leaving rows out of
    the one for the next larger; both are polished, so the objectives never increase with k. The
    time limit is for the whole path.
    """
    solver = _solver_of(problem, solver)
    effort = Effort(n_init, polish) if rng is None else Effort(n_init, polish, rng)
    deadline = Deadline(solver.time_limit)
    jobs: list[Job] = []  # by increasing k
    status = Status.CONVERGED
    with blas_threads_for(0.0):
        for k in sorted(set(ks), reverse=True):
            # the largest k comes first; what its search learns of the columns serves all others
            shared = jobs[-1].search.with_k(k) if jobs else None
            jobs.insert(0, Job(problem.with_limit(k), solver, effort, deadline, shared))
        try:
            _visit_all(jobs)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        if status == Status.CONVERGED and deadline.passed():
            status = Status.TIME_LIMIT
        return [solution_of(job, status) for job in jobs if job.report.starts]


def _visit_all(jobs: list[Job]) -> None:
    """Down from the largest k, then up again from the smallest."""
    larger = jobs[-1]
    larger.run()
    for job in reversed(jobs[:-1]):
        job.polish(Start("larger", larger.report.support, in_pool=True))
        larger = job
    smaller = NO_ROWS
    for job in jobs:
        job.polish(Start("smaller", smaller, in_pool=True))
        job.finish()
        if job.search.k <= 2:
            job.prove()
        smaller = job.report.support


def _solver_of(problem: PenalisedProblem, solver: Solver[Any, Any] | None) -> TopKSolver[Any]:
    """The solver for a constraint, or a refusal in one sentence."""
    if solver is None:
        return Splice()
    refuse_unsupported(solver, problem)
    if not isinstance(solver, TopKSolver):
        raise TypeError(
            f"Expected a solver that names its starts, got {type(solver).__name__}; "
            "derive it from TopKSolver."
        )
    return solver


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
            support, value = search.descend(support)
            if kicks:
                rng = np.random.default_rng(0) if rng is None else rng
                support, _ = search.kicked(support, value, kicks, rng)
        return support, problem.objective(problem.refitted(support))


@dataclass(frozen=True)
class Certificate:
    """Objective and violation of a refitted W."""

    objective: float
    violation: float
    smoothing: float
    gradient: None = None  # only that of few columns is at hand


def certificate(problem: PenalisedProblem, support: np.ndarray, W: np.ndarray) -> Certificate:
    """Objective and violation of a refitted W.

    While the constraint is full only the rows of the support can change, and their few columns are
    at hand in double precision whatever X is stored in.
    """
    smoothing = problem.smoothing_floor
    if len(support) < problem.limit:
        evaluation = problem.evaluate(W)
        return Certificate(evaluation.objective, evaluation.violation, smoothing)
    rows = np.union1d(np.flatnonzero(problem.penalty.free(problem.n_rows)), support).astype(int)
    A = problem.design.take(rows)
    E = A @ W[rows] - problem.Y
    h = problem.loss.smoothed(smoothing).residual_weights(E)
    G = A.T @ (h[:, None] * E) / len(E)
    L = problem.metric_weights(h) @ A**2 / len(E)
    scores = np.sqrt(np.einsum("ij,ij->i", G, G) / np.where(L > 0, L, np.inf))
    violation = float(scores.max(initial=0.0)) / problem.violation_scale
    return Certificate(problem.loss.value_of_residual(E), violation, smoothing)


def solution_of(job: Job, status: str) -> Solution:
    """Refit on the best support, add the report and what was proved."""
    problem = job.problem
    report = job.report
    if status == Status.CONVERGED:
        job.finish()
    W = problem.refitted(report.support)
    known = certificate(problem, report.support, W)
    tol = job.solver.tol
    if np.isfinite(tol):
        tol = max(Splice.tol, job.solver.attainable_tol(problem))
    if status == Status.CONVERGED and job.not_converged and not job.effort.polish:
        status = job.not_converged[0].status
    if status == Status.CONVERGED and known.violation > tol and not job.exact:
        status = Status.STALLED
    lower, proof = _what_is_proved(job, known.objective, status)
    return certified(
        job.solver,
        problem,
        W,
        status,
        report.history,
        job.deadline,
        criterion=known.violation,
        tol=tol,
        evaluation=known,
        start=report.start,
        starts=report.starts,
        lower_bound=lower,
        gap=known.objective - lower,
        proof=proof,
    )


def _what_is_proved(job: Job, objective: float, status: str) -> tuple[float, str]:
    """A lower bound and the sentence about it; never more than was shown."""
    if job.exact:
        return 0.0, "proved optimal: these rows fit every sample, the loss is zero"
    lower = 0.0
    sentences = []
    if job.report.swap_optimal and status == Status.CONVERGED:
        every = job.problem.loss.quadratic
        which = "no single swap of rows" if every else "no swap of rows that was tried"
        sentences.append(f"{which} improves it")
    if job.proved is not None:
        lower = min(job.proved.value, objective)
        if objective - lower <= 2 * PROVED * objective:
            return lower, f"proved optimal: {job.proved.how}"
        sentences.append(f"at most {objective - lower:.3g} above the optimum ({job.proved.how})")
    return lower, "; ".join(sentences) or "nothing is proved"
