"""The best k rows of a problem, from one support or many, for one k or a path of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics.rows import row_norms
from ...numerics.threads import blas_threads_for
from ...problems.penalised import PenalisedProblem
from ...results import Solution, Status
from ..base import Deadline, OutOfTime, Solver, State, certified, refuse_unsupported
from .bounds import PROVED
from .multistart import Job, Start, TopKSolver, support_of
from .search import NO_ROWS
from .search_robust import RobustSearch, search_for

__all__ = ["Splice", "solve_top_k", "top_k_path"]


@dataclass
class Splice(TopKSolver[State]):
    """Starts, swaps and kicks; the solver that ``TopKSelector`` uses by itself.

    ``tol`` bounds the violation of the refitted W (r < 2: Newton steps reach about 1e-6), ``kicks``
    is the number of kicks for each random start. ``proof_seconds`` is what a branch and bound may
    take to prove the support optimal, or to find a better one: for squared loss with a ridge, or
    with more samples than columns and at most 64 of these. As a solver of one start (``run``) it
    polishes the support of W, or the greedy one where W has none.

    Parameters
    ----------
    tol : float
        Bound on the violation of the refitted W.
    max_iter : int
        Of use only in ``run``, where one step is all there is.
    time_limit, callback : as in ``Solver``
    proof_seconds : float
        What a branch and bound may take to prove the support optimal, or to find a better one.
    kicks : int, optional
        For each random start; None is up to 6, as many as the size of the problem warrants.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import TopKSelector
    >>> from rowsparse.solvers import Splice
    >>> selector = TopKSelector(3, ridge=1, solver=Splice(proof_seconds=10)).fit(X, y)
    >>> selector.solution_.relative_gap < 1e-6  # proved to be the best three
    True
    """

    tol: float = 1e-5
    max_iter: int = 1
    proof_seconds: float = 0.0
    kicks: int | None = None  # None: up to 6, as many as the size of the problem warrants

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
        """Greedy forward selection; for r < 2 what kicks of it find for squared loss."""
        support = job.search.forward()
        name = "forward"
        late = job.deadline.passed()
        if isinstance(job.search, RobustSearch) and job.n_init and not late:
            squared = job.search.squared
            found = squared.descend(support)
            support, _ = squared.kicked(found, job.n_init, None, job.rng)
            name = "squares"
        yield Start(name, support, in_pool=name == "squares")


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
    with blas_threads_for(0.0):
        job = _first_job(problem, solver, n_init, polish, rng)
        return solution_of(job, _status_after(job.run, job.deadline))


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
    *smaller, largest = sorted(set(ks))  # each k once, whatever the order
    with blas_threads_for(0.0):
        # what the search for the largest k learns of the columns serves all others
        last = _first_job(problem.with_limit(largest), solver, n_init, polish, rng)
        jobs = [last.for_smaller(k) for k in smaller] + [last]
        status = _status_after(lambda: _visit_all(jobs), last.deadline)
        return [solution_of(job, status) for job in jobs if job.starts]


def _first_job(
    problem: PenalisedProblem,
    solver: Solver[Any, Any] | None,
    n_init: int,
    polish: bool,
    rng: np.random.Generator | None,
) -> Job:
    """The job of a solver for a constraint, or a refusal in one sentence."""
    solver = Splice() if solver is None else solver
    refuse_unsupported(solver, problem)
    if not isinstance(solver, TopKSolver):
        raise TypeError(
            f"Expected a solver that names its starts, got {type(solver).__name__}; "
            "derive it from TopKSolver."
        )
    rng = np.random.default_rng(0) if rng is None else rng
    return Job(problem, solver, Deadline(solver.time_limit), n_init, polish, rng)


def _status_after(work: Callable[[], None], deadline: Deadline) -> str:
    try:
        work()
    except KeyboardInterrupt:
        return Status.INTERRUPTED
    return Status.TIME_LIMIT if deadline.passed() else Status.CONVERGED


def _visit_all(jobs: list[Job]) -> None:
    """Down from the largest k, then up again from the smallest."""
    larger = jobs[-1]
    larger.run()
    for job in reversed(jobs[:-1]):
        job.polish(Start("larger", larger.support, in_pool=True))
        larger = job
    smaller = NO_ROWS
    for job in jobs:
        job.polish(Start("smaller", smaller, in_pool=True))
        job.finish()
        if job.search.k <= 2:
            job.prove()
        smaller = job.support


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
    n = len(problem.Y)
    free = np.flatnonzero(problem.penalty.free(problem.n_rows))
    rows = np.union1d(free, support).astype(int)
    A = problem.design.take(rows)
    W_rows = W[rows]
    ridges = problem.ridges[rows]
    E = A @ W_rows - problem.Y
    smoothed = problem.loss.smoothed(smoothing)
    h = smoothed.residual_weights(E)
    of_loss = A.T @ (h[:, None] * E) / n
    gradient = of_loss + ridges[:, None] * W_rows
    metric = problem.metric_weights(h)
    curvature = metric @ A**2 / n + ridges
    # what a row could gain by itself, as the root of a loss; a flat one nothing
    flat = curvature <= 0
    lengths = np.sqrt(np.where(flat, np.inf, curvature))
    scores = row_norms(gradient) / lengths
    largest = float(scores.max(initial=0.0))
    violation = largest / problem.violation_scale
    objective = problem.loss.value_of_residual(E) + problem.ridge_value(W)
    return Certificate(objective, violation, smoothing)


def solution_of(job: Job, status: str) -> Solution:
    """Refit on the best support, add what every start reached and what was proved."""
    problem = job.problem
    if status == Status.CONVERGED:
        job.finish()
    W, start = _refitted(job)
    known = certificate(problem, job.support, W)
    starts = dict(job.starts)
    if start != job.start:
        starts[start] = known.objective
    tol = job.solver.tol
    if np.isfinite(tol):
        tol = max(Splice.tol, job.solver.attainable_tol(problem))
    if status == Status.CONVERGED:
        status = _status_of_fit(job, known.violation, tol)
    lower, proof = _what_is_proved(job, known.objective, status)
    return certified(
        job.solver,
        problem,
        W,
        status,
        job.history,
        job.deadline,
        criterion=known.violation,
        tol=tol,
        evaluation=known,
        start=start,
        starts=starts,
        lower_bound=lower,
        gap=known.objective - lower,
        proof=proof,
    )


def _status_of_fit(job: Job, violation: float, tol: float) -> str:
    """Of a search that came to its end: what the solver's own runs and the refit add to it."""
    if job.not_converged and not job.polishes:
        return job.not_converged[0].status
    if violation > tol and not job.exact:
        return Status.STALLED
    return Status.CONVERGED


