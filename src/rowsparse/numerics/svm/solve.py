"""One support vector machine with an unpenalised bias, exact, by the way that suits its size.

"pairs" and "samples" go through the n x n matrix ``B B'``, "features" through B itself and in time
linear in n; the notation is that of ``margin``.
"""

from __future__ import annotations

import numpy as np

from .interior_point import EXACT, Inner, best_offset, by_features, by_samples, refined
from .smo import pairwise

SMALL = 100  # samples up to which moves of pairs are fastest, also where there are fewer columns
PAIRED = 1e-10  # in margins
ROUGH = 1e-5  # of the objective or in margins, where machines are only compared or left again
MOVES = 20_000  # of pairs, before linear systems or an interior point take over


def way_for(n: int, m: int, n_free: int = 1) -> str:
    """The fastest way for n samples, m penalised columns and the free ones (the bias is one)."""
    if n_free == 1 and (n <= SMALL or n <= m):
        return "pairs"
    return "samples" if n <= m else "features"


def solve_machine(
    way: str,
    gram,
    B,
    F: np.ndarray,
    y: np.ndarray,
    c: np.ndarray,
    near: np.ndarray | None = None,
    exact: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """Multipliers of the samples and coefficients of the free columns.

    From the multipliers ``near`` of a similar machine, pair by pair, or by reading off them which
    are 0, c or between; where that does not end, by an interior point, refined in the same way.
    Without ``exact`` pairs and the way "features" end where good machines can be told from bad.
    """
    if B is not None and not exact:
        rough = by_features(B, F, y, c, ROUGH)
        return rough.a, rough.v
    inner = Inner(gram, B)
    if way == "pairs":
        enough = PAIRED if exact else ROUGH
        near, bias, apart = pairwise(gram, y, c, near, enough, MOVES)
        if apart <= enough:
            return near, np.array([bias])
    if near is not None:
        found = refined(inner, F, y, c, near, thorough=way == "pairs")
        if found.gap <= EXACT:
            return found.a, found.v
    rough = by_samples(gram, F, y, c) if B is None else by_features(B, F, y, c)
    found = refined(inner, F, y, c, rough.a, near=1e-5)
    best = found if found.gap < rough.gap else rough
    if best.gap > EXACT and F.shape[1] == 1:  # given w, the best intercept is exact
        return best.a, np.array([best_offset(inner.apply(y * best.a), y, c)])
    return best.a, best.v


def linear_weights(B: np.ndarray, y: np.ndarray, c: np.ndarray) -> np.ndarray:
    """w of the machine on the columns of B."""
    n, m = B.shape
    way = way_for(n, m)
    gram = None if way == "features" else B @ B.T
    a, _ = solve_machine(way, gram, B if gram is None else None, np.ones((n, 1)), y, c)
    return B.T @ (y * a)
