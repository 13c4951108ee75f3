"""The same problem on fewer samples: squared loss knows X and Y by their products alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import solve_triangular

from ..designs import CompletedDesign, MemberProducts, as_design
from ..designs.base import Design
from ..losses.residual import ResidualLoss
from ..numerics.memory import COPY_BYTES
from ..numerics.rounding import NEGLIGIBLE
from ..numerics.rows import row_squares
from .penalised import PenalisedProblem

# Columns of [X Y]: the root of a larger matrix takes seconds. With 643 (ISOLET1, 1560 samples) 50
# alphas at p = 0.5 take 12.6 s, not 15.3; with 266 (USPS, 9298) a fit to 50 rows .35 s, not .85.
MOST = 1000
# Columns outside of the members that have a sample of their own; the others share these. It bounds
# the memory of dense copies of columns where there are a hundred thousand.
MOST_PLACES = 4096
TINY = np.finfo(float).tiny


def worth_compressing(n: int, m: int) -> bool:
    """Whether the products of m columns on n samples save more than they cost."""
    return 2 * m <= n and m <= MOST


def compressed(problem: PenalisedProblem) -> PenalisedProblem:
    """A problem of equal objective for every W, on as many samples as there are columns in [X Y].

    With squared loss only the products of these columns count, and a root of their matrix has the
    same. It pays where a problem is solved many times. The problem itself where its loss is
    another one, or where there are hardly more samples than columns.
    """
    n, d = problem.design.shape
    m = d + problem.Y.shape[1]
    if not problem.loss.quadratic or not worth_compressing(n, m):
        return problem
    root = _root(_products(problem))
    if not np.isfinite(root).all():
        return problem  # NaN in X: the problem's own sums will say so
    return _on(root, problem)


def of_passes(problem: PenalisedProblem) -> PenalisedProblem:
    """The same of a design in blocks whose first pass has left the moments of [X Y], else the
    problem itself. The root is that of the central products, with the means as one sample more:
    columns far from zero lose no digits.

    Where passes have left the products of some columns only, the others' are guessed; W on these
    members has the objective, gradient and certificate of the problem all the same.
    """
    if not problem.loss.quadratic:
        return problem
    weights = problem.loss.weights(len(problem.Y))
    moments = problem.design.moments(weights, problem.Y)
    if moments is not None:
        mean = np.sqrt(moments.total) * moments.means
        return _on(np.vstack([_root(moments.products), mean]), problem)
    known = problem.design.member_products(weights, problem.Y)
    return problem if known is None else _completed(known, problem)


def _completed(known: MemberProducts, problem: PenalisedProblem) -> PenalisedProblem:
    d = problem.design.shape[1]
    shared, own = completed_root(known, len(known.members) - problem.Y.shape[1])
    # columns of the largest products with what members leave of Y have a sample of their own each
    pull = row_squares(shared[-problem.Y.shape[1] :, :d].T) / np.maximum(known.squares[:d], TINY)
    order = np.argsort(-np.where(own > 0, pull, -1.0), kind="stable")
    place = np.empty(d, dtype=int)
    place[order] = np.arange(d) % MOST_PLACES
    mean = np.sqrt(known.total) * known.means
    shared = np.vstack([mean, shared])
    design = CompletedDesign(shared[:, :d], own, place)
    Y = np.vstack([shared[:, d:], np.zeros((design.n_own, problem.Y.shape[1]))])
    return _on_samples(design, Y, problem)


def completed_root(known: MemberProducts, n_members: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose products are those of the members with all columns of [X Y], and for the columns
    of X the length of what lies outside of their span and Y's."""
    scale = np.sqrt(known.squares)
    scale[scale == 0] = 1.0
    products = known.products / scale / scale[known.members, None]
    members = known.members[:n_members]
    targets = known.members[n_members:]
    rows = _coordinates(products[:n_members], members)
    # what the members leave of Y, then what both leave of every column
    rest = products[n_members:] - rows[:, targets].T @ rows
    rest[:, members] = 0.0
    rows = np.vstack([rows, _coordinates(rest, targets)])
    own = np.where(known.squares > 0, 1.0, 0.0) - row_squares(rows.T)
    own[own < known.digits] = 0.0  # rounding; the column lies in the span
    own[members] = 0.0
    d = len(own) - len(targets)
    return rows * scale, np.sqrt(own[:d]) * scale[:d]


def _coordinates(products: np.ndarray, members: np.ndarray) -> np.ndarray:
    """All columns along a basis of the members' span, from the members' products with them."""
    if not members.size:
        return products  # no rows; LAPACK behind older SciPy refuses empty systems
    G = products[:, members]
    try:
        L = np.linalg.cholesky(G)
        if L.diagonal().min(initial=1.0) < np.sqrt(NEGLIGIBLE):
            raise np.linalg.LinAlgError
        rows = solve_triangular(L, products, lower=True)
        rows[:, members] = L.T
    except np.linalg.LinAlgError:  # some members depend on others
        values, vectors = np.linalg.eigh((G + G.T) / 2)
        values = np.maximum(values, 0.0)
        counts = values > NEGLIGIBLE * values.max(initial=0.0)
        rows = np.zeros(products.shape)
        rows[counts] = vectors[:, counts].T @ products / np.sqrt(values[counts])[:, None]
        rows[:, members] = np.sqrt(values)[:, None] * vectors.T
    return rows


def _on(root: np.ndarray, problem: PenalisedProblem) -> PenalisedProblem:
    """The problem on these rows of [X Y], whose products are those of all samples."""
    d = problem.design.shape[1]
    return _on_samples(as_design(root[:, :d]), root[:, d:].copy(), problem)


def _on_samples(design: Design, Y: np.ndarray, problem: PenalisedProblem) -> PenalisedProblem:
    few = len(Y)
    loss = ResidualLoss(2.0, np.full(few, few / len(problem.Y)))
    on_few = replace(problem, design=design, Y=Y, loss=loss)
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
