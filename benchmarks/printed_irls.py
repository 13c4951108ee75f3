"""Algorithm 1 of the GSR-FS paper as printed: a dense d x d system in every iteration.

`small_system` runs the same iteration through the equivalent n x n system (Woodbury); the
benchmark uses it outside the clock, to know how many iterations the printed form would need.
"""

from __future__ import annotations

import numpy as np
from objective import row_norms

GUARD = 1e-8  # row norms below it count as this much in the weights (the paper divides by zero)


def printed(X, Y, lam, r, p):
    """Yields W_1, W_2, ...: S1 and S2 start as identity matrices."""
    n, d = X.shape
    S1, S2 = np.eye(n), np.eye(d)
    while True:
        XtS1 = X.T @ S1
        W = np.linalg.solve(XtS1 @ X + lam * S2, XtS1 @ Y)
        yield W
        S1 = np.diag(_weights(X @ W - Y, r))
        S2 = np.diag(_weights(W, p))


def small_system(X, Y, lam, r, p):
    """The same sequence, W = Q^-1 X' (X Q^-1 X' + lam S^-1)^-1 Y."""
    n, d = X.shape
    s, q = np.ones(n), np.ones(d)
    while True:
        XQ = X / q
        W = XQ.T @ np.linalg.solve(XQ @ X.T + lam * np.diag(1 / s), Y)
        yield W
        s, q = _weights(X @ W - Y, r), _weights(W, p)


def until_settled(iterates, value, *, tol, limit=1000):
    """(W, objective, iterations): stops when the objective changes by less than tol, relatively."""
    previous = np.inf
    for iteration, W in enumerate(iterates, start=1):
        current = value(W)
        if abs(previous - current) <= tol * abs(current) or iteration == limit:
            return W, current, iteration
        previous = current
    raise ValueError("the iteration ended by itself")


def _weights(A, power):
    return power / 2 * np.maximum(row_norms(A), GUARD) ** (power - 2)