def _refitted(job: Job) -> tuple[np.ndarray, str]:
    """W on the best support, and the name of its start; never above the model without features.

    For r < 1 a falling smoothing leads to local minima that a ridge may put above it; and where the
    constant fits some samples exactly, that is lost under any smoothing.
    """
    problem = job.problem
    W = problem.refitted(job.support)
    if problem.loss.convex:
        return W, job.start
    nothing = problem.null_point
    highest = problem.objective(nothing) * (1 + 1e-7)  # a smaller difference is the smoothing's
    if problem.objective(W) > highest:
        return nothing, "zero"
    return W, job.start


def _what_is_proved(job: Job, objective: float, status: str) -> tuple[float, str]:
    """A lower bound and the sentence about it; never more than was shown."""
    if job.exact:
        return 0.0, "proved optimal: these rows fit every sample, the loss is zero"
    lower = 0.0
    sentences = []
    if job.swap_optimal and status == Status.CONVERGED:
        every = job.problem.loss.quadratic
        which = "no single swap of rows" if every else "no swap of rows that was tried"
        sentences.append(f"{which} improves it")
    if job.proved is not None:
        how = job.proved.how
        lower = min(job.proved.value, objective)
        gap = objective - lower
        if gap <= 2 * PROVED * objective:
            return lower, f"proved optimal: {how}"
        sentences.append(f"at most {gap:.3g} above the optimum ({how})")
    return lower, "; ".join(sentences) or "nothing is proved"
