"""X, wherever it lives: dense, memory-mapped or sparse, standardised without a copy."""

from .base import Design
from .storages import as_design
from .wrappers import Restriction, Standardized, Subset, WithConstant

__all__ = [
    "Design",
    "Restriction",
    "Standardized",
    "Subset",
    "WithConstant",
    "as_design",
]
