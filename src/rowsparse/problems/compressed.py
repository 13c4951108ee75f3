"""The same problem on fewer samples: squared loss knows X and Y by their products alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..designs import as_design
from ..designs.base import Design
from ..losses.residual import ResidualLoss
from ..numerics.memory import COPY_BYTES
from .penalised import PenalisedProblem

# Columns of [X Y]: the root of a larger matrix takes seconds. With 643 (ISOLET1, 1560 samples) 50
# alphas at p = 0.5 take 12.6 s, not 15.3; with 266 (USPS, 9298) a fit to 50 rows .35 s, not .85.
MOST = 1000


def compressed(problem: PenalisedProblem) -> PenalisedProblem:
    """A problem of equal objective for every W, on as many samples as there are columns in [X Y].

    With squared loss only the products of these columns count, and a root of their matrix has the
    same. It pays where a problem is solved many times. The problem itself where its loss is
    another one, or where there are hardly more samples than columns.
    """
    n, d = problem.design.shape
    m = d + problem.Y.shape[1]
    if not problem.loss.quadratic or 2 * m > n or m > MOST:
        return problem
    root = _root(_products(problem))
    if not np.isfinite(root).all():
        return problem  # NaN in X: the problem's own sums will say so
    return _on(root, problem)


def of_one_pass(problem: PenalisedProblem) -> PenalisedProblem:
    """The same of a design in blocks whose one pass has left the moments of [X Y], else the problem
    itself. The root is that of the central products, with the means as one sample more: columns
    far from zero lose no digits."""
    if not problem.loss.quadratic:
        return problem
    moments = problem.design.moments(problem.loss.weights(len(problem.Y)), problem.Y)
    if moments is None:
        return problem
    mean = np.sqrt(moments.total) * moments.means
    return _on(np.vstack([_root(moments.products), mean]), problem)


def _on(root: np.ndarray, problem: PenalisedProblem) -> PenalisedProblem:
    """The problem on these rows of [X Y], whose products are those of all samples."""
    n, d = problem.design.shape
    few = len(root)
    loss = ResidualLoss(2.0, np.full(few, few / n))
    on_few = replace(problem, design=as_design(root[:, :d]), Y=root[:, d:].copy(), loss=loss)
    on_few.__dict__["sample_curvatures"] = problem.sample_curvatures
    return on_few


def _products(problem: PenalisedProblem) -> np.ndarray:
    """``[X Y]' diag(s) [X Y]``."""
    n, d = problem.design.shape
    s = problem.loss.weights(n)
    SY = s[:, None] * problem.Y
    A = np.empty((d + problem.Y.shape[1],) * 2)
    blocks = _blocks(n, d)
    A[:d, :d] = _gram(problem.design, s, blocks)
    # by columns, which are float64: a product in float32 would be wrong in the seventh digit
    A[:d, d:] = np.vstack([problem.design.rmatmul_of(block, SY) for block in blocks])
    A[d:, :d] = A[:d, d:].T
    A[d:, d:] = problem.Y.T @ SY
    return A


def _blocks(n: int, d: int) -> list[np.ndarray]:
    size = max(1, COPY_BYTES // (8 * n))
    return [np.arange(start, min(start + size, d)) for start in range(0, d, size)]


def _gram(design: Design, s: np.ndarray, blocks: list[np.ndarray]) -> np.ndarray:
    return np.block([[design.gram(left, right, s) for right in blocks] for left in blocks])


def _root(A: np.ndarray) -> np.ndarray:
    """R with R'R = A, to rounding in the scale of every single column."""
    scale = np.sqrt(A.diagonal())
    scale[scale == 0] = 1.0
    if not np.isfinite(scale).all():
        return A * np.nan
    A = A / scale[:, None] / scale
    varies = np.flatnonzero(A.diagonal())
    root = np.zeros_like(A)
    try:  # thirty times as fast as the eigenvalues, and as exact where it goes through
        root[np.ix_(varies, varies)] = np.linalg.cholesky(A[np.ix_(varies, varies)]).T
        return root * scale
    except np.linalg.LinAlgError:  # some columns depend on others
        values, vectors = np.linalg.eigh(A)
    return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T * scale
