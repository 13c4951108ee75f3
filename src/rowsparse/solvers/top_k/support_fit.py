r"""Least squares on a growing set of columns, and the exact gain of every change.

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
``sqrt(lambda)``, and Y has none: all formulas stay. Only members need these samples.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.linalg.blas import dger, dtrsm

from ...numerics.rows import row_squares
from .columns import Columns, padded


class Fit:
    """Least squares on the members; there is room for as many as there may be."""

    def __init__(self, columns: Columns, room: int, members: Iterable[int] = ()):
        """Members that depend on others are left out."""
        n_columns = len(columns.C)
        n_slots = room if columns.ridge else 0  # one sample per member for what the ridge adds
        self.columns = columns
        self.members: list[int] = []
        self.Y = padded(columns.Y, n_slots)
        # Arrays of the final size: growing them by one member at a time would copy them each time.
        n_samples = len(self.Y)
        self.Q = np.empty((n_samples, room), order="F")  # orthonormal basis of the members
        self.V = np.empty((room, n_columns))  # Q'X
        self.Z = np.zeros((room, room))  # the members in that basis: upper triangular
        self.R = self.Y.copy()
        self.C = columns.C.copy()  # X'R
        self.D = columns.squares.copy()
        least = columns.dependent * columns.squares
        self.least = np.where(least > 0, least, np.inf)  # of D; columns of no length stay out
        self._take_in([int(j) for j in members])

    def _take_in(self, wanted: list[int]) -> None:
        """The wanted members, all at once where none depends on others, else one by one."""
        if self._set_all(wanted):
            return
        for j in wanted:
            if self.D[j] > self.least[j]:
                self.add(j)

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

    def _set_all(self, members: list[int]) -> bool:
        """All members at once, faster than one by one; False if some nearly depend on others.

        With A = Q Z of their columns, ``Q'X = Z'^-1 A'X``.
        """
        m = len(members)
        if not 0 < m <= len(self.Y):
            return False
        A = np.empty((len(self.Y), m))
        V = self.V[:m]
        for slot, (column, product) in enumerate(self.columns.known(members)):
            A[:, slot] = self._with_slot(column, slot)
            V[slot] = product  # A'X
        Q, Z = np.linalg.qr(A)
        # of the square of each, once those before it are projected out
        left_of_each = Z.diagonal() ** 2
        if np.any(left_of_each <= self.least[members]):
            return False
        slots = np.arange(m)
        V[slots, members] += self.columns.ridge  # a member's slot meets only itself
        dtrsm(1.0, Z, V.T, side=1, overwrite_b=True)  # in place: A'X becomes Q'X
        B = Q.T @ self.Y
        self.Q[:, :m] = Q
        self.Z[:m, :m] = Z
        self.R -= Q @ B
        self.C -= V.T @ B
        self.D -= np.einsum("ij,ij->j", V, V)
        self.members = members
        return True

    def _with_slot(self, column: np.ndarray, slot: int) -> np.ndarray:
        """A column with its entry in the sample that the ridge adds for it."""
        longer = np.zeros(len(self.Y))
        n = len(column)
        longer[:n] = column
        ridge = self.columns.ridge
        if ridge:
            longer[n + slot] = np.sqrt(ridge)
        return longer

    def add(self, j: int) -> None:
        """Take column j in: ``x_j = Q z + length q`` gives the next column q of the basis.

        With b = q'R and v = X'q, R loses q b, C loses v b and D_i loses v_i**2.
        """
        m = self.size
        column, product = self.columns.known([j])[0]
        x = self._with_slot(column, m)
        Q = self.Q[:, :m]
        z = Q.T @ x
        q = x - Q @ z
        again = Q.T @ q  # twice is enough for full orthogonality
        q -= Q @ again
        z += again
        length = np.sqrt(q @ q)
        q /= length
        # X'q, from products that are known: no pass over X
        v = product - z @ self.V[:m]
        v[j] += self.columns.ridge
        v /= length
        b = q @ self.R
        # each a change of rank one, in place: C and V are as large as a row or column of X
        add_outer(self.R, -q, b)
        add_outer(self.C, -v, b)
        self.D -= v * v
        self.Q[:, m] = q
        self.V[m] = v
        self.Z[:m, m] = z
        self.Z[m, m] = length
        self.members = [*self.members, j]

    def gains(self) -> np.ndarray:
        """What each outsider would take from ``|R|**2``; -inf for members and dependent columns."""
        possible = self.D > self.least
        possible[self.members] = False
        gains = np.full(len(self.D), -np.inf)
        squares = row_squares(self.C)
        return np.divide(squares, self.D, out=gains, where=possible)

    def swap_gains(self) -> np.ndarray:
        """What every swap takes from ``|R|**2``: members by columns, by the formula above.

        -inf where the column is a member or depends on the members that stay.
        """
        B, T = self._along_members()
        # The numerator, then the denominator, in place: each is as large as k rows of X.
        gains = 2 * B @ self.C.T
        gains *= T
        gains += row_squares(self.C)
        losses = row_squares(B)
        add_outer(gains, -losses, self.D)
        T *= T
        T += self.D
        left_of_column = T
        least = self.least.copy()
        least[self.members] = np.inf
        possible = left_of_column > least
        gains /= np.where(possible, left_of_column, np.inf)
        gains[~possible] = -np.inf
        return gains

    def _along_members(self) -> tuple[np.ndarray, np.ndarray]:
        """Y and all columns along the unit parts u_i of the members: b_i and t_ij in the formula.

        The rows of Z^-1 are orthogonal to every member (a column of Z) but their own.
        """
        m = self.size
        directions = np.linalg.inv(self.Z[:m, :m]).T
        lengths = np.sqrt(np.einsum("ij,ij->j", directions, directions))
        directions /= lengths
        Y_in_basis = self.Q[:, :m].T @ self.Y
        B = directions.T @ Y_in_basis
        T = directions.T @ self.V[:m]
        return B, T


def add_outer(A: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """``A += x y'`` in place, without a temporary array; A is contiguous."""
    dger(1.0, y, x, a=A.T, overwrite_a=True)
