"""The iterations of three papers line by line, for comparisons; nothing in the library uses them.

Each is a generator of W_1, W_2, … in the papers' scale, a sum over samples without an intercept:

    J(W) = sum_i |x_i W - y_i|_2**r  +  lam sum_j |w_j|_2**p
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

# What norms of zero count as: the papers divide by them, and say only "perturb". Rows of W may go
# on to vanish; residuals that small would drown all other samples in the d × d system.
TINY_ROW, TINY_RESIDUAL = 1e-100, 1e-8


def row_norms(A: np.ndarray) -> np.ndarray:
    return np.linalg.norm(A, axis=1)


def objective(X: np.ndarray, Y: np.ndarray, W: np.ndarray, lam: float, r: float, p: float) -> float:
    """J(W)."""
    loss = np.sum(row_norms(X @ W - Y) ** r)
    return float(loss + lam * np.sum(row_norms(W) ** p))


def one_hot(y: np.ndarray) -> np.ndarray:
    """±1, one column per class, two for two classes: the papers' coding."""
    return np.where(y[:, None] == np.unique(y), 1.0, -1.0)


def gsr_fs(X: np.ndarray, Y: np.ndarray, lam: float, r: float, p: float) -> Iterator[np.ndarray]:
    """Peng & Fan (2017), Algorithm 1: a d × d system, formed and solved anew in every iteration.

    Diagonal matrices are kept as vectors, as one would in Matlab.
    """
    n, d = X.shape
    S1, S2 = np.ones(n), np.ones(d)  # step 3
    while True:
        left = (X * S1[:, None]).T @ X
        left[np.diag_indices(d)] += lam * S2
        W = np.linalg.solve(left, X.T @ (S1[:, None] * Y))  # step 5
        yield W
        S1 = r / 2 / np.maximum(row_norms(X @ W - Y), TINY_RESIDUAL) ** (2 - r)  # steps 6 and 7
        S2 = p / 2 / np.maximum(row_norms(W), TINY_ROW) ** (2 - p)  # step 8


def l2p(A: np.ndarray, B: np.ndarray, gamma: float, p: float) -> Iterator[np.ndarray]:
    """Wang & Chen (2013), Algorithm 4.1 (at p = 1 that of Nie et al. 2010, RFS): r = p,
    lam = gamma**p; an n × n system over samples with m = d + n unknown rows.

    ``A`` has samples as rows: it is the paper's A'. Inverses of D are kept as vectors, so a row of
    zeros stays one (the first way of remark 4.2, with its exponent put right).
    """
    n, d = A.shape
    M = np.hstack([A, -gamma * np.eye(n)])
    D_inverse = np.ones(d + n)  # step 2
    while True:
        MD = M * D_inverse
        Z = MD.T @ np.linalg.solve(MD @ M.T, B)  # step 3
        yield Z[:d]
        D_inverse = 2 / p * row_norms(Z) ** (2 - p)


def rank_one(X: np.ndarray, Y: np.ndarray, lam: float, p: float) -> Iterator[np.ndarray]:
    """Zhang et al. (2014), RK1U, from what others say of it (the text is not among our papers):
    one row of W after the other to its exact minimum, the residual updated by a rank-one matrix.
    """
    d = X.shape[1]
    W = np.zeros((d, Y.shape[1]))
    E = Y.copy()
    squares = np.einsum("ij,ij->j", X, X)
    while True:
        for j in range(d):
            if squares[j] == 0:
                continue
            b = X[:, j] @ E / squares[j] + W[j]
            w = _shrunk(b, lam / (2 * squares[j]), p)
            if (w != W[j]).any():
                E -= np.outer(X[:, j], w - W[j])
                W[j] = w
        yield W.copy()


def _shrunk(b: np.ndarray, rho: float, p: float) -> np.ndarray:
    """The minimiser of ``1/2 |w - b|**2 + rho |w|**p``: the direction of b, a shorter norm."""
    size = float(np.linalg.norm(b))
    if p == 1:
        return b * max(1 - rho / size, 0.0) if size > 0 else b
    lowest = (2 * rho * (1 - p)) ** (1 / (2 - p))  # the shortest norm that is not worse than zero
    if size <= lowest + rho * p * lowest ** (p - 1):
        return np.zeros_like(b)
    t = size
    for _ in range(20):
        t -= (t - size + rho * p * t ** (p - 1)) / (1 + rho * p * (p - 1) * t ** (p - 2))
    return b * (t / size)


def cheaper(X: np.ndarray, Y: np.ndarray, lam: float, r: float, p: float) -> Iterator[np.ndarray]:
    """The iterates of ``gsr_fs`` through the smaller system, to count steps; at r = p and lam = 1
    they are those of ``l2p``, too."""
    n, d = X.shape
    s, q = np.ones(n), np.ones(d)
    gram = X.T @ X if r == 2 and d <= n else None
    while True:
        if d > n:
            XQ = X / q
            W = XQ.T @ np.linalg.solve(XQ @ X.T + lam * np.diag(1 / s), Y)
        else:
            left = gram.copy() if gram is not None else (X * s[:, None]).T @ X
            left[np.diag_indices(d)] += lam * q
            W = np.linalg.solve(left, X.T @ (s[:, None] * Y))
        yield W
        s = r / 2 / np.maximum(row_norms(X @ W - Y), TINY_RESIDUAL) ** (2 - r)
        q = p / 2 / np.maximum(row_norms(W), TINY_ROW) ** (2 - p)
