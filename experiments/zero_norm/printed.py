"""The iterations of the talk and of AROM line by line, for comparisons."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.svm import SVC

FREE = 1e4  # variance of a coefficient that is not penalised; columns have unit variance


def reweighted(X: np.ndarray, signs: np.ndarray, C: float, p: float = 0.0) -> Iterator[np.ndarray]:
    """w and b of the talk's iteration, as one vector, for norms p in [0, 2] and infinity.

    Every step is ``min C sum xi + w' L w``, L = diag(|w_j|**-(2-p)) from the last w and the
    identity at first, through the kernel X L^-1 X' / 2 of its dual, so no weight is divided by.
    """
    inverse = np.ones(X.shape[1])
    while True:
        machine = SVC(kernel="precomputed", C=C, tol=1e-8, max_iter=10**6)
        machine.fit((X * inverse) @ X.T / 2, signs)
        w = inverse * (machine.dual_coef_[0] @ X[machine.support_]) / 2
        yield np.append(w, machine.intercept_)
        inverse = _inverse(np.abs(w), p)


def _inverse(sizes: np.ndarray, p: float) -> np.ndarray:
    """The diagonal of L^-1."""
    if np.isfinite(p):
        return sizes ** (2 - p)
    largest = int(np.argmax(sizes))
    inverse = np.full(sizes.size, FREE)
    inverse[largest] = sizes[largest]
    return inverse


def arom_iterates(X: np.ndarray, signs: np.ndarray, C: float) -> Iterator[np.ndarray]:
    """w and b of l2-AROM (Weston et al. 2003): columns times z, an SVM, z times its weights."""
    z = np.ones(X.shape[1])
    while True:
        machine = SVC(kernel="linear", C=C, tol=1e-8, max_iter=10**6).fit(X * z, signs)
        u = machine.coef_[0]
        yield np.append(z * u, machine.intercept_)
        z = z * np.abs(u)


def arom(S: np.ndarray, y: np.ndarray, k: int, C: float = 100.0, rounds: int = 100) -> None:
    """AROM until k features are left, every round on all of them; one machine per class."""
    labels = np.unique(y)
    targets = [y == labels[-1]] if labels.size == 2 else [y == label for label in labels]
    z = np.ones(S.shape[1])
    for _ in range(rounds):
        before = z
        w = [SVC(kernel="linear", C=C, max_iter=100_000).fit(S * z, t).coef_[0] for t in targets]
        z = z * np.sqrt(np.mean(np.square(w), axis=0))
        left = z > 1e-6 * z.max()
        if left.sum() <= k or np.abs(z[left] / before[left] - 1).max() < 1e-3:
            return


def value(X: np.ndarray, signs: np.ndarray, wb: np.ndarray, C: float, p: float) -> float:
    """What the iteration lowers: C sum xi + (2/p) sum |w_j|**p, at infinity 2 max |w_j|."""
    w, b = wb[:-1], wb[-1]
    errors = C * np.maximum(0.0, 1 - signs * (X @ w + b)).sum()
    if np.isinf(p):
        return float(errors + 2 * np.abs(w).max())
    return float(errors + 2 / p * np.sum(np.abs(w) ** p))
