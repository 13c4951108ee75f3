"""X as blocks of rows that are read one after the other: what a store on disk has to offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np


class RowBlocks(ABC):
    """The rows of X in order, cut into blocks; only a block at a time is ever in memory.

    A store (npy, Zarr, Parquet, h5ad, sparse files) subclasses this. ``block`` is called from a
    reading thread while the block before is worked on, so it must not change shared state.
    """

    shape: tuple[int, int]
    dtype: np.dtype  # of the store: float32 is summed in float64
    bounds: np.ndarray  # of the blocks: block i holds rows bounds[i] to bounds[i + 1] - 1
    names: list[str] | None = None  # of the columns, where the store knows them

    @abstractmethod
    def block(self, number: int) -> Any:
        """Rows ``bounds[number] : bounds[number + 1]``, a 2-D ndarray or a CSR array."""
