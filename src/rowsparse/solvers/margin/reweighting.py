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
from typing import Any, ClassVar

import numpy as np

from ...designs.base import Design
from ...numerics.rows import row_norms
from ...problems.base import MARGIN
from ...problems.margin import Certificate, MarginProblem
from ..base import OutOfTime, Solver, State

DROP_BELOW = 1e-6  # of the largest row's part in the margins: such rows are dropped for good
VANISHED = 1e-8  # in margins, which are of size one: a row that does no more is dropped as well
STEPS_ON_THE_WAY = 4  # at each of the larger norms that a start for p < 1 goes through
TOL_ON_THE_WAY = 0.05  # of points that are left again for fewer rows
BLOCK_BYTES = 2 << 20  # columns that are kept dense although there are more of them than samples


@dataclass(frozen=True)
class Columns:
    """The columns of the design that are still alive, dense as soon as they are few."""

    design: Design
    index: np.ndarray
    block: np.ndarray | None

    @classmethod
    def of(cls, design: Design, index: np.ndarray) -> Columns:
        n = design.shape[0]
        few = index.size <= max(n, BLOCK_BYTES // (8 * n))
        return cls(design, index, design.take(index) if few else None)

    def keep(self, mask: np.ndarray) -> Columns:
        """Only those of the mask; a dense block shrinks with them."""
        if mask.all():
            return self
        if self.block is None:
            return Columns.of(self.design, self.index[mask])
        return Columns(self.design, self.index[mask], self.block.T[mask].T)

    def matmul(self, W: np.ndarray) -> np.ndarray:
        """X W for the rows of W that are alive."""
        if self.block is not None:
            return self.block @ W
        whole = np.zeros((self.design.shape[1], W.shape[1]))
        whole[self.index] = W
        return self.design.matmul(whole)

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        """X'R for the columns that are alive."""
        if self.block is not None:
            return self.block.T @ R
        return self.design.rmatmul(R)[self.index]

    def outer(self, scales: np.ndarray, exact: bool = True) -> np.ndarray:
        """``X diag(scales)**2 X'``, n x n; otherwise in single precision, in half the time."""
        if self.block is not None:
            scaled = self.block * scales  # of the size of margins, whatever that of X
            if exact:
                return scaled @ scaled.T
            single = scaled.astype(np.float32)
            return (single @ single.T).astype(float)
        whole = np.zeros(self.design.shape[1])
        whole[self.index] = scales**2
        return self.design.outer(whole)

    def dense(self) -> np.ndarray:
        """The columns as one block."""
        return self.design.take(self.index) if self.block is None else self.block


@dataclass(frozen=True)
class Image:
    """Where a step leads: rows that are alive, intercept, and the multipliers if there are any."""

    rows: np.ndarray
    intercept: np.ndarray
    dual: np.ndarray | None = None


@dataclass(kw_only=True)
class ReweightedState(State):
    columns: Columns
    rows: np.ndarray  # of W, those alive
    image: Image  # of W under one step: the violation compares the two
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
    loss: ClassVar[str]  # the name of the one that it minimises

    tol: float = 1e-3
    max_iter: int = 100
    keep: int | None = None
    cut: bool = False

    @abstractmethod
    def image_of(self, problem: MarginProblem, columns: Columns, scales, last: Image) -> Image:
        """Minimise the majorizer at ``last`` over the columns given, u = w / scale."""

    def roughly(self) -> Reweighted:
        """The solver for steps from which nothing is kept but the way to go."""
        return self

    def refusal(self, problem: MarginProblem) -> str | None:
        if problem.loss.name != self.loss:
            return f"it minimises the {self.loss} loss, got the {problem.loss.name} loss."
        if not 0 <= problem.norm <= 2:
            return f"reweighting needs a norm from 0 to 2, got {problem.norm:g}."
        return None

    def start(self, problem: Any, W: np.ndarray) -> ReweightedState:
        """From W; from W = 0 with equal weights, that is from the plain machine, and for p < 1
        then by some steps at p = 1 and half way.

        Without them the many small coefficients of the plain machine on wide data get such large
        weights that all of them vanish together, although few of them would do.
        """
        usable = np.flatnonzero(np.isfinite(problem.factors))
        alive = usable[row_norms(W[usable]) > 0]
        if alive.size > np.count_nonzero(problem.free):
            columns = Columns.of(problem.design, alive)
            return self._settled(problem, self._state(problem, columns, W[alive], W[-1]))
        columns, scales = Columns.of(problem.design, usable), problem.equal_scales[usable]
        null = Image(np.zeros((usable.size, problem.Y.shape[1])), np.zeros(problem.Y.shape[1]))
        image = self.image_of(problem, columns, scales, null)
        if self.keep is not None and usable.size <= self.keep:  # nothing has to go
            return self._state(problem, columns, image.rows, image.intercept, scales, image.dual)
        rows = image.rows
        # what k rows are left decides there; else the point itself keeps the digits of its way
        on_the_way = self if self.keep is None else self.roughly()
        for norm in _norms_on_the_way(problem.norm):
            alive = _alive(problem, columns.index, image.rows)
            if self._too_few(alive):
                return self._frozen(problem, columns, rows, image)
            columns, rows = _without_dropped(problem, columns, image.rows, alive)
            if not columns.index.size:
                return self._state(problem, columns, rows, image.intercept)
            scales = _scales(problem, columns.index, rows, norm)
            image = on_the_way.image_of(problem, columns, scales, replace(image, rows=rows))
        alive = _alive(problem, columns.index, image.rows)
        if self._too_few(alive):
            return self._frozen(problem, columns, rows, image)
        columns, rows = _without_dropped(problem, columns, image.rows, alive)
        state = self._state(problem, columns, rows, image.intercept, near=image.dual)
        return self._settled(problem, state)

    def _too_few(self, alive: np.ndarray) -> bool:
        """Whether no more than ``keep`` rows would survive."""
        return self.keep is not None and int(np.count_nonzero(alive)) <= self.keep

    def step(self, problem: Any, state: ReweightedState, out_of_time: OutOfTime) -> ReweightedState:
        if state.frozen is not None:
            rows, b = state.image.rows, state.image.intercept
            return self._state(problem, state.columns, rows, b, state.frozen, state.image.dual)
        alive = _alive(problem, state.columns.index, state.image.rows)
        if self._too_few(alive):
            return self._frozen(problem, state.columns, state.rows, state.image)
        columns, rows = _without_dropped(problem, state.columns, state.image.rows, alive)
        b, near = state.image.intercept, state.image.dual
        return self._settled(problem, self._state(problem, columns, rows, b, near=near))

    def _settled(self, problem: MarginProblem, state: ReweightedState) -> ReweightedState:
        """The state itself, or where it leads if more rows are alive than shall be."""
        if not state.converged:
            return state
        if self.keep is not None and (self.cut or problem.norm > 1):
            return self._frozen(problem, state.columns, state.rows, state.image)
        return self._without_twins(problem, state) if problem.norm < 1 else state

    def _state(
        self, problem: MarginProblem, columns: Columns, rows, b, frozen=None, near=None
    ) -> ReweightedState:
        """The state at a point: its objective, its image, and how far apart the two are."""
        scales = _scales(problem, columns.index, rows) if frozen is None else frozen
        image = self.image_of(problem, columns, scales, Image(rows, b, near))
        if not columns.index.size:  # only the intercept is left
            b = image.intercept
        Z = columns.matmul(rows) + b
        objective = problem.loss_sum(Z) + problem.penalty(rows, columns.index)
        violation = _change(problem, columns.index, rows, image.rows)
        known = Certificate(objective, dual=image.dual)
        W = np.zeros((problem.n_rows, problem.Y.shape[1]))
        W[columns.index], W[-1] = rows, b
        return ReweightedState(
            W, objective, violation, violation <= self._enough(problem, frozen), False, known,
            columns=columns, rows=rows, image=image, frozen=frozen,
        )  # fmt: skip

    def _enough(self, problem: MarginProblem, frozen) -> float:
        """The tolerance; a point on the way to k rows is left early."""
        on_the_way = self.keep is not None and frozen is None
        wanted = max(self.tol, problem.attainable_violation)
        return max(wanted, TOL_ON_THE_WAY) if on_the_way else wanted

    def _frozen(self, problem: MarginProblem, columns: Columns, rows, image: Image):
        """The k rows that are to stay, under the weights that they have now: those that would live
        longest, the larger first."""
        assert self.keep is not None
        index = columns.index
        alive = _alive(problem, index, image.rows)
        now = np.where(alive, parts_in_margins(problem, index, image.rows), 0.0)
        order = np.lexsort(
            (index, -parts_in_margins(problem, index, rows), -now, ~problem.free[index])
        )
        mask = np.zeros(index.size, dtype=bool)
        mask[order[: self.keep]] = True
        columns, rows = columns.keep(mask), rows[mask]
        frozen = _scales(problem, columns.index, rows)
        image = self.image_of(problem, columns, frozen, replace(image, rows=rows))
        return self._state(problem, columns, image.rows, image.intercept, frozen, image.dual)

    def _without_twins(self, problem: MarginProblem, state: ReweightedState) -> ReweightedState:
        """Equal columns would share their weight for ever; for p < 1 one of them is cheaper."""
        block = state.columns.block
        if block is None or not problem.joint:
            return state
        labelled = np.vstack([block, problem.factors[state.columns.index]])
        _, first, group = np.unique(labelled, axis=1, return_index=True, return_inverse=True)
        if first.size == state.columns.index.size:
            return state
        rows = np.zeros_like(state.rows)
        np.add.at(rows, first[group.ravel()], state.rows)
        mask = np.zeros(len(rows), dtype=bool)
        mask[first] = True
        return self._state(problem, state.columns.keep(mask), rows[mask], state.W[-1])


def _norms_on_the_way(norm: float) -> list[float]:
    return [] if norm >= 1 else [1.0] * STEPS_ON_THE_WAY + [(1 + norm) / 2] * STEPS_ON_THE_WAY


def _scales(problem: MarginProblem, index: np.ndarray, rows: np.ndarray, norm=None) -> np.ndarray:
    """``|w_j|**((2-p)/2) / sqrt(f_j)``; rows without penalty have no scale (0)."""
    norm = problem.norm if norm is None else norm
    return problem.magnitudes(rows) ** ((2 - norm) / 2) * problem.equal_scales[index]


def parts_in_margins(problem: MarginProblem, index: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """What each row contributes to the margins."""
    return row_norms(rows) * problem.sizes_of_columns[index]


def _change(problem: MarginProblem, index: np.ndarray, rows, image) -> float:
    largest = float(parts_in_margins(problem, index, rows).max(initial=0.0))
    change = float(parts_in_margins(problem, index, image - rows).max(initial=0.0))
    return change / largest if largest > 0 else 0.0


def _alive(problem: MarginProblem, index: np.ndarray, rows: np.ndarray) -> np.ndarray:
    parts = parts_in_margins(problem, index, rows)
    floor = max(DROP_BELOW * parts.max(initial=0.0), VANISHED)
    return (parts >= floor) | problem.free[index]


def _without_dropped(problem: MarginProblem, columns: Columns, rows: np.ndarray, mask: np.ndarray):
    if not problem.joint:  # entries die one by one
        parts = np.abs(rows) * problem.sizes_of_columns[columns.index, None]
        floor = np.maximum(DROP_BELOW * parts.max(axis=0, initial=0.0), VANISHED)
        dead = (parts < floor) & ~problem.free[columns.index, None]
        rows = np.where(dead, 0.0, rows)
        mask = mask & (row_norms(rows) > 0)
    return columns.keep(mask), rows[mask]
