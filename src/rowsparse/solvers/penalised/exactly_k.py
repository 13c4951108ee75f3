r"""Exactly k rows: the penalised problem under the constraint of at most k of them.

Where a path passes from fewer than k rows to more, or a given alpha lets in more, the k largest are
kept and descended on, all others held at zero; then members are exchanged for outsiders as long as
that lowers the objective.
What is returned is one W: its support, coefficients, objective and certificate belong together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...numerics.rows import largest, nonzero_rows, row_norms, row_squares
from ...penalties.base import LocalModel, Penalty
from ...problems.penalised import PenalisedProblem
from ...results import Solution, Status
from ..base import Deadline, OutOfTime, Solver, reach, run
from .block_descent import BlockDescent, descend, objective, violation
from .bounds import bounded
from .not_above import not_above_nothing
from .starts import solve
from .working_set import WorkingSet

OUTSIDERS = 200  # that may take a member's place: those that the gradient pulls most
ROUGH = 1e-5  # tolerance of trials, relative to the data
IMPROVES = 1e-7  # decrease that counts, of the loss without features
EXCHANGES = 100  # at most: a safeguard, supports of ten rows have needed fewer than twenty
# Of trials for r < 2, of the residual's size: without edges a loss is easier to descend on. Chosen
# by reasoning; its own share of the time saved was not measured.
SMOOTHING = 1e-3


def exactly_k(problem: PenalisedProblem, solver: Solver, solution: Solution, k: int) -> Solution:
    """The best W found with at most k nonzero rows (those that are always in counted), near a
    solution with any number of them."""
    deadline = Deadline(solver.time_limit)
    W = problem.joined(solution.W, solution.intercept)
    members = _largest_rows(problem, solution, k)
    W = np.where(members[:, None], W, 0.0)
    if problem.loss.convex:
        W = _Exchange(problem, W, members).run(deadline.passed)
    members = members_of(problem, W)
    restricted = problem.with_penalty(_only(problem.penalty, members))
    finisher = deadline.limited(solver if isinstance(solver, BlockDescent) else BlockDescent())
    found = not_above_nothing(restricted, finisher, reach(finisher, restricted, W)).solution
    last_word = solution.converged or found.status == Status.INTERRUPTED
    return _told_like(solution, found, found.status if last_word else solution.status)


def at_most_k(
    problem: PenalisedProblem, solver: Solver, init: str | np.ndarray, k: int | None
) -> Solution:
    """The solution at this alpha if no more than k features are in it, or k is None; else one of
    the problem restricted to k of them. The time limit is for both, and what is proved of all W
    holds for those of k rows."""
    deadline = Deadline(solver.time_limit)
    whole = solve(problem, solver, init)
    if k is None:
        return whole
    W = problem.joined(whole.W, whole.intercept)
    if np.count_nonzero(members_of(problem, W)[: len(whole.W)]) <= k:
        return whole
    found = exactly_k(problem, deadline.limited(solver), whole, k)
    n_iter = whole.n_iter + found.n_iter
    found = replace(found, n_iter=n_iter, seconds=deadline.elapsed())
    return found if whole.gap is None else bounded(problem, found, whole.objective - whole.gap)


def truncated(problem: PenalisedProblem, solution: Solution, k: int) -> Solution:
    """The k largest rows of a solution whose solver was ended early, with its status. One step
    adapts them to the loss of the others: a certificate needs a pass over X anyway."""
    W = problem.joined(solution.W, solution.intercept)
    members = _largest_rows(problem, solution, k)
    restricted = problem.with_penalty(_only(problem.penalty, members))
    found = run(BlockDescent(max_iter=1), restricted, np.where(members[:, None], W, 0.0))
    return _told_like(solution, found, solution.status)


def _told_like(solution: Solution, found: Solution, status: str) -> Solution:
    """What was found for k rows, with the story of the solution that it comes from."""
    return replace(
        found,
        status=status,
        start=solution.start,
        starts=solution.starts,
        gap=None,
        solver=solution.solver,
    )


def members_of(problem: PenalisedProblem, W: np.ndarray) -> np.ndarray:
    """The rows that are not zero, and the free ones."""
    return nonzero_rows(W) | problem.penalty.free(len(W))


def _largest_rows(problem: PenalisedProblem, solution: Solution, k: int) -> np.ndarray:
    """A mask of the free rows and the largest others, k features in all."""
    features = problem.penalty.free(problem.n_rows)[: len(solution.W)]
    norms = np.where(features, np.inf, row_norms(solution.W))
    members = problem.penalty.free(problem.n_rows)
    members[largest(norms, k)] = True
    return members


def _only(penalty: Penalty, members: np.ndarray) -> Penalty:
    """The penalty with all other rows kept out."""
    factors = np.ones(len(members)) if penalty.factors is None else penalty.factors
    return penalty.with_factors(np.where(members, factors, np.inf))


@dataclass
class _Trial:
    """A model with the rows that may be nonzero in it, and the objective it has reached."""

    model: LocalModel
    members: np.ndarray
    value: float


class _Exchange:
    """Exchanges on a working set of the members and the most promising outsiders."""

    def __init__(self, problem: PenalisedProblem, W: np.ndarray, members: np.ndarray):
        smoothing = max(SMOOTHING * problem.residual_scale, problem.smoothing_floor)
        evaluation = problem.evaluate(W, smoothing)
        closed = members | problem.penalty.excluded(len(W)) | (problem.sample_curvatures == 0)
        L = np.where(closed, 1.0, problem.sample_curvatures)
        pulls = np.where(closed, -1.0, row_norms(evaluation.gradient) / np.sqrt(L))
        outside = largest(pulls, min(OUTSIDERS, int(np.sum(~closed))))
        self.W = W
        self.rows = np.union1d(np.flatnonzero(members), outside)
        self.penalty = problem.penalty.take(self.rows)
        self.fixed = self.penalty.free(len(self.rows))
        self.tol = ROUGH * problem.violation_scale
        # a model's objective lacks a constant and may be negative: decreases are absolute
        self.enough = IMPROVES * problem.residual_scale**problem.loss.r
        model = WorkingSet.of(problem, self.rows).model(problem, W, evaluation)
        self.best = self._descended(model, members[self.rows])

    def run(self, out_of_time: OutOfTime) -> np.ndarray:
        """W after exchanges until none of those tried helps."""
        for _ in range(EXCHANGES):
            better = self._better(out_of_time)
            if better is None:
                break
            self.best = better
        W = self.W.copy()
        W[self.rows] = self.best.model.W
        return W

    def _better(self, out_of_time: OutOfTime) -> _Trial | None:
        """The first exchange that helps, the weakest member tried first."""
        for leaving in self._weakest_first():
            if out_of_time():
                return None
            trial = self._with_another_in_place_of(leaving)
            if trial is not None and trial.value < self.best.value - self.enough:
                return trial
        return None

    def _descended(self, model: LocalModel, members: np.ndarray) -> _Trial:
        """With the members at their best; all other rows are zero, and no time is spent on them."""
        rows = np.flatnonzero(members)
        own = model.take(rows)
        penalty = self.penalty.take(rows)
        # none is zero, so Newton steps will mostly do; sweeps over few rows cost more
        # (USPS, k = 50: 4.0 s with sweeps first, 1.5 s like this)
        penalty.newton(own, self.tol, finishing=False)
        if violation(own, penalty) > self.tol:
            descend(own, penalty, self.tol)
        model.absorb(rows, own)
        return _Trial(model, members, objective(own, penalty))

    def _weakest_first(self) -> np.ndarray:
        size = np.sqrt(self.best.model.curvatures) * row_norms(self.best.model.W)
        order = np.argsort(size, kind="stable")
        return order[(self.best.members & ~self.fixed)[order]]

    def _with_another_in_place_of(self, leaving: int) -> _Trial | None:
        """The member's row set to zero, the others adapted, and the outsider that then gains most
        taken in."""
        model = _moved(self.best.model.copy(), leaving, -self.best.model.W[[leaving]])
        members = self.best.members.copy()
        members[leaving] = False
        model = self._descended(model, members).model
        gains, targets = self._gains(model)
        gains[members] = -np.inf
        gains[leaving] = -np.inf
        entering = int(np.argmax(gains))
        if not gains[entering] > 0:
            return None
        members[entering] = True
        return self._descended(_moved(model, entering, targets[[entering]]), members)

    def _gains(self, model: LocalModel) -> tuple[np.ndarray, np.ndarray]:
        """What every zero row would take from the objective alone, and where it would go."""
        G = model.gradient()
        curved = model.curvatures > 0
        L = np.where(curved, model.curvatures, 1.0)
        targets = self.penalty.prox(-G / L[:, None], 1 / L)
        slopes = np.einsum("ij,ij->i", targets, G)
        bends = L * row_squares(targets) / 2
        gains = -(slopes + bends + self.penalty.row_values(targets))
        return np.where(curved, gains, -np.inf), targets


def _moved(model: LocalModel, row: int, step: np.ndarray) -> LocalModel:
    """The model with one row moved by a step."""
    model.focus(np.array([row]))
    model.along(step)
    model.move(step)
    return model
