"""A store: rows of X on disk, read a block at a time, with the target and the names beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from rowsparse.designs.blocks import RowBlocks
from rowsparse.stores.safety import DatasetError, damaged

# Of rows in one block. Larger ones pass through the caches of a processor no faster, and two are
# in memory at a time: the one that is worked on and the one that is read.
BLOCK_BYTES = 64 << 20
# A kilobyte can claim a hundred million columns; a million scores fit anywhere.
MOST_EMPTY_COLUMNS = 1_000_000
NUMERIC = "biuf"  # NumPy kinds: bool, signed, unsigned, float


class Lines(Protocol):
    """An array on disk of which a range along the first axis can be read.

    It holds where the array is, not an open file, so that it can be sent to another process.
    """

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype: ...

    def read(self, start: int, stop: int) -> np.ndarray:
        """The lines from ``start`` up to ``stop``."""


class Store(RowBlocks):
    """Rows on disk. Nothing but paths, sizes and the target is kept in memory."""

    path: Path
    y: np.ndarray | None = None

    def __repr__(self) -> str:
        n, d = self.shape
        blocks = self.bounds.size - 1
        return f"<{type(self).__name__} {self.path}: {n} × {d} {self.dtype} in {blocks} blocks>"


class DenseRows(Store):
    """A matrix on disk, one row per sample."""

    def __init__(self, path: Path, lines: Lines, block_bytes: int, step: int = 1):
        self.path = path
        self.lines = lines
        self.shape = matrix_shape(path, lines)
        self.dtype = working_type(path, lines.dtype)
        row_bytes = self.shape[1] * self.dtype.itemsize
        self.bounds = row_bounds(self.shape[0], row_bytes, block_bytes, step)

    def block(self, number: int) -> np.ndarray:
        lines = self.lines.read(self.bounds[number], self.bounds[number + 1])
        return lines.astype(self.dtype, copy=False)


class ChosenColumns(Store):
    """Another store without some of its columns."""

    def __init__(self, store: Store, columns: np.ndarray):
        self.store = store
        self.columns = columns
        self.path = store.path
        self.shape = (store.shape[0], columns.size)
        self.dtype = store.dtype
        self.bounds = store.bounds
        if store.names is not None:
            self.names = [store.names[j] for j in columns]

    def block(self, number: int) -> Any:
        return self.store.block(number)[:, self.columns]


class Stack(Store):
    """Several stores, one below the other."""

    def __init__(self, path: Path, parts: Sequence[Store]):
        self.path = path
        self.parts = parts
        self.names = parts[0].names
        width = parts[0].shape[1]
        for part in parts:
            if part.shape[1] != width:
                raise DatasetError(
                    f"{part.path}: expected {width} columns as in {parts[0].path.name}, got "
                    f"{part.shape[1]}; keep only pieces of one table in the folder."
                )
        self.shape = (sum(part.shape[0] for part in parts), width)
        self.dtype = np.result_type(*(part.dtype for part in parts))
        sizes = np.concatenate([np.diff(part.bounds) for part in parts])
        self.bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._first = np.cumsum([0, *(part.bounds.size - 1 for part in parts)])

    def block(self, number: int) -> Any:
        owner = int(np.searchsorted(self._first, number, side="right")) - 1
        block = self.parts[owner].block(number - int(self._first[owner]))
        # one piece may be of another precision than the next
        return block.astype(self.dtype, copy=False)


class SparseRows(Store):
    """Compressed sparse rows on disk: values, their columns, and where each row begins."""

    def __init__(
        self, path: Path, parts: tuple[Lines, Lines, Lines], n_columns: int, block_bytes: int
    ):
        self.path = path
        self.data, self.indices, self.indptr = parts
        self._check_parts()
        self.shape = (self.indptr.shape[0] - 1, n_columns)
        self.dtype = working_type(path, self.data.dtype)
        starts = self.indptr.read(0, self.indptr.shape[0])
        # row pointers are read once, and every block relies on them
        ends_right = starts[0] == 0 and starts[-1] == self.data.shape[0]
        if not ends_right or np.any(starts[1:] < starts[:-1]):
            raise damaged(path, "compressed sparse rows", "row pointers that do not rise")
        if n_columns > max(MOST_EMPTY_COLUMNS, self.data.shape[0]):
            raise damaged(
                path, "compressed sparse rows", f"{n_columns:,} columns, nearly all empty"
            )
        entry_bytes = self.dtype.itemsize + self.indices.dtype.itemsize
        self.bounds = _bounds_of_entries(starts, block_bytes // entry_bytes, block_bytes // 8)

    def _check_parts(self) -> None:
        parts = (self.data, self.indices, self.indptr)
        flat = all(len(part.shape) == 1 for part in parts)
        whole = self.indices.dtype.kind in "iu" and self.indptr.dtype.kind in "iu"
        if not flat or not whole or not self.indptr.shape[0]:
            raise damaged(self.path, "compressed sparse rows", "parts of the wrong kind")
        if self.data.shape != self.indices.shape:
            raise damaged(self.path, "compressed sparse rows", "values without columns")

    def block(self, number: int) -> sparse.csr_array:
        first = self.bounds[number]
        last = self.bounds[number + 1]
        starts = self.indptr.read(first, last + 1).astype(np.int64)
        begin = int(starts[0])
        end = int(starts[-1])
        # before SciPy's compiled code follows an index to wherever it points
        columns = self.indices.read(begin, end)
        if columns.size and (columns.min() < 0 or columns.max() >= self.shape[1]):
            raise damaged(self.path, "compressed sparse rows", "columns beyond the shape")
        values = self.data.read(begin, end).astype(self.dtype, copy=False)
        rows = sparse.csr_array(
            (values, columns, starts - begin), shape=(last - first, self.shape[1])
        )
        if not rows.has_canonical_format:  # entries given twice, or out of order
            rows = rows.copy()  # what was read may be a map of the file
            rows.sum_duplicates()
        return rows


def _bounds_of_entries(starts: np.ndarray, most_entries: int, most_rows: int) -> np.ndarray:
    """Blocks of whole rows with at most so many entries, or one row where that has more."""
    n = starts.size - 1
    bounds = [0]
    while bounds[-1] < n:
        first = bounds[-1]
        within = int(np.searchsorted(starts, starts[first] + most_entries, side="right")) - 1
        end = max(within, first + 1)
        # rows without entries take room too: a number of y, a residual
        bounds.append(min(end, first + max(most_rows, 1), n))
    return np.array(bounds, dtype=np.int64)


def row_bounds(n: int, row_bytes: int, block_bytes: int, step: int = 1) -> np.ndarray:
    """Blocks of at most ``block_bytes`` that begin where chunks of ``step`` rows do.

    Where one chunk is too large it is cut, and then no block reaches into the next one.
    """
    rows = max(1, block_bytes // max(row_bytes, 1))
    # a chunk is unpacked as a whole: blocks that share one would unpack it twice
    step = max(1, min(step, n))
    if rows >= step:
        return np.append(np.arange(0, n, rows - rows % step), n).astype(np.int64)
    inside = np.arange(0, step, rows)
    firsts = (np.arange(0, n, step)[:, None] + inside).ravel()
    return np.append(firsts[firsts < n], n).astype(np.int64)


def matrix_shape(path: Path, lines: Lines) -> tuple[int, int]:
    if len(lines.shape) != 2:
        raise DatasetError(
            f"{path}: expected a matrix with samples as rows, got {len(lines.shape)} dimensions; "
            f"save it with shape (samples, features)."
        )
    return (int(lines.shape[0]), int(lines.shape[1]))


def working_type(path: Path, dtype: np.dtype) -> np.dtype:
    """Single precision stays; small integers would wrap in the first product, halves overflow."""
    if dtype.kind not in NUMERIC:
        raise DatasetError(
            f"{path}: expected numbers in X, got dtype {dtype}; save samples as rows and features "
            f"as columns of numbers."
        )
    single = dtype.kind == "f" and dtype.itemsize == 4
    return np.dtype(np.float32 if single else np.float64)
