r"""Systems with a positive definite matrix, and ridge regression in the smaller of two spaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dsysv, dtrtrs, spotrf, spotrs

from .threads import blas_threads_for

# Where rounding makes a positive semidefinite matrix indefinite, its diagonal is raised by these
# powers of the precision, one after the other: 2e-14, 1e-11 and 1e-8 of itself in float64.
LIFTS = (7 / 8, 0.7, 0.5)


@dataclass(frozen=True)
class Cholesky:
    """``A = L L'``; called with B it solves ``A X = B``.

    LAPACK itself: around small systems the checks of scipy.linalg cost more than the arithmetic.
    """

    L: np.ndarray  # only its lower triangle counts

    def __call__(self, B: np.ndarray) -> np.ndarray:
        if not len(B):  # LAPACK refuses systems without unknowns
            return B.copy()
        potrs = spotrs if self.L.dtype == np.float32 else dpotrs
        return potrs(self.L, B, lower=True)[0].reshape(B.shape)

    def forward(self, B: np.ndarray) -> np.ndarray:
        """``L X = B``."""
        return dtrtrs(self.L, B, lower=True)[0]

    def back(self, B: np.ndarray) -> np.ndarray:
        """``L'X = B``."""
        return dtrtrs(self.L, B, lower=True, trans=True)[0]

    def inverse(self) -> np.ndarray:
        """``A^-1`` as a matrix, for many products with it."""
        if not len(self.L):
            return self.L.copy()
        lower = dpotri(self.L, lower=True)[0]  # above it there are zeros, as in L
        inverse = lower + lower.T
        np.fill_diagonal(inverse, lower.diagonal())
        return inverse


def cholesky_solver(A: np.ndarray) -> Cholesky:
    """The factor of a positive definite A in the precision of A, which is overwritten."""
    if not len(A):
        return Cholesky(A)
    potrf = spotrf if A.dtype == np.float32 else dpotrf
    # LAPACK wants columns: a symmetric A is its own transpose, and need not be copied
    columns = A.T if A.flags.c_contiguous else A
    factor, failed = potrf(columns, lower=True, overwrite_a=True)
    if failed:
        raise np.linalg.LinAlgError(f"the leading minor of order {failed} is not positive definite")
    return Cholesky(factor)


def lifted_cholesky(
    A: np.ndarray, diagonal: np.ndarray | float = 0.0, lifts: Sequence[float] = LIFTS
) -> Cholesky:
    """The factor of ``A + diag(diagonal)``, raised a little where rounding made it singular."""
    own = A.diagonal()
    entries = own + diagonal
    size = np.maximum(own, entries)
    precision = np.finfo(A.dtype).eps
    for lift in precision ** np.array(lifts):
        raised = A.copy()
        np.fill_diagonal(raised, entries + lift * size)
        try:
            return cholesky_solver(raised)
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("the matrix is not positive definite")


