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

from .compiling import REORDERED, LazyKernel, assign, dot, subtract
from .rounding import HALF_THE_DIGITS, LAST_DIGITS

# Visits of a member and a column in one call, some seconds: callers look at the clock in between.
VISITS = 5e8


# Rows of State.outer, from its end.
D, SQUARES, LEAST, ROW = -4, -3, -2, -1


class State(NamedTuple):
    """What is kept of the members; the loops change it in place. Rows beyond the members' are zero.

    Few arrays: every function that has one among its arguments takes longer to compile, and so
    does every function that makes one.
    """

    S: np.ndarray  # the members' columns
    inner: np.ndarray  # A and W side by side, a row for each member; one more is scratch
    # M, a row for each member; -C, a row for each output, so that a change subtracts one product of
    # two vectors from both; D; |c_j|**2; the least D of a column that may enter; scratch
    outer: np.ndarray


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


class Kicks(NamedTuple):
    """Exchanges of several members by chance, one row for each kick."""

    leaving: np.ndarray  # places of those that leave, as shares of all members; negative: no more
    ranks: np.ndarray  # for each that enters: how many columns of larger gain are passed over

    @classmethod
    def drawn(cls, rng: np.random.Generator, n_kicks: int, k: int) -> Kicks:
        """Two to six of k members leave; one of the four that gain most takes each place."""
        leaving = rng.random((n_kicks, 6))
        n_leaving = rng.integers(min(2, k), min(6, k) + 1, n_kicks)
        leaving[np.arange(6) >= n_leaving[:, None]] = -1.0
        return cls(leaving, rng.integers(4, size=(n_kicks, k)))


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
        np.zeros((room + 1, room + len(B))),
        np.zeros((room + len(B) + 4, len(squares))),
    )
    state.outer[room:D] = -B
    state.outer[D] = squares + ridge
    state.outer[SQUARES] = np.einsum("ij,ij->j", B, B)
    state.outer[LEAST] = np.where(squares > 0, HALF_THE_DIGITS * squares, np.inf)
    kept = State(*(array.copy() for array in state))
    stored = len(products.G) > 0
    most = 1 + int(VISITS / (room * len(squares) + 1))
    m = _SEARCH(
        state,
        kept,
        products.G if stored else products.columns,
        stored,
        B,
        float(products.total),
        most,
        members,
        ranks,
        *kicks,
    )
    return kept.S[:m]


def _search(
    state, kept, products, stored, B, total, most, members, ranks, kicked_out, kicked_ranks
):
    """How many members there are in the best state, which is kept."""
    m = np.int64(0)  # a plain 0 has a type of its own, for which all would be compiled twice
    for j in members:
        if state.outer[D, j] > state.outer[LEAST, j]:
            m = _enter(state, products, stored, m, j)
    while m > len(ranks):
        m = _leave(state, m, _weakest(state, m))
    best = np.inf
    kept_m = m
    for t in range(-1, len(kicked_out)):  # what is given is descended on without a kick
        if t >= 0:
            m = kept_m
            _copy(kept, state)
            for place in kicked_out[t]:
                if place >= 0.0 and m > 0:
                    m = _leave(state, m, int(place * m))
            ranks = kicked_ranks[t]
        while m < len(ranks):
            j = _entering(state, ranks[m])
            if j < 0:
                break
            m = _enter(state, products, stored, m, j)
        value = np.inf
        for _ in range(most):
            before, value = value, max(total - _explained(state, B, m), 0.0)
            i, j, gain = _best_swap(state, m)
            # unless the value falls, equal columns might swap for ever by rounding
            if not (value < before and gain > HALF_THE_DIGITS * value + LAST_DIGITS * total):
                break
            left = state.S[i]
            m = _leave(state, m, i)
            if not state.outer[D, j] > state.outer[LEAST, j]:  # the gain was rounding
                m = _enter(state, products, stored, m, left)
                break
            m = _enter(state, products, stored, m, j)
        if value < best * (1.0 - HALF_THE_DIGITS):
            best = value
            kept_m = m
            _copy(state, kept)
    return kept_m


