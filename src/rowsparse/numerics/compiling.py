"""numba, if it is there: imported at first use, never at import, and cached where it can be."""

from __future__ import annotations

from typing import Any, NamedTuple


class Numba(NamedTuple):
    """What the kernels need of numba."""

    njit: Any
    overload: Any
    register_jitable: Any


def numba_tools() -> Numba | None:
    """numba's tools, or None without it."""
    try:
        import numba
        from numba.extending import overload, register_jitable
    except ImportError:
        return None
    return Numba(numba.njit, overload, register_jitable)


def compile_cached(tools: Numba, function, fastmath=False):
    """Compile at the first call; where no cache can be written, in every process anew."""
    try:
        return tools.njit(function, cache=True, nogil=True, fastmath=fastmath)
    except RuntimeError:  # no writable place for the cache (read-only image, no home)
        return tools.njit(function, nogil=True, fastmath=fastmath)
