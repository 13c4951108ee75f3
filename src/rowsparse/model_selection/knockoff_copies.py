"""Knockoff copies: columns that look like X in every second moment and know nothing of y."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg
from sklearn.covariance import ledoit_wolf

from ..numerics.rounding import HALF_THE_DIGITS


class KnockoffSampler:
    """Gaussian second-order knockoffs of standardised columns with a correlation matrix.

    Candès, Fan, Janson & Lv (2018): with S = diag(s), 0 <= S <= 2 C,

        copies | X  ~  N(X - X C^-1 S,  2 S - S C^-1 S)

    have the correlations of X among themselves and with the other columns, but only 1 - s_j with
    their own. Large s_j make them easy to tell from the originals: s maximises
    sum log s_j + log det(2 C - S), the entropy of X and its copies (Gimenez & Zou 2019).
    """

    def __init__(self, correlation: np.ndarray):
        self.s = most_different(correlation)
        solved = linalg.solve(correlation, np.diag(self.s), assume_a="pos")
        self.regression = np.eye(self.s.size) - solved
        covariance = 2 * np.diag(self.s) - self.s[:, None] * solved
        # a solve leaves it lopsided by rounding, and Cholesky reads one triangle
        covariance = (covariance + covariance.T) / 2
        # Cholesky takes no matrix that rounding has made indefinite
        covariance[np.diag_indices_from(covariance)] += HALF_THE_DIGITS
        self.root = linalg.cholesky(covariance, lower=True)

    def draw(self, Z: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        """One copy of every standardised column."""
        return Z @ self.regression + rng.standard_normal(Z.shape) @ self.root.T


def most_different(correlation: np.ndarray) -> np.ndarray:
    """The s of largest entropy, one coordinate after the other.

    Changing s_j by h changes the sum by log(s_j + h) + log(1 - h A_jj), A the inverse of 2 C - S:
    largest at h = (1 - A_jj s_j) / (2 A_jj).
    """
    smallest = float(linalg.eigvalsh(correlation, subset_by_index=[0, 0])[0])
    if smallest <= HALF_THE_DIGITS:
        raise ValueError(
            "Expected a covariance that is positive definite, got one whose smallest eigenvalue "
            f"of correlations is {smallest:.2g}; leave out columns that depend on others."
        )
    # inside of 0 < S < 2 C, where both logarithms are finite
    s = np.full(len(correlation), smallest)
    A = linalg.inv(2 * correlation - np.diag(s))
    # 5 to 13 sweeps for correlations of 0 to .999 and matrices that are nearly singular
    largest = np.inf
    while largest > HALF_THE_DIGITS:
        largest = 0.0
        for j in range(s.size):
            step = (1 - A[j, j] * s[j]) / (2 * A[j, j])
            s[j] += step
            # Sherman & Morrison: inverting anew would cost d times as much
            A += np.outer(A[j] * (step / (1 - step * A[j, j])), A[j])
            largest = max(largest, abs(step) / s[j])
    return s


def standardised(X: np.ndarray, covariance: Any) -> tuple[np.ndarray, np.ndarray]:
    """The columns of X with mean 0 and variance 1, and their correlations: by Ledoit & Wolf, or
    those of a covariance that is known."""
    centred = X - X.mean(axis=0)
    if covariance is None:
        Z = centred / centred.std(axis=0)
        return Z, ledoit_wolf(Z, assume_centered=True)[0]
    scale = np.sqrt(np.diag(covariance))
    return centred / scale, covariance / np.outer(scale, scale)


def checked_covariance(covariance: Any, d: int) -> np.ndarray:
    """A symmetric d × d matrix with a positive diagonal."""
    try:
        given = np.asarray(covariance, dtype=float)
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.shape != (d, d) or not np.isfinite(given).all():
        raise ValueError(
            f"Expected covariance as finite numbers of shape ({d}, {d}), one row per column of X, "
            f"got shape {given.shape}."
        )
    if not np.allclose(given, given.T) or (np.diag(given) <= 0).any():
        raise ValueError("Expected covariance symmetric with a positive diagonal, got another one.")
    return given
