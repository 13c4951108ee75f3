r"""Reweighting of a margin loss: the iteration that its solvers share.

    F(W, b) = C sum_i s_i loss(y_i (x_i'W + b)) + (2/p) sum_j f_j |w_j|_2**p          0 < p <= 2

A step replaces the penalty by the quadratic ``sum_j f_j |w_j|**2 / |w_j^old|**(2-p)``, which lies
above it (t -> t**(p/2) is concave) and touches it at the old W: F never increases. With
``u_j = w_j / scale_j`` and ``scale_j = |w_j^old|**((2-p)/2) / sqrt(f_j)`` the quadratic is |u|**2,
so nothing is ever divided by a vanishing coefficient. At p = 0 the same step descends
``2 sum_j f_j log |w_j|``; at its fixed points the quadratic counts the nonzero rows, and the
objective reported there is ``C sum_i s_i loss + sum over nonzero rows of f_j``.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from hashlib import sha1
from typing import ClassVar

import numpy as np

from ...numerics.rows import row_norms
from ...problems.base import MARGIN, WIDE
from ...problems.margin import Certificate, MarginProblem
from ..base import OutOfTime, Solver, State
from .alive import Alive, Image

# At each larger norm that a start for p < 1 goes through; with 2 lymphoma ends 18 times as high.
STEPS_ON_THE_WAY = 4
# Of points that are left again for fewer rows; with ``tol`` itself Sonar, k = 10, ends 27 % higher.
TOL_ON_THE_WAY = 0.05


@dataclass(kw_only=True)
class ReweightedState(State):
    alive: Alive
    rows: np.ndarray  # of W, those alive
    image: Image  # where one step from W leads: the criterion compares the two
    frozen: np.ndarray | None = None  # scales that no longer change


@dataclass
class Reweighted(Solver[MarginProblem, ReweightedState]):
    """Steps ``W <- T(W)`` until T changes no row's part in the margins by more than ``tol`` times
    the largest part. Rows whose part falls below 1e-6 of it are dropped for good.

    With ``keep=k`` the iteration ends when at most k rows are left: the k that lived longest (the
    larger first) keep the weights that they had, and the problem is solved on them. If it
    converges with more rows than that, ``cut`` takes the k largest of them.
    """

    solves: ClassVar[tuple[str, ...]] = (MARGIN,)
    loss: ClassVar[str]  # the name of the loss that it minimises

    tol: float = 1e-3
    max_iter: int = 100
    keep: int | None = None
    cut: bool = False

    @abstractmethod
    def image_of(self, alive: Alive, scales: np.ndarray, last: Image) -> Image:
        """Minimise the majorizer at ``last`` over the features alive, u = w / scale."""

    def roughly(self) -> Reweighted:
        """The solver for steps from which nothing is kept but the way to go."""
        return self

    def refusal(self, problem: MarginProblem) -> str | None:
        if problem.loss.name != self.loss:
            return f"it is for the {self.loss} loss, got the {problem.loss.name} loss."
        if not 0 <= problem.norm <= 2:
            return f"reweighting needs a norm from 0 to 2, got {problem.norm:g}."
        return None

    def start(self, problem: MarginProblem, W: np.ndarray) -> ReweightedState:
        """From W; from W = 0 with equal weights, that is from the plain machine."""
        usable = np.flatnonzero(np.isfinite(problem.factors))
        nonzero = row_norms(W[usable]) > 0
        given = usable[nonzero]
        if given.size <= np.count_nonzero(problem.free):
            alive = Alive.of(problem, usable, self.time_limit)
            return self._from_plain_machine(alive)
        alive = Alive.of(problem, given, self.time_limit)
        at_W = Image(W[given], W[-1])
        if not problem.free.any():
            state = self._state(alive, at_W)
            return self._settled(state)
        # W need not be right in the free rows, and the criterion does not look at them: one step.
        scales = alive.penalty.scales(at_W.rows)
        image = self.image_of(alive, scales, at_W)
        return self._moved(alive, at_W.rows, image)

    def _from_plain_machine(self, alive: Alive) -> ReweightedState:
        """For p < 1 by some steps at p = 1 and half way.

        Without them the many small coefficients of the plain machine on wide data get such large
        weights that all of them vanish together, although few of them would do.
        """
        scales = alive.penalty.equal_scales
        image = self.image_of(alive, scales, alive.null)
        if self.keep is not None and alive.index.size <= self.keep:  # nothing has to go
            return self._state(alive, image, scales)
        rows = image.rows
        # what k rows are left decides there; else the point itself keeps the digits of its way
        solver = self if self.keep is None else self.roughly()
        for norm in _norms_on_the_way(alive.penalty.norm):
            survivors = alive.survivors(image.rows)
            if self._too_few(survivors) or alive.deadline.passed():
                break
            alive, rows = alive.without_dropped(image.rows)
            if not alive.index.size:
                nothing = Image(rows, image.intercept)
                return self._state(alive, nothing)
            scales = alive.penalty.scales(rows, norm)
            point = replace(image, rows=rows)
            image = solver.image_of(alive, scales, point)
        return self._moved(alive, rows, image)

    def step(
        self, problem: MarginProblem, state: ReweightedState, out_of_time: OutOfTime
    ) -> ReweightedState:
        if state.frozen is None:
            return self._moved(state.alive, state.rows, state.image)
        return self._state(state.alive, state.image, state.frozen)

    def _moved(self, alive: Alive, rows: np.ndarray, image: Image) -> ReweightedState:
        """From a point to its image, without what vanishes there."""
        if self._too_few(alive.survivors(image.rows)):
            return self._frozen(alive, rows, image)
        alive, rows = alive.without_dropped(image.rows)
        point = replace(image, rows=rows)
        reached = self._state(alive, point)
        return self._settled(reached)

    def _too_few(self, survivors: np.ndarray) -> bool:
        """Whether no more than ``keep`` rows would survive."""
        if self.keep is None:
            return False
        n_survivors = int(np.count_nonzero(survivors))
        return n_survivors <= self.keep

    def _settled(self, state: ReweightedState) -> ReweightedState:
        """The state itself, or where it leads if more rows are alive than shall be."""
        if not state.converged:
            return state
        norm = state.alive.penalty.norm
        if self.keep is not None and (self.cut or norm > 1):
            return self._frozen(state.alive, state.rows, state.image)
        return self._without_twins(state) if norm < 1 else state

    def _state(
        self, alive: Alive, point: Image, frozen: np.ndarray | None = None
    ) -> ReweightedState:
        """The state at a point: its objective, its image, and how far apart the two are."""
        problem = alive.problem
        rows = point.rows
        scales = alive.penalty.scales(rows) if frozen is None else frozen
        image = self.image_of(alive, scales, point)
        only_intercept = alive.index.size == 0  # and its image is the best one
        intercept = image.intercept if only_intercept else point.intercept
        Z = alive.matmul(rows) + intercept
        objective = problem.loss_sum(Z) + alive.penalty.value(rows)
        change_of_rows = alive.change(rows, image.rows)
        change = max(change_of_rows, image.gain)
        W = problem.null_point
        W[alive.index] = rows
        W[-1] = intercept
        # the k rows that stay are a problem of their own: these multipliers bound that of all rows
        evaluation = Certificate(objective, dual=None if frozen is not None else image.dual)
        settled = bool(change <= self._enough(problem, frozen))
        proved = settled and (frozen is not None or self._proved(problem, W, evaluation))
        # near a fixed point of a step that has not solved its machine nothing is solved
        trusted = image.gap <= WIDE
        hopeless = not trusted or change == 0  # a step that is not, or leads nowhere
        out_of_time = np.isinf(image.gap)
        return ReweightedState(
            W,
            objective,
            change,
            converged=proved and trusted,
            stalled=settled and hopeless and not out_of_time,
            evaluation=evaluation,
            alive=alive,
            rows=rows,
            image=image,
            frozen=frozen,
        )

    def _proved(self, problem: MarginProblem, W: np.ndarray, evaluation: Certificate) -> bool:
        """Whether the gap is small enough too, where there is one; on the way to k rows none is."""
        if self.keep is not None:
            return True
        gap = problem.duality_gap(W, evaluation)
        if gap is None:
            return True
        size = max(evaluation.objective, problem.negligible)
        return gap <= self.tol * size

    def _enough(self, problem: MarginProblem, frozen: np.ndarray | None) -> float:
        """The tolerance; a point on the way to k rows is left early."""
        wanted = self.attainable_tol(problem)
        if self.keep is None or frozen is not None:
            return wanted
        return max(wanted, TOL_ON_THE_WAY)

    def _frozen(self, alive: Alive, rows: np.ndarray, image: Image) -> ReweightedState:
        """The k rows that are to stay, under the weights that they have now: those that would live
        longest, the larger first."""
        before = alive.parts(rows)
        now = alive.parts(image.rows)
        survivors = alive.survivors(image.rows)
        now[~survivors] = 0.0
        # lexsort's last key counts first: free columns, then parts, and the index breaks ties
        order = np.lexsort((alive.index, -before, -now, ~alive.free))
        first = order[: self.keep]
        mask = np.zeros(order.size, dtype=bool)
        mask[first] = True
        alive = alive.keep(mask)
        rows = rows[mask]
        scales = alive.penalty.scales(rows)
        point = replace(image, rows=rows)
        image = self.image_of(alive, scales, point)
        return self._state(alive, image, scales)

    def _without_twins(self, state: ReweightedState) -> ReweightedState:
        """Equal columns would share their weight for ever; for p < 1 one of them is cheaper."""
        alive = state.alive
        block = alive.columns.block
        if block is None or not alive.penalty.joint:
            return state
        seen: dict[tuple[float, bytes], int] = {}
        first = np.arange(alive.index.size)
        for j in np.flatnonzero(~alive.free):  # a free column stays in, whatever it does
            column = block[:, j] + 0.0  # no -0.0, which has other bytes
            content = sha1(column.tobytes()).digest()
            factor = alive.penalty.factors[j]
            first[j] = seen.setdefault((factor, content), int(j))
        mask = np.zeros(first.size, dtype=bool)
        mask[first] = True
        if mask.all():
            return state
        # the first of each has the sum: predictions stay
        rows = np.zeros_like(state.rows)
        np.add.at(rows, first, state.rows)
        without = alive.keep(mask)
        intercept = state.W[-1]
        point = Image(rows[mask], intercept)
        return self._state(without, point)


def _norms_on_the_way(norm: float) -> list[float]:
    """What a start goes through before its own norm, where that is less than 1."""
    if norm >= 1:
        return []
    half_way = (1 + norm) / 2
    return STEPS_ON_THE_WAY * [1.0] + STEPS_ON_THE_WAY * [half_way]
