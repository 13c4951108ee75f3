"""One top-k problem: its solver, its starts in order, what each reached and what is proved.

Starts: greedy forward selection, the l_{2,1} path, for r < 2 the support found for squared loss,
and random ones. Each is polished by swaps; kicks of the best (exchanges of several rows) come last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ...numerics.rows import nonzero_rows
from ...penalties.l2p import L2p
from ...problems.base import AT_MOST_K
from ...problems.penalised import PenalisedProblem
from ...results import Solution, Status, Step
from ..base import Solver, State
from ..loop import Deadline, certified, run
from ..penalised.block_descent import BlockDescent
from .bounds import PROVED, bound
from .candidates import closed_rows
from .refit import certificate, refit
from .search_robust import RobustSearch
from .search_squared import SquaredSearch

COARSE = 0.7  # ratio of neighbouring alphas on the l_{2,1} path
SMALLEST = 1e-3  # of alpha_max: the end of the path
KICKING = 0.12  # of the time of forward selection, for the kicks of each random start
ROUGH = 1e-2  # its tolerance


@dataclass
class Splice(Solver[PenalisedProblem, State]):
    """Starts, swaps and kicks; the solver that ``TopKSelector`` uses by itself.

    ``tol`` bounds the violation of the refitted W (r < 2: Newton steps reach about 1e-6), ``kicks``
    is the number of kicks for each random start. As a solver of one start (``run``) it polishes
    the support of W, or the greedy one where W has none.
    """

    solves: ClassVar[tuple[str, ...]] = (AT_MOST_K,)

    tol: float = 1e-5
    max_iter: int = 1
    kicks: int | None = None  # None: up to 6, as many as the size of the problem warrants

    def start(self, problem: PenalisedProblem, W: np.ndarray) -> State:
        W = problem.penalty.prox(W, 1.0)
        return State(W=W, objective=problem.objective(W), criterion=np.inf)

    def step(
        self, problem: PenalisedProblem, state: State, out_of_time: Callable[[], bool]
    ) -> State:
        search = search_for(problem, out_of_time)
        given = support_of(problem, state.W)
        support, _ = search.descend(given if given.size else search.forward())
        W = refit(problem, support)
        known = certificate(problem, support, W)
        converged = known.violation <= self.attainable_tol(problem) and not out_of_time()
        return State(W, known.objective, known.violation, converged, not converged, known)


def search_for(problem: PenalisedProblem, out_of_time: Callable[[], bool] = lambda: False):
    """The local search for the problem's loss."""
    kind = SquaredSearch if problem.loss.quadratic else RobustSearch
    k = min(problem.limit, int(np.sum(~closed_rows(problem))))
    return kind(problem, k, out_of_time)


def support_of(problem: PenalisedProblem, W: np.ndarray) -> np.ndarray:
    """The nonzero rows of W that count."""
    return np.flatnonzero(nonzero_rows(W) & ~closed_rows(problem))


@dataclass
class Report:
    """What every start found, and the best of it."""

    problem: PenalisedProblem
    deadline: Deadline
    callback: Callable[[Step], object] | None
    starts: dict[str, float] = field(default_factory=dict)
    history: list[Step] = field(default_factory=list)
    support: np.ndarray = field(default_factory=lambda: np.array([], dtype=int))
    objective: float = np.inf
    start: str = "none"
    swap_optimal: bool = False

    def add(self, name: str, support, objective: float, resolution: float, optimal: bool):
        """Note a result; the first of equal ones is kept. The callback may end the search."""
        self.starts[name] = objective
        if objective < self.objective * (1 - 1e-9) - resolution or self.start == "none":
            self.support, self.objective, self.start = support, objective, name
            self.swap_optimal = optimal
        step = Step(len(self.starts), self.deadline.elapsed(), objective, np.nan, len(support))
        self.history.append(step)
        if self.callback is not None and self.callback(step):
            raise KeyboardInterrupt