def _copy(source, target):
    for s in range(len(source.S)):
        target.S[s] = source.S[s]
        assign(target.inner[s], source.inner[s])
    for s in range(len(source.outer)):
        assign(target.outer[s], source.outer[s])


def _explained(state, B, m):
    """The part of ``|Y|**2`` that the members fit."""
    room = len(state.S)
    value = 0.0
    for s in range(m):
        for q in range(len(B)):
            value += state.inner[s, room + q] * B[q, state.S[s]]
    return value


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


def _entering(state, rank):
    """The column of the rank-th largest gain, or of the last there is; -1 if none may enter."""
    outer = state.outer
    gains = outer[ROW]
    for j in range(len(gains)):
        gains[j] = -1.0
        if outer[D, j] > outer[LEAST, j]:
            gains[j] = outer[SQUARES, j] / outer[D, j]
    chosen = -1
    for _ in range(rank + 1):
        largest = 0
        for j in range(len(gains)):
            if gains[j] > gains[largest]:
                largest = j
        if gains[largest] < 0.0:
            break
        chosen = largest
        gains[chosen] = -1.0
    return chosen


def _enter(state, products, stored, m, j):
    outer = state.outer
    row = outer[ROW]
    own = state.inner[-1]
    if stored:
        assign(row, products[j])
    else:
        for a in range(len(row)):
            row[a] = dot(products[a], products[j])
    for s in range(m):
        own[s] = row[state.S[s]]
    for s in range(m):
        subtract(row, own[s], outer[s])
    row[j] = outer[D, j]
    for q in range(len(own)):
        own[q] = outer[q, j]
    own[m] = -1.0
    state.S[m] = j
    _update(state, m + 1, row[j])
    outer[D, j] = 0.0
    return m + 1


def _leave(state, m, i):
    inner = state.inner
    outer = state.outer
    assign(inner[-1], inner[i])
    for a in range(outer.shape[1]):
        outer[ROW, a] = -outer[i, a]
    _update(state, m, -inner[i, i])
    last = m - 1
    state.S[i] = state.S[last]
    for q in range(inner.shape[1]):
        inner[i, q] = inner[last, q]
        inner[last, q] = 0.0
    for s in range(last):
        inner[s, i] = inner[s, last]
        inner[s, last] = 0.0
    for a in range(outer.shape[1]):
        outer[i, a] = outer[last, a]
        outer[last, a] = 0.0
    return last


def _update(state, m, d):
    """Take the product of the two vectors in scratch, divided by d, from all that is kept."""
    inner = state.inner
    outer = state.outer
    own = inner[-1]
    row = outer[ROW]
    room = len(state.S)
    for s in range(m):
        subtract(inner[s], -own[s] / d, own)
        subtract(outer[s], own[s] / d, row)
    for a in range(len(row)):
        outer[D, a] -= row[a] * row[a] / d
        outer[SQUARES, a] = 0.0
    for q in range(room, len(own)):
        for a in range(len(row)):
            outer[q, a] -= own[q] / d * row[a]
            outer[SQUARES, a] += outer[q, a] * outer[q, a]


def _best_swap(state, m):
    """Who leaves, who enters and the gain; comparing products of the fractions spares divisions."""
    room = len(state.S)
    outer = state.outer
    along = outer[ROW]  # W_i c_j
    leaving = -1
    entering = -1
    most = 0.0
    for i in range(m):
        a = state.inner[i, i]
        length = 0.0
        for j in range(len(along)):
            along[j] = 0.0
        for q in range(room, state.inner.shape[1]):
            w = state.inner[i, q]
            length += w * w
            subtract(along, w, outer[q])
        for j in range(len(along)):
            t = outer[i, j]
            rest = a * outer[D, j] + t * t
            gain = a * outer[SQUARES, j] - outer[D, j] * length + 2.0 * t * along[j]
            if gain > most * rest and rest > a * outer[LEAST, j]:
                most = gain / rest
                leaving = i
                entering = j
    return leaving, entering, most


_SEARCH = LazyKernel(_search, REORDERED)
