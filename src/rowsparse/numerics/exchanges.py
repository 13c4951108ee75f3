r"""Least squares on few of many columns, by their products alone: members leave, enter and swap.

With G = X'X, B = Y'X, the members S and A = (G_SS)**-1, everything that a change needs is kept:

    M = A G_S,    W = A X_S'Y,    C = Y'X - W'G_S = R'X,    D_j = |x_j|**2 - |part of x_j in S|**2.

Swapping member i for column j, with t = M_ij / sqrt(A_ii) and b = W_i / sqrt(A_ii), takes

    (|c_j|**2 - D_j |b|**2 + 2 t c_j'b) / (D_j + t**2)

from ``|R|**2``. Products lose half of the digits: what is found is to be fitted anew.
"""

from __future__ import annotations

import numpy as np

from .compiling import LazyKernel

MOST_SWAPS = 1000  # more than any support of the benchmarks has needed, by far


def exchanged(
    G: np.ndarray,
    B: np.ndarray,
    least: np.ndarray,
    members: np.ndarray,
    ranks: np.ndarray,
    enough: tuple[float, float],
) -> np.ndarray:
    """``len(ranks)`` members from which no swap gains, in no order.

    Of too many the weakest leave. The i-th place is filled, if it is empty, with the column of the
    ``ranks[i]``-th largest gain (0: the largest). Columns enter whose D is above ``least``. Gains
    count from ``enough[0]`` times the value; ``enough[1]`` is ``|Y|**2``.
    """
    room = max(len(ranks), len(members)) + 1
    S = np.zeros(room, np.int64)
    A = np.zeros((room, room))
    M = np.zeros((room, len(G)))
    W = np.zeros((room, len(B)))
    C = B.copy()
    D = G.diagonal().copy()
    inverse = _regular_inverse(G, least, members)
    if inverse is not None:
        m = len(members)
        own = G[members]
        S[:m] = members
        A[:m, :m] = inverse
        np.matmul(inverse, own, out=M[:m])
        np.matmul(inverse, B[:, members].T, out=W[:m])
        C -= W[:m].T @ own
        D -= np.einsum("ij,ij->j", M[:m], own)
        members = members[:0]
    return _EXCHANGE(G, B, least, members, ranks, *enough, S, A, M, W, C, D)


def _regular_inverse(G: np.ndarray, least: np.ndarray, members: np.ndarray) -> np.ndarray | None:
    """Of the members' products; None if they are none or some nearly depend on others."""
    if not len(members):
        return None
    own = G[np.ix_(members, members)]
    try:
        pivots = np.linalg.cholesky(own).diagonal()
    except np.linalg.LinAlgError:
        return None
    return np.linalg.inv(own) if np.all(pivots**2 > least[members]) else None


def _exchange(G, B, least, members, ranks, relative, total, S, A, M, W, C, D):
    k = len(ranks)
    m = 0
    while m < len(A) and A[m, m] > 0:  # so many were members from the beginning
        m += 1
    for j in members:
        if D[j] > least[j]:
            m = _enter(G, S, A, M, W, C, D, m, j)
    while m > k:
        strengths = np.empty(m)
        for i in range(m):
            strengths[i] = np.sum(W[i] * W[i]) / A[i, i]
        m = _leave(S, A, M, W, C, D, m, np.argmin(strengths))
    while m < k:
        j = _entering(C, D, least, ranks[m])
        if j < 0:
            return S[:m].copy()
        m = _enter(G, S, A, M, W, C, D, m, j)
    for _ in range(MOST_SWAPS):
        i, j, gain = _best_swap(A, M, W, C, D, least, m)
        value = total
        for s in range(m):
            value -= np.sum(W[s] * B[:, S[s]])
        if not gain > relative * value + 1e-14 * total:
            break
        m = _leave(S, A, M, W, C, D, m, i)
        m = _enter(G, S, A, M, W, C, D, m, j)
    return S[:m].copy()


def _enter(G, S, A, M, W, C, D, m, j):
    v = M[:m, j].copy()
    d = D[j]
    row = G[j].copy()
    for s in range(m):
        row -= v[s] * G[S[s]]
    row /= d
    c = C[:, j].copy()
    for s in range(m):
        M[s] -= v[s] * row
        W[s] -= v[s] * c / d
        A[s, :m] += v[s] * v / d
        A[s, m] = -v[s] / d
        A[m, s] = -v[s] / d
    A[m, m] = 1.0 / d
    M[m] = row
    W[m] = c / d
    S[m] = j
    for a in range(len(C)):
        C[a] -= c[a] * row
    D -= d * row * row
    return m + 1


def _leave(S, A, M, W, C, D, m, i):
    a = A[:m, i].copy()
    row = M[i].copy()
    w = W[i].copy()
    for s in range(m):
        share = a[s] / a[i]
        M[s] -= share * row
        W[s] -= share * w
        A[s, :m] -= share * a
    for c in range(len(C)):
        C[c] += w[c] / a[i] * row
    D += row * row / a[i]
    last = m - 1
    S[i] = S[last]
    M[i] = M[last]
    W[i] = W[last]
    A[i, :m] = A[last, :m]
    A[:m, i] = A[:m, last]
    return last


def _entering(C, D, least, rank):
    gains = np.where(D > least, np.sum(C * C, axis=0) / np.maximum(D, 1e-300), -1.0)
    found = -1
    for _ in range(rank + 1):
        j = np.argmax(gains)
        if gains[j] < 0:
            return found
        found = int(j)
        gains[j] = -1.0
    return found


def _best_swap(A, M, W, C, D, least, m):
    squares = np.sum(C * C, axis=0)
    entering = 0
    leaving = 0
    most = -np.inf
    for i in range(m):
        scale = 1.0 / np.sqrt(A[i, i])
        b = W[i] * scale
        t = M[i] * scale
        T = D + t * t
        gains = np.zeros(len(D))
        for a in range(len(C)):
            gains += b[a] * C[a]
        gains = (squares - D * np.sum(b * b) + 2.0 * t * gains) / np.maximum(T, 1e-300)
        gains = np.where(T > least, gains, -np.inf)
        j = np.argmax(gains)
        if gains[j] > most:
            most = gains[j]
            entering = int(j)
            leaving = i
    return leaving, entering, most


_EXCHANGE = LazyKernel(_exchange)