class Job:
    """The starts of one problem, in order."""

    def __init__(self, problem, solver, n_init, polish, rng, report, given, search=None):
        self.problem, self.solver, self.rng, self.report = problem, solver, rng, report
        self.n_init, self.polish, self.given = n_init, polish, given
        self.search = search_for(problem, report.deadline.passed) if search is None else search
        n = len(problem.Y)
        self.per_value = 2.0 * n if problem.loss.quadratic else 1.0  # of the search's values
        self.proved = None
        self.not_converged: list[Solution] = []  # runs of a named solver

    def run(self) -> None:
        """Every start that the solver asks for, cheapest first."""
        if isinstance(self.solver, Splice):
            self._splice()
        else:
            self._named()
        if self.polish and self.n_init and self._k > 1 and not self._exact:
            kicks = self._kicks() * self.n_init
            if kicks:
                self._add("kicks", *self.search.kicked(self.report.support, kicks, self.rng))
        if self.polish:
            self.prove()

    def finish(self) -> None:
        """Look at all columns once more if the best was found in the pool."""
        report = self.report
        if not self.polish or report.swap_optimal:
            return
        support, value = self.search.descend(report.support)
        if value < (report.objective * self.per_value) * (1 - 1e-9) - self.search.resolution:
            self._add("last", support, value)
        report.swap_optimal = True

    def _kicks(self) -> int:
        kicks = getattr(self.solver, "kicks", None)
        if kicks is not None:
            return kicks
        if not self.problem.loss.quadratic:
            return 4
        seconds = 1e-3 + 1.8e-4 * self._k
        return int(np.clip(KICKING * self._forward_seconds / seconds, 1, 6))

    @property
    def _forward_seconds(self) -> float:
        """About what plain forward selection takes other packages: the measure of our effort."""
        n, d = self.problem.design.shape
        return 7e-9 * n * d * self._k

    @property
    def _k(self) -> int:
        return self.search.k

    @property
    def _exact(self) -> bool:
        """Whether nothing is left to gain: the loss is zero as far as rounding allows."""
        scale = self.problem.residual_scale**self.problem.loss.r / self.problem.loss.r
        return self.report.objective <= 1e-12 * scale

    def _splice(self) -> None:
        if not self.problem.loss.quadratic:  # first: it wins where the loss cannot decide
            self.start("squares", self._squares())
        self.start("forward", self.search.forward())
        for name, support in self.given.items():
            self.start(name, support)
        if not self.polish and not self.n_init:
            return
        if self._k == len(self.search.pool.chosen | set(self.report.support.tolist())):
            return  # every column is in already
        if self._convex_is_cheap:
            self.start("convex", self._convex())
        for i in range(self.n_init):
            if self.report.deadline.passed() or self._exact:
                return
            support = self.search.forward_in_pool(self.rng)
            self.start(f"random {i + 1}", support, in_pool=True)

    @property
    def _convex_is_cheap(self) -> bool:
        n, d = self.problem.design.shape
        seconds = 0.01 + 4e-9 * self.problem.Y.shape[1] * n * d
        return not self.problem.loss.quadratic or seconds <= 0.5 * self._forward_seconds

    def _named(self) -> None:
        """ALM from random points as in the paper, SFS from the l_{2,1} solution."""
        points = {}
        if self.solver.from_random_points:
            shape = (self.problem.n_rows, self.problem.Y.shape[1])
            for i in range(max(self.n_init, 1)):
                points[f"random {i + 1}"] = self.rng.standard_normal(shape)
        else:
            points["convex"] = self._convex_point()
        for name, W in points.items():
            solver = self.report.deadline.limited(replace(self.solver, callback=None))
            solution = run(solver, self.problem, W, nested=True)
            if not solution.converged:
                self.not_converged.append(solution)
            self.start(name, solution.rows)

    def start(self, name: str, support: np.ndarray, in_pool: bool = False) -> None:
        """Polish what a start found, or only measure it."""
        if not self.polish:
            self._add(name, support, self.search.value(support), optimal=False)
        elif in_pool:
            found, value = self.search.descend_in_pool(support)
            self._add(name, found, value, optimal=self.search.pool_is_all)
        else:
            self._add(name, *self.search.descend(support))

    def _add(self, name: str, support, value: float, optimal: bool = True) -> None:
        resolution = self.search.resolution / self.per_value
        self.report.add(name, support, value / self.per_value, resolution, optimal)

    def _squares(self) -> np.ndarray:
        loss = replace(self.problem.loss, r=2.0)
        search = search_for(replace(self.problem, loss=loss), self.report.deadline.passed)
        support, _ = search.descend(search.forward())
        return search.kicked(support, 4 * self.n_init, self.rng)[0]

    def _convex(self) -> np.ndarray:
        return support_of(self.problem, self.problem.penalty.prox(self._convex_point(), 1.0))

    def _convex_point(self) -> np.ndarray:
        """The l_{2,1} solution at the largest alpha on a coarse grid with at least k rows."""
        loss = replace(self.problem.loss, r=max(self.problem.loss.r, 1.0))
        penalty = L2p(1.0, self.problem.penalty.factors)
        relaxed = replace(self.problem, loss=loss, penalty=penalty)
        alpha = top = relaxed.alpha_max() or 1.0
        W = relaxed.null_point
        while support_of(relaxed, W).size < self._k and alpha > SMALLEST * top:
            alpha *= COARSE
            solver = self.report.deadline.limited(BlockDescent(tol=ROUGH))
            found = run(solver, relaxed.with_alpha(alpha), W, nested=True)
            W = np.vstack([found.W, found.intercept]) if relaxed.has_constant else found.W
            if self.report.deadline.passed():
                break
        return W

    def prove(self) -> None:
        out_of_time = self.report.deadline.passed
        found = bound(self.problem, self._k, self.report.objective, out_of_time)
        if found is not None and found.support is not None:
            W = refit(self.problem, found.support)
            self._add("enumeration", found.support, self.problem.objective(W) * self.per_value)
        self.proved = found


