"""X as a scipy CSC matrix or array; only the columns a solver takes ever become dense."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..numerics.rows import nonzero_rows
from .base import Design


class SparseDesign(Design):
    """Compressed columns. Gram matrices come from sparse products, never from dense blocks."""

    def __init__(self, X):
        X = sparse.csc_array(X)
        if not X.has_canonical_format:  # entries stored in parts, or out of order
            X = X.copy()
            X.sum_duplicates()
        self.X = X
        self.shape = X.shape
        self.dtype = X.dtype

    def matmul(self, W: np.ndarray) -> np.ndarray:
        used = np.flatnonzero(nonzero_rows(W))
        if 4 * used.size < self.shape[1]:
            return np.asarray(self.X[:, used] @ W[used], dtype=float)
        return np.asarray(self.X @ W, dtype=float)

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        return np.asarray(self.X.T @ R, dtype=float)

    def rmatmul_of(self, columns: np.ndarray, R: np.ndarray) -> np.ndarray:
        return np.asarray(self.X[:, columns].T @ R, dtype=float)

    def take(self, columns: np.ndarray) -> np.ndarray:
        return np.asfortranarray(self.X[:, columns].toarray(), dtype=float)

    def squares(self, weights: np.ndarray, centers: np.ndarray | None = None) -> np.ndarray:
        data, stored = self.X.data.astype(float), np.diff(self.X.indptr)
        if centers is not None:
            data -= np.repeat(centers, stored)  # exact where columns lie far from zero
        d, column = self.shape[1], np.repeat(np.arange(self.shape[1]), stored)
        counted = weights[self.X.indices]
        out = np.bincount(column, data**2 * counted, minlength=d)
        if centers is not None:
            missing = weights.sum() - np.bincount(column, counted, minlength=d)
            out += centers**2 * np.where(stored < self.shape[0], missing, 0.0)
        return out

    def gram(
        self,
        rows: np.ndarray,
        columns: np.ndarray,
        weights: np.ndarray,
        centers: np.ndarray | None = None,
    ) -> np.ndarray:
        stored = np.diff(self.X.indptr)
        if centers is not None and 2 * max(stored[rows].max(), stored[columns].max()) > len(
            weights
        ):
            return super().gram(rows, columns, weights, centers)  # nearly dense: centre first
        left = self.X[:, rows].astype(float)
        right = self.X[:, columns].astype(float)
        weighted = right.multiply(weights[:, None]).tocsc()
        G = (left.T @ weighted).toarray()
        if centers is not None:
            m_left, m_right = centers[rows], centers[columns]
            sums_left, sums_right = left.T @ weights, right.T @ weights
            G -= np.outer(m_left, sums_right) + np.outer(sums_left, m_right)
            G += np.outer(m_left, m_right) * weights.sum()
        return G

    def constant_columns(self) -> np.ndarray:
        lowest, highest = self.X.min(axis=0).toarray(), self.X.max(axis=0).toarray()
        return (lowest == highest).ravel()
