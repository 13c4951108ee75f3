r"""Newton steps for the l_{p,inf} penalty, on the structure that sweeps have found.

The penalty has kinks where entries of a row tie at its largest magnitude, and in solutions most
rows have such ties. Given which entries are at the level t_j of their row (with signs s_jk) and
which are below it and free, the objective is smooth in the levels and the free entries:

    W_jk = s_jk t_j  (clipped)  or  W_jk  (free),      penalty = sum_j strength_j t_j**p.

The loss couples only entries of one output, so the Hessian is an arrow: one block of free entries
per output, tied together by the levels alone. Eliminating the blocks leaves a system with one
unknown per row: for m rows and c outputs a step costs O(c m**3), not O((c m)**3). For p = 1 it is
the exact minimiser of the structure. A free entry that would exceed its level is clipped there, a
level that would turn negative removes its row, and every step is accepted by the true objective.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..numerics.rows import nonzero_rows
from ..numerics.systems import Cholesky, lifted_cholesky
from .base import LocalModel, RowPenalty

NEWTON_STEPS = 2  # before sweeps look at the structure again: they are cheaper at that
LARGEST = 3000  # rows: a Gram matrix of so many is formed
AT_LEVEL = 1e-9  # relative distance to the level within which an entry is clipped
LIFTS = (1e-13, 1e-10, 1e-7)  # of the diagonal, where elimination left a block singular
NO_LENGTH = 1e-3  # of a step at which the first row dies: the step's own length means nothing


def newton_on_levels(model: LocalModel, penalty: RowPenalty, tol: float) -> None:
    """Newton steps on the nonzero rows until their gradient is small or no step helps."""
    strength = penalty.strength(len(model.W))
    for _ in range(NEWTON_STEPS):
        support = np.flatnonzero(nonzero_rows(model.W) & (model.curvatures > 0))
        if not 0 < support.size <= LARGEST:
            return
        model.focus(support)
        here = _Structure.of(
            model.W[support], model.gradient()[support], strength[support], penalty
        )
        if here.violation(model.metric[support]) <= tol / 2:
            return
        if not any(_accept(model, here, D) for D in here.steps(model.gram())):
            return


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

    @classmethod
    def of(
        cls, W: np.ndarray, Q: np.ndarray, strength: np.ndarray, penalty: RowPenalty
    ) -> _Structure:
        levels = np.abs(W).max(axis=1)
        clipped = (strength > 0)[:, None] & (np.abs(W) >= (1 - AT_LEVEL) * levels[:, None])
        signs = np.where(clipped, np.sign(W), 0.0)
        inward = signs * Q > 0  # the loss falls below the level: free it, unless all would be
        inward &= (clipped & ~inward).any(axis=1)[:, None]
        return cls(W, Q, strength, penalty, levels, np.where(inward, 0.0, signs))

    @property
    def free(self) -> np.ndarray:
        return self.signs == 0

    def slopes(self) -> np.ndarray:
        """Derivative of the objective in each level."""
        own = np.where(self.strength > 0, self.strength * self.penalty.dphi(self.levels), 0.0)
        return np.einsum("ij,ij->i", self.signs, self.Q) + own

    def violation(self, metric: np.ndarray) -> float:
        tied = np.maximum(np.count_nonzero(self.signs, axis=1), 1)
        inside = np.where(self.free, self.Q, 0.0)
        squares = np.einsum("ij,ij->i", inside, inside) + self.slopes() ** 2 / tied
        return float(np.sqrt(np.max(squares / metric)))

    def steps(self, G: np.ndarray) -> Iterator[np.ndarray]:
        """Newton's step, and for when that is uphill or too long: those with the penalty's tangent
        and with a parabola in its place. Both lie above a concave penalty and touch it, so their
        steps do not overshoot within the structure."""
        t = self.levels
        penalised = self.strength > 0
        slope = np.where(penalised, self.strength * self.penalty.dphi(t) / t, 0.0)
        bends = [np.zeros_like(t), slope]
        if not self.penalty.convex:
            bends.insert(0, np.where(penalised, self.strength * self.penalty.d2phi(t), 0.0))
        try:
            A = G * (self.signs @ self.signs.T)
            right = -self.slopes()
            blocks = [self._eliminate(G, k, A, right) for k in range(self.W.shape[1])]
        except np.linalg.LinAlgError:
            return
        for bend in bends:
            try:
                yield self._solve(A, right, blocks, bend)
            except np.linalg.LinAlgError:
                continue

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
                D[block.inside, k] = block.factor.back(block.half - block.coupling @ change)
        return D

    def _eliminate(self, G: np.ndarray, k: int, A: np.ndarray, right: np.ndarray) -> _Block | None:
        """Take the free entries of output k out of the system of levels (A, right), in place."""
        inside = np.flatnonzero(self.free[:, k])
        if not inside.size:
            return None
        rows = np.flatnonzero(self.signs[:, k])
        factor = lifted_cholesky(G[np.ix_(inside, inside)], lifts=LIFTS)
        half = factor.forward(-self.Q[inside, k])
        coupling = np.zeros((inside.size, len(G)))
        if rows.size:
            cross = G[np.ix_(inside, rows)] * self.signs[rows, k]
            part = factor.forward(cross)
            coupling[:, rows] = part
            A[np.ix_(rows, rows)] -= part.T @ part
            right[rows] -= part.T @ half
        return _Block(inside, factor, coupling, half)


def _accept(model: LocalModel, here: _Structure, D: np.ndarray) -> bool:
    """Search along D for a lower objective; rows stop at zero and entries at their level."""
    penalised = here.strength > 0
    before = here.strength @ here.penalty.phi(np.where(penalised, here.levels, 0.0))
    along = np.einsum("ij,ij->i", here.signs, D)
    change = along / np.maximum(np.count_nonzero(here.signs, axis=1), 1)
    for t in _step_lengths(here.levels, change):
        levels = np.where(penalised, np.maximum(here.levels + t * change, 0.0), np.inf)[:, None]
        step = np.clip(here.W + t * D, -levels, levels) - here.W
        sizes = np.where(penalised, np.abs(here.W + step).max(axis=1), 0.0)
        gain = model.along(step) + here.strength @ here.penalty.phi(sizes) - before
        if gain < model.rounding and gain < 0:
            model.move(step)
            return True
    return False


def _step_lengths(levels: np.ndarray, change: np.ndarray) -> np.ndarray:
    """The full step and shorter ones.

    Where the Hessian is singular (more rows than samples) the step has no length of its own: it
    goes to the first row that dies, as in the simplex method.
    """
    first = float(
        np.min(np.divide(-levels, change, out=np.full_like(levels, np.inf), where=change < 0))
    )
    return first * np.array([1 + 1e-12, 0.1]) if first < NO_LENGTH else 3.0 ** -np.arange(6)
