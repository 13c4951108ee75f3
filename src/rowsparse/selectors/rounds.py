"""Fits to X in blocks of many columns: round after round with the products of more of them.

A round solves the problem with what is known: all products of the members, and for the others what
they share with members and y. Where the answer rests on others, one pass makes those, and the next
best, members, and the problem is solved again. The answer of the last round rests on members alone:
its objective, gradient and certificate, over all columns, are those of X.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..designs import SearchedDesign
from ..designs.chunked import MOST_PRODUCTS
from ..numerics.memory import PRODUCT_BYTES
from ..problems.penalised import PenalisedProblem
from ..results import Path, Solution, Status
from ..solvers.base import Deadline, Solver, run

# Columns that a pass makes members at the least: products with so many take half as long as
# reading does (float32, 3,000 columns: .32 s for a GB, and .6 to read it).
FEWEST_NEW = 64
ENDED = (Status.INTERRUPTED, Status.TIME_LIMIT)


class Fitted(NamedTuple):
    """A problem and its solution, and the path that led there where one was followed."""

    problem: PenalisedProblem
    solution: Solution
    path: Path | None = None

    @property
    def columns(self) -> np.ndarray:
        """All features that some solution uses."""
        others = () if self.path is None else self.path.solutions
        rows = [solution.rows for solution in (self.solution, *others)]
        return np.unique(np.concatenate(rows))


def fitted_in_rounds(
    X: SearchedDesign,
    solver_of: Callable[[PenalisedProblem], Solver],
    build: Callable[[], PenalisedProblem],
    solve: Callable[[PenalisedProblem, Solver], Fitted],
) -> Fitted:
    """What ``solve`` finds for the problem that ``build`` makes of the products known by then. The
    time limit is for all rounds; where it or Ctrl-C ends one, what was found is told as it is."""
    problem = build()
    solver = solver_of(problem)
    deadline = Deadline(solver.time_limit)
    free = problem.penalty.free(problem.n_rows)[: X.shape[1]]
    if know(X, np.flatnonzero(free)):
        problem = build()
    while True:
        found = solve(problem, deadline.limited(solver))
        if found.solution.status in ENDED:
            found = found._replace(path=None)
            return _told_of(build(), solver, found) if know(X, found.columns) else found
        if not know(X, found.columns, found.problem.entering(found.solution)):
            return found
        problem = build()


def know(X: SearchedDesign, columns: np.ndarray, scores: np.ndarray | None = None) -> bool:
    """See that these columns are members, and with them those of the best scores; whether that
    took a pass."""
    missing = np.setdiff1d(columns, X.members)
    if not missing.size:
        return False
    d = X.shape[1]
    others = np.zeros(d) if scores is None else scores.copy()
    others[np.append(X.members, missing)] = 0.0
    best = np.argsort(-others, kind="stable")[: max(FEWEST_NEW - missing.size, 0)]
    new = np.append(missing, best[others[best] > 0])
    n_members = X.members.size + new.size
    if d <= MOST_PRODUCTS and 2 * n_members > d:
        X.know_all()  # which takes as long as the products of so many with all
    elif 8 * d * n_members > PRODUCT_BYTES:
        X.forget()  # every step passes over X instead
    else:
        X.take_in(new)
    return True


def _told_of(problem: PenalisedProblem, solver: Solver, found: Fitted) -> Fitted:
    """The same point, with its objective and certificate in a problem in which they are known."""
    problem = problem.with_penalty(found.problem.penalty)
    end = found.solution
    W = problem.joined(end.W, end.intercept)
    told = run(replace(solver, max_iter=0, time_limit=None, callback=None), problem, W)
    return Fitted(
        problem,
        replace(
            told,
            status=end.status,
            n_iter=end.n_iter,
            history=end.history,
            start=end.start,
            seconds=end.seconds,
        ),
    )
