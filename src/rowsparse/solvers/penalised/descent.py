r"""Descent on a working set: block sweeps with the exact prox, then Newton on the nonzero rows.

Sweeps find which rows are zero; once they do, the objective is smooth in the nonzero rows and a
few Newton steps, which belong to the penalty, finish what sweeps would need thousands of rounds
for.

Where sweeps settle slowly, Anderson's extrapolation guesses where they lead. Close to its end a
sweep is nearly affine in W, and of the last points W_0 ... W_K the mixture

    sum_k c_k W_k   (k = 1 ... K),   sum_k c_k = 1,   |sum_k c_k (W_k - W_{k-1})| smallest

is then far closer to the fixed point than W_K. It is taken only if it lowers the objective. The
gradient or residual that a model keeps is affine in W and is mixed alike, so a guess costs less
than a sweep.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...numerics.rows import nonzero_rows
from ...numerics.sweep import COMPILED_FROM
from ...numerics.threads import one_blas_thread
from ...penalties.base import Penalty
from ..base import never
from .model import Model

SWEEPS = 3  # over all rows, before those over the nonzero ones
QUICK = 0.3  # a round of sweeps that leaves less of the violation needs no Newton step
SETTLING = 0.1  # nor does one whose moves on the nonzero rows fall below this part of the first
NEWTON_OVERHEAD = 1e7  # of a Newton step on few rows, in units of BLAS flops
SWEEP_SHARE = 1 / 12  # of a Newton step: what sweeps before it may cost
LARGE = 1e8  # flops of a Newton step that is worth twice as many sweeps
# Sweeps between two guesses. 200 x 1000 x 5 with r = 1 and neighbours correlated at 0.9 takes 1.5 s
# with guesses and 2.1 s without; for r = 2 they make no difference.
MEMORY = 8

Point = tuple[np.ndarray, np.ndarray]  # W and its image


def descend(
    model: Model,
    penalty: Penalty,
    tol: float,
    out_of_time: Callable[[], bool] = never,
    finishing: bool = False,
) -> float:
    """Lower the objective on the working set until no row moves by more than ``tol``.

    ``tol`` is in the scale of the violation before division by the data; ``finishing`` says that
    the point is nearly right and only digits are missing. Returns the violation that was reached;
    the model holds the rows.
    """
    everything = np.arange(len(model.W))
    reached = np.inf
    with one_blas_thread():
        for _ in range(200):
            before = reached
            first = model.sweep(penalty, everything, SWEEPS, tol / 10)
            support = np.flatnonzero(nonzero_rows(model.W))
            n_sweeps = _affordable_sweeps(model, penalty, support.size)
            last = extrapolated_sweeps(model, penalty, support, n_sweeps, tol / 10)
            reached = _violation(model, penalty)
            if reached <= tol or out_of_time():
                break
            quick = reached <= QUICK * before < np.inf
            if quick or last <= SETTLING * first:
                continue  # well-conditioned: sweeps alone will do
            penalty.newton(model, tol, finishing)
            reached = _violation(model, penalty)
            if reached <= tol or out_of_time():
                break
    return reached


def _affordable_sweeps(model: Model, penalty: Penalty, n_rows: int) -> int:
    """How often to sweep over the nonzero rows: for a part of the time that a Newton step takes."""
    if len(model.W) < COMPILED_FROM or n_rows == 0:
        return SWEEPS
    newton = NEWTON_OVERHEAD + penalty.newton_flops(model, n_rows)
    share = SWEEP_SHARE if newton < LARGE else 2 * SWEEP_SHARE
    return int(np.clip(share * newton / model.sweep_flops(n_rows), 1, 50))


def _violation(model: Model, penalty: Penalty) -> float:
    scores = penalty.violation(model.W, model.gradient(), model.metric)
    return float(scores.max(initial=0.0))


def objective(model: Model, penalty: Penalty) -> float:
    """Of the rows that the model holds, up to a constant that its copies share."""
    return model.loss_value() + penalty.value(model.W)


def extrapolated_sweeps(
    model: Model, penalty: Penalty, rows: np.ndarray, n_sweeps: int, tol: float
) -> float:
    """Sweep over ``rows`` up to ``n_sweeps`` times, or until none moves by more than ``tol``.

    Returns the largest move of the last sweep.
    """
    if n_sweeps < 2 * MEMORY:
        return model.sweep(penalty, rows, n_sweeps, tol)
    points = [_point(model)]
    moved = np.inf
    for _ in range(n_sweeps):
        moved = model.sweep(penalty, rows, 1, tol)
        if moved <= tol:
            break
        points.append(_point(model))
        if len(points) > MEMORY:
            _extrapolate(model, penalty, points)
            points = [_point(model)]
    return moved


def _point(model: Model) -> Point:
    return model.W.copy(), model.image.copy()


def _extrapolate(model: Model, penalty: Penalty, points: list[Point]) -> None:
    """Go to the mixture of the points if the objective is lower there."""
    shares = shares_of_steps([W for W, _ in points])
    if shares is None:
        return
    reached = objective(model, penalty)
    rows = np.tensordot(shares, [W for W, _ in points[1:]], axes=1)
    image = np.tensordot(shares, [image for _, image in points[1:]], axes=1)
    model.place(rows, image)
    if not objective(model, penalty) < reached:
        model.place(*points[-1])


def shares_of_steps(points: list[np.ndarray]) -> np.ndarray | None:
    """The c_k of the module's formula; None where the steps do not tell."""
    steps = np.diff([W.ravel(order="K") for W in points], axis=0)
    products = steps @ steps.T
    # steps that hardly differ still give finite shares
    products[np.diag_indices_from(products)] += 1e-12 * np.trace(products)
    try:
        shares = np.linalg.solve(products, np.ones(len(steps)))
    except np.linalg.LinAlgError:
        return None
    total = shares.sum()
    return shares / total if np.isfinite(total) and total > 0 else None
