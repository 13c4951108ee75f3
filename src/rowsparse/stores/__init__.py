"""X on disk, larger than memory: stores that are read a block of rows at a time."""

from rowsparse.stores.base import Store
from rowsparse.stores.opening import open_rows

__all__ = ["Store", "open_rows"]
