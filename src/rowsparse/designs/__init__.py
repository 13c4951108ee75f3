"""X, wherever it lives: dense, memory-mapped or sparse, standardised without a copy."""

from .base import Design
from .blocks import RowBlocks
from .chunked import ChunkedDesign
from .storages import as_design, in_blocks, is_dask
from .wrappers import Restriction, Standardized, Subset, WithConstant

__all__ = [
    "ChunkedDesign",
    "Design",
    "Restriction",
    "RowBlocks",
    "Standardized",
    "Subset",
    "WithConstant",
    "as_design",
    "in_blocks",
    "is_dask",
]
