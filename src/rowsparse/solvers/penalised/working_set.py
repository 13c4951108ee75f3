"""The working set of rows: the first guess, how it grows, its Gram matrix, the model on it.

A step of the working-set solver reads X twice: to choose rows by the gradient at zero, and to
certify what they gave. With many more samples than features a part of them tells nearly as well
which rows to take, so X is read once. A wrong guess costs time, never the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.rows import largest, nonzero_rows
from ...numerics.threads import blas_threads_for
from ...problems.penalised import Evaluation, PenalisedProblem
from .model import GramModel, Model, SampleModel

SMALLEST_GROWTH = 10  # rows
# One sample in so many is looked at for the first guess: 100,000 x 500 x 5 at a tenth of alpha_max
# takes 57 ms of one core with it and 112 without.
FRACTION = 16
SLACK = 0.2  # a gradient that is short of the penalty by so much less may be so by chance


@dataclass
class WorkingSet:
    """Rows, and their Gram matrix where one is kept (None where it is not)."""

    rows: np.ndarray
    G: np.ndarray | None = None

    @classmethod
    def of(cls, problem: PenalisedProblem, rows: np.ndarray) -> WorkingSet:
        """The named rows, and no others."""
        return cls(rows[:0]).with_rows(problem, rows)

    def grown(
        self, problem: PenalisedProblem, W: np.ndarray, evaluation: Evaluation, tol: float
    ) -> WorkingSet:
        """With the worst rows added, and those that W or the penalty wants in."""
        inside = np.zeros(problem.n_rows, bool)
        inside[self.rows] = True
        support = nonzero_rows(W)
        needed = (support | problem.penalty.free(problem.n_rows)) & ~inside
        scores = np.where(inside | needed, 0.0, evaluation.scores)
        wrong = int(np.count_nonzero(scores > tol / 2))
        room = self._room(problem, int(np.count_nonzero(support)))
        new = np.union1d(np.flatnonzero(needed), largest(scores, min(wrong, room)))
        return self.with_rows(problem, new)

    def _room(self, problem: PenalisedProblem, n_nonzero: int) -> int:
        """How many rows may join: for convex problems many at once, else few, worst first."""
        if not problem.penalty.convex:
            return max(SMALLEST_GROWTH, n_nonzero)
        if not self.rows.size:  # as many as make the Gram matrix cost about ten passes over X
            return max(SMALLEST_GROWTH, int(np.sqrt(10 * problem.n_rows * problem.Y.shape[1])))
        return max(SMALLEST_GROWTH, 2 * n_nonzero)

    def with_rows(self, problem: PenalisedProblem, new: np.ndarray) -> WorkingSet:
        """With new rows; of the Gram matrix only the new pairs are computed."""
        rows = np.concatenate([self.rows, new])
        most = max(2 * problem.design.shape[0], 1000)
        if not problem.loss.quadratic or not 0 < rows.size <= most:
            return WorkingSet(rows)
        with blas_threads_for(2.0 * len(problem.Y) * len(new) * len(rows)):
            return WorkingSet(rows, self._gram_with(problem, new))

    def _gram_with(self, problem: PenalisedProblem, new: np.ndarray) -> np.ndarray:
        gram = problem.design.gram
        s = problem.loss.weights(len(problem.Y)) / len(problem.Y)
        old = self.rows
        if self.G is None:
            both = np.concatenate([old, new])
            return gram(both, both, s)
        if not len(new):
            return self.G
        k = len(old)
        G = np.empty((k + len(new),) * 2)
        G[:k, :k] = self.G
        G[k:, k:] = gram(new, new, s)
        cross = gram(old, new, s)
        G[:k, k:] = cross
        G[k:, :k] = cross.T
        return G

    def model(self, problem: PenalisedProblem, W: np.ndarray, evaluation: Evaluation) -> Model:
        """The problem at W, which has been evaluated, restricted to these rows."""
        own = W[self.rows]
        if self.G is not None:
            return GramModel(self.G, own, evaluation.gradient[self.rows])
        loss = problem.loss.smoothed(evaluation.smoothing)
        X = problem.design.take(self.rows)
        return SampleModel(X, own, evaluation.residual, loss, problem.metric_weights)


def guessed_rows(problem: PenalisedProblem) -> np.ndarray | None:
    """Rows that the gradient at the null model, over some samples, moves away from zero.

    None where a look at a part says too little (few samples, many rows) or costs as much as one at
    all of them, or where the gradient is known anyway.
    """
    n, d = problem.design.shape
    simple = problem.convex and problem.loss.plain
    if not simple or not _part_tells(n, d) or "null_gradient" in problem.__dict__:
        return None
    samples = _spread(n)
    gradient = problem.design.rmatmul_over(samples, problem.unexplained)
    if gradient is None or not np.isfinite(gradient).all():
        return None
    gradient /= sum(some.stop - some.start for some in samples)
    needed = (1 - SLACK) * problem.penalty.strength(d)
    pulled = problem.penalty.dual_sizes(gradient) >= needed
    rows = np.flatnonzero(pulled | nonzero_rows(problem.null_point))
    return rows if rows.size <= np.sqrt(n) else None


def _part_tells(n: int, d: int) -> bool:
    """Whether a part holds 4000 samples, and ten per feature: fewer rank features too badly."""
    return n >= FRACTION * max(4000, 10 * d)


def _spread(n: int) -> list[slice]:
    """Eight stretches of samples, spread evenly: neighbours are often alike."""
    size = n // (8 * FRACTION)
    starts = np.linspace(0, n - size, 8).astype(int)
    return [slice(start, start + size) for start in starts.tolist()]
