"""What cannot fit into memory is refused in words, before any of it is allocated."""

from __future__ import annotations

import os


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
