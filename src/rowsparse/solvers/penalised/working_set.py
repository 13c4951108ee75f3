"""The first working set of a tall problem, guessed from a part of the samples.

A step of the working-set solver reads X twice: to choose rows by the gradient at zero, and to
certify what they gave. With many more samples than features a part of them tells nearly as well
which rows to take, so X is read once. A wrong guess costs time, never the certificate.
"""

from __future__ import annotations

import numpy as np

from ...numerics.rows import nonzero_rows
from ...problems.penalised import PenalisedProblem

FRACTION = 16  # one sample in so many is looked at
N_PARTS = 8  # stretches of samples, spread evenly: neighbours are often alike
FEWEST_SAMPLES = 4000
SAMPLES_PER_FEATURE = 10
SLACK = 0.2  # a gradient that is short of the penalty by so much less may be so by chance


def guessed_rows(problem: PenalisedProblem) -> np.ndarray | None:
    """Rows that the gradient at the null model, over some samples, moves away from zero.

    None where a look at a part says too little (few samples, many rows) or costs as much as one at
    all of them, or where the gradient is known anyway.
    """
    n, d = problem.design.shape
    enough = n >= FRACTION * max(FEWEST_SAMPLES, SAMPLES_PER_FEATURE * d)
    simple = problem.convex and problem.loss.plain
    if not simple or not enough or "null_gradient" in problem.__dict__:
        return None
    samples = _spread(n)
    gradient = problem.design.rmatmul_over(samples, problem.unexplained)
    if gradient is None or not np.isfinite(gradient).all():
        return None
    gradient /= sum(some.stop - some.start for some in samples)
    needed = (1 - SLACK) * problem.penalty.strength(d)
    rows = np.flatnonzero(
        (problem.penalty.dual_sizes(gradient) >= needed) | nonzero_rows(problem.null_point)
    )
    return rows if rows.size <= np.sqrt(n) else None


def _spread(n: int) -> list[slice]:
    size = n // (FRACTION * N_PARTS)
    starts = np.linspace(0, n - size, N_PARTS).astype(int)
    return [slice(start, start + size) for start in starts.tolist()]
