"""The pool of a search: columns that came near to being chosen, and their products."""

from __future__ import annotations

import numpy as np

from ...numerics.exchanges import NO_KICKS, NOTHING, Kicks, Products, exchanged
from ...numerics.rows import row_squares
from .columns import Columns

# Columns that a look at all of them brings in, in units of sqrt(d / k): on the way to k rows some
# 3 sqrt(d k) come together, whose products take about as long as the way itself. With half as many
# objectives are higher on 5 of 8 sets (ALLAML, k = 10: 1.03, 1.03, 1.03 for .97, 1.08, 1.03 with
# three seeds; Prostate_GE, k = 20: 1.88, 1.80, 1.81 for 1.76, 2.01, 2.07; warpPIE10P, k = 50:
# 10.53, 10.62, 10.31 for 10.17, 10.34, 10.14).
NOTED = 4.0


class Pool:
    """Columns and their products with one another and with Y; it grows as a search looks around."""

    def __init__(self, columns: Columns):
        n_columns = len(columns.C)
        self.columns = columns
        self.members = np.zeros(n_columns, dtype=bool)  # products of new ones are made when needed
        self.place = np.full(n_columns, -1)  # of a column in the products
        self.names = np.array([], dtype=int)  # of the columns in the products
        self.G = NOTHING  # with room for more

    @property
    def size(self) -> int:
        """Number of columns."""
        return int(np.count_nonzero(self.members))

    def note(self, scores: np.ndarray, k: int) -> None:
        """Take the columns of largest score in, ``NOTED sqrt(d / k)`` of them."""
        columns_per_row = len(scores) / max(k, 1)
        n_noted = int(np.ceil(NOTED * np.sqrt(columns_per_row)))
        noted = best_of(scores, n_noted)
        self.members[noted] = True

    def exchanged(self, support: np.ndarray, k: int) -> np.ndarray:
        """k rows from which no swap in the pool gains."""
        return self._searched(support, k, NO_KICKS, 0.0)

    def kicked(
        self, support: np.ndarray, k: int, ridge: float, kicks: int, rng: np.random.Generator
    ) -> np.ndarray:
        """The best rows that kicks lead to, under a ridge in units of the columns' mean square."""
        drawn = Kicks.drawn(rng, kicks, k)
        return self._searched(support, k, drawn, ridge)

    def _searched(self, support: np.ndarray, k: int, kicks: Kicks, ridge: float) -> np.ndarray:
        """The exchanges among the columns in the pool, those of the support with them."""
        self.members[support] = True
        if not self.members.any():  # a start without rows, before anything has been looked at
            self.note(self._gains(), k)
        if not self.members.any():  # the free columns hold all others
            return support
        unknown = self.place < 0
        without_products = self.members & unknown
        self._join(np.flatnonzero(without_products))
        columns = self.columns
        squares = columns.squares[self.names]
        C = columns.C[self.names]
        B = np.ascontiguousarray(C.T)
        products = Products(NOTHING, self.G, B, squares, columns.total)
        if ridge:
            mean_square = float(squares.mean())
            ridge *= mean_square
        first = np.zeros(k, dtype=int)  # the column of largest gain enters
        members = self.place[support]
        found = exchanged(products, members, first, kicks, ridge)
        return np.sort(self.names[found])

    def _gains(self) -> np.ndarray:
        """What every column explains by itself; minus infinity where it may not be chosen."""
        squares = self.columns.squares
        gains = np.full(len(squares), -np.inf)
        np.divide(row_squares(self.columns.C), squares, out=gains, where=squares > 0)
        return gains

    def _join(self, new: np.ndarray) -> None:
        """Add the products of some columns with one another and with those that are in."""
        if not new.size:
            return
        old = len(self.names)
        names = np.append(self.names, new)
        size = len(names)
        places = np.arange(old, size)
        self.names = names
        self.place[new] = places
        self._make_room(old, size)
        block = self.columns.block(names)
        newcomers = block[:, old:]
        products = block.T @ newcomers
        # the ridge is one more sample of each column alone: it counts where a column meets itself
        itself = np.arange(new.size)
        products[places, itself] += self.columns.ridge
        self.G[:size, old:size] = products
        # symmetric: these are known by now
        with_old = products[:old]
        self.G[old:size, :old] = with_old.T

    def _make_room(self, used: int, size: int) -> None:
        """Twice what is needed, so that a growing pool is copied few times."""
        if size <= len(self.G):
            return
        roomier = np.empty((2 * size, 2 * size))
        roomier[:used, :used] = self.G[:used, :used]
        self.G = roomier


def best_of(scores: np.ndarray, m: int) -> np.ndarray:
    """The indices of the m largest scores, in no order; never one of minus infinity."""
    best = np.arange(len(scores))
    if m < len(scores):
        best = np.argpartition(-scores, m - 1)[:m]
    return best[scores[best] > -np.inf]
