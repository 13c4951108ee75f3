"""Descent on a working set: block sweeps with the exact prox, then Newton on the nonzero rows.

Sweeps find which rows are zero; once they do, the objective is smooth in the nonzero rows and a
few Newton steps, which belong to the penalty, finish what sweeps would need thousands of rounds
for.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...numerics.rows import nonzero_rows
from ...numerics.sweep import COMPILED_FROM
from ...numerics.threads import one_blas_thread
from ...penalties.base import Penalty
from .extrapolation import extrapolated_sweeps
from .model import Model

SWEEPS = 3
QUICK = 0.3  # a round of sweeps that leaves less of the violation needs no Newton step
SETTLING = 0.1  # nor does one whose moves on the nonzero rows fall below this part of the first
NEWTON_OVERHEAD = 1e7  # of a Newton step on few rows, in units of BLAS flops
SWEEP_SHARE = 1 / 12  # of a Newton step: what sweeps before it may cost
LARGE = 1e8  # flops of a Newton step that is worth twice as many sweeps
MAX_ROUNDS = 200


def descend(
    model: Model,
    penalty: Penalty,
    tol: float,
    out_of_time: Callable[[], bool] = lambda: False,
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
        for _ in range(MAX_ROUNDS):
            before = reached
            first = model.sweep(penalty, everything, SWEEPS, tol / 10)
            support = np.flatnonzero(nonzero_rows(model.W))
            n_sweeps = _sweeps(model, penalty, support.size)
            last = extrapolated_sweeps(model, penalty, support, n_sweeps, tol / 10)
            reached = _violation(model, penalty)
            if reached <= tol or out_of_time():
                break
            if reached <= QUICK * before < np.inf or last <= SETTLING * first:
                continue  # well-conditioned: sweeps alone are quick
            penalty.newton(model, tol, finishing)
            reached = _violation(model, penalty)
            if reached <= tol or out_of_time():
                break
    return reached


def _sweeps(model: Model, penalty: Penalty, n_rows: int) -> int:
    """How often to sweep over the nonzero rows: for a part of the time that a Newton step takes."""
    if len(model.W) < COMPILED_FROM or n_rows == 0:
        return SWEEPS
    newton = NEWTON_OVERHEAD + penalty.newton_flops(model, n_rows)
    share = SWEEP_SHARE if newton < LARGE else 2 * SWEEP_SHARE
    return int(np.clip(share * newton / model.sweep_flops(n_rows), 1, 50))


def _violation(model: Model, penalty: Penalty) -> float:
    scores = penalty.violation(model.W, model.gradient(), model.metric)
    return float(scores.max(initial=0.0))
