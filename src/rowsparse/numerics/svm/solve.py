"""Ways to solve a support vector machine (``machine`` says which problem that is).

Pairs of multipliers (``smo``) or an interior point come close; linear systems make it exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..rounding import NEGLIGIBLE
from .interior_point import Multipliers
from .machine import Machine
from .smo import pairwise

# Samples up to which moves of pairs are fastest, also where there are fewer columns: six fits of
# zero norms take 1.65 times as long without.
SMALL = 100
EXACT = 1e-10  # in margins, or as a gap: that leaves about half as many digits of u
ROUGH = 1e-5  # of the objective or in margins, where machines are only compared or left again
MOVES = 20_000  # of pairs, before linear systems or an interior point take over: some never end
TALL = 4  # samples per column up to which pairs are tried before an interior point through B
GROWTH = 4  # of the samples in doubt where they were too few, and of those that a sample stands for


LinearSolver = Callable[[np.ndarray, np.ndarray], np.ndarray]


def way_for(n: int, m: int, n_free: int = 1) -> str:
    """The fastest way for n samples, m penalised columns and the free ones (the bias is one):
    "pairs" and "samples" go through K, "features" through B and in time linear in n."""
    only_bias = n_free == 1  # a pair of moves keeps one sum, not several
    small = n <= max(SMALL, m)
    hardly_tall = m > SMALL and n <= TALL * m
    if only_bias and (small or hardly_tall):
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
    if near is not None and exact and not machine.is_gram:
        # through B a reading costs little beside an interior point, and often ends it
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
        if machine.by_columns is not None:  # a singular K leads nowhere
            through_columns = machine.by_columns()
            machine = replace(through_columns, y=machine.y)
    if near is not None:
        found = refined(machine, near, 1e-8, thorough=way == "pairs")
        if found.gap <= EXACT:
            return found
    if not exact and not machine.is_gram:
        return machine.interior_point(ROUGH, near)
    return _by_interior_point(machine, near)


def _by_interior_point(machine: Machine, near: np.ndarray | None) -> Multipliers:
    """Refined where that is better; else at least the bias is exact."""
    rough = machine.interior_point(near=near)
    sharp = refined(machine, rough.a, 1e-5)
    best = sharp if sharp.gap < rough.gap else rough
    only_bias = machine.F.shape[1] == 1
    if best.gap <= EXACT or not only_bias:
        return best
    z = machine.times(machine.y * best.a)
    bias = machine.best_offset(z)  # the best there is, given u
    return best._replace(v=np.array([bias]))


def _by_pairs(
    machine: Machine, near: np.ndarray | None, enough: float
) -> tuple[np.ndarray, float, float]:
    """Multipliers, bias, and by how much the worst pair is off."""
    if machine.is_gram:
        K = machine.matrix
    elif machine.gram is not None:
        K = machine.gram()
    else:
        everything = np.arange(len(machine.y))
        K = machine.among(everything)
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
        way = way_for(n, m)
        return _at_once(machine, way, None, exact)
    z = _by_a_sample(machine) if guess is None else guess
    bias = machine.best_offset(z)
    margins = machine.margins(z, np.array([bias]))
    while 2 * in_doubt < n:
        from_the_margin = np.abs(1 - margins)
        nearest = np.argpartition(from_the_margin, in_doubt)[:in_doubt]
        doubt = np.zeros(n, dtype=bool)
        doubt[nearest] = True
        found, done = _settled(machine, margins, doubt, exact)
        if done:
            return found
        in_doubt = GROWTH * int(np.count_nonzero(doubt))
    return _at_once(machine, "features", None, exact)


def _by_a_sample(machine: Machine) -> np.ndarray:
    """B u of the machine on some samples of either class, each of which stands for several."""
    some = np.zeros(len(machine.y), dtype=bool)
    for sign in (-1.0, 1.0):
        of_class = np.flatnonzero(machine.y == sign)
        some[of_class[::GROWTH]] = True
    a = np.zeros(len(some))
    part = machine.given(a, some, 0.0)
    heavier = replace(part, c=GROWTH * part.c)
    found = _by_doubt(heavier, None, exact=False)
    a[some] = found.a
    return machine.times(machine.y * a)


def _settled(
    machine: Machine, margins: np.ndarray, doubt: np.ndarray, exact: bool
) -> tuple[Multipliers, bool]:
    """The machine of the samples in doubt, and of those that it proves wrong (added to ``doubt``),
    as long as these are fewer; and whether nothing is wrong in the end."""
    a = np.where(margins < 1, machine.c, 0.0)
    while True:
        from_the_margin = np.abs(1 - margins[doubt])
        at_stake = float(machine.c[doubt] @ from_the_margin)
        part = machine.given(a, doubt, at_stake)
        way = way_for(*part.matrix.shape)
        a[doubt], v, _ = _at_once(part, way, a[doubt], exact)
        z = machine.times(machine.y * a)
        margins = machine.margins(z, v)
        on_the_wrong_side = np.where(a > 0, margins > 1, margins < 1)
        wrong = on_the_wrong_side & ~doubt
        n_wrong = np.count_nonzero(wrong)
        wanted = NEGLIGIBLE if exact else ROUGH
        found = Multipliers(a, v, machine.gap(a, v, margins))
        done = found.gap <= wanted
        if done or not 0 < n_wrong < np.count_nonzero(doubt):
            return found, done
        doubt |= wrong


def linear_weights(B: np.ndarray, y: np.ndarray, c: np.ndarray) -> np.ndarray:
    """u of the machine on the columns of B."""
    n, m = B.shape
    is_gram = n <= max(SMALL, m)
    matrix = B @ B.T if is_gram else B
    only_bias = np.ones((n, 1))
    machine = Machine(matrix, is_gram, only_bias, y, c)
    way = way_for(n, m)
    found = solve_machine(machine, way)
    return B.T @ (y * found.a)


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
    n_free = machine.F.shape[1]
    nothing = np.zeros(n_free)
    best = Multipliers(c, nothing, np.inf)
    rank = machine.matrix.shape[1] + n_free
    rounding = 1e-9  # of a margin, by a system
    almost = machine.target - rounding
    beyond = machine.target + rounding
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
            inside_bounds = np.clip(a, 0.0, c)
            best = Multipliers(inside_bounds, v, gap)
        too_large = inside & (a > c)
        negative = inside & (a < 0)
        leaves_zero = ~upper & ~inside & (margins < almost)
        leaves_c = upper & (margins > beyond)
        wrong = too_large | negative | leaves_zero | leaves_c
        if gap <= EXACT or not wrong.any():
            break
        stays_c = upper & ~leaves_c
        stays_inside = inside & ~too_large & ~negative
        upper = stays_c | too_large
        inside = stays_inside | leaves_zero | leaves_c
    return best


def _between(
    machine: Machine, upper: np.ndarray, inside: np.ndarray, solve: LinearSolver
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Multipliers, coefficients of F, and ``K (y a)``, if those inside have margin one.

    With s = y a of those inside (I) and the others' s known, ``F's = -h`` and
    ``K_II s_I + F_I v = (y t - K s of the others)_I``.
    """
    y = machine.y
    F = machine.F
    f = F.shape[1]
    signed = np.where(upper, y * machine.c, 0.0)
    fixed = machine.times(signed)
    some = np.flatnonzero(inside)
    if not some.size:
        v = np.zeros(f)
        v[0] = machine.best_offset(fixed)
        return y * signed, v, fixed
    K = machine.among(some)
    F_inside = F[some]
    system = np.block([[K, F_inside], [F_inside.T, np.zeros((f, f))]])
    wanted = y * machine.target
    to_the_margin = wanted[some] - fixed[some]
    to_balance = -machine.balance - F.T @ signed
    right = np.concatenate([to_the_margin, to_balance])
    solved = solve(system, right)
    signed[some] = solved[: some.size]
    v = solved[some.size :]
    z = machine.times(signed)
    return y * signed, v, z


def _shortest_solution(system: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Equal samples make the system singular; the shortest solution shares between them."""
    return np.linalg.lstsq(system, right, rcond=1e-11)[0]
