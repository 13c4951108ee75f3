"""X, wherever it lives: dense, memory-mapped or sparse, standardised without a copy."""

from .base import Design
from .blocks import RowBlocks
from .chunked import ChunkedDesign
from .completed import CompletedDesign
from .held import HeldTable, View
from .members import MemberProducts
from .passes import TablePasses
from .searched import SearchedDesign
from .storages import as_design, canonical, in_blocks, is_dask
from .wrappers import Restriction, Standardized, Subset, WithConstant

__all__ = [
    "ChunkedDesign",
    "CompletedDesign",
    "Design",
    "HeldTable",
    "MemberProducts",
    "Restriction",
    "RowBlocks",
    "SearchedDesign",
    "Standardized",
    "Subset",
    "TablePasses",
    "View",
    "WithConstant",
    "as_design",
    "canonical",
    "in_blocks",
    "is_dask",
]
