r"""One support vector machine whose bias, and other free columns, are not penalised.

    min over u, v of  1/2 |u|**2 - h'v + sum_i c_i max(0, t_i - y_i (b_i'u + f_i'v))

with B (n x m) the penalised columns and F (n x f) the free ones. Its dual is

    max over a of  t'a - 1/2 |B'(y a)|**2   with 0 <= a <= c and F'(y a) = -h;   u = B'(y a).

A plain machine has t = 1 and h = 0. Given the multipliers of some of its samples, those of the
others are a machine again: in t is what the given ones add to the margins, in h to ``F'(y a)``.

Pairs of multipliers (``smo``) or an interior point come close; linear systems make it exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .interior_point import Multipliers, solved
from .smo import pairwise

SMALL = 100  # samples up to which moves of pairs are fastest, also where there are fewer columns
EXACT = 1e-10  # in margins, or as a gap: that leaves about half as many digits of u
CLOSE = 1e-8  # what an interior point is asked for
ROUGH = 1e-5  # of the objective or in margins, where machines are only compared or left again
MOVES = 20_000  # of pairs, before linear systems or an interior point take over
TALL = 4  # samples per column up to which pairs are tried before an interior point through B
GROWTH = 4  # of the samples in doubt where they were too few, and of those that a sample stands for

HARDEST = 1e10  # cost of a unit error times |b_i|**2: as far from rounding as from |u|**2 = 1
NOTHING = 1e-9  # of the value at u = v = 0: separable samples may cost nothing at all
DEPENDENT = 1e-7  # of the largest singular value of free columns; less is rounding

LinearSolver = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Machine:
    """The problem above, given ``K = B B'`` (n x n) or, where there are fewer columns, B itself,
    which is ``matrix * scale``, and perhaps ``gram``, which makes K."""

    matrix: np.ndarray
    is_gram: bool
    F: np.ndarray
    y: np.ndarray
    c: np.ndarray
    scale: np.ndarray | float = 1.0
    gram: Callable[[], np.ndarray] | None = None
    target: np.ndarray | float = 1.0
    balance: np.ndarray | float = 0.0
    size: float = 0.0  # of the objective that gaps are compared with; 0: its own

    def times(self, s: np.ndarray) -> np.ndarray:
        """K s."""
        return self.matrix @ (s if self.is_gram else self.scale**2 * (self.matrix.T @ s))

    def with_costs_in_reach(self) -> Machine:
        """The same with costs that leave digits for |u|**2: beyond ``HARDEST`` it is nothing beside
        any error, but the multipliers, of the size of c, cancel to no digit of u."""
        of_rows = np.einsum("ij,ij->i", self.matrix, self.matrix * self.scale**2)
        squares = self.matrix.diagonal() if self.is_gram else of_rows
        excess = float(self.c.max() * squares.max(initial=0.0)) / HARDEST
        return self if excess <= 1 else replace(self, c=self.c / excess)

    def among(self, some: np.ndarray) -> np.ndarray:
        """K of some samples."""
        rows = self.matrix[some]
        if self.is_gram:
            return rows[:, some]
        rows = rows * self.scale
        return rows @ rows.T

    def margins(self, z: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Of ``z = K (y a)`` and the coefficients of F."""
        return self.y * (z + self.F @ v)

    def gap(self, a: np.ndarray, v: np.ndarray, margins: np.ndarray) -> float:
        """Duality gap plus what a lacks of being feasible, as a fraction of the size."""
        linear = float(np.sum(self.balance * v))
        unbalanced = self.F.T @ (self.y * a) + self.balance
        squared = float(a @ margins) + linear - float(unbalanced @ v)
        primal = squared / 2 - linear + float(self.c @ np.maximum(self.target - margins, 0.0))
        apart = abs(primal - float(np.sum(a * self.target)) + squared / 2)
        outside = float(np.maximum(np.maximum(-a, a - self.c), 0.0).sum())
        outside += float(np.abs(unbalanced) @ (1 + np.abs(v)))
        return (apart + outside) / (self.size or max(abs(primal), NOTHING * self.c.sum()))

    def best_offset(self, z: np.ndarray) -> float:
        """The best bias at ``z = K (y a)``, where it is the only free column."""
        return best_offset(z, self.y, self.c, self.target, float(np.sum(self.balance)))

    def interior_point(self, tol: float = CLOSE, near: np.ndarray | None = None) -> Multipliers:
        """By the form that the matrix has."""
        n, f = self.F.shape
        matrix = self.matrix if self.is_gram else self.matrix * self.scale
        target = np.broadcast_to(self.target, n).astype(float)
        balance = np.broadcast_to(self.balance, f).astype(float)
        least = NOTHING * self.c.sum()
        return solved(
            matrix,
            self.is_gram,
            self.F,
            self.y,
            self.c,
            tol,
            target,
            balance,
            self.size,
            least,
            near,
        )

    def given(self, a: np.ndarray, some: np.ndarray, size: float) -> Machine:
        """The machine of some samples, the others having the multipliers a; B is given."""
        others = np.where(some, 0.0, self.y * a)
        rows = self.matrix[some]
        y = self.y[some]
        return replace(
            self,
            matrix=rows * self.scale,
            F=self.F[some],
            y=y,
            c=self.c[some],
            scale=1.0,
            gram=None,
            target=1.0 - y * (rows @ (self.scale**2 * (self.matrix.T @ others))),
            balance=self.F.T @ others,
            size=size,
        )


