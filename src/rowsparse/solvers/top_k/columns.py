r"""The candidate columns of a least-squares search, and what is known of them.

A search under sample weights h and a ridge is about plain least squares once

- the samples are scaled: every row of X and Y by the root of its weight,
- each always-in column that is ridged has one sample more, in which it alone has an entry, the root
  of the ridge, and
- the unpenalised columns F are projected out: ``x_j - F F'x_j`` and ``Y - F F'Y``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...numerics.memory import COPY_BYTES
from ...numerics.rounding import NEGLIGIBLE, negligible
from ...numerics.rows import row_squares
from ...problems.penalised import PenalisedProblem

Product = tuple[np.ndarray, np.ndarray]  # a column x_j and X'x_j


@dataclass
class Columns:
    """The candidate columns behind two operations, and what is known of them at the start.

    No copy of X is made; the products ``X'x_j`` of columns that were once taken in are kept, so
    that a column which comes back costs no pass over X.
    """

    pull: Callable[[np.ndarray], np.ndarray]  # X'q for q (n x m) orthogonal to the free columns
    block: Callable[[np.ndarray], np.ndarray]  # the named columns, dense, free ones projected out
    Y: np.ndarray  # the target, free columns projected out
    C: np.ndarray  # X'Y
    squares: np.ndarray  # squared norms, zero for columns that may not be chosen
    names: np.ndarray  # the column's row in W, increasing
    pull_exactly: Callable[[np.ndarray], np.ndarray]  # in double precision, to prove something
    dependent: float = NEGLIGIBLE
    ridge: float = 0.0  # in the scale of sums; the squared norms hold it
    _known: dict[int, Product] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """``|Y|**2``."""
        return float(np.vdot(self.Y, self.Y))

    @classmethod
    def of(
        cls,
        problem: PenalisedProblem,
        h: np.ndarray | None = None,
        ridge: float = 0.0,
        names: np.ndarray | None = None,
    ) -> Columns:
        """The columns of a problem under its sample weights and ridge, or under others; the named
        ones together in memory."""
        n = len(problem.Y)
        if h is None:
            h = problem.loss.weights(n)
            ridge = n * problem.ridge
        root = np.sqrt(h)[:, None]
        F, extra = free_columns(problem, root, ridge)
        scaled_Y = padded(root * problem.Y, extra)
        Y = without(F, scaled_Y)
        dependent = negligible(problem.design.dtype)
        if names is None:
            return cls._of_all(problem, root, F, Y, dependent, ridge)
        block = problem.design.take(names)
        scaled = padded(root * block, extra)
        A = without(F, scaled)
        return cls.of_block(A, Y, names, dependent, ridge)

    @classmethod
    def _of_all(
        cls,
        problem: PenalisedProblem,
        root: np.ndarray,
        F: np.ndarray,
        Y: np.ndarray,
        dependent: float,
        ridge: float,
    ) -> Columns:
        design = problem.design
        n = len(root)
        n_free = F.shape[1]
        extra = len(Y) - n  # samples in which X is zero: products may leave them out

        def pull(q: np.ndarray) -> np.ndarray:
            return design.rmatmul(root * q[:n])  # q is orthogonal to F: X needs no projection

        def block(js: np.ndarray) -> np.ndarray:
            scaled = padded(root * design.take(js), extra)
            return without(F, scaled)

        def pull_exactly(q: np.ndarray) -> np.ndarray:
            return design.rmatmul_exactly(root * q[:n])

        products = pull_exactly(np.hstack([F, Y]))  # one pass over X for both
        in_F = products[:, :n_free]
        own = design.squares(root[:, 0] ** 2)
        left = np.maximum(own - row_squares(in_F), 0.0)  # Pythagoras; rounding may go below zero
        squares = left + ridge
        squares[closed_rows(problem)] = 0.0
        return cls(
            pull=pull,
            block=block,
            Y=Y,
            C=np.ascontiguousarray(products[:, n_free:]),
            squares=squares,
            names=np.arange(problem.n_rows),
            pull_exactly=pull_exactly,
            dependent=dependent,
            ridge=ridge,
        )

    @classmethod
    def of_block(
        cls,
        A: np.ndarray,
        Y: np.ndarray,
        names: np.ndarray,
        dependent: float = NEGLIGIBLE,
        ridge: float = 0.0,
    ) -> Columns:
        """Dense columns that are, as Y is, orthogonal to the free ones."""
        rows = np.ascontiguousarray(A.T)  # so that a column lies together in memory

        def pull(q: np.ndarray) -> np.ndarray:
            return rows @ q

        return cls(
            pull=pull,
            block=lambda js: rows[js].T,
            Y=Y,
            C=rows @ Y,
            squares=row_squares(rows) + ridge,
            names=names,
            pull_exactly=pull,
            dependent=dependent,
            ridge=ridge,
        )

    def take(self, chosen: np.ndarray) -> Columns:
        """Only the chosen columns, as a dense block."""
        block = self.block(chosen)
        return Columns.of_block(block, self.Y, self.names[chosen], self.dependent, self.ridge)

    def positions(self, names: np.ndarray) -> np.ndarray:
        """Where the named columns are."""
        return np.searchsorted(self.names, names)

    def known(self, js: list[int]) -> list[Product]:
        """The columns x_j and their products, not to be written to."""
        missing = [j for j in js if j not in self._known]
        bytes_of_one = 8 * (len(self.Y) + len(self.C))
        room = COPY_BYTES // bytes_of_one
        if len(self._known) + len(missing) > room:
            # all at once: which of them come back is not known, and the ones asked for must stay
            self._known.clear()
            missing = js
        if missing:
            self._learn(missing)
        return [self._known[j] for j in js]

    def _learn(self, js: list[int]) -> None:
        """One pass over X for the products of several columns."""
        block = self.block(np.array(js))
        columns = np.ascontiguousarray(block.T)
        products = np.ascontiguousarray(self.pull(block).T)
        for j, column, product in zip(js, columns, products, strict=True):
            self._known[j] = column, product


def closed_rows(problem: PenalisedProblem) -> np.ndarray:
    """Rows of W that no search may choose: free, excluded or without a varying column."""
    n_rows = problem.n_rows
    flat = problem.sample_curvatures == 0
    return problem.penalty.free(n_rows) | problem.penalty.excluded(n_rows) | flat


def free_columns(
    problem: PenalisedProblem, root: np.ndarray, ridge: float
) -> tuple[np.ndarray, int]:
    """A basis of the unpenalised columns, and how many samples it has more than X: one for each
    that is ridged."""
    free = np.flatnonzero(problem.penalty.free(problem.n_rows))
    F = root * problem.design.take(free)
    ridged = np.flatnonzero(problem.ridges[free] > 0)  # all but the constant
    if not ridged.size:
        return orthonormal(F), 0
    F = padded(F, ridged.size)
    slots = len(root) + np.arange(ridged.size)
    F[slots, ridged] = np.sqrt(ridge)
    return orthonormal(F), ridged.size


def padded(A: np.ndarray, extra: int) -> np.ndarray:
    """A with so many samples of zeros added."""
    if not extra:
        return A
    zeros = np.zeros((extra, A.shape[1]))
    return np.vstack([A, zeros])


def orthonormal(A: np.ndarray) -> np.ndarray:
    """A basis of the span of few columns, which may depend on one another."""
    if not A.shape[1]:
        return A
    U, values, _ = np.linalg.svd(A, full_matrices=False)
    counts = values > 1e-10 * values.max(initial=0.0)
    return U[:, counts]


def without(F: np.ndarray, A: np.ndarray) -> np.ndarray:
    """A minus its part in the span of the orthonormal F."""
    if not F.shape[1]:
        return A
    coefficients = F.T @ A
    return A - F @ coefficients
