"""The search of one top-k problem: its starts in order, what each reached, a bound at the end.

A solver of the constraint says where to start; every start is polished by swaps, and kicks of the
best (exchanges of several rows) come last.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...numerics.rows import nonzero_rows
from ...penalties.families import L2p
from ...problems.base import AT_MOST_K, proofs_wanted
from ...problems.penalised import PenalisedProblem
from ...results import Solution, Step
from ..base import Deadline, S, Solver, run
from ..penalised.block_descent import BlockDescent
from .bounds import FEW_NODES, PROVED, Bound, bound
from .branch_and_bound import Tree, robust_bound
from .columns import Columns, closed_rows
from .search import NO_ROWS, Found, SquaredSearch, SupportSearch
from .search_robust import search_for

# Of the columns' curvature. Below it the relaxation's gap is 84 % and more (k = 5, 10 of ISOLET1,
# USPS, MNIST, SEMEION, BASEHOCK and madelon, automatic ridge), for as much time as all the rest;
# where there are more samples than columns the fit on all of them proves more.
SMALLEST_RIDGE = 0.01


class Start(NamedTuple):
    """A support that a solver proposes."""

    name: str
    support: np.ndarray
    in_pool: bool = False  # whether polishing may look at the pool only


class TopKSolver(Solver[PenalisedProblem, S]):
    """A solver of the constraint: beside its steps it says where a search starts."""

    solves: ClassVar[tuple[str, ...]] = (AT_MOST_K,)
    kicks: int | None = None  # for each random start; None: what the size of the problem warrants
    proof_seconds: float = 0.0  # that a branch and bound may take, where there is a ridge

    @abstractmethod
    def starts(self, job: Job) -> Iterator[Start]:
        """Supports to polish, in order; the job has seen each before the next is asked for."""


def support_of(problem: PenalisedProblem, W: np.ndarray) -> np.ndarray:
    """The nonzero rows of W that count."""
    return np.flatnonzero(nonzero_rows(W) & ~closed_rows(problem))


class Job:
    """The search of one problem: its starts in order, what each reached, and the best of it."""

    def __init__(
        self,
        problem: PenalisedProblem,
        solver: TopKSolver[Any],
        deadline: Deadline,
        n_init: int,
        polish: bool,
        rng: np.random.Generator,
        search: SupportSearch | None = None,
    ):
        self.problem = problem
        self.solver = solver
        self.deadline = deadline
        self.n_init = n_init
        self.polishes = polish
        self.rng = rng
        self.search = search_for(problem, deadline.passed) if search is None else search
        self.starts: dict[str, float] = {}  # the objective that each reached
        self.history: list[Step] = []
        self.support = NO_ROWS
        self.objective = np.inf
        self.start = "none"  # the name of the best
        self.swap_optimal = False
        self.proved: Bound | None = None
        self.not_converged: list[Solution] = []  # runs of the solver from points

    def for_smaller(self, k: int) -> Job:
        """The job for fewer rows of the same columns, by a search that shares what is known."""
        return Job(
            self.problem.with_limit(k),
            self.solver,
            self.deadline,
            self.n_init,
            self.polishes,
            self.rng,
            self.search.with_k(k),
        )

    def run(self) -> None:
        """Every start that the solver asks for, then kicks of the best."""
        for start in self.solver.starts(self):
            self.polish(start)
        if not self.polishes or self.deadline.passed():
            return
        kicks = self.solver.kicks
        kickable = self.search.k > 1 and not self.exact
        if self.n_init and kicks != 0 and kickable:
            self.finish()
            best = Found(self.support, self.objective)
            found = self.search.kicked(best, self.n_init, kicks, self.rng)
            self._add("kicks", *found)
        self.prove()

    def polish(self, start: Start) -> None:
        """Polish what a start found, or only measure it; a path hands over its neighbours."""
        late = self.deadline.passed() and len(start.support) <= self.search.k
        if not self.polishes or late:
            value = self.search.value(start.support)
            self._add(start.name, start.support, value, swap_optimal=False)
            return
        support, value = self.search.descend(start.support, start.in_pool)
        self._add(start.name, support, value, swap_optimal=not start.in_pool)

    def finish(self) -> None:
        """Look at all columns once more if the best was found in the pool."""
        if not self.polishes or self.swap_optimal:
            return
        support, value = self.search.descend(self.support)
        if self.search.improves(value, on=self.objective):
            self._add("last", support, value)
        self.swap_optimal = True

    def prove(self) -> None:
        """A lower bound, where one is cheap; enumeration may also find something better."""
        if self.deadline.passed():
            return
        problem = self.problem
        asked = self.solver.proof_seconds > 0
        searching = asked or self._proving_may_find_more
        if not (searching or proofs_wanted()):
            return
        limit = Deadline(self.solver.proof_seconds) if asked else self.deadline
        found = None
        if problem.loss.quadratic or not problem.ridge:
            # under a ridge the relaxation has a tree of its own, which is the better one
            nodes = np.inf if asked and not problem.ridge else FEW_NODES
            found = bound(
                problem,
                self.search.k,
                self.objective,
                lambda: limit.passed() or self.deadline.passed(),
                self._columns,
                nodes,
            )
        if problem.ridge and not self._is_proved(found) and (asked or self._ridge_counts):
            found = _better(found, self._bound_with_ridge())
        # else a fit whose proof nobody wants would end with other rows
        if searching and found is not None and found.support is not None:
            W = problem.refitted(found.support)
            self._add("enumeration", found.support, problem.objective(W))
        self.proved = found

    @property
    def _columns(self) -> Columns | None:
        """What the search for squared loss knows of the columns."""
        return self.search.columns if isinstance(self.search, SquaredSearch) else None

    @property
    def _proving_may_find_more(self) -> bool:
        """Whether enumeration, or rounding what the relaxation likes, may end in a better support:
        then it is a part of the search."""
        relaxes = self.problem.loss.quadratic and self.problem.ridge > 0 and self._ridge_counts
        return self.search.k <= 2 or relaxes

    @property
    def _ridge_counts(self) -> bool:
        """Whether the relaxation is worth its time: whether the ridge counts beside the columns."""
        curvature = float(np.mean(self.problem.sample_curvatures))
        units = self.problem.residual_scale ** (self.problem.loss.r - 2)
        return self.problem.ridge >= SMALLEST_RIDGE * curvature * units

    def _is_proved(self, found: Bound | None) -> bool:
        return found is not None and found.value >= self.objective * (1 - PROVED)

    def _bound_with_ridge(self) -> Bound | None:
        """From the relaxation; squared loss sharpens it by branch and bound, if time is given."""
        problem = self.problem
        if not problem.loss.convex or not self.support.size or self.deadline.passed():
            return None
        if not problem.design.complete:  # a relaxation has all columns in it
            return None
        k = self.search.k
        if not problem.loss.quadratic:
            value = robust_bound(problem, self.support, k, self.objective)
            return Bound(value, "a convex relaxation")
        n = len(problem.Y)  # the tree's values are in the scale of sums

        def polished(support: np.ndarray) -> Found:
            found = self.search.descend(support)
            return Found(found.support, n * found.value)

        columns = self._columns or Columns.of(problem)
        known = n * self.objective
        ridge = n * problem.ridge
        tree = Tree(columns, ridge, k, self.support, known, polished)
        tree.root()
        # begun after the root, which is a part of every fit; without seconds it ends at once
        limit = Deadline(self.solver.proof_seconds)
        tree.run(lambda: limit.passed() or self.deadline.passed())
        how = f"branch and bound, {tree.nodes} nodes" if tree.nodes > 1 else "a convex relaxation"
        support = np.sort(tree.support)
        return Bound(tree.bound / n, how, support)

    @property
    def exact(self) -> bool:
        """Whether nothing is left to gain: the loss is zero as far as rounding allows."""
        r = self.problem.loss.r
        size = self.problem.residual_scale**r / r
        return bool(self.objective <= 1e-12 * size)

    def _add(self, name: str, support: np.ndarray, value: float, swap_optimal: bool = True) -> None:
        """Note a result; the first of equal ones is kept. The callback may end the search."""
        self.starts[name] = value
        number = len(self.starts)
        seconds = self.deadline.elapsed()
        step = Step(number, seconds, value, np.nan, len(support))
        self.history.append(step)
        if self.start == "none" or self.search.improves(value, on=self.objective):
            self.support = support
            self.objective = value
            self.start = name
            self.swap_optimal = swap_optimal
        if self.solver.ended_by(step):
            raise KeyboardInterrupt

    # -- where solvers start from -----------------------------------------------------------------

    def convex_point(self) -> np.ndarray:
        """The l_{2,1} solution at the largest alpha on a coarse grid with at least k rows."""
        problem = self.problem
        loss = replace(problem.loss, r=max(problem.loss.r, 1.0))
        penalty = L2p(1.0, problem.penalty.factors)
        relaxed = replace(problem, loss=loss, penalty=penalty)
        top = relaxed.alpha_max() or 1.0
        alpha = top
        W = relaxed.null_point
        n_rows = 0
        # only the order in which rows enter matters here, so two digits are plenty
        rough = BlockDescent(tol=1e-2)
        while n_rows < self.search.k and alpha > 1e-3 * top:
            alpha *= 0.7
            solver = self.deadline.limited(rough)
            at_alpha = relaxed.with_alpha(alpha)
            found = run(solver, at_alpha, W, nested=True)
            W = relaxed.joined(found.W, found.intercept)
            n_rows = support_of(relaxed, W).size
            if self.deadline.passed():
                break
        return W

    def reached_from(self, name: str, W: np.ndarray) -> Start:
        """Where the solver's own steps lead from a point."""
        solver = self.deadline.limited(replace(self.solver, callback=None))
        solution = run(solver, self.problem, W, nested=True)
        if not solution.converged:
            self.not_converged.append(solution)
        return Start(name, solution.rows)


def _better(first: Bound | None, second: Bound | None) -> Bound | None:
    """The higher of two bounds."""
    if first is None or second is None:
        return second or first
    return first if first.value >= second.value else second
