"""The columns of X as neighbour-based scores see them: differences in units of their range."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from .base import Table, blocks, check_choice, column_ranges, dense_block

FEW_VALUES = 10  # at most so many distinct values, on average three times each: discrete
BLOCK_WIDTH = 512  # columns whose rows fit the cache


def discrete_columns(table: Table, discrete_features) -> np.ndarray:
    """Which columns are discrete, as a mask."""
    d = table.shape[1]
    mask = np.zeros(d, dtype=bool)
    if discrete_features is None:
        return mask
    if isinstance(discrete_features, str):
        check_choice("discrete_features", discrete_features, ("auto",))
        return _few_values(table)
    given = np.asarray(discrete_features)
    if given.size == 0:
        return mask
    is_mask = given.dtype == bool and given.shape == (d,)
    if not is_mask and not (given.dtype.kind in "iu" and given.ndim == 1):
        raise ValueError(
            "Expected discrete_features as 'auto', None, a mask with one entry per column of X "
            f"({d}) or column numbers, got {discrete_features!r:.60}."
        )
    try:
        mask[given] = True
    except IndexError:
        outside = given[(given < -d) | (given >= d)]
        raise ValueError(
            f"Expected column numbers from {-d} to {d - 1} in discrete_features, got {outside[0]}."
        ) from None
    return mask


def _few_values(table: Table) -> np.ndarray:
    most = min(FEW_VALUES, int(table.weights.sum()) // 3)
    mask = np.zeros(table.shape[1], dtype=bool)
    for columns, start in blocks(table.X[:64]):  # enough to rule out nearly all numeric columns
        mask[columns] = _distinct(start) <= most
    suspects = np.flatnonzero(mask)
    for part, block in blocks(table.X[:, suspects]):
        mask[suspects[part]] = _distinct(block) <= most
        del block  # before the next one is made
    return mask


def _distinct(block: np.ndarray) -> np.ndarray:
    """Number of distinct values in every column; the block is sorted in place."""
    block.sort(axis=0)
    return 1 + np.count_nonzero(block[1:] != block[:-1], axis=0)


class Columns:
    """The columns as differences see them: numbers divided by their range, discrete ones as they
    are, in contiguous blocks. Dense X is copied once; sparse X is made dense block by block."""

    def __init__(self, table: Table, discrete: np.ndarray, scaling: str):
        self.X = table.X
        self.low, high = column_ranges(table.X)
        span = np.where(discrete | ~table.varying, 1.0, high - self.low)
        self.scale = span if scaling == "range" else np.ones_like(span)
        self.unit = np.mean(span / self.scale)  # of a difference: 1, or the mean range
        self.parts: list[tuple[np.ndarray, bool]] = []
        for kind in (False, True):
            # Constant columns are left out: they make no difference.
            used = np.flatnonzero((discrete == kind) & table.varying)
            for start in range(0, used.size, BLOCK_WIDTH):
                self.parts.append((used[start : start + BLOCK_WIDTH], kind))
        self.kept: list[np.ndarray] = []
        if not sparse.issparse(table.X):
            self.kept = [self._block(columns) for columns, _ in self.parts]

    def _block(self, columns: np.ndarray) -> np.ndarray:
        block = dense_block(self.X, columns)
        block -= self.low[columns]
        block /= self.scale[columns]
        return block

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray, bool]]:
        """Column numbers, their block, and whether it is discrete."""
        for number, (columns, discrete) in enumerate(self.parts):
            block = self.kept[number] if self.kept else self._block(columns)
            yield columns, block, discrete
