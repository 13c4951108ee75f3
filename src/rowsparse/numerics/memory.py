"""How large temporary arrays may be; what cannot fit at all is refused in words beforehand."""

from __future__ import annotations

import os

# Of a temporary block that shall stay in the cache of one core. Sums of squares of columns and the
# filters take the same with 1 to 8 MiB.
CACHE_BYTES = 4 << 20
# Of columns that are copied to be multiplied: in smaller pieces every column, or the sum of the
# products, would be read many times.
COPY_BYTES = 256 << 20
# Of products of columns that are kept to save passes over X: more than any cache, less than X.
PRODUCT_BYTES = 1 << 30


def physical_memory() -> float:
    """Bytes of this machine; infinite where it does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):  # not every system knows these names
        return float("inf")


def beyond_memory(n_bytes: float) -> str | None:
    """A clause that says so if an array of that size does not fit; None if it does."""
    there_is = physical_memory()
    if n_bytes <= there_is:
        return None
    return f"it needs {n_bytes / 2**30:.1f} GiB of memory, and there are {there_is / 2**30:.1f}"
