"""Starts for squared loss: the convex relaxation under a ridge, rounded to its k largest shares."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...numerics.rows import largest
from .relaxation import Block

# In units of the columns' mean square. On 17 sets, k = 5 to 50, each of 3, 1, 0.3, 0.1 and 0.03
# leads to the best support now and then (RESULTS_topk.md).
LARGEST_RIDGE = 3.0
SHARPNESS = 0.3  # of the relaxation: only the order of its shares matters
STEPS = 6  # of Newton's method, at most, for the same reason


def rounded(
    G: np.ndarray, B: np.ndarray, total: float, members: np.ndarray, k: int, n_ridges: int
) -> Iterator[tuple[str, np.ndarray]]:
    """The name and the k columns of each start; the shares begin at those of some members."""
    size = float(np.mean(G.diagonal()))
    z = np.zeros(len(G))
    z[members] = 1.0
    none = np.zeros(len(G), dtype=bool)
    for ridge in LARGEST_RIDGE * np.sqrt(0.1) ** np.arange(n_ridges):
        block = Block(G, B, total, ridge * size, k)
        z = block.newton(z, none, block.at(z).value, SHARPNESS, STEPS).z
        yield f"ridge {ridge:.1g}", largest(z, k)
