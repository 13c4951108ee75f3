r"""One support vector machine whose bias, and other free columns, are not penalised.

    min over u, v of  1/2 |u|**2 + sum_i c_i max(0, 1 - y_i (b_i'u + f_i'v))

with B (n x m) the penalised columns and F (n x f) the free ones. Its dual is

    max over a of  sum_i a_i - 1/2 |B'(y a)|**2   with 0 <= a <= c and F'(y a) = 0;   u = B'(y a).

Pairs of multipliers (``smo``) or an interior point come close; linear systems make it exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .interior_point import Multipliers, by_features, by_samples
from .smo import pairwise

SMALL = 100  # samples up to which moves of pairs are fastest, also where there are fewer columns
EXACT = 1e-10  # in margins, or as a gap: that leaves about half as many digits of u
ROUGH = 1e-5  # of the objective or in margins, where machines are only compared or left again
MOVES = 20_000  # of pairs, before linear systems or an interior point take over

LinearSolver = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Machine:
    """The problem above, given ``K = B B'`` (n x n) or, where there are fewer columns, B itself."""

    matrix: np.ndarray
    is_gram: bool
    F: np.ndarray
    y: np.ndarray
    c: np.ndarray

    def times(self, s: np.ndarray) -> np.ndarray:
        """K s."""
        return self.matrix @ (s if self.is_gram else self.matrix.T @ s)

    def among(self, some: np.ndarray) -> np.ndarray:
        """K of some samples."""
        rows = self.matrix[some]
        return rows[:, some] if self.is_gram else rows @ rows.T

    def interior_point(self, tol: float = 1e-8) -> Multipliers:
        """By the form that the matrix has."""
        way = by_samples if self.is_gram else by_features
        return way(self.matrix, self.F, self.y, self.c, tol)


def way_for(n: int, m: int, n_free: int = 1) -> str:
    """The fastest way for n samples, m penalised columns and the free ones (the bias is one):
    "pairs" and "samples" go through K, "features" through B and in time linear in n."""
    if n_free == 1 and (n <= SMALL or n <= m):
        return "pairs"
    return "samples" if n <= m else "features"


