"""Two classes and the problem of a margin loss on them, for tests."""

import numpy as np

from rowsparse.designs import as_design
from rowsparse.losses import HingeLoss
from rowsparse.penalties import MarginNorm
from rowsparse.problems.margin import MarginProblem


def two_classes(n=50, d=8, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.linspace(0.5, 2, d)
    y = np.where(X[:, 0] - X[:, 1] + 0.3 * X[:, 2] + noise * rng.standard_normal(n) > 0, 1.0, -1.0)
    return X, y


def problem(X, y, C=1.0, norm=0.5, weights=None, factors=None, loss=HingeLoss, joint=True):
    factors = np.ones(X.shape[1]) if factors is None else factors
    Y = y[:, None] if y.ndim == 1 else y
    penalty = MarginNorm(norm, factors, joint)
    return MarginProblem(as_design(X), Y, loss(weights), C, penalty)


def hinge_sum(Z, Y, c):
    """``sum_ik c_i max(0, 1 - y_ik z_ik)``."""
    return float(c @ np.maximum(1.0 - Y * Z, 0.0).sum(axis=1))
