"""Ridge regression in the place of a PenalisedProblem: its loss, and a squared Frobenius norm."""

from __future__ import annotations

import numpy as np

from ...designs.wrappers import Subset
from ...numerics.systems import ridge
from ...problems.penalised import PenalisedProblem

SMALLEST = 1e-10  # of the curvature: stands in for a strength of zero on more rows than samples


def ridge_weights(problem: PenalisedProblem) -> np.ndarray:
    """argmin of ``1/(2n) sum_i s_i |x_i'W - y_i|**2 + sum_j strength_j |w_j|**2``.

    Excluded rows are zero.
    """
    penalty, n_rows = problem.penalty, problem.n_rows
    W = np.zeros((n_rows, problem.Y.shape[1]))
    used = np.flatnonzero((problem.sample_curvatures > 0) & ~penalty.excluded(n_rows))
    design = problem.design if used.size == n_rows else Subset(problem.design, used)
    free = penalty.free(n_rows)[used]
    lowest = SMALLEST * float(problem.sample_curvatures.max(initial=0.0))
    q = np.where(free, 0.0, np.maximum(2 * penalty.strength(n_rows)[used], lowest))
    n = len(problem.Y)
    W[used] = ridge(design, problem.Y, problem.loss.weights(n) / n, q)
    return W
