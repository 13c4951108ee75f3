r"""The candidate columns of a least-squares search, and what is known of them.

The samples are scaled by the square roots of their weights and the unpenalised columns (intercept,
always in) are projected out. No copy of X is made; the products ``X'x_j`` of columns that were once
taken in are kept, so that a column which comes back costs no pass over X.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...problems.penalised import PenalisedProblem

DEPENDENT = 1e-9  # of a column's squared norm: what is left of one that lies in the others' span
DEPENDENT_FLOAT32 = 1e-4
KEPT_BYTES = 1 << 27  # of columns and of products X'x_j


@dataclass(frozen=True)
class Columns:
    """The candidate columns behind two operations, and what is known of them at the start."""

    pull: Callable[[np.ndarray], np.ndarray]  # X'q for q (n x m) orthogonal to the free columns
    block: Callable[[np.ndarray], np.ndarray]  # the named columns, dense, free ones projected out
    Y: np.ndarray  # the target, free columns projected out
    C: np.ndarray  # X'Y
    squares: np.ndarray  # squared norms, zero for columns that may not be chosen
    names: np.ndarray  # the column's row in W
    dependent: float
    known: Known = field(init=False)
    order: np.ndarray = field(init=False)  # that sorts the names

    def __post_init__(self) -> None:
        shape = len(self.Y), len(self.C)
        object.__setattr__(self, "known", Known(self.pull, self.block, *shape))
        object.__setattr__(self, "order", np.argsort(self.names))

    @classmethod
    def of(cls, problem: PenalisedProblem, weights: np.ndarray | None = None) -> Columns:
        """All columns of a problem under its sample weights, or under others."""
        n, design, penalty = len(problem.Y), problem.design, problem.penalty
        root = np.sqrt(problem.loss.weights(n) if weights is None else weights)[:, None]
        F = orthonormal(root * design.take(np.flatnonzero(penalty.free(problem.n_rows))))
        Y = without(F, root * problem.Y)

        def pull(q: np.ndarray) -> np.ndarray:
            return design.rmatmul(root * q)

        def block(js: np.ndarray) -> np.ndarray:
            return without(F, root * design.take(js))

        squares = n * problem.sample_curvatures if weights is None else design.squares(weights)
        in_F, C = np.split(pull(np.hstack([F, Y])), [F.shape[1]], axis=1)
        squares = squares - np.einsum("ij,ij->i", in_F, in_F)
        squares[closed_rows(problem)] = 0.0
        dependent = DEPENDENT_FLOAT32 if design.dtype == np.float32 else DEPENDENT
        names = np.arange(problem.n_rows)
        return cls(
            pull, block, Y, np.ascontiguousarray(C), np.maximum(squares, 0.0), names, dependent
        )

    @classmethod
    def of_block(cls, A: np.ndarray, F: np.ndarray, Y: np.ndarray, names: np.ndarray) -> Columns:
        """Dense columns A beside free columns F, all with the samples already scaled."""
        F = orthonormal(F)
        A, Y = np.asfortranarray(without(F, A)), without(F, Y)
        return cls.dense(A, Y, A.T @ Y, np.einsum("ij,ij->j", A, A), names, DEPENDENT)

    @classmethod
    def dense(cls, A, Y, C, squares, names, dependent: float) -> Columns:
        """The columns of an array in Fortran order, orthogonal to all free ones."""
        return cls(lambda q: A.T @ q, lambda js: A.T[js].T, Y, C, squares, names, dependent)

    def take(self, chosen: np.ndarray) -> Columns:
        """Only the chosen columns, as a dense block."""
        A = np.asfortranarray(self.block(chosen))
        known = self.C[chosen], self.squares[chosen], self.names[chosen]
        return Columns.dense(A, self.Y, *known, self.dependent)

    def grown(self, whole: Columns, new: np.ndarray) -> Columns:
        """This dense block with more columns of the whole behind its own."""
        more = whole.take(new)
        own, others = np.arange(len(self.names)), np.arange(len(new))
        A = np.empty((len(self.Y), own.size + others.size), order="F")
        A[:, : own.size], A[:, own.size :] = self.block(own), more.block(others)
        grown = Columns.dense(
            A,
            self.Y,
            np.vstack([self.C, more.C]),
            np.append(self.squares, more.squares),
            np.append(self.names, more.names),
            self.dependent,
        )
        grown.known.inherit(self.known, more.pull)
        return grown

    def positions(self, names: np.ndarray) -> np.ndarray:
        """Where the named columns are."""
        return self.order[np.searchsorted(self.names, names, sorter=self.order)]


class Known:
    """Columns that were asked for and their products ``X'x_j``, kept as long as there is room."""

    def __init__(self, pull, block, n: int, d: int):
        self.pull, self.block, self.n, self.d = pull, block, n, d
        self.room = min(d, KEPT_BYTES // (8 * max(d, n, 1)))
        self.places: dict[int, int] = {}
        self.kept = np.empty((0, n)), np.empty((0, d))

    def one(self, j: int) -> tuple[np.ndarray, np.ndarray]:
        """The column x_j and its product, not to be written to."""
        if not self.room:
            block = self.block(np.array([j]))
            return block[:, 0], self.pull(block)[:, 0]
        self._learn([j])
        return self.kept[0][self.places[j]], self.kept[1][self.places[j]]

    def many(self, js: list[int], products: np.ndarray) -> np.ndarray:
        """The columns x_j; their products are written to rows of the given array."""
        if len(js) > self.room:
            block = self.block(np.array(js))
            products[:] = self.pull(block).T
            return block
        self._learn(js)
        places = [self.places[j] for j in js]
        np.take(self.kept[1], places, 0, products, "clip")
        return self.kept[0][places].T

    def _learn(self, js: list[int]) -> None:
        missing = [j for j in js if j not in self.places]
        if len(self.places) + len(missing) > self.room:
            self.places.clear()
            missing = js
        if missing:
            block = self.block(np.array(missing))
            columns, products = self._places_for(missing)
            columns[:], products[:] = block.T, self.pull(block).T

    def inherit(self, smaller: Known, pull_more) -> None:
        """What is known of the first columns, from where they stood alone; pull_more is Z'q for
        the columns Z behind them."""
        js = list(smaller.places)
        if js and len(js) <= self.room:
            columns, products = self._places_for(js)
            columns[:] = smaller.kept[0][: len(js)]
            products[:, : smaller.d] = smaller.kept[1][: len(js)]
            products[:, smaller.d :] = pull_more(columns.T).T

    def _places_for(self, js: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Where further columns and their products are to be written."""
        first, last = len(self.places), len(self.places) + len(js)
        if last > len(self.kept[0]):
            size = min(self.room, 2 * last)
            larger = np.empty((size, self.n)), np.empty((size, self.d))
            for new, old in zip(larger, self.kept, strict=True):
                new[:first] = old[:first]
            self.kept = larger
        self.places.update(zip(js, range(first, last), strict=True))
        return self.kept[0][first:last], self.kept[1][first:last]


def closed_rows(problem: PenalisedProblem) -> np.ndarray:
    """Rows of W that no search may choose: free, excluded or without a varying column."""
    penalty, n_rows = problem.penalty, problem.n_rows
    return penalty.free(n_rows) | penalty.excluded(n_rows) | (problem.sample_curvatures == 0)


def orthonormal(A: np.ndarray) -> np.ndarray:
    """A basis of the span of few columns."""
    if not A.shape[1]:
        return A
    U, values, _ = np.linalg.svd(A, full_matrices=False)
    return U[:, values > 1e-10 * values.max(initial=0.0)]


def without(F: np.ndarray, A: np.ndarray) -> np.ndarray:
    """A minus its part in the span of the orthonormal F."""
    return A - F @ (F.T @ A) if F.shape[1] else A
