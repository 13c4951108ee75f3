r"""Least squares on a changing set of columns, and the exact gain of every change.

Everything here is about ``1/2 |Xw - Y|**2`` in the scale of sums. The samples are scaled by the
square roots of their weights and the unpenalised columns (intercept, always in) are projected out.
With Q an orthonormal basis of the chosen columns and R the residual, one outsider j lowers
``|R|**2`` by

    |x_j'R|**2 / D_j,      D_j = |x_j|**2 - |Q'x_j|**2,

and taking j for the member i, with u_i the unit part of x_i orthogonal to the other members,
t = x_j'u_i and b = u_i'Y, by

    |x_j'R + t b|**2 / (D_j + t**2) - |b|**2
        = (|x_j'R|**2 - D_j |b|**2 + 2 t x_j'R b) / (D_j + t**2).

A ridge of strength lambda is one more sample for every column, in which it alone has an entry,
``sqrt(lambda)``, and Y has none: all formulas stay. Only members need these samples, so there is
room for as many as there may be members.

Adding a column costs one pass over X where its product ``X'x_j`` is not known yet, and all
k (d - k) swaps are scored without a pass.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.linalg.blas import dger, dtrsm

from .columns import Columns, padded


class Fit:
    """Least squares on the members, which come and go; ``room`` is for as many as there may be.

    New memory costs more than the arithmetic on it, so a fit works in place and is used again.
    """

    def __init__(self, columns: Columns, room: int):
        d = len(columns.C)
        self.columns = columns
        self.room = room
        self.members: list[int] = []
        self.slots: list[int] = []  # of the members among the samples that the ridge adds
        self.Y = padded(columns.Y, room if columns.ridge else 0)
        n = len(self.Y)
        self.Q = np.empty((n, room), order="F")  # orthonormal basis of the members
        self.V = np.empty((room, d))  # Q'X
        self.Z = np.empty((room, room))  # the members in that basis
        self.R = self.Y.copy()
        self.C = columns.C.copy()  # X'R
        self.D = columns.squares.copy()
        self.total = float(np.vdot(columns.Y, columns.Y))
        least = columns.dependent * columns.squares
        self.least = np.where(least > 0, least, np.inf)  # of D; columns of no length stay out
        self._directions: np.ndarray | None = None
        self._scratch = np.empty((2, room, d))  # for the gains of swaps; untouched until asked

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

    # -- changes of the members -------------------------------------------------------------------

    def with_members(self, members: Iterable[int]) -> Fit:
        """The same fit on these members instead; those that depend on others are left out."""
        self._now([], [])
        np.copyto(self.R, self.Y)
        np.copyto(self.C, self.columns.C)
        np.copyto(self.D, self.columns.squares)
        members = [int(j) for j in members]
        if not self._set_all(members):
            for j in members:
                if self.D[j] > self.least[j]:
                    self.add(j)
        return self

    def _now(self, members: list[int], slots: list[int]) -> None:
        self.members = members
        self.slots = slots
        self._directions = None

    def _set_all(self, members: list[int]) -> bool:
        """All members at once, faster than one by one; False if some nearly depend on others."""
        m = len(members)
        n = len(self.Q)
        if not 0 < m <= n:
            return False
        A = np.empty((n, m), order="F")
        V = self.V[:m]
        for i, (column, product) in enumerate(self.columns.known(members)):
            A[:, i] = self._with_slot(column, i)
            V[i] = product
            V[i, members[i]] += self.columns.ridge
        Q, Z = np.linalg.qr(A)
        if np.any(Z.diagonal() ** 2 <= self.least[members]):
            return False
        dtrsm(1.0, Z, V.T, side=1, overwrite_b=True)  # in place: A'X becomes Q'X
        B = Q.T @ self.Y
        self.Q[:, :m] = Q
        self.Z[:m, :m] = Z
        self.R -= Q @ B
        self.C -= V.T @ B
        self.D -= np.einsum("ij,ij->j", V, V)
        self._now(members, list(range(m)))
        return True

    def _with_slot(self, column: np.ndarray, slot: int) -> np.ndarray:
        """A column with its entry in the sample that the ridge adds for it."""
        if not self.columns.ridge:
            return column
        longer = np.zeros(len(self.Y))
        longer[: len(column)] = column
        longer[len(column) + slot] = np.sqrt(self.columns.ridge)
        return longer

    def add(self, j: int) -> None:
        """Take column j in."""
        m = self.size
        column, product = self.columns.known([j])[0]
        slot = min(set(range(self.room)).difference(self.slots))
        x = self._with_slot(column, slot)
        Q = self.Q[:, :m]
        z = Q.T @ x
        q = x - Q @ z
        again = Q.T @ q  # twice is enough for full orthogonality
        q -= Q @ again
        z += again
        length = np.sqrt(q @ q)
        q /= length
        v = product - z @ self.V[:m]
        v[j] += self.columns.ridge
        v /= length
        b = q @ self.R
        add_outer(self.R, -q, b)
        add_outer(self.C, -v, b)
        self.D -= v * v
        self.Q[:, m] = q
        self.V[m] = v
        self.Z[:m, m] = z
        self.Z[m, :m] = 0.0
        self.Z[m, m] = length
        self._now([*self.members, j], [*self.slots, slot])

    def remove(self, i: int) -> None:
        """Let the i-th member go.

        A reflection turns the basis until its last vector is the part of that member which is
        orthogonal to the others; then the last vector leaves.
        """
        m = self.size
        direction = self.directions()[:, i]
        mirror = direction.copy()
        mirror[-1] += 1.0 if direction[-1] >= 0 else -1.0  # away from zero: no cancellation
        mirror /= np.sqrt(mirror @ mirror)
        Z = self.Z[:m, :m].copy()
        for turned in (self.Q.T[:m], self.V[:m], Z):
            add_outer(turned, -2 * mirror, mirror @ turned)
        q = self.Q[:, m - 1]
        v = self.V[m - 1]
        b = q @ self.Y
        add_outer(self.R, q, b)
        add_outer(self.C, v, b)
        self.D += v * v
        self.Z[: m - 1, : m - 1] = np.delete(Z[: m - 1], i, axis=1)
        slots = self.slots[:i] + self.slots[i + 1 :]
        self._now(self.members[:i] + self.members[i + 1 :], slots)

    # -- what a change would bring ----------------------------------------------------------------

    def gains(self) -> np.ndarray:
        """What each outsider would take from ``|R|**2``; -inf for members and dependent columns."""
        possible = self.D > self.least
        possible[self.members] = False
        numerator = np.einsum("ij,ij->i", self.C, self.C)
        gains = np.full(len(numerator), -np.inf)
        np.divide(numerator, self.D, out=gains, where=possible)
        return gains

    def directions(self) -> np.ndarray:
        """Column i: the unit part of member i orthogonal to the other members, in the basis."""
        if self._directions is None:
            M = np.linalg.inv(self.Z[: self.size, : self.size]).T
            self._directions = M / np.sqrt(np.einsum("ij,ij->j", M, M))
        return self._directions

    def _along_directions(self) -> np.ndarray:
        """Row i: the part of Y along the i-th direction."""
        return self.directions().T @ (self.Q[:, : self.size].T @ self.Y)

    def sacrifices(self) -> np.ndarray:
        """What leaving each member out adds to ``|R|**2``."""
        B = self._along_directions()
        return np.einsum("ij,ij->i", B, B)

    def swap_gains(self) -> np.ndarray:
        """What every swap takes from ``|R|**2``: members by columns, good until the next call."""
        m = self.size
        T, gains = self._scratch[:, :m]
        np.matmul(self.directions().T, self.V[:m], out=T)
        np.matmul(2 * self._along_directions(), self.C.T, out=gains)
        gains *= T
        gains += np.einsum("ij,ij->i", self.C, self.C)
        add_outer(gains, -self.sacrifices(), self.D)
        T *= T
        T += self.D
        least = self.least.copy()
        least[self.members] = np.inf
        # Only where a column lies in the members' span can a swap leave it in that of the others.
        doubtful = np.flatnonzero(self.D <= least)
        closed = T[:, doubtful] <= least[doubtful]
        T[:, doubtful] += closed  # so that nothing is divided by zero
        gains /= T
        gains[:, doubtful] -= np.where(closed, np.inf, 0.0)
        return gains


def add_outer(A: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """``A += x y'`` in place, without a temporary array; A is contiguous."""
    dger(1.0, y, x, a=A.T, overwrite_a=True)