def independent_columns(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Free columns F for the bias and for columns that may depend on each other or outnumber the
    samples, and T such that the coefficients v of F are ``T v`` of the ones and the columns.

    Dependent columns would make every system singular. F is orthogonal, with the ones in front.
    """
    n = len(columns)
    means = columns.mean(axis=0)
    centred = columns - means
    sizes = np.sqrt(np.einsum("ij,ij->j", centred, centred) / n)
    sizes[sizes == 0] = np.inf  # a constant column can do nothing
    left, values, right = np.linalg.svd(centred / sizes, full_matrices=False)
    used = values > DEPENDENT * values.max(initial=0.0)
    T = np.sqrt(n) * (right[used] / values[used, None] / sizes).T
    F = np.hstack([np.ones((n, 1)), np.sqrt(n) * left[:, used]])
    bias = np.append(1.0, -means @ T)
    return F, np.vstack([bias, np.hstack([np.zeros((len(T), 1)), T])])


def way_for(n: int, m: int, n_free: int = 1) -> str:
    """The fastest way for n samples, m penalised columns and the free ones (the bias is one):
    "pairs" and "samples" go through K, "features" through B and in time linear in n."""
    if n_free == 1 and (n <= max(SMALL, m) or (m > SMALL and n <= TALL * m)):
        return "pairs"
    return "samples" if n <= m else "features"


def solve_machine(
    machine: Machine,
    way: str,
    near: np.ndarray | None = None,
    exact: bool = True,
    guess: np.ndarray | None = None,
) -> Multipliers:
    """Multipliers of the samples, coefficients of the free columns, and the gap.

    From the multipliers ``near`` of a similar machine, pair by pair, or by reading off them which
    are 0, c or between; where that does not end, by an interior point, refined in the same way.
    Many samples are first divided into those in doubt and the others, by a ``guess`` at ``B u``.
    Without ``exact`` pairs and the way "features" end where good machines can be told from bad.
    """
    machine = machine.with_costs_in_reach()
    if near is not None and exact and not machine.is_gram:
        found = refined(machine, near, 1e-8, thorough=False)
        if found.gap <= EXACT:
            return found
    if way == "features" and machine.F.shape[1] == 1:
        return _by_doubt(machine, guess, exact)
    return _at_once(machine, way, near, exact)


def _at_once(machine: Machine, way: str, near: np.ndarray | None, exact: bool) -> Multipliers:
    """All samples in one problem."""
    if way == "pairs":
        enough = EXACT if exact else ROUGH
        near, bias, apart = _by_pairs(machine, near, enough)
        if apart <= enough:
            return Multipliers(near, np.array([bias]), apart)
    if near is not None:
        found = refined(machine, near, 1e-8, thorough=way == "pairs")
        if found.gap <= EXACT:
            return found
    if not exact and not machine.is_gram:
        return machine.interior_point(ROUGH, near)
    rough = machine.interior_point(near=near)
    best = min(rough, refined(machine, rough.a, 1e-5), key=lambda found: found.gap)
    if best.gap > EXACT and machine.F.shape[1] == 1:  # given u, the best bias is exact
        z = machine.times(machine.y * best.a)
        return best._replace(v=np.array([machine.best_offset(z)]))
    return best


def _by_pairs(
    machine: Machine, near: np.ndarray | None, enough: float
) -> tuple[np.ndarray, float, float]:
    if machine.is_gram:
        K = machine.matrix
    else:
        K = machine.gram() if machine.gram else machine.among(np.arange(len(machine.y)))
    balance = float(np.sum(machine.balance))
    return pairwise(K, machine.y, machine.c, near, enough, MOVES, machine.target, balance)


def _by_doubt(machine: Machine, guess: np.ndarray | None, exact: bool) -> Multipliers:
    """A sample far on the wrong side of the margin has the multiplier c, one far on the right side
    0: only those near it, at a guess, are in doubt.

    Guessed by a quarter of n samples, margins are wrong by about sqrt(m/n), so that some sqrt(m n)
    may be in doubt, or as many as pairs can do; where these are too few there will be more.
    """
    n, m = machine.matrix.shape
    in_doubt = int(m + 2 * np.sqrt(m * n))
    if m > SMALL:
        in_doubt = min(in_doubt, TALL * m)
    # without a guess all of 3000 x 40 at once takes two thirds of the time
    more = 8 if guess is None and m <= SMALL else 2
    if not m or more * in_doubt >= n:  # without columns all samples are alike
        return _at_once(machine, way_for(n, m), None, exact)
    z = _by_a_sample(machine) if guess is None else guess
    margins = machine.margins(z, np.array([machine.best_offset(z)]))
    while 2 * in_doubt < n:
        doubt = np.zeros(n, dtype=bool)
        doubt[np.argpartition(np.abs(1 - margins), in_doubt)[:in_doubt]] = True
        found, done = _settled(machine, margins, doubt, exact)
        if done:
            return found
        in_doubt = GROWTH * int(np.count_nonzero(doubt))
    return _at_once(machine, "features", None, exact)


def _by_a_sample(machine: Machine) -> np.ndarray:
    """B u of the machine on some samples of either class, each of which stands for several."""
    some = np.zeros(len(machine.y), dtype=bool)
    for sign in (-1.0, 1.0):
        some[np.flatnonzero(machine.y == sign)[::GROWTH]] = True
    a = np.zeros(len(some))
    part = replace(machine.given(a, some, 0.0), c=GROWTH * machine.c[some])
    a[some] = _by_doubt(part, None, exact=False).a
    return machine.times(machine.y * a)


def _settled(
    machine: Machine, margins: np.ndarray, doubt: np.ndarray, exact: bool
) -> tuple[Multipliers, bool]:
    """The machine of the samples in doubt, and of those that it proves wrong (added to ``doubt``),
    as long as these are fewer; and whether nothing is wrong in the end."""
    a = np.where(margins < 1, machine.c, 0.0)
    while True:
        part = machine.given(a, doubt, float(machine.c[doubt] @ np.abs(1 - margins[doubt])))
        a[doubt], v, _ = _at_once(part, way_for(*part.matrix.shape), a[doubt], exact)
        margins = machine.margins(machine.times(machine.y * a), v)
        wrong = ~doubt & np.where(a > 0, margins > 1, margins < 1)
        n_wrong = np.count_nonzero(wrong)
        wanted = (EXACT if n_wrong else CLOSE) if exact else ROUGH
        found = Multipliers(a, v, machine.gap(a, v, margins))
        done = found.gap <= wanted
        if done or not 0 < n_wrong < np.count_nonzero(doubt):
            return found, done
        doubt |= wrong


def linear_weights(B: np.ndarray, y: np.ndarray, c: np.ndarray) -> np.ndarray:
    """u of the machine on the columns of B."""
    n, m = B.shape
    way = way_for(n, m)
    is_gram = n <= max(SMALL, m)
    machine = Machine(B @ B.T if is_gram else B, is_gram, np.ones((n, 1)), y, c)
    return B.T @ (y * solve_machine(machine, way).a)


def best_offset(
    z: np.ndarray,
    y: np.ndarray,
    c: np.ndarray,
    target: np.ndarray | float = 1.0,
    balance: float = 0.0,
) -> float:
    """The b that minimises ``sum_i c_i max(0, t_i - y_i (z_i + b)) - h b``, exactly.

    The sum is piecewise linear in b with kinks at y_i t_i - z_i. Where its minimum is an interval
    the middle is taken, as libsvm does; with both classes present the interval is bounded.
    """
    kinks = y * target - z
    order = np.argsort(kinks)
    slopes = np.cumsum(c[order]) - c[y > 0].sum() - balance  # right of each kink
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
        margins = machine.margins(z, v)
        gap = machine.gap(a, v, margins)
        if gap < best.gap:
            best = Multipliers(np.clip(a, 0.0, c), v, gap)
        too_large = inside & (a > c)
        negative = inside & (a < 0)
        leaves_zero = ~upper & ~inside & (margins < machine.target - 1e-9)
        leaves_c = upper & (margins > machine.target + 1e-9)
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
        v[0] = machine.best_offset(fixed)
        return y * signed, v, fixed
    system = np.block([[machine.among(some), F[some]], [F[some].T, np.zeros((F.shape[1],) * 2)]])
    wanted = (y * machine.target - fixed)[some]
    solved = solve(system, np.concatenate([wanted, -machine.balance - F.T @ signed]))
    signed[some] = solved[: some.size]
    return y * signed, solved[some.size :], machine.times(signed)


def _shortest_solution(system: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Equal samples make the system singular; the shortest solution shares between them."""
    return np.linalg.lstsq(system, right, rcond=1e-11)[0]
