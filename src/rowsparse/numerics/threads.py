"""One BLAS thread around many small products.

A threaded BLAS wakes and joins its workers for every product; on products of some hundred rows that
costs more than the product, and on a busy machine forty times more. The limit is a property of the
whole process, so nested and concurrent uses are counted and only the last one restores it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import threadpoolctl
from threadpoolctl import ThreadpoolController

WORTH_THREADS = 2e10

_lock = threading.Lock()
_state: dict = {"controller": None, "limiter": None, "users": 0}


def _take_control() -> None:
    """threadpoolctl lets one Python thread at a time change OpenBLAS and ignores all others; the
    count of users above does what that rule is for, also when the last to leave is another."""
    clear = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside the block, for as long as any caller is inside one."""
    with _lock:
        if _state["users"] == 0:
            if _state["controller"] is None:
                _state["controller"] = ThreadpoolController()  # scans the loaded libraries: once
            _take_control()
            _state["limiter"] = _state["controller"].limit(limits=1, user_api="blas")
        _state["users"] += 1
    try:
        yield
    finally:
        with _lock:
            _state["users"] -= 1
            if _state["users"] == 0:
                _take_control()
                _state["limiter"].restore_original_limits()
                _state["limiter"] = None
                _take_control()  # and leave none behind


def blas_threads_for(flops: float) -> AbstractContextManager[None]:
    """One BLAS thread for a product of few operations, the user's setting for a big one."""
    return nullcontext() if flops >= WORTH_THREADS else one_blas_thread()
