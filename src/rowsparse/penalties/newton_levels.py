r"""Newton steps for the l_{p,inf} penalty, on the structure that sweeps have found.

The penalty has kinks where entries of a row tie at its largest magnitude, and in solutions most
rows have such ties. Given which entries are at the level t_j of their row (with signs s_jk) and
which are below it and free, the objective is smooth in the levels and the free entries:

    W_jk = s_jk t_j  (clipped)  or  W_jk  (free),      penalty = sum_j strength_j t_j**p.

The loss couples only entries of one output, so the Hessian is an arrow: one block of free entries
per output, tied together by the levels alone. Eliminating the blocks leaves a system with one
unknown per row: for m rows and c outputs a step costs O(c m**3), not O((c m)**3). For p = 1 it is
the exact minimiser of the structure. Where free entries would exceed their level and levels turn
negative on a step, it is taken once more with these held at the level and at zero, and every step
is accepted by the true objective. One that has to be shortened says that the structure is another.

Where columns are nearly equal, steps are so long that clipping whatever overshoots undoes them.
Then the structure is changed one entry at a time instead, as active-set methods do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from ..numerics.rows import nonzero_rows, row_squares
from ..numerics.systems import LIFTS, Cholesky, lifted_cholesky
from .base import RowPenalty
from .local_model import LocalModel

NEWTON_STEPS = 2  # before sweeps look at the structure again: they are cheaper at that
LARGEST = 3000  # rows: a Gram matrix of so many is formed
DAMPINGS = (1 / 2, 1 / 4)  # powers of the precision: parts by which a diagonal is raised
AT_LEVEL = 1e-9  # relative distance to the level within which an entry is clipped
STEP_LENGTHS = 3.0 ** -np.arange(6)  # that are tried, the full step first
# What changing the structure entry by entry may cost before sweeps look at it again. GLIOMA /50,
# p = 1 (133 rows, 50 samples) takes .49 s of CPU without it, .60 s with 5e7 and 1.2 s with 1e9; 20
# samples of 15 columns equal up to 1e-2 take .1 s with it and over 60 s without.
FACES_FLOPS = 5e7
MOST_FACES = 200  # on few rows: several times the number of their entries


def newton_on_levels(model: LocalModel, penalty: RowPenalty, tol: float) -> bool:
    """Newton steps on the nonzero rows until their gradient is small or no full step helps, which
    it returns: the structure is another one then, and sweeps find it for less."""
    strength = penalty.strength(len(model.W))
    for _ in range(NEWTON_STEPS):
        support = np.flatnonzero(nonzero_rows(model.W) & (model.curvatures > 0))
        if not 0 < support.size <= LARGEST:
            return False
        model.focus(support)
        Q = model.gradient()[support]
        here = _Structure.of(model.W[support], Q, strength[support], penalty)
        if here.violation(model.metric[support]) <= tol / 2:
            return False
        steps = here.damped_steps(model.gram())
        length = next(filter(None, (_accept(model, here, D) for D in steps)), 0.0)
        if not length:
            _follow_faces(model, here.tied())
        if length < 1:
            return True
    return False


@dataclass
class _Block:
    """The free entries of one output, eliminated: ``L'd = half - coupling @ levels``."""

    inside: np.ndarray  # their rows
    factor: Cholesky  # L L' is their Hessian
    coupling: np.ndarray
    half: np.ndarray


