"""A design on few samples with the products that are known, completed by a guess at the others."""

from __future__ import annotations

import numpy as np

from .base import Array, Centers, Design


class CompletedDesign(Design):
    """Samples that all columns share, ``shared``, and below them samples in which a column stands
    nearly alone: column j has the entry ``own[j]`` in sample ``place[j]`` of these, else zeros.

    Products of columns with an own entry are guessed: columns that share no sample are taken to be
    orthogonal but for what the shared samples say. All others, and all squares, are those of X.
    """

    complete = False
    dtype = np.dtype(float)

    def __init__(self, shared: Array, own: Array, place: Array):
        self.shared = shared
        self.own = own
        self.place = place
        self.n_own = int(place.max(initial=-1)) + 1
        self.shape = (len(shared) + self.n_own, shared.shape[1])

    def matmul(self, W: Array) -> Array:
        below = np.zeros((self.n_own, W.shape[1]))
        used = np.flatnonzero(self.own * np.abs(W).max(axis=1))
        np.add.at(below, self.place[used], self.own[used, None] * W[used])
        return np.vstack([self.shared @ W, below])

    def rmatmul(self, R: Array) -> Array:
        top, below = self._split(R)
        return self.shared.T @ top + self.own[:, None] * below[self.place]

    def rmatmul_of(self, columns: Array, R: Array) -> Array:
        top, below = self._split(R)
        alone = self.own[columns, None] * below[self.place[columns]]
        return self.shared[:, columns].T @ top + alone

    def take(self, columns: Array) -> Array:
        columns = np.asarray(columns)
        block = np.zeros((self.shape[0], columns.size), order="F")
        block[: len(self.shared)] = self.shared[:, columns]
        rows = len(self.shared) + self.place[columns]
        block[rows, np.arange(columns.size)] = self.own[columns]
        return block

    def squares(self, weights: Array, centers: Centers = None) -> Array:
        top, below = self._split(weights)
        middles = np.zeros(self.shape[1]) if centers is None else centers
        in_own = below[self.place]
        alone = in_own * (self.own - middles) ** 2 + (below.sum() - in_own) * middles**2
        return top @ (self.shared - middles) ** 2 + alone

    def gram(self, rows: Array, columns: Array, weights: Array, centers: Centers = None) -> Array:
        if centers is not None:
            return super().gram(rows, columns, weights, centers)
        top, below = self._split(weights)
        left = self.shared[:, rows]
        right = left if rows is columns else self.shared[:, columns]
        G = (top[:, None] * left).T @ right
        meet = self.place[rows][:, None] == self.place[columns]
        alone = (below[self.place] * self.own)[rows]
        G += np.where(meet, np.outer(alone, self.own[columns]), 0.0)
        return G

    def constant_columns(self) -> Array:
        # what is not zero differs from the zeros below it
        return ~self.shared.any(axis=0) & (self.own == 0)

    def _split(self, by_rows: Array) -> tuple[Array, Array]:
        return by_rows[: len(self.shared)], by_rows[len(self.shared) :]
