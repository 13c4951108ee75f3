r"""The linear system of reweighted least squares, in the smaller of two spaces.

Both functions minimise ``1/2 sum_i h_i |x_i'W - y_i|**2 + 1/2 sum_j q_j |w_j|**2``, the first
through the d x d normal matrix, the second through an n x n system.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve
from scipy.linalg.lapack import dpotrf, dpotrs, spotrf, spotrs


def ridge_by_features(G: np.ndarray, q: np.ndarray, B: np.ndarray) -> np.ndarray:
    """``(G + diag(q)) W = B`` with G = X'HX and B = X'HY, scaled to a unit diagonal first.

    The weights q span many decades; the scaling keeps the factorisation accurate in all of them.
    """
    diagonal = G.diagonal() + q
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    A = G * scale[:, None] * scale
    np.fill_diagonal(A, 1.0 + 1e-14)
    return scale[:, None] * solve_positive(A, scale[:, None] * B)


def ridge_by_samples(
    K: np.ndarray, h: np.ndarray, F: np.ndarray, Y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Theta and beta with ``W_penalised = diag(1/q) X'Theta`` and ``W_free = beta``.

    K = X diag(1/q) X' over the penalised columns, F the unpenalised columns (n x f, f may be 0):
    ``(K + diag(1/h)) Theta + F beta = Y`` and ``F'Theta = 0``.
    """
    A = K.copy()
    A[np.diag_indices_from(A)] += 1 / h
    both = solve_positive(A, np.hstack([Y, F]))
    Theta, through_F = both[:, : Y.shape[1]], both[:, Y.shape[1] :]
    if not F.shape[1]:
        return Theta, np.zeros((0, Y.shape[1]))
    beta = np.linalg.lstsq(F.T @ through_F, F.T @ Theta, rcond=None)[0]
    return Theta - through_F @ beta, beta


def solve_positive(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Solve with a positive semidefinite A; where Cholesky breaks down, by a pivoted method."""
    try:
        return cholesky_solver(A.copy())(B)
    except np.linalg.LinAlgError:
        return solve(A, B, assume_a="sym", check_finite=False)


def cholesky_solver(A: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Solves with a positive definite A in the precision of A, which is overwritten.

    LAPACK itself: around small systems the checks of scipy.linalg cost more than the arithmetic.
    """
    if not len(A):  # LAPACK refuses systems without unknowns
        return lambda B: B.copy()
    potrf, potrs = (spotrf, spotrs) if A.dtype == np.float32 else (dpotrf, dpotrs)
    factor, failed = potrf(A.T if A.flags.c_contiguous else A, lower=True, overwrite_a=True)
    if failed:
        raise np.linalg.LinAlgError(f"the leading minor of order {failed} is not positive definite")
    return lambda B: potrs(factor, B, lower=True)[0].reshape(B.shape)
