"""Algorithm 3 of Cai, Nie & Huang (2013) line by line, for comparisons."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

MU, RHO, STEPS = 0.01, 1.02, 1000  # of section 5.2; the head of Algorithm 3 has mu = .1


def l20_alm(
    X: np.ndarray, Y: np.ndarray, k: int, W: np.ndarray, mu: float = MU, rho: float = RHO
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """W, V and b after every step; X has samples as rows, ``W`` is the start.

    The paper does not say where V and E start: V is the k largest rows of W, E the residual there.
    The inverse is the n × n one of Woodbury's formula, formed once, as section 4.4 advises; with
    XX' formed once, too, a step multiplies by X and by X' once each.
    """
    gram = X @ X.T
    inverse = np.linalg.inv(np.eye(len(X)) + gram)
    V = largest_rows(W, k)
    XW = X @ W
    E = XW - Y
    row_multiplier, residual_multiplier = np.zeros_like(W), np.zeros_like(Y)
    while True:
        T = Y + E - residual_multiplier / mu
        b = (T - XW).mean(axis=0)  # (12)
        pulled = V - row_multiplier / mu
        X_pulled = X @ pulled
        right = T - b - inverse @ (X_pulled + gram @ (T - b))
        W = pulled + X.T @ right  # (14)
        XW = X_pulled + gram @ right
        V = largest_rows(W + row_multiplier / mu, k)  # Algorithm 2
        XWb = XW + b
        E = shrunk_rows(XWb - Y + residual_multiplier / mu, 1 / mu)  # (17), (20)
        row_multiplier = row_multiplier + mu * (W - V)
        residual_multiplier = residual_multiplier + mu * (XWb - Y - E)
        mu *= rho
        yield W, V, b


def largest_rows(W: np.ndarray, k: int) -> np.ndarray:
    """Algorithm 2: the k rows with the largest sums of absolute values."""
    largest = np.argpartition(-np.abs(W).sum(axis=1), k - 1)[:k]
    V = np.zeros_like(W)
    V[largest] = W[largest]
    return V


def shrunk_rows(G: np.ndarray, by: float) -> np.ndarray:
    """(20)"""
    norms = np.linalg.norm(G, axis=1, keepdims=True)
    return np.where(norms > by, 1 - by / np.maximum(norms, by), 0.0) * G


def objective(X: np.ndarray, Y: np.ndarray, V: np.ndarray, b: np.ndarray) -> float:
    """(7)"""
    rows = np.flatnonzero(V.any(axis=1))
    return float(np.linalg.norm(Y - X[:, rows] @ V[rows] - b, axis=1).sum())
