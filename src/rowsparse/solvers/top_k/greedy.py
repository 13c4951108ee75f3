"""Greedy forward selection, plain or randomised: a start, and what repairs a kicked support."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .support_fit import Fit

AMONG = 4  # a randomised step chooses among so many of the best


class Pool:
    """The columns that came near to being chosen: where a search on few columns looks."""

    def __init__(self, per_scan: int):
        self.per_scan = per_scan
        self.chosen: set[int] = set()

    def note(self, scores: np.ndarray, names: np.ndarray) -> None:
        """Remember the best columns of one scan, by name."""
        m = min(self.per_scan, len(scores))
        best = np.argpartition(-scores, m - 1)[:m] if m < len(scores) else np.arange(m)
        self.chosen.update(names[best[scores[best] > -np.inf]].tolist())


def forward(
    fit: Fit,
    k: int,
    rng: np.random.Generator | None = None,
    pool: Pool | None = None,
    out_of_time: Callable[[], bool] = lambda: False,
) -> Fit:
    """Add the column of largest gain (or, given rng, one of the largest) until there are k.

    Ends early when every other column depends on the members or nothing is left to explain.
    """
    while fit.size < k and not out_of_time():
        gains = fit.gains()
        if pool is not None:
            pool.note(gains, fit.columns.names)
        j = int(np.argmax(gains)) if rng is None else _one_of_the_best(gains, rng)
        if gains[j] == -np.inf:
            break
        fit.add(j)
    return fit


def _one_of_the_best(gains: np.ndarray, rng: np.random.Generator) -> int:
    m = min(AMONG, len(gains))
    best = np.argpartition(-gains, m - 1)[:m] if m < len(gains) else np.arange(m)
    best = best[gains[best] > -np.inf]
    return int(best[rng.integers(best.size)]) if best.size else int(np.argmax(gains))