def solution_of(job: Job, status: str) -> Solution:
    """Refit on the best support, add the report and what was proved."""
    problem, report, solver = job.problem, job.report, job.solver
    if status == Status.CONVERGED:
        job.finish()
    W = refit(problem, report.support)
    evaluation = certificate(problem, report.support, W)
    tol = max(Splice.tol, solver.attainable_tol(problem)) if np.isfinite(solver.tol) else solver.tol
    if status == Status.CONVERGED and job.not_converged and not job.polish:
        status = job.not_converged[0].status
    if status == Status.CONVERGED and evaluation.violation > tol and not job._exact:
        status = Status.STALLED
    lower, gap, proof = _what_is_proved(job, evaluation.objective, status)
    return certified(
        solver, problem, W, status, report.history, report.deadline,
        criterion=evaluation.violation, tol=tol, evaluation=evaluation,
        start=report.start, starts=report.starts, lower_bound=lower, gap=gap, proof=proof,
    )  # fmt: skip


def _what_is_proved(job: Job, objective: float, status: str):
    """Lower bound, gap and the sentence about them; never more than was shown."""
    if job._exact:
        return 0.0, objective, "proved optimal: these rows fit every sample, the loss is zero"
    sentences = []
    lower = 0.0
    if job.proved is not None:
        lower = min(job.proved.value, objective)
        if objective - lower <= 2 * PROVED * objective:
            return lower, objective - lower, f"proved optimal: {job.proved.how}"
        sentences.append(f"at most {objective - lower:.3g} above the optimum ({job.proved.how})")
    if job.report.swap_optimal and status == Status.CONVERGED:
        exact = job.problem.loss.quadratic
        sentences.insert(0, "no single swap of rows improves it" if exact else
                         "no swap of rows that was tried improves it")  # fmt: skip
    return lower, objective - lower, "; ".join(sentences) or "nothing is proved"
