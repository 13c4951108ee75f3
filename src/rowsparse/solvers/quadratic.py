r"""Least squares on a changing set of columns, and the exact gain of every change.

Everything here is about ``1/2 |Xw - Y|**2`` in the scale of sums, after the samples were scaled by
the square roots of their weights and the unpenalised columns (intercept, always in) were projected
out. With Q an orthonormal basis of the chosen columns and R the residual, one outsider j lowers
``|R|**2`` by

    |x_j'R|**2 / D_j,      D_j = |x_j|**2 - |Q'x_j|**2,

and taking j for the member i, with u_i the unit part of x_i orthogonal to the other members,
t = x_j'u_i and b = u_i'Y, by ``|x_j'R + t b|**2 / (D_j + t**2) - |b|**2``. Adding a column costs
one pass ``X'q`` over X, no copy of X is made, and all k (d - k) swaps are scored without a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..problem import Problem

DEPENDENT = 1e-9  # of a column's squared norm: what is left of one that lies in the others' span
DEPENDENT_FLOAT32 = 1e-4


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

    @classmethod
    def of(cls, problem: Problem, weights: np.ndarray | None = None) -> Columns:
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
        in_F = pull(F)
        squares = squares - np.einsum("ij,ij->i", in_F, in_F)
        squares[closed_rows(problem)] = 0.0
        dependent = DEPENDENT_FLOAT32 if design.dtype == np.float32 else DEPENDENT
        names = np.arange(problem.n_rows)
        return cls(pull, block, Y, pull(Y), np.maximum(squares, 0.0), names, dependent)

    @classmethod
    def of_block(cls, A: np.ndarray, F: np.ndarray, Y: np.ndarray, names: np.ndarray) -> Columns:
        """Dense columns A beside free columns F, all with the samples already scaled."""
        F = orthonormal(F)
        A, Y = np.asfortranarray(without(F, A)), without(F, Y)
        squares = np.einsum("ij,ij->j", A, A)
        return cls(lambda q: A.T @ q, lambda js: A[:, js], Y, A.T @ Y, squares, names, DEPENDENT)

    def take(self, chosen: np.ndarray) -> Columns:
        """Only the chosen columns, as a dense block."""
        A = np.asfortranarray(self.block(chosen))
        return replace(
            self,
            pull=lambda q: A.T @ q,
            block=lambda js: A[:, js],
            C=self.C[chosen],
            squares=self.squares[chosen],
            names=self.names[chosen],
        )


def closed_rows(problem: Problem) -> np.ndarray:
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


class Fit:
    """Least squares on the members, which come and go; k is the room for them."""

    def __init__(self, columns: Columns, k: int):
        n, d = len(columns.Y), len(columns.C)
        self.columns = columns
        self.members: list[int] = []
        self.Q = np.empty((n, k), order="F")  # orthonormal basis of the members
        self.V = np.empty((d, k), order="F")  # X'Q
        self.Z = np.empty((k, k))  # the members in that basis
        self.R = columns.Y.copy()
        self.C = columns.C.copy()  # X'R
        self.D = columns.squares.copy()
        self.total = float(np.vdot(columns.Y, columns.Y))
        self.least = np.maximum(columns.dependent * columns.squares, 1e-300)

    def copy(self) -> Fit:
        """An independent fit."""
        twin = object.__new__(Fit)
        twin.columns, twin.members = self.columns, list(self.members)
        twin.least, twin.total = self.least, self.total
        for name in ("Q", "V", "Z", "R", "C", "D"):
            setattr(twin, name, getattr(self, name).copy(order="K"))
        return twin

    def with_members(self, members: Iterable[int]) -> Fit:
        """The same fit after these columns were added; dependent ones are left out."""
        members = [int(j) for j in members]
        if self.size or not members or not self._set_all(members):
            for j in members:
                if self.D[j] > self.least[j]:
                    self.add(j)
        return self

    def _set_all(self, members: list[int]) -> bool:
        """All members at once, by one pass over X; False if some depend on others."""
        m = len(members)
        Q, Z = np.linalg.qr(self.columns.block(np.array(members)))
        if m > Q.shape[1] or np.any(Z.diagonal() ** 2 <= self.least[members]):
            return False
        V, B = self.columns.pull(Q), Q.T @ self.columns.Y
        self.Q[:, :m], self.V[:, :m], self.Z[:m, :m] = Q, V, Z
        self.R -= Q @ B
        self.C -= V @ B
        self.D -= np.einsum("ij,ij->i", V, V)
        self.members = members
        return True

    @property
    def size(self) -> int:
        """Number of members."""
        return len(self.members)

    @property
    def value(self) -> float:
        """``|R|**2``: twice the sum of squared residuals that is minimised."""
        return float(np.vdot(self.R, self.R))

    @property
    def support(self) -> np.ndarray:
        """The members' rows of W, in increasing order."""
        return np.sort(self.columns.names[self.members])

    def gains(self) -> np.ndarray:
        """What each outsider would take from ``|R|**2``; -inf for members and dependent columns."""
        possible = self.D > self.least
        possible[self.members] = False
        numerator = np.einsum("ij,ij->i", self.C, self.C)
        gains = np.full(len(numerator), -np.inf)
        np.divide(numerator, self.D, out=gains, where=possible)
        return gains

    def add(self, j: int) -> None:
        """Take column j in."""
        m = self.size
        x = self.columns.block(np.array([j]))[:, 0]
        Q = self.Q[:, :m]
        z = Q.T @ x
        q = x - Q @ z
        again = Q.T @ q  # twice is enough
        q -= Q @ again
        length = np.sqrt(q @ q)
        q /= length
        v = self.columns.pull(q[:, None])[:, 0]
        b = q @ self.R
        self.R -= np.multiply.outer(q, b)
        self.C -= np.multiply.outer(v, b)
        self.D -= v * v
        self.Q[:, m], self.V[:, m] = q, v
        self.Z[:m, m], self.Z[m, : m + 1] = z + again, 0.0
        self.Z[m, m] = length
        self.members.append(j)

    def remove(self, i: int) -> None:
        """Let the i-th member go."""
        m = self.size
        direction = self.directions()[:, i]
        reflect = direction.copy()
        reflect[-1] += 1.0 if direction[-1] >= 0 else -1.0
        reflect /= np.sqrt(reflect @ reflect)
        for A in (self.Q[:, :m], self.V[:, :m], self.Z[:m, :m].T):
            A -= np.multiply.outer(A @ reflect, 2 * reflect)
        u, t = self.Q[:, m - 1], self.V[:, m - 1]
        b = u @ self.columns.Y
        self.R += np.multiply.outer(u, b)
        self.C += np.multiply.outer(t, b)
        self.D += t * t
        self.Z[: m - 1, i : m - 1] = self.Z[: m - 1, i + 1 : m].copy()
        del self.members[i]

    def directions(self) -> np.ndarray:
        """Column i: the unit part of member i orthogonal to the other members, in the basis."""
        M = np.linalg.inv(self.Z[: self.size, : self.size]).T
        M /= np.sqrt(np.einsum("ij,ij->j", M, M))
        return M

    def sacrifices(self) -> np.ndarray:
        """What leaving each member out adds to ``|R|**2``."""
        B = self.directions().T @ (self.Q[:, : self.size].T @ self.columns.Y)
        return np.einsum("ij,ij->i", B, B)

    def swap_gains(self) -> np.ndarray:
        """What every swap takes from ``|R|**2``: outsiders by members."""
        m = self.size
        M = self.directions()
        T = self.V[:, :m] @ M
        B = M.T @ (self.Q[:, :m].T @ self.columns.Y)
        lost = np.einsum("ij,ij->i", B, B)
        gains = self.C @ B.T
        gains *= T
        gains *= 2.0
        T *= T
        left = T + self.D[:, None]
        T *= lost
        gains += T
        gains += np.einsum("ij,ij->i", self.C, self.C)[:, None]
        closed = left <= self.least[:, None]
        left[closed] = 1.0
        gains /= left
        gains -= lost
        gains[closed] = -np.inf
        gains[self.members] = -np.inf
        return gains