def solve_machine(
    machine: Machine, way: str, near: np.ndarray | None = None, exact: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Multipliers of the samples and coefficients of the free columns.

    From the multipliers ``near`` of a similar machine, pair by pair, or by reading off them which
    are 0, c or between; where that does not end, by an interior point, refined in the same way.
    Without ``exact`` pairs and the way "features" end where good machines can be told from bad.
    """
    if not exact and not machine.is_gram:
        rough = machine.interior_point(ROUGH)
        return rough.a, rough.v
    if way == "pairs":
        enough = EXACT if exact else ROUGH
        near, bias, apart = pairwise(machine.matrix, machine.y, machine.c, near, enough, MOVES)
        if apart <= enough:
            return near, np.array([bias])
    if near is not None:
        found = refined(machine, near, 1e-8, thorough=way == "pairs")
        if found.gap <= EXACT:
            return found.a, found.v
    rough = machine.interior_point()
    best = min(rough, refined(machine, rough.a, 1e-5), key=lambda found: found.gap)
    if best.gap > EXACT and machine.F.shape[1] == 1:  # given u, the best bias is exact
        z = machine.times(machine.y * best.a)
        return best.a, np.array([best_offset(z, machine.y, machine.c)])
    return best.a, best.v


def linear_weights(B: np.ndarray, y: np.ndarray, c: np.ndarray) -> np.ndarray:
    """u of the machine on the columns of B."""
    n, m = B.shape
    way = way_for(n, m)
    is_gram = way != "features"
    machine = Machine(B @ B.T if is_gram else B, is_gram, np.ones((n, 1)), y, c)
    a, _ = solve_machine(machine, way)
    return B.T @ (y * a)


def best_offset(z: np.ndarray, y: np.ndarray, c: np.ndarray) -> float:
    """The b that minimises ``sum_i c_i max(0, 1 - y_i (z_i + b))``, exactly.

    The sum is piecewise linear in b with kinks at y_i - z_i. Where its minimum is an interval the
    middle is taken, as libsvm does; with both classes present the interval is bounded.
    """
    kinks = y - z
    order = np.argsort(kinks, kind="stable")
    slopes = np.cumsum(c[order]) - c[y > 0].sum()  # right of each kink
    flat = 1e-9 * c.sum()
    first = int(np.argmax(slopes >= -flat))
    last = int(np.argmax(slopes > flat))
    return float(kinks[order[first]] + kinks[order[last]]) / 2


def refined(machine: Machine, a: np.ndarray, near: float, thorough: bool = True) -> Multipliers:
    """Exact multipliers from approximate ones.

    Which multipliers are 0, c or between is read off a (to ``near``); those between solve a linear
    system, whose answer corrects the reading, a few times. The gap says whether it is right.
    ``thorough`` tries again for systems that equal samples have made singular.
    """
    upper = a >= (1 - near) * machine.c
    inside = (a > near * machine.c) & ~upper
    best = _corrected(machine, upper, inside, np.linalg.solve)
    if thorough and best.gap > EXACT:
        other = _corrected(machine, upper, inside, _shortest_solution)
        best = other if other.gap < best.gap else best
    return best


def _corrected(
    machine: Machine, upper: np.ndarray, inside: np.ndarray, solve: LinearSolver
) -> Multipliers:
    """The best of eight readings; more have never helped where eight did not."""
    c = machine.c
    best = Multipliers(c, np.zeros(machine.F.shape[1]), np.inf)
    rank = machine.matrix.shape[1] + machine.F.shape[1]
    for _ in range(8):
        if np.count_nonzero(inside) > 2 * rank:  # without ties no more than the rank are inside
            break
        try:
            a, v, z = _between(machine, upper, inside, solve)
        except np.linalg.LinAlgError:
            break
        margins = machine.y * (z + machine.F @ v)
        gap = _gap(a, c, margins)
        if gap < best.gap:
            best = Multipliers(np.clip(a, 0.0, c), v, gap)
        too_large = inside & (a > c)
        negative = inside & (a < 0)
        leaves_zero = ~upper & ~inside & (margins < 1 - 1e-9)
        leaves_c = upper & (margins > 1 + 1e-9)
        wrong = too_large | negative | leaves_zero | leaves_c
        if gap <= EXACT or not wrong.any():
            break
        upper = (upper & ~leaves_c) | too_large
        inside = (inside & ~too_large & ~negative) | leaves_zero | leaves_c
    return best


def _between(
    machine: Machine, upper: np.ndarray, inside: np.ndarray, solve: LinearSolver
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Multipliers, coefficients of F, and ``K (y a)``, if those inside have margin one."""
    y, F = machine.y, machine.F
    signed = np.where(upper, y * machine.c, 0.0)
    fixed = machine.times(signed)
    some = np.flatnonzero(inside)
    if not some.size:
        v = np.zeros(F.shape[1])
        v[0] = best_offset(fixed, y, machine.c)
        return y * signed, v, fixed
    system = np.block([[machine.among(some), F[some]], [F[some].T, np.zeros((F.shape[1],) * 2)]])
    solved = solve(system, np.concatenate([y[some] - fixed[some], -F.T @ signed]))
    signed[some] = solved[: some.size]
    return y * signed, solved[some.size :], machine.times(signed)


def _shortest_solution(system: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Equal samples make the system singular; the shortest solution shares between them."""
    return np.linalg.lstsq(system, right, rcond=1e-11)[0]


def _gap(a: np.ndarray, c: np.ndarray, margins: np.ndarray) -> float:
    """Duality gap plus what a lies outside its box, as a fraction of the primal objective.

    ``F'(y a) = 0`` makes ``a'margins`` the squared norm |u|**2.
    """
    squared = float(a @ margins)
    primal = squared / 2 + float(c @ np.maximum(1.0 - margins, 0.0))
    outside = float(np.maximum(np.maximum(-a, a - c), 0.0).sum())
    return (abs(primal - float(a.sum()) + squared / 2) + outside) / max(abs(primal), 1e-300)
