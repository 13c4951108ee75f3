"""The working set of rows: a first guess, how it grows, its Gram matrix, and the model on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.memory import COPY_BYTES, beyond_memory
from ...numerics.rows import largest, nonzero_rows
from ...numerics.threads import blas_threads_for
from ...penalties.local_model import LocalModel
from ...problems.in_blocks import BlockedProblem
from ...problems.penalised import Evaluation, PenalisedProblem
from .blocked_model import BlockedModel
from .model import GramModel, SampleModel

# One sample in so many is looked at for the first guess: 100,000 x 500 x 5 at a tenth of alpha_max
# takes 57 ms of one core with it and 112 without.
FRACTION = 16
SMALLEST_GROWTH = 10  # rows: a step costs a pass over X whether few rows or one join


@dataclass
class WorkingSet:
    """Rows, and their Gram matrix where one is kept (None where it is not)."""

    rows: np.ndarray
    G: np.ndarray | None = None

    @classmethod
    def of(cls, problem: PenalisedProblem, rows: np.ndarray) -> WorkingSet:
        """The named rows, and no others."""
        return cls(rows[:0])._with(problem, rows)

    def grown(
        self, problem: PenalisedProblem, W: np.ndarray, evaluation: Evaluation, tol: float
    ) -> WorkingSet:
        """With the worst rows added, and those that W or the penalty wants in."""
        inside = np.zeros(problem.n_rows, bool)
        inside[self.rows] = True
        support = nonzero_rows(W)
        wanted = support | problem.penalty.free(problem.n_rows)
        needed = wanted & ~inside
        taken = inside | needed
        scores = np.where(taken, 0.0, evaluation.scores)
        # rows that are wrong by less would leave the point within the tolerance
        wrong = scores > tol / 2
        n_wrong = int(np.count_nonzero(wrong))
        n_nonzero = int(np.count_nonzero(support))
        room = self._room(problem, n_nonzero)
        if not problem.loss.quadratic:  # a dense block of columns, of which there are some copies
            fitting = COPY_BYTES // (8 * len(problem.Y))
            room = min(room, max(SMALLEST_GROWTH, fitting))
        worst = largest(scores, min(n_wrong, room))
        joining = np.union1d(np.flatnonzero(needed), worst)
        return self._with(problem, joining)

    def _room(self, problem: PenalisedProblem, n_nonzero: int) -> int:
        """How many rows may join: for convex problems many at once, else few, worst first."""
        if not problem.penalty.convex:
            # each row that joins too early is a local minimum that may hold it
            room = n_nonzero
        elif self.rows.size:
            room = 2 * n_nonzero
        else:  # as many as make the Gram matrix cost about ten passes over X
            room = int(np.sqrt(10 * problem.n_rows * problem.Y.shape[1]))
        return max(SMALLEST_GROWTH, room)

    def _with(self, problem: PenalisedProblem, new: np.ndarray) -> WorkingSet:
        """With new rows; of the Gram matrix only the new pairs are computed."""
        rows = np.concatenate([self.rows, new])
        # beyond twice the samples the block of columns is smaller than its Gram matrix
        most = max(2 * problem.design.shape[0], 1000)
        seen = not isinstance(problem, BlockedProblem)
        by_gram = seen and problem.loss.quadratic and 0 < rows.size <= most
        wide = rows.size if by_gram else len(problem.Y)
        refusal = beyond_memory(8.0 * wide * rows.size)
        if refusal is not None:
            raise ValueError(
                f"Expected a working set that fits into memory, got {rows.size} rows: {refusal}; "
                "raise alpha, or ask for fewer features."
            )
        if not by_gram:
            return WorkingSet(rows)
        flops = 2.0 * len(problem.Y) * len(new) * len(rows)
        with blas_threads_for(flops):
            return WorkingSet(rows, self._gram_with(problem, new))

    def _gram_with(self, problem: PenalisedProblem, new: np.ndarray) -> np.ndarray:
        n = len(problem.Y)
        shares = problem.loss.weights(n) / n
        if self.G is None:
            return _gram_of(problem, np.concatenate([self.rows, new]), shares)
        if not len(new):
            return self.G
        cross = problem.design.gram(self.rows, new, shares)
        among = _gram_of(problem, new, shares)
        return np.block([[self.G, cross], [cross.T, among]])

    def model(self, problem: PenalisedProblem, W: np.ndarray, evaluation: Evaluation) -> LocalModel:
        """The problem at W, which has been evaluated, restricted to these rows."""
        own = W[self.rows]
        if self.G is not None:
            return GramModel(self.G, own, evaluation.gradient[self.rows])
        if isinstance(problem, BlockedProblem):
            return BlockedModel.of(problem, self.rows, W, evaluation.smoothing)
        loss = problem.loss.smoothed(evaluation.smoothing)
        X = problem.design.take(self.rows)
        ridges = problem.ridges[self.rows]
        E = evaluation.residual
        return SampleModel(X, own, E, loss, problem.metric_weights, ridges)


def _gram_of(problem: PenalisedProblem, rows: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The Gram matrix of these columns, with the ridges on the diagonal of those that vary."""
    G = problem.design.gram(rows, rows, shares)
    ridges = problem.ridges[rows]
    if ridges.any():
        diagonal = np.einsum("ii->i", G)
        diagonal += np.where(diagonal > 0, ridges, 0.0)
    return G


def guessed_rows(problem: PenalisedProblem) -> np.ndarray | None:
    """Rows that the gradient at the null model, over some samples, moves away from zero.

    With many more samples than features a part of them tells nearly as well which rows to take, so
    X is read once, to certify. A wrong guess costs time, never the certificate.
    None where a look at a part says too little (few samples, many rows) or costs as much as one at
    all of them, or where the gradient is known anyway.
    """
    n, d = problem.design.shape
    simple = problem.convex and problem.loss.plain
    if not simple or not _part_tells(n, d) or "null_gradient" in problem.__dict__:
        return None
    # eight stretches of samples, spread evenly: neighbours are often alike
    size = n // (8 * FRACTION)
    starts = np.linspace(0, n - size, 8)
    samples = [slice(start, start + size) for start in starts.astype(int).tolist()]
    gradient = problem.design.rmatmul_over(samples, problem.unexplained)
    if gradient is None or not np.isfinite(gradient).all():
        return None
    gradient /= 8 * size
    # a gradient that is short of the penalty by a fifth may be so by chance
    pulls = problem.penalty.dual_sizes(gradient)
    pulled = pulls >= 0.8 * problem.penalty.strength(d)
    in_anyway = nonzero_rows(problem.null_point)
    rows = np.flatnonzero(pulled | in_anyway)
    return rows if rows.size <= np.sqrt(n) else None


def _part_tells(n: int, d: int) -> bool:
    """Whether a part holds 4000 samples, and ten per feature: fewer rank features too badly."""
    return n >= FRACTION * max(4000, 10 * d)
