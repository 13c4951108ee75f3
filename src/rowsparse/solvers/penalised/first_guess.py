"""Rows to begin with on tall data: those that a part of the samples asks for."""

from __future__ import annotations

import numpy as np

from ...numerics.rows import nonzero_rows
from ...problems.penalised import PenalisedProblem

# One sample in so many is looked at for the first guess: 100,000 x 500 x 5 at a tenth of alpha_max
# takes 57 ms of one core with it and 112 without.
FRACTION = 16


def guessed_rows(problem: PenalisedProblem) -> np.ndarray | None:
    """Rows that the gradient at the null model, over some samples, moves away from zero.

    With many more samples than features a part of them tells nearly as well which rows to take, so
    X is read once, to certify. A wrong guess costs time, never the certificate.
    None where a look at a part says too little (few samples, many rows) or costs as much as one at
    all of them, or where the gradient is known anyway.
    """
    n, d = problem.design.shape
    simple = problem.convex and problem.loss.plain
    if not simple or not _part_tells(n, d) or "null_gradient" in problem.__dict__:
        return None
    # eight stretches of samples, spread evenly: neighbours are often alike
    size = n // (8 * FRACTION)
    starts = np.linspace(0, n - size, 8).astype(int)
    samples = [slice(start, start + size) for start in starts.tolist()]
    gradient = problem.design.rmatmul_over(samples, problem.unexplained)
    if gradient is None or not np.isfinite(gradient).all():
        return None
    gradient /= 8 * size
    # a gradient that is short of the penalty by a fifth may be so by chance
    pulled = problem.penalty.dual_sizes(gradient) >= 0.8 * problem.penalty.strength(d)
    rows = np.flatnonzero(pulled | nonzero_rows(problem.null_point))
    return rows if rows.size <= np.sqrt(n) else None


def _part_tells(n: int, d: int) -> bool:
    """Whether a part holds 4000 samples, and ten per feature: fewer rank features too badly."""
    return n >= FRACTION * max(4000, 10 * d)
