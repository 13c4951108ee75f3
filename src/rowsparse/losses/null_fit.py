"""The fit of the columns that nothing penalises, mostly a column of ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .residual import ResidualLoss

STAGES = np.logspace(-1, -7, 7)  # the smoothings, of the residual's size
STAGE_DONE = 1e-2  # of a smoothing: after a step this small the next stage goes on
DONE = 1e-13  # of the residual's size: the last stage is for the digits
MOST_STEPS = 200  # of a stage
# Samples tried as constants where all differ: as many losses as the reweighting itself computes.
MOST_CONSTANTS = 1000


def reweighted_fit(F: np.ndarray, Y: np.ndarray, loss: ResidualLoss) -> np.ndarray:
    """Minimise the loss over the coefficients of few dense columns, by reweighted least squares."""
    if loss.quadratic:
        return _weighted_least_squares(F, Y, loss.weights(len(Y)))
    F, Y, loss = distinct_samples(F, Y, loss)
    B = _weighted_least_squares(F, Y, loss.weights(len(Y)))
    size = loss.size_of_residual(F @ B - Y) or 1.0
    for share in STAGES:
        smoothed = loss.smoothed(size * share)
        done = DONE if share == STAGES[-1] else STAGE_DONE * share
        for _ in range(MOST_STEPS):
            previous = B
            B = _weighted_least_squares(F, Y, smoothed.residual_weights(F @ B - Y))
            if np.abs(B - previous).max() <= done * size:
                break
    return B


def best_constant(Y: np.ndarray, loss: ResidualLoss) -> np.ndarray:
    """The y of a sample that, predicted for all, gives the lowest loss.

    For r < 1 every sample is a local minimum of the loss of a constant, and reweighting finds any.
    """
    _, Y, loss = distinct_samples(np.ones((len(Y), 1)), Y, loss)
    candidates = Y[np.linspace(0, len(Y) - 1, min(len(Y), MOST_CONSTANTS)).astype(int)]
    return min(candidates, key=lambda y: loss.value_of_residual(y - Y))


def distinct_samples(
    F: np.ndarray, Y: np.ndarray, loss: ResidualLoss
) -> tuple[np.ndarray, np.ndarray, ResidualLoss]:
    """Samples that are equal count once, with the sum of their weights.

    Of a column of ones and classes no more than one per class is left. Where most samples differ
    everything is returned as it was.
    """
    table = np.hstack([F, Y])
    # one number per row: rows that share it are compared, so that chance cannot mislead
    marks = table @ np.cos(np.arange(1.0, table.shape[1] + 1))
    _, first, which = np.unique(marks, return_index=True, return_inverse=True)
    if 2 * first.size > len(table) or not np.array_equal(table[first][which], table):
        return F, Y, loss
    total = np.bincount(which, loss.weights(len(Y)))
    weights = total / total.mean()
    return F[first], Y[first], replace(loss, sample_weight=weights)


def _weighted_least_squares(F: np.ndarray, Y: np.ndarray, h: np.ndarray) -> np.ndarray:
    root = np.sqrt(h)[:, None]
    return np.linalg.lstsq(root * F, root * Y, rcond=None)[0]
