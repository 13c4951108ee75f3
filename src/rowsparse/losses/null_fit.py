"""The fit of the columns that nothing penalises, mostly a column of ones."""

from __future__ import annotations

import numpy as np

from .residual import ResidualLoss


def reweighted_fit(F: np.ndarray, Y: np.ndarray, loss: ResidualLoss) -> np.ndarray:
    """Minimise the loss over the coefficients of few dense columns, by reweighted least squares."""
    B = _weighted_least_squares(F, Y, loss.weights(len(Y)))
    if loss.quadratic:
        return B
    size = loss.size_of_residual(F @ B - Y) or 1.0
    for smoothing in size * np.logspace(-1, -7, 7):
        smoothed = loss.smoothed(smoothing)
        for _ in range(200):
            previous = B
            B = _weighted_least_squares(F, Y, smoothed.residual_weights(F @ B - Y))
            if np.abs(B - previous).max() <= 1e-13 * size:
                break
    return B


def _weighted_least_squares(F: np.ndarray, Y: np.ndarray, h: np.ndarray) -> np.ndarray:
    root = np.sqrt(h)[:, None]
    return np.linalg.lstsq(root * F, root * Y, rcond=None)[0]