def solve_positive(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Solve with a positive semidefinite A, which is overwritten; where Cholesky breaks down, by a
    pivoted method, and where A is singular, in least squares."""
    if not B.size:
        return B.copy()
    diagonal = A.diagonal().copy()
    L, failed = dpotrf(
        A.T if A.flags.c_contiguous else A, lower=True, clean=False, overwrite_a=True
    )
    if not failed:
        return dpotrs(L, B, lower=True)[0]
    # the upper triangle still holds A: large systems are never copied before they fail
    np.fill_diagonal(L, diagonal)
    solution, failed = dsysv(L, B, lower=False)[2:]
    if not failed and np.isfinite(solution).all():
        return solution
    A = np.triu(L) + np.triu(L, 1).T
    if not (np.isfinite(A).all() and np.isfinite(B).all()):
        return np.full_like(B, np.nan)  # the caller says what was not finite
    return np.linalg.lstsq(A, B, rcond=None)[0]


class Columns(Protocol):
    """What ridge regression asks of X; every design can do it."""

    shape: tuple[int, int]

    def rmatmul(self, R: np.ndarray) -> np.ndarray: ...
    def take(self, columns: np.ndarray) -> np.ndarray: ...
    def outer(self, factors: np.ndarray) -> np.ndarray: ...
    def gram(self, rows: np.ndarray, columns: np.ndarray, weights: np.ndarray) -> np.ndarray: ...


def ridge(X: Columns, Y: np.ndarray, h: np.ndarray, q: np.ndarray) -> np.ndarray:
    """argmin over W of ``1/2 sum_i h_i |x_i'W - y_i|**2 + 1/2 sum_j q_j |w_j|**2``.

    Rows with q = 0 are not penalised, rows with q = inf are zero. Solved through the d x d normal
    matrix or an n x n system, whichever is smaller.
    """
    used = np.flatnonzero(np.isfinite(q))
    n, d = len(Y), used.size
    W = np.zeros((len(q), Y.shape[1]))
    with blas_threads_for(2.0 * n * d * min(n, d)):
        if d > n:
            return _ridge_by_samples(X, Y, h, q)
        G, B = normal_equations(X, Y, h, used)
        W[used] = ridge_by_features(G, q[used], B)
    return W


def normal_equations(
    X: Columns, Y: np.ndarray, h: np.ndarray, used: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """``X'HX`` and ``X'HY`` of the named columns."""
    return X.gram(used, used, h), X.rmatmul(h[:, None] * Y)[used]


def ridge_by_features(G: np.ndarray, q: np.ndarray, B: np.ndarray) -> np.ndarray:
    """``(G + diag(q)) W = B``, scaled to a unit diagonal first.

    The weights q span many decades; the scaling keeps the factorisation accurate in all of them.
    """
    diagonal = G.diagonal() + q
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    A = G * scale[:, None] * scale
    np.fill_diagonal(A, 1.0 + 1e-14)
    return scale[:, None] * solve_positive(A, scale[:, None] * B)


def _ridge_by_samples(X: Columns, Y: np.ndarray, h: np.ndarray, q: np.ndarray) -> np.ndarray:
    """``W = diag(1/q) X'Theta`` and beta for the columns F without penalty, where
    ``(X diag(1/q) X' + diag(1/h)) Theta + F beta = Y`` and ``F'Theta = 0``."""
    free = np.flatnonzero(q == 0)
    inverse = np.divide(1.0, q, out=np.zeros_like(q), where=q > 0)
    A = X.outer(np.sqrt(inverse))
    A[np.diag_indices_from(A)] += 1 / h
    F = X.take(free)
    both = solve_positive(A, np.hstack([Y, F]))  # one factorisation for both right-hand sides
    Theta = both[:, : Y.shape[1]]
    through_F = both[:, Y.shape[1] :]
    beta = np.linalg.lstsq(F.T @ through_F, F.T @ Theta, rcond=None)[0]
    W = inverse[:, None] * X.rmatmul(Theta - through_F @ beta)
    W[free] = beta
    return W


def conjugate_gradients(
    times: Callable[[np.ndarray], np.ndarray],
    precondition: Callable[[np.ndarray], np.ndarray],
    B: np.ndarray,
    accuracy: float,
    max_steps: int,
) -> np.ndarray:
    """D with ``times(D)`` near B; where the matrix is not positive, a direction of descent.

    Ends when the residual, in the norm of the preconditioner, is ``accuracy`` times the first one,
    after ``max_steps``, or at a direction without positive curvature.
    """
    D = np.zeros_like(B)
    residual = B
    z = precondition(residual)
    direction = z
    rz = float(np.vdot(residual, z))
    target = accuracy**2 * rz
    for _ in range(max_steps):
        Hd = times(direction)
        curvature = float(np.vdot(direction, Hd))
        if curvature <= 1e-14 * rz:  # by rounding none; the first direction is the gradient's
            return D if D.any() else direction
        step = rz / curvature
        D = D + step * direction
        residual = residual - step * Hd
        z = precondition(residual)
        before = rz
        rz = float(np.vdot(residual, z))
        if rz <= target:
            break
        direction = z + (rz / before) * direction
    return D
