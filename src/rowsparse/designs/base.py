"""What a solver may ask of X.

A design is X (n samples by d features) behind few fast operations. Results are always new float64
arrays, whatever the storage; ``take`` is the only operation that makes a dense copy, and only of
the columns asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from ..numerics.memory import COPY_BYTES
from .members import MemberProducts
from .moments import Moments

Array = np.ndarray
Centers = Array | None  # what is subtracted from every column; None stands for zeros


class Design(ABC):
    """X as an operator. Subclasses provide the abstract methods; the rest is derived."""

    shape: tuple[int, int]
    dtype: np.dtype  # of the storage: float32 bounds the accuracy that can be asked for
    rounds_products = False  # whether ``rmatmul`` rounds to float32 what it is given
    complete = True  # whether all products of columns are those of X, so that proofs may use them

    @abstractmethod
    def matmul(self, W: Array) -> Array:
        """X W for W (d x c)."""

    @abstractmethod
    def rmatmul(self, R: Array) -> Array:
        """X' R for R (n x c)."""

    @abstractmethod
    def take(self, columns: Array) -> Array:
        """The named columns as a new dense float64 block in Fortran order."""

    @abstractmethod
    def squares(self, weights: Array, centers: Centers = None) -> Array:
        """Column sums ``sum_i weights_i (x_ij - centers_j)**2``."""

    @abstractmethod
    def constant_columns(self) -> Array:
        """Which columns hold one value only (exactly)."""

    def rmatmul_exactly(self, R: Array) -> Array:
        """``X' R`` in double precision, for what is to be proved."""
        if self.rounds_products:
            return self.rmatmul_of(np.arange(self.shape[1]), R)
        return self.rmatmul(R)

    @property
    def offsets(self) -> Array:
        """How far from zero the stored columns lie, in units of these: digits lost by products."""
        return np.zeros(self.shape[1])

    def rmatmul_of(self, columns: Array, R: Array) -> Array:
        """``X_c' R`` for the named columns, in double precision."""
        return self.take(columns).T @ R

    def rmatmul_over(self, samples: Sequence[slice], R: Array) -> Array | None:
        """``X' R`` summed over these samples alone; None where that takes as long as over all."""
        return None

    def moments(self, weights: Array, Y: Array) -> Moments | None:
        """Weighted means and central products of [X Y], where a pass made before has left them."""
        return None

    def member_products(self, weights: Array, Y: Array) -> MemberProducts | None:
        """The same of some columns, where passes have left them of no more."""
        return None

    def means(self, weights: Array) -> Array:
        """Weighted column means."""
        return self.rmatmul(weights[:, None])[:, 0] / weights.sum()

    def gram(self, rows: Array, columns: Array, weights: Array, centers: Centers = None) -> Array:
        """``X_r' diag(weights) X_c`` of the centred columns, from dense blocks of them."""
        left = self._centred_block(rows, centers)
        equal = bool(np.all(weights == weights[0]))  # then the product is weighted, not the block
        if rows is columns:  # one block: BLAS then does half the work (syrk)
            if not equal:
                left *= np.sqrt(weights)[:, None]
            right = left
        else:
            right = self._centred_block(columns, centers)
            if not equal:
                right *= weights[:, None]
        G = left.T @ right
        if equal:
            G *= weights[0]
        return G

    def outer(self, factors: Array, centers: Centers = None) -> Array:
        """``B B'`` (n x n) of the centred columns times their factors, over dense blocks of them.

        Factors and not their squares: those of columns in tiny or huge units would leave the range
        of floats.
        """
        n = self.shape[0]
        total = np.zeros((n, n))
        used = np.flatnonzero(factors)
        size = max(64, min(n, COPY_BYTES // (8 * n)))
        for start in range(0, used.size, size):
            columns = used[start : start + size]
            block = self._centred_block(columns, centers)
            block *= factors[columns]
            total += block @ block.T
        return total

    def _centred_block(self, columns: Array, centers: Centers) -> Array:
        block = self.take(columns)
        if centers is not None:
            block -= centers[columns]
        return block
