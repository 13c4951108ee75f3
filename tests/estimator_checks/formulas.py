"""The documented problem, written out in NumPy and independent of the package.

    min  1/(r sum(s)) * sum_i s_i |e_i|^r  +  alpha * sum_j f_j |w_j|^p,     E = X W + 1 b' - Y

where the rows of W are in the scale of the standardised columns.
"""

from __future__ import annotations

import numpy as np


def signs(y) -> np.ndarray:
    """Class labels as the documented ±1 matrix: one column for two classes, else one per class."""
    labels, code = np.unique(y, return_inverse=True)
    onehot = 2.0 * np.eye(labels.size)[code] - 1.0
    return onehot[:, 1:] if labels.size == 2 else onehot


def column_scale(X, s=None) -> np.ndarray:
    """Weighted population standard deviation of every column, 1 for a constant column."""
    mean = np.average(X, axis=0, weights=s)
    scale = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=s))
    return np.where(scale > 1e-12, scale, 1.0)


def loss(E, r: float, s=None) -> float:
    s = np.ones(len(E)) if s is None else np.asarray(s, float)
    return float(s @ np.linalg.norm(E, axis=1) ** r / (r * s.sum()))


def penalty(W, p: float, f=None) -> float:
    norms = np.linalg.norm(W, axis=1)
    nonzero = norms > 0
    f = np.ones(len(norms)) if f is None else np.asarray(f, float)
    return float(np.sum(f[nonzero] * norms[nonzero] ** p))


def objective(selector, X, Y, *, s=None, f=None, alpha=None) -> float:
    """The objective at the fitted `coef_` and `intercept_`, with the selector's own p and r."""
    params = selector.get_params()
    alpha = selector.alpha_ if alpha is None else alpha
    Y = Y.reshape(len(X), -1)
    scale = column_scale(X, s) if params["standardize"] else np.ones(X.shape[1])
    W = np.atleast_2d(selector.coef_).T
    E = X @ W + selector.intercept_ - Y
    return loss(E, params["r"], s) + alpha * penalty(W * scale[:, None], params["p"], f)


def best_constant(Y, r: float, s=None) -> np.ndarray:
    """argmin_b sum_i s_i |b - y_i|^r for 1 <= r <= 2."""
    s = np.ones(len(Y)) if s is None else np.asarray(s, float)
    if r == 1 and Y.shape[1] == 1 and np.ptp(s) == 0:
        return np.median(Y, axis=0)
    b = np.average(Y, axis=0, weights=s)
    for _ in range(20_000 if r < 2 else 0):
        weights = s * np.linalg.norm(Y - b, axis=1) ** (r - 2)
        b = np.average(Y, axis=0, weights=weights)
    return b


def null_gradient(X, Y, r: float, *, s=None, standardize=True, fit_intercept=True) -> np.ndarray:
    """Norms of the rows of the gradient of the loss at W = 0 and the best intercept."""
    Y = Y.reshape(len(X), -1)
    s = np.ones(len(X)) if s is None else np.asarray(s, float)
    if standardize:
        X = (X - np.average(X, axis=0, weights=s)) / column_scale(X, s)
    E = Y - best_constant(Y, r, s) if fit_intercept else Y
    pull = (s * np.linalg.norm(E, axis=1) ** (r - 2.0))[:, None] * E
    return np.linalg.norm(X.T @ pull, axis=1) / s.sum()


def alpha_max(X, Y, r: float, **options) -> float:
    """The smallest alpha at which W = 0 is the solution of the convex problem (p = 1)."""
    return float(null_gradient(X, Y, r, **options).max())