@dataclass
class _Structure:
    """Rows with their levels, and the gradient of the loss in them."""

    W: np.ndarray
    Q: np.ndarray
    strength: np.ndarray
    penalty: RowPenalty
    levels: np.ndarray  # t_j, of penalised rows
    signs: np.ndarray  # s_jk where clipped, else 0
    alive: np.ndarray  # rows that are not held at zero

    @classmethod
    def of(
        cls, W: np.ndarray, Q: np.ndarray, strength: np.ndarray, penalty: RowPenalty
    ) -> _Structure:
        levels = np.abs(W).max(axis=1)
        alive = np.ones(len(W), bool)
        here = cls(W, Q, strength, penalty, levels, np.zeros_like(W), alive).tied()
        inward = here.signs * Q > 0  # the loss falls below the level: free it, unless all would be
        stays = ~here.free & ~inward
        inward &= stays.any(axis=1)[:, None]
        here.signs[inward] = 0.0
        return here

    def tied(self) -> _Structure:
        """With all entries at the level of their row clipped."""
        floors = (1 - AT_LEVEL) * self.levels
        clipped = np.abs(self.W) >= floors[:, None]
        clipped &= self.penalised[:, None]
        return replace(self, signs=np.where(clipped, np.sign(self.W), 0.0))

    def moved(self, model: LocalModel) -> _Structure:
        """The same structure where the model is now, without rows that have died."""
        alive = nonzero_rows(model.W[model.support])
        model.focus(model.support[alive])
        W = model.W[model.support]
        return replace(
            self,
            W=W,
            Q=model.gradient()[model.support],
            strength=self.strength[alive],
            levels=np.abs(W).max(axis=1),
            signs=self.signs[alive],
            alive=alive[alive],
        )

    def free_one(self) -> bool:
        """Free the clipped entry that the loss pulls inward most, if there is one; the last one of
        a row holds its level."""
        inward = self.signs * self.Q
        inward[np.count_nonzero(self.signs, axis=1) == 1] = 0.0
        worst = np.unravel_index(np.argmax(inward), inward.shape)
        if inward[worst] <= 0:
            return False
        self.signs[worst] = 0.0
        return True

    def value(self, W: np.ndarray) -> float:
        """The penalty of these rows at W."""
        sizes = np.where(self.penalised, np.abs(W).max(axis=1), 0.0)
        return float(self.strength @ self.penalty.phi(sizes))

    @property
    def penalised(self) -> np.ndarray:
        return (self.strength > 0) & self.alive

    @property
    def free(self) -> np.ndarray:
        return (self.signs == 0) & self.alive[:, None]

    def slopes(self) -> np.ndarray:
        """Derivative of the objective in each level."""
        of_loss = np.einsum("ij,ij->i", self.signs, self.Q)
        used = self.penalised
        of_loss[used] += self.strength[used] * self.penalty.dphi(self.levels[used])
        return of_loss

    def violation(self, metric: np.ndarray) -> float:
        inside = np.where(self.free, self.Q, 0.0)
        squares = row_squares(inside)
        squares += self.slopes() ** 2 / self.n_tied
        return float(np.sqrt(np.max(squares / metric)))

    @property
    def n_tied(self) -> np.ndarray:
        """How many entries of each row are at its level, at least one: to divide by."""
        return np.maximum(np.count_nonzero(self.signs, axis=1), 1)

    def steps(self, G: np.ndarray, tangent: bool = False) -> Iterator[np.ndarray]:
        """Newton's step, and for when that is uphill or too long (or at once, if ``tangent``) the
        one with the penalty's tangent, which lies above a concave penalty and touches it."""
        flat = np.zeros_like(self.levels)
        bends = [flat]
        if not (tangent or self.penalty.convex):
            used = self.penalised
            curvature = flat.copy()
            curvature[used] = self.strength[used] * self.penalty.d2phi(self.levels[used])
            bends = [curvature, flat]
        A = G * (self.signs @ self.signs.T)
        right = -self.slopes()
        n_outputs = self.W.shape[1]
        try:
            blocks = [self._eliminate(G, k, A, right) for k in range(n_outputs)]
        except np.linalg.LinAlgError:
            return
        for bend in bends:
            try:
                yield self._solve(A, right, blocks, bend)
            except np.linalg.LinAlgError:
                continue

    def feasible_steps(self, G: np.ndarray) -> Iterator[np.ndarray]:
        """``steps``, or, where entries would pass their level or levels zero on one, what is best
        for the others if these stop there: beyond it the structure does not hold, and the others
        would follow them."""
        for D in self.steps(G):
            held = self.holding(G, D)
            again = None if held is None else next(held.steps(G), None)
            yield D if held is None or again is None else held.W + again - self.W

    def damped_steps(self, G: np.ndarray) -> Iterator[np.ndarray]:
        """``feasible_steps``, and for when none of them helps shorter ones: more free entries than
        samples leave G singular, and steps go far where only the penalty tells them to."""
        yield from self.feasible_steps(G)
        for power in DAMPINGS:
            raised = G + np.diag(np.finfo(float).eps ** power * G.diagonal())
            yield from islice(self.feasible_steps(raised), 1)

    def holding(self, G: np.ndarray, D: np.ndarray) -> _Structure | None:
        """The structure where all that D would take too far stands at its level or at zero, and is
        held there; None where nothing does, and where rows die under a penalty that is not
        convex: which ones is for sweeps to decide (warpPIE10P /10 ends .8 % higher if not).
        """
        levels = self.levels + self.level_changes(D)
        ends = self.W + D
        dies = self.penalised & (levels <= 0)
        stays = self.penalised & ~dies
        passes = self.free & stays[:, None] & (np.abs(ends) > levels[:, None])
        if dies.any() and not self.penalty.convex:
            return None
        if not (dies.any() or passes.any()):
            return None
        signs = np.where(passes, np.sign(ends), self.signs)
        signs[dies] = 0.0
        W = np.where(passes, signs * self.levels[:, None], self.W)
        W[dies] = 0.0
        Q = self.Q + G @ (W - self.W)
        return replace(self, W=W, Q=Q, signs=signs, alive=self.alive & ~dies)

    def first_meeting(self, D: np.ndarray) -> tuple[float, tuple[int, int] | None, int]:
        """How far along D, at most 1, a free entry meets its level or a level zero: which entry, if
        it is one, and the row."""
        change = self.level_changes(D)
        levels = self.levels[:, None]
        # an entry may meet its level from below or, with the other sign, from above
        sides = np.where(D * levels >= self.W * change[:, None], 1.0, -1.0)
        closing = sides * D - change[:, None]
        may_meet = self.free & self.penalised[:, None]
        closing[~may_meet] = 0.0
        room = np.maximum(levels - sides * self.W, 0.0)
        meets = np.divide(room, closing, out=np.full_like(D, np.inf), where=closing > 0)
        falls = (change < 0) & self.penalised
        dies = np.divide(-self.levels, change, out=np.full_like(change, np.inf), where=falls)
        row, output = divmod(int(np.argmin(meets)), D.shape[1])
        if meets[row, output] <= min(dies.min(), 1.0):
            return float(meets[row, output]), (row, output), row
        row = int(np.argmin(dies))
        return min(float(dies[row]), 1.0), None, row

    def level_changes(self, D: np.ndarray) -> np.ndarray:
        """The change of every level along D."""
        return np.einsum("ij,ij->i", self.signs, D) / self.n_tied

    def _solve(
        self, A: np.ndarray, right: np.ndarray, blocks: list[_Block | None], bend: np.ndarray
    ) -> np.ndarray:
        """The rest of the arrow system: the levels, then back to the blocks of free entries."""
        rows = np.flatnonzero(self.signs.any(axis=1))
        change = np.zeros(len(A))
        if rows.size:
            # one lift only: where it fails the bend is too concave, and another one is tried
            levels = lifted_cholesky(A[np.ix_(rows, rows)], bend[rows], LIFTS[:1])
            change[rows] = levels(right[rows])
        D = change[:, None] * self.signs
        for k, block in enumerate(blocks):
            if block is not None:
                right_of_block = block.half - block.coupling @ change
                D[block.inside, k] = block.factor.back(right_of_block)
        return D

    def _eliminate(self, G: np.ndarray, k: int, A: np.ndarray, right: np.ndarray) -> _Block | None:
        """Take the free entries of output k out of the system of levels (A, right), in place."""
        inside = np.flatnonzero(self.free[:, k])
        if not inside.size:
            return None
        rows = np.flatnonzero(self.signs[:, k])
        factor = lifted_cholesky(G[np.ix_(inside, inside)])
        half = factor.forward(-self.Q[inside, k])
        coupling = np.zeros((inside.size, len(G)))
        if rows.size:
            cross = G[np.ix_(inside, rows)] * self.signs[rows, k]
            part = factor.forward(cross)
            coupling[:, rows] = part
            A[np.ix_(rows, rows)] -= part.T @ part
            right[rows] -= part.T @ half
        return _Block(inside, factor, coupling, half)


