"""Passes over the rows of X in blocks: what is done with every block, and by whom."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics.memory import COPY_BYTES
from .base import Array
from .blocks import RowBlocks

OfBlock = Callable[..., Any]


class Passes(ABC):
    """The rows of X in order, in blocks, and how something is done with every block."""

    shape: tuple[int, int]
    dtype: np.dtype
    bounds: Array  # block i holds rows bounds[i] to bounds[i + 1] - 1
    names: list[str] | None = None
    count = 0  # passes made so far
    by_others = False  # whether processes that may have other work to do make them

    @abstractmethod
    def results(self, of_block: OfBlock, shared: Sequence[Any], by_rows: Sequence[Any]) -> list:
        """What ``of_block(block, *shared, *the block's part of each of by_rows)`` says, in order
        of the blocks."""

    @abstractmethod
    def merged(
        self, merge: Callable, of_block: OfBlock, shared: Sequence[Any], by_rows: Sequence[Any]
    ) -> Any:
        """The same, merged into one; only neighbours are merged, in their order."""

    @abstractmethod
    def kept(self, of_block: OfBlock, shared: Sequence[Any], n_columns: int) -> Passes:
        """Passes over what ``of_block`` makes of every block, of so many columns: kept in memory
        where it is made, in one pass."""

    def held(self, by_rows: Sequence[Any]) -> Sequence[Any]:
        """Arrays of n rows for many passes, brought to where the blocks are once."""
        return by_rows

    def pieces(self, number: int, by_rows: Sequence[Any]) -> list[Any]:
        """The parts of arrays of n rows that belong to a block."""
        rows = slice(self.bounds[number], self.bounds[number + 1])
        return [values[rows] for values in by_rows]


class LocalPasses(Passes):
    """Over a store on this machine; while one block is worked on a thread reads the next."""

    def __init__(self, store: RowBlocks):
        self.store = store
        self.shape = store.shape
        self.dtype = float_type(store.dtype)
        self.bounds = np.asarray(store.bounds)
        self.names = store.names

    def results(self, of_block: OfBlock, shared: Sequence[Any], by_rows: Sequence[Any]) -> list:
        return list(self._each(of_block, shared, by_rows))

    def merged(
        self, merge: Callable, of_block: OfBlock, shared: Sequence[Any], by_rows: Sequence[Any]
    ) -> Any:
        found = self._each(of_block, shared, by_rows)
        total = next(found)
        for result in found:
            total = merge(total, result)
        return total

    def kept(self, of_block: OfBlock, shared: Sequence[Any], n_columns: int) -> Passes:
        return TablePasses(np.concatenate(self.results(of_block, shared, ())))

    def _each(
        self, of_block: OfBlock, shared: Sequence[Any], by_rows: Sequence[Any]
    ) -> Iterator[Any]:
        self.count += 1
        for number, block in enumerate(self._read_ahead()):
            yield of_block(as_block(block), *shared, *self.pieces(number, by_rows))

    def _read_ahead(self) -> Iterator[Any]:
        n_blocks = len(self.bounds) - 1
        with ThreadPoolExecutor(1, thread_name_prefix="rowsparse-reader") as reader:
            coming = reader.submit(self.store.block, 0)
            for following in range(1, n_blocks + 1):
                block = coming.result()
                if following < n_blocks:
                    coming = reader.submit(self.store.block, following)
                yield block


class TablePasses(LocalPasses):
    """Over a table in memory; there is nothing to read ahead."""

    def __init__(self, table: Any):
        n, d = table.shape
        self.table = table
        self.shape = (n, d)
        self.dtype = float_type(table.dtype)
        self.bounds = np.append(np.arange(0, n, max(1, COPY_BYTES // (8 * d))), n)

    def _read_ahead(self) -> Iterator[Any]:
        for start, stop in pairwise(self.bounds):
            yield self.table[start:stop]


class ChosenPasses(Passes):
    """Over some columns; a block is read as a whole."""

    def __init__(self, whole: Passes, columns: Array):
        self.whole = whole
        self.columns = columns
        self.shape = (whole.shape[0], len(columns))
        self.dtype = whole.dtype
        self.bounds = whole.bounds
        self.by_others = whole.by_others

    def results(self, of_block: OfBlock, shared: Sequence[Any], by_rows: Sequence[Any]) -> list:
        return self.whole.results(_OfColumns(of_block, self.columns), shared, by_rows)

    def merged(
        self, merge: Callable, of_block: OfBlock, shared: Sequence[Any], by_rows: Sequence[Any]
    ) -> Any:
        return self.whole.merged(merge, _OfColumns(of_block, self.columns), shared, by_rows)

    def kept(self, of_block: OfBlock, shared: Sequence[Any], n_columns: int) -> Passes:
        return self.whole.kept(_OfColumns(of_block, self.columns), shared, n_columns)

    def held(self, by_rows: Sequence[Any]) -> Sequence[Any]:
        return self.whole.held(by_rows)

    def pieces(self, number: int, by_rows: Sequence[Any]) -> list[Any]:
        return self.whole.pieces(number, by_rows)


class _OfColumns:
    """A function of a block, on some of its columns."""

    def __init__(self, of_block: OfBlock, columns: Array):
        self.of_block = of_block
        self.columns = columns

    def __call__(self, block: Any, *arguments: Any) -> Any:
        return self.of_block(block[:, self.columns], *arguments)


def as_block(block: Any) -> Any:
    """A block as a float array or CSR array, whatever a store or a chunk holds."""
    if sparse.issparse(block):
        block = sparse.csr_array(block)
    elif type(block).__module__.partition(".")[0] == "sparse":  # pydata's arrays
        block = sparse.csr_array(block.to_scipy_sparse())
    else:
        block = np.asarray(block)
    return block.astype(float_type(block.dtype), copy=False)


def float_type(dtype: Any) -> np.dtype:
    return np.dtype(dtype) if dtype in (np.float32, np.float64) else np.dtype(float)
