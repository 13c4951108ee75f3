r"""Least squares on a changing set of columns, and the exact gain of every change.

Everything here is about ``1/2 |Xw - Y|**2`` in the scale of sums, for the columns and the target of
``Columns``. With Q an orthonormal basis of the chosen columns and R the residual, one outsider j
lowers ``|R|**2`` by

    |x_j'R|**2 / D_j,      D_j = |x_j|**2 - |Q'x_j|**2,

and taking j for the member i, with u_i the unit part of x_i orthogonal to the other members,
t = x_j'u_i and b = u_i'Y, by

    |x_j'R + t b|**2 / (D_j + t**2) - |b|**2
        = (|x_j'R|**2 - D_j |b|**2 + 2 t x_j'R b) / (D_j + t**2).

Adding a column costs one pass over X where its product ``X'x_j`` is not known yet, and all
k (d - k) swaps are scored without a pass. New memory costs more than the arithmetic on it, so a fit
works in place and may be used again for other members.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from scipy.linalg.blas import dger, dtrsm

from .candidates import Columns

SCORED = 2e5  # swaps at a time: three arrays of 1.6 MB stay inside the cache
SMALLEST_PART = 64  # outsiders at a time


class Fit:
    """Least squares on the members, which come and go; k is the room for them."""

    def __init__(self, columns: Columns, k: int):
        n = len(columns.Y)
        d = len(columns.C)
        self.columns = columns
        self.room = k
        self.members: list[int] = []
        self.Q = np.empty((n, k), order="F")  # orthonormal basis of the members
        self.V = np.empty((k, d))  # Q'X
        self.Z = np.empty((k, k))  # the members in that basis
        self.R = columns.Y.copy()
        self.C = columns.C.copy()  # X'R
        self.D = columns.squares.copy()
        self.total = float(np.vdot(columns.Y, columns.Y))
        least = columns.dependent * columns.squares
        self.least = np.where(least > 0, least, np.inf)  # of D; columns of no length stay out
        self._directions: np.ndarray | None = None
        self._scratch = np.empty((3, min(k * d, max(int(SCORED), SMALLEST_PART * k))))

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

    def cleared(self) -> Fit:
        """The same fit without members."""
        self._now([])
        np.copyto(self.R, self.columns.Y)
        np.copyto(self.C, self.columns.C)
        np.copyto(self.D, self.columns.squares)
        return self

    def with_members(self, members: Iterable[int]) -> Fit:
        """The same fit after these columns were added; dependent ones are left out."""
        members = [int(j) for j in members]
        if self.size or not members or not self._set_all(members):
            for j in members:
                if self.D[j] > self.least[j]:
                    self.add(j)
        return self

    def _now(self, members: list[int]) -> None:
        self.members = members
        self._directions = None

    def _set_all(self, members: list[int]) -> bool:
        """All members at once; False if some depend on others, or nearly."""
        m = len(members)
        n = len(self.Q)
        if m > n:
            return False
        A = np.empty((n, m), order="F")
        V = self.V[:m]
        for i, (column, product) in enumerate(self.columns.known(members)):
            A[:, i] = column
            V[i] = product
        Q, Z = np.linalg.qr(A)
        if np.any(Z.diagonal() ** 2 <= self.least[members]):
            return False
        dtrsm(1.0, Z, V.T, side=1, overwrite_b=True)  # in place: A'X becomes Q'X
        B = Q.T @ self.columns.Y
        self.Q[:, :m] = Q
        self.Z[:m, :m] = Z
        self.R -= Q @ B
        self.C -= V.T @ B
        self.D -= np.einsum("ij,ij->j", V, V)
        self._now(members)
        return True

    def add(self, j: int) -> None:
        """Take column j in."""
        m = self.size
        x, product = self.columns.known([j])[0]
        Q = self.Q[:, :m]
        z = Q.T @ x
        q = x - Q @ z
        again = Q.T @ q  # twice is enough
        q -= Q @ again
        z += again
        length = np.sqrt(q @ q)
        q /= length
        v = product - z @ self.V[:m]
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
        self._now([*self.members, j])

    def remove(self, i: int) -> None:
        """Let the i-th member go.

        A reflection turns the basis until its last vector is the part of that member which is
        orthogonal to the others; then the last vector leaves.
        """
        m = self.size
        direction = self.directions()[:, i]
        mirror = direction.copy()
        mirror[-1] += 1.0 if direction[-1] >= 0 else -1.0
        mirror /= np.sqrt(mirror @ mirror)
        Z = self.Z[:m, :m].copy()
        for turned in (self.Q.T[:m], self.V[:m], Z):
            add_outer(turned, -2 * mirror, mirror @ turned)
        q = self.Q[:, m - 1]
        v = self.V[m - 1]
        b = q @ self.columns.Y
        add_outer(self.R, q, b)
        add_outer(self.C, v, b)
        self.D += v * v
        self.Z[: m - 1, : m - 1] = np.delete(Z[: m - 1], i, axis=1)
        self._now(self.members[:i] + self.members[i + 1 :])

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

    def sacrifices(self) -> np.ndarray:
        """What leaving each member out adds to ``|R|**2``."""
        B = self._along_directions()
        return np.einsum("ij,ij->i", B, B)

    def _along_directions(self) -> np.ndarray:
        """Row i: the part of Y along the i-th direction."""
        return self.directions().T @ (self.Q[:, : self.size].T @ self.columns.Y)

    def swap_gains(self) -> np.ndarray:
        """What every swap takes from ``|R|**2``: members by outsiders."""
        gains = np.empty((self.size, len(self.D)))
        for part, scores in self._scored_swaps():
            gains[:, part] = scores
        return gains

    def best_swaps(self) -> tuple[np.ndarray, int]:
        """What each outsider takes in its best swap, and the member that leaves in the best."""
        gains = np.empty(len(self.D))
        leaving = 0
        most = -np.inf
        for part, scores in self._scored_swaps():
            best = np.max(scores, axis=0, out=gains[part])
            j = int(np.argmax(best))
            if best[j] > most:
                most = best[j]
                leaving = int(np.argmax(scores[:, j]))
        return gains, leaving

    def _scored_swaps(self) -> Iterator[tuple[slice, np.ndarray]]:
        """The gains of swaps, by parts of the outsiders; each part overwrites the last."""
        m = self.size
        d = len(self.D)
        M = self.directions()
        B = self._along_directions()
        lost = np.einsum("ij,ij->i", B, B)[:, None]
        squares = np.einsum("ij,ij->i", self.C, self.C)
        least = self.least.copy()
        least[self.members] = np.inf
        shut = self.D <= least  # columns in the members' span: few swaps take them out of it
        size = max(SMALLEST_PART, int(SCORED / m))
        for start in range(0, d, size):
            part = slice(start, min(start + size, d))
            shape = m, part.stop - start
            T, gains, product = (memory[: m * shape[1]].reshape(shape) for memory in self._scratch)
            D = self.D[part]
            np.matmul(M.T, self.V[:m, part], out=T)
            np.matmul(2 * B, self.C[part].T, out=gains)
            gains *= T
            gains += squares[part]
            gains -= np.multiply(lost, D, out=product)
            T *= T
            T += D
            places = np.flatnonzero(shut[part])
            closed = T[:, places] <= least[part][places]
            T[:, places] += closed  # so that nothing is divided by zero
            gains /= T
            gains[:, places] -= np.where(closed, np.inf, 0.0)
            yield part, gains


def add_outer(A: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """``A += x y'`` in place, without a temporary array; A is contiguous."""
    dger(1.0, y, x, a=A.T, overwrite_a=True)
