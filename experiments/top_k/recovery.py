"""Not in the paper: planted rows found exactly, its loss (r = 1) beside squared loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rowsparse import TopKSelector
from rowsparse.datasets.synthetic import make_row_sparse

from ..frame import Options, Task

CASES = (  # n, d, k, outputs, noise, share of outliers (their sign is flipped)
    (60, 500, 5, 3, 0.5, 0.0),
    (100, 500, 5, 3, 0.5, 0.0),
    (100, 500, 5, 3, 0.5, 0.1),
    (150, 500, 8, 3, 0.5, 0.1),
    (60, 500, 5, 1, 0.3, 0.0),
    (80, 500, 5, 1, 0.3, 0.1),
)
N_SEEDS = 20


def plan(options: Options) -> Iterator[Task]:
    n_seeds = 5 if options.quick else N_SEEDS
    for case in CASES:
        settings = {"part": "recovery", "case": list(case), "seeds": n_seeds}
        yield Task(settings, lambda c=case, n=n_seeds: measure(c, n))


def measure(case: tuple, n_seeds: int) -> dict[str, Any]:
    """How often exactly the planted rows are found."""
    return {f"r = {r:g}": np.mean([_found(case, r, s) for s in range(n_seeds)]) for r in (2.0, 1.0)}


def _found(case: tuple, r: float, seed: int) -> bool:
    n, d, k, c, noise, outliers = case
    X, Y, planted = make_row_sparse(n, d, k, c, noise=noise, outliers=outliers, random_state=seed)
    fit = TopKSelector(k, r=r, n_init=1, task="regression").fit(X, Y)
    return bool(np.array_equal(np.flatnonzero(fit.support_), planted))
