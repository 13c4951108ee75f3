r"""Sweeps with Anderson's extrapolation: where they settle slowly, guess where they lead.

Close to its end a sweep is nearly affine in W. Of the last points W_0 ... W_K the mixture

    sum_k c_k W_k   (k = 1 ... K),   sum_k c_k = 1,   |sum_k c_k (W_k - W_{k-1})| smallest

is then far closer to the fixed point than W_K. It is taken only if it lowers the objective. The
gradient or residual that a model keeps is affine in W and is mixed alike, so a guess costs less
than a sweep.
"""

from __future__ import annotations

import numpy as np

from ...penalties.base import Penalty
from .model import Model

MEMORY = 8  # sweeps between two guesses
RIDGE = 1e-12  # of the sum of squares: steps that hardly differ still give finite shares


def extrapolated_sweeps(
    model: Model, penalty: Penalty, rows: np.ndarray, n_sweeps: int, tol: float
) -> float:
    """Sweep over ``rows`` up to ``n_sweeps`` times, or until none moves by more than ``tol``.

    Returns the largest move of the last sweep.
    """
    if n_sweeps < 2 * MEMORY:
        return model.sweep(penalty, rows, n_sweeps, tol)
    points, moved = [_point(model)], np.inf
    for _ in range(n_sweeps):
        moved = model.sweep(penalty, rows, 1, tol)
        if moved <= tol:
            break
        points.append(_point(model))
        if len(points) > MEMORY:
            _guess(model, penalty, points)
            points = [_point(model)]
    return moved


Point = tuple[np.ndarray, np.ndarray]


def _point(model: Model) -> Point:
    return model.W.copy(), model.image.copy()


def _guess(model: Model, penalty: Penalty, points: list[Point]) -> None:
    """Go to the mixture of the points if the objective is lower there."""
    shares = shares_of_steps([W for W, _ in points])
    if shares is None:
        return
    reached = model.loss_value() + penalty.value(model.W)
    W, image = (np.tensordot(shares, parts[1:], axes=1) for parts in zip(*points, strict=True))
    model.place(W, image)
    if not model.loss_value() + penalty.value(W) < reached:
        model.place(*points[-1])


def shares_of_steps(points: list[np.ndarray]) -> np.ndarray | None:
    """The c_k of the module's formula; None where the steps do not tell."""
    steps = np.diff([W.ravel(order="K") for W in points], axis=0)
    products = steps @ steps.T
    products[np.diag_indices_from(products)] += RIDGE * np.trace(products)
    try:
        shares = np.linalg.solve(products, np.ones(len(steps)))
    except np.linalg.LinAlgError:
        return None
    total = shares.sum()
    return shares / total if np.isfinite(total) and total > 0 else None
