r"""The k features on which a plain support vector machine does best, by exchanges of single ones.

    value(S) = min over w, b of  C sum_i s_i max(0, 1 - y_i (x_i'w + b)) + sum_j f_j |w_j|**2
               with w_j = 0 outside S

Reweighting ends in a local minimum. With many more samples than features the training value is a
good guide to a better one; with few it is not, since some exchange always fits the sample better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...numerics.rows import row_norms
from ...problems.margin import MarginProblem
from .reweighting import Columns, Image, Reweighted, parts_in_margins

SAMPLES_PER_FEATURE = 10  # from here on the training value is trusted
CANDIDATES = 8  # features that may leave, and that may come in, in each round
WORTH_IT = 1e-4  # of the value
MACHINE_STEPS = 20  # of the interior point, some n k**2 flops each
AFFORDABLE = 1e9  # flops


def worth_exchanging(problem: MarginProblem, k: int) -> bool:
    """Whether samples outnumber features enough for exchanges to be more than chance, and a round
    of them takes seconds at most."""
    n_usable = np.count_nonzero(np.isfinite(problem.factors))
    n_samples = problem.weights.sum()  # a weight of 2 is a row repeated
    machine = MACHINE_STEPS * n_samples * problem.Y.shape[1] * (k + 1.0) ** 2
    affordable = CANDIDATES**2 * machine <= AFFORDABLE
    return bool(affordable and n_samples >= SAMPLES_PER_FEATURE * n_usable)


def exchanged(
    problem: MarginProblem, solver: Reweighted, chosen: np.ndarray, out_of_time: Callable[[], bool]
) -> tuple[np.ndarray, bool]:
    """Features of lower value than the chosen ones, or those if no exchange helps; and whether all
    exchanges were tried, which time and Ctrl-C may prevent."""
    improved = True
    try:
        best, image = _value(problem, solver, chosen)
        while improved:
            improved = False
            for trial in _neighbours(problem, chosen, image):
                if out_of_time():
                    return chosen, False
                value, trial_image = _value(problem, solver, trial)
                if value < (1 - WORTH_IT) * best:
                    chosen, best, image, improved = trial, value, trial_image, True
                    break
    except KeyboardInterrupt:
        return chosen, False
    return chosen, True


def _value(problem: MarginProblem, solver: Reweighted, chosen: np.ndarray) -> tuple[float, Image]:
    columns, scales = Columns.of(problem.design, chosen), problem.equal_scales[chosen]
    c = problem.Y.shape[1]
    null = Image(np.zeros((chosen.size, c)), np.zeros(c))
    image = solver.image_of(problem, columns, scales, null)
    loss = problem.loss_sum(columns.matmul(image.rows) + image.intercept)
    return loss + float((problem.factors[chosen, None] * image.rows**2).sum()), image


def _neighbours(problem: MarginProblem, chosen: np.ndarray, image: Image) -> Iterator[np.ndarray]:
    """Sets that differ in one feature, the most promising first: out goes what does least, in comes
    what the multipliers ask for most."""
    assert image.dual is not None
    candidates = np.isfinite(problem.factors)
    candidates[chosen] = False
    wish = np.where(candidates, row_norms(problem.design.rmatmul(image.dual)), -1.0)
    incoming = np.argsort(-wish, kind="stable")[: min(CANDIDATES, np.count_nonzero(candidates))]
    parts = np.where(problem.free[chosen], np.inf, parts_in_margins(problem, chosen, image.rows))
    outgoing = np.argsort(parts, kind="stable")[:CANDIDATES]
    for place in outgoing[np.isfinite(parts[outgoing])]:
        for feature in incoming:
            yield np.sort(np.append(np.delete(chosen, place), feature))