def _accept(model: LocalModel, here: _Structure, D: np.ndarray) -> float:
    """Search along D for a lower objective; rows stop at zero and entries at their level.

    Returns the length of the step, 0 if there was none.
    """
    change = here.level_changes(D)
    for t in STEP_LENGTHS:
        levels = np.maximum(here.levels + t * change, 0.0)
        bounds = np.where(here.penalised, levels, np.inf)[:, None]
        after = np.clip(here.W + t * D, -bounds, bounds)
        if _lowers(model, here, after):
            return float(t)
    return 0.0


def _lowers(model: LocalModel, here: _Structure, after: np.ndarray) -> bool:
    """Go there if the objective is lower."""
    step = after - here.W
    of_penalty = here.value(after)
    if not model.along(step) + of_penalty - here.value(here.W) < 0:
        return False
    model.move(step)
    return True


def _follow_faces(model: LocalModel, here: _Structure) -> None:
    """From face to face of the structure: a step ends where the first entry meets its level, which
    then holds it, or where a row dies; at the minimum of a face the entry that pulls inward most is
    freed."""
    n_rows, n_outputs = here.W.shape
    of_one = 2.0 * n_outputs * n_rows**3
    n_faces = int(np.clip(FACES_FLOPS / of_one, 1, MOST_FACES))
    for _ in range(n_faces):
        D = next(here.steps(model.gram(), tangent=True), None)
        if D is None:
            return
        t, met, row = here.first_meeting(D)
        after = here.W + t * D
        if met is None and t < 1:
            after[row] = 0.0
        if t > 0 and not _lowers(model, here, after):
            return
        here = here.moved(model)
        if met is not None:
            here.signs[met] = np.sign(here.W[met])
        elif not len(here.W) or (t == 1 and not here.free_one()):
            return
