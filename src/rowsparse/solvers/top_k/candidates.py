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
KEPT_BYTES = 1 << 27  # of columns and of products X'x_j: what a laptop spares

Product = tuple[np.ndarray, np.ndarray]  # a column x_j and X'x_j


@dataclass
class Columns:
    """The candidate columns behind two operations, and what is known of them at the start."""

    pull: Callable[[np.ndarray], np.ndarray]  # X'q for q (n x m) orthogonal to the free columns
    block: Callable[[np.ndarray], np.ndarray]  # the named columns, dense, free ones projected out
    Y: np.ndarray  # the target, free columns projected out
    C: np.ndarray  # X'Y
    squares: np.ndarray  # squared norms, zero for columns that may not be chosen
    names: np.ndarray  # the column's row in W, increasing
    dependent: float = DEPENDENT
    _known: dict[int, Product] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: PenalisedProblem, h: np.ndarray | None = None) -> Columns:
        """All columns of a problem under its sample weights, or under others."""
        design = problem.design
        n = len(problem.Y)
        if h is None:
            squares = n * problem.sample_curvatures
            h = problem.loss.weights(n)
        else:
            squares = design.squares(h)
        root = np.sqrt(h)[:, None]
        free = np.flatnonzero(problem.penalty.free(problem.n_rows))
        F = orthonormal(root * design.take(free))
        Y = without(F, root * problem.Y)

        def pull(q: np.ndarray) -> np.ndarray:
            return design.rmatmul(root * q)

        def block(js: np.ndarray) -> np.ndarray:
            return without(F, root * design.take(js))

        products = pull(np.hstack([F, Y]))  # one pass over X for both
        in_F = products[:, : F.shape[1]]
        squares = np.maximum(squares - np.einsum("ij,ij->i", in_F, in_F), 0.0)
        squares[closed_rows(problem)] = 0.0
        return cls(
            pull,
            block,
            Y,
            C=np.ascontiguousarray(products[:, F.shape[1] :]),
            squares=squares,
            names=np.arange(problem.n_rows),
            # in single precision five digits of a column are its own
            dependent=1e-4 if design.dtype == np.float32 else DEPENDENT,
        )

    @classmethod
    def of_block(cls, A: np.ndarray, F: np.ndarray, Y: np.ndarray, names: np.ndarray) -> Columns:
        """Dense columns A beside free columns F, all with the samples already scaled."""
        F = orthonormal(F)
        A = without(F, A)
        Y = without(F, Y)
        return cls.dense(A, Y, A.T @ Y, np.einsum("ij,ij->j", A, A), names, DEPENDENT)

    @classmethod
    def dense(
        cls,
        A: np.ndarray,
        Y: np.ndarray,
        C: np.ndarray,
        squares: np.ndarray,
        names: np.ndarray,
        dependent: float,
    ) -> Columns:
        """The columns of an array, orthogonal to all free ones."""
        rows = np.ascontiguousarray(A.T)  # columns of A that lie together in memory

        def pull(q: np.ndarray) -> np.ndarray:
            return rows @ q

        def block(js: np.ndarray) -> np.ndarray:
            return rows[js].T

        return cls(pull, block, Y, C, squares, names, dependent)

    def take(self, chosen: np.ndarray) -> Columns:
        """Only the chosen columns, as a dense block."""
        return Columns.dense(
            self.block(chosen),
            self.Y,
            self.C[chosen],
            self.squares[chosen],
            self.names[chosen],
            self.dependent,
        )

    def positions(self, names: np.ndarray) -> np.ndarray:
        """Where the named columns are."""
        return np.searchsorted(self.names, names)

    def known(self, js: list[int]) -> list[Product]:
        """The columns x_j and their products, not to be written to."""
        missing = [j for j in js if j not in self._known]
        room = KEPT_BYTES // (8 * (len(self.Y) + len(self.C)))
        if len(self._known) + len(missing) > room:
            self._known.clear()
            missing = js
        if missing:
            block = self.block(np.array(missing))
            columns = np.ascontiguousarray(block.T)
            products = np.ascontiguousarray(self.pull(block).T)
            self._known.update(zip(missing, zip(columns, products, strict=True), strict=True))
        return [self._known[j] for j in js]


def closed_rows(problem: PenalisedProblem) -> np.ndarray:
    """Rows of W that no search may choose: free, excluded or without a varying column."""
    n_rows = problem.n_rows
    flat = problem.sample_curvatures == 0
    return problem.penalty.free(n_rows) | problem.penalty.excluded(n_rows) | flat


def orthonormal(A: np.ndarray) -> np.ndarray:
    """A basis of the span of few columns."""
    if not A.shape[1]:
        return A
    U, values, _ = np.linalg.svd(A, full_matrices=False)
    return U[:, values > 1e-10 * values.max(initial=0.0)]


def without(F: np.ndarray, A: np.ndarray) -> np.ndarray:
    """A minus its part in the span of the orthonormal F."""
    return A - F @ (F.T @ A) if F.shape[1] else A
