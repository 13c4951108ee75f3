r"""Least squares on few of many columns, by their products alone: members leave, enter and swap.

With G = X'X, B = Y'X, the members S and A = (G_SS)**-1, everything that a change needs is kept:

    M = A G_S,    W = A X_S'Y,    C = Y'X - W'G_S = R'X,    D_j = |x_j|**2 - |part of x_j in S|**2.

Swapping member i for column j takes from ``|R|**2``

    (A_ii |c_j|**2 - D_j |W_i|**2 + 2 M_ij W_i c_j) / (A_ii D_j + M_ij**2).

Products lose half of the digits: what is found is to be fitted anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import REORDERED, LazyKernel
from .vectors import assign, dot, subtract

# Relative decrease of a value that counts: some hundred times what rounding leaves of a value after
# many changes in place, and far below any gain that a user could tell.
IMPROVES = 1e-9
# Of a column's square: what is left of one that may enter. Products of columns that depend on
# others lose more digits than a fit.
DEPENDENT = 1e-8
ROUNDING = 1e-14  # of |Y|**2 in a value
MOST_SWAPS = 1000  # in a row: rounding may let equal columns swap for ever
# Visits of a member and a column in one call, some seconds: callers look at the clock in between.
VISITS = 5e8


class State(NamedTuple):
    """What is kept of the members; the loops change it in place."""

    S: np.ndarray  # the members' columns
    inner: np.ndarray  # A and W side by side: a row for each member
    outer: np.ndarray  # M above C: a row for each member, then for each output
    D: np.ndarray
    squares: np.ndarray  # |c_j|**2


class Products(NamedTuple):
    """What the columns have with one another and with Y.

    Few changes need few products: they are made from the columns as members enter. Many changes, or
    columns longer than there are of them, are faster with G = X'X.
    """

    columns: np.ndarray  # one in each row, or nothing
    G: np.ndarray  # or nothing; it may have room for more columns
    B: np.ndarray  # outputs by columns
    squares: np.ndarray  # zero for those that stay out
    total: float  # |Y|**2


class Task(NamedTuple):
    """What the loops read."""

    columns: np.ndarray
    G: np.ndarray
    B: np.ndarray
    least: np.ndarray  # of the D of a column that may enter
    ridge: float
    total: float
    most: int  # swaps


class Kicks(NamedTuple):
    """Exchanges of several members by chance, one row for each kick."""

    leaving: np.ndarray  # places of those that leave, as shares of all members; negative: no more
    ranks: np.ndarray  # for each that enters: how many columns of larger gain are passed over

    @classmethod
    def drawn(cls, rng: np.random.Generator, n_kicks: int, k: int, n_ranks: int = 4) -> Kicks:
        """Two to six of k members leave, and one of the few columns that gain most enters."""
        leaving = rng.random((n_kicks, 6))
        n_leaving = rng.integers(min(2, k), min(6, k) + 1, n_kicks)
        leaving[np.arange(6) >= n_leaving[:, None]] = -1.0
        return cls(leaving, rng.integers(n_ranks, size=(n_kicks, k)))


NOTHING = np.zeros((0, 0))
NO_KICKS = Kicks(NOTHING, np.zeros((0, 0), dtype=int))


def exchanged(
    products: Products,
    members: np.ndarray,
    ranks: np.ndarray,
    kicks: Kicks = NO_KICKS,
    ridge: float = 0.0,
) -> np.ndarray:
    """``len(ranks)`` members from which no swap gains, in no order: the best that kicks lead to.

    Of too many members the weakest leave; the i-th place is filled, if it is empty, with the column
    of the ``ranks[i]``-th largest gain (0: the largest). A ridge is added to the squares.
    """
    B = products.B
    squares = products.squares
    room = max(len(ranks), len(members)) + 1
    state = State(
        np.zeros(room, np.int64),
        np.zeros((room, room + len(B))),
        np.vstack([np.zeros((room, len(squares))), B]),
        squares + ridge,
        np.einsum("ij,ij->j", B, B),
    )
    task = Task(
        products.columns,
        products.G,
        B,
        np.where(squares > 0, DEPENDENT * squares, np.inf),
        float(ridge),
        float(products.total),
        min(MOST_SWAPS, 1 + int(VISITS / (room * len(squares) + 1))),
    )
    return _SEARCH(task, state, members, ranks, kicks)


def _search(task, state, members, ranks, kicks):
    m = np.int64(0)  # a plain 0 has a type of its own, for which all would be compiled twice
    for j in members:
        if state.D[j] > task.least[j]:
            m = _enter(task, state, m, j)
    while m > len(ranks):
        m = _leave(state, m, _weakest(state, m))
    m = _fill(task, state, m, ranks)
    best, m = _descend(task, state, m)
    kept = State(
        state.S.copy(),
        state.inner.copy(),
        state.outer.copy(),
        state.D.copy(),
        state.squares.copy(),
    )
    kept_m = m
    for t in range(len(kicks.leaving)):
        for place in kicks.leaving[t]:
            if place >= 0.0 and m > 0:
                m = _leave(state, m, int(place * m))
        m = _fill(task, state, m, kicks.ranks[t])
        value, m = _descend(task, state, m)
        if value < best * (1.0 - IMPROVES):
            best = value
            kept_m = m
            _copy(state, kept)
        else:
            m = kept_m
            _copy(kept, state)
    return kept.S[:kept_m].copy()


def _copy(source, target):
    for s in range(len(source.S)):
        target.S[s] = source.S[s]
        assign(target.inner[s], source.inner[s])
    for s in range(len(source.outer)):
        assign(target.outer[s], source.outer[s])
    assign(target.D, source.D)
    assign(target.squares, source.squares)


def _descend(task, state, m):
    room = len(state.S)
    value = task.total
    for _ in range(task.most):
        value = task.total
        for s in range(m):
            for q in range(len(task.B)):
                value -= state.inner[s, room + q] * task.B[q, state.S[s]]
        i, j, gain = _best_swap(task, state, m)
        if i < 0 or not gain > IMPROVES * value + ROUNDING * task.total:
            break
        m = _leave(state, m, i)
        m = _enter(task, state, m, j)
    return value, m


def _fill(task, state, m, ranks):
    while m < len(ranks):
        j = _entering(task, state, ranks[m])
        if j < 0:
            break
        m = _enter(task, state, m, j)
    return m


def _weakest(state, m):
    room = len(state.S)
    weakest = 0
    least = np.inf
    for s in range(m):
        w = state.inner[s, room:]
        strength = dot(w, w) / state.inner[s, s]
        if strength < least:
            least = strength
            weakest = s
    return weakest


def _entering(task, state, rank):
    """The column of the rank-th largest gain, or of the last there is; -1 if none may enter."""
    columns = np.full(rank + 1, -1)
    gains = np.full(rank + 1, -1.0)
    for j in range(len(task.least)):
        if state.D[j] > task.least[j]:
            gain = state.squares[j] / state.D[j]
            r = rank + 1
            while r > 0 and gain > gains[r - 1]:
                r -= 1
            for later in range(rank, r, -1):
                gains[later] = gains[later - 1]
                columns[later] = columns[later - 1]
            if r <= rank:
                gains[r] = gain
                columns[r] = j
    while rank > 0 and columns[rank] < 0:
        rank -= 1
    return columns[rank]


def _enter(task, state, m, j):
    room = len(state.S)
    d = state.D[j]
    row = state.outer[m]
    _products(task, j, row)
    row[j] += task.ridge
    own = np.zeros(state.inner.shape[1])  # the new member's row of A and W, times -d
    for s in range(m):
        own[s] = row[state.S[s]]
    for s in range(m):
        subtract(row, own[s], state.outer[s])
    for a in range(len(row)):
        row[a] /= d
        state.D[a] -= d * row[a] * row[a]
    state.D[j] = 0.0
    for s in range(m):
        own[s] = state.outer[s, j]
        subtract(state.outer[s], own[s], row)
    own[m] = -1.0
    for q in range(room, len(own)):
        own[q] = -state.outer[q, j]
        subtract(state.outer[q], -own[q], row)
    state.inner[m] = 0.0
    for s in range(m + 1):
        subtract(state.inner[s], -own[s] / d, own)
    state.S[m] = j
    _square(state)
    return m + 1


def _products(task, j, row):
    """The products of column j with all."""
    if len(task.G):
        assign(row, task.G[j])
    else:
        for a in range(len(row)):
            row[a] = dot(task.columns[a], task.columns[j])


def _leave(state, m, i):
    room = len(state.S)
    own = state.inner[i].copy()
    row = state.outer[i].copy()
    a = own[i]
    for s in range(m):
        share = own[s] / a
        subtract(state.outer[s], share, row)
        subtract(state.inner[s], share, own)
    for q in range(room, len(own)):
        subtract(state.outer[q], -own[q] / a, row)
    for b in range(len(row)):
        state.D[b] += row[b] * row[b] / a
    last = m - 1
    state.S[i] = state.S[last]
    assign(state.outer[i], state.outer[last])
    assign(state.inner[i], state.inner[last])
    for s in range(last):
        state.inner[s, i] = state.inner[s, last]
        state.inner[s, last] = 0.0
    _square(state)
    return last


def _square(state):
    state.squares[:] = 0.0
    for q in range(len(state.S), len(state.outer)):
        row = state.outer[q]
        for a in range(len(row)):
            state.squares[a] += row[a] * row[a]


def _best_swap(task, state, m):
    """Who leaves, who enters and the gain; comparing products of the fractions spares divisions."""
    room = len(state.S)
    D = state.D
    leaving = -1
    entering = -1
    most = 0.0
    along = np.empty(len(D))  # W_i c_j
    for i in range(m):
        a = state.inner[i, i]
        w = state.inner[i, room:]
        length = dot(w, w)
        along[:] = 0.0
        for q in range(len(w)):
            subtract(along, -w[q], state.outer[room + q])
        M = state.outer[i]
        for j in range(len(D)):
            rest = a * D[j] + M[j] * M[j]
            gain = a * state.squares[j] - D[j] * length + 2.0 * M[j] * along[j]
            if gain > most * rest and rest > a * task.least[j]:
                most = gain / rest
                leaving = i
                entering = j
    return leaving, entering, most


_SEARCH = LazyKernel(_search, REORDERED)
