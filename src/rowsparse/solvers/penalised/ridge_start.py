"""Ridge regression in the place of a PenalisedProblem: its loss, and a squared Frobenius norm."""

from __future__ import annotations

import numpy as np

from ...designs.base import Design
from ...designs.wrappers import Subset
from ...numerics.systems import ridge_by_features, ridge_by_samples
from ...numerics.threads import blas_threads_for
from ...problems.penalised import PenalisedProblem

SMALLEST = 1e-10  # of the curvature: stands in for a strength of zero on more rows than samples


def ridge_weights(problem: PenalisedProblem) -> np.ndarray:
    """argmin of ``1/(2n) sum_i s_i |x_i'W - y_i|**2 + sum_j strength_j |w_j|**2``.

    Solved through the smaller of the d x d and the n x n system; excluded rows are zero.
    """
    penalty, n_rows = problem.penalty, problem.n_rows
    W = np.zeros((n_rows, problem.Y.shape[1]))
    used = np.flatnonzero((problem.sample_curvatures > 0) & ~penalty.excluded(n_rows))
    design = problem.design if used.size == n_rows else Subset(problem.design, used)
    free = penalty.free(n_rows)[used]
    lowest = SMALLEST * float(problem.sample_curvatures.max(initial=0.0))
    q = np.where(free, 0.0, np.maximum(2 * penalty.strength(n_rows)[used], lowest))
    n, d = design.shape
    solve = _by_features if d <= n else _by_samples
    with blas_threads_for(2.0 * n * d * min(n, d)):
        W[used] = solve(design, problem.Y, problem.loss.weights(n) / n, q)
    return W


def _by_features(design: Design, Y: np.ndarray, h: np.ndarray, q: np.ndarray) -> np.ndarray:
    everything = np.arange(design.shape[1])
    G = design.gram(everything, everything, h)
    return ridge_by_features(G, q, design.rmatmul(h[:, None] * Y))


def _by_samples(design: Design, Y: np.ndarray, h: np.ndarray, q: np.ndarray) -> np.ndarray:
    free = np.flatnonzero(q == 0)
    inverse = np.divide(1.0, q, out=np.zeros_like(q), where=q > 0)
    Theta, beta = ridge_by_samples(design.outer(inverse), h, design.take(free), Y)
    W = inverse[:, None] * design.rmatmul(Theta)
    W[free] = beta
    return W
