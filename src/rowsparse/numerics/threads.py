"""One BLAS thread around many small products, and our own threads for passes over all of X.

A threaded BLAS wakes and joins its workers for every product; on products of some hundred rows that
costs more than the product, and on a busy machine forty times more. The limit is a property of the
whole process, so nested and concurrent uses are counted and only the last one restores it.

A pass over X is cut into slices that depend on its size alone, so that the number of threads never
changes a bit of the result.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache

import threadpoolctl
from threadpoolctl import ThreadpoolController

WORTH_THREADS = 2e10
WORTH_SLICES = 4e7  # some milliseconds: a thread is started in a tenth of one
N_SLICES = 8

_lock = threading.Lock()
_state: dict = {"controller": None, "limiter": None, "users": 0, "allowed": 1}


def _take_control() -> None:
    """threadpoolctl lets one Python thread at a time change OpenBLAS and ignores all others; the
    count of users above does what that rule is for, also when the last to leave is another."""
    clear = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


def _user_setting(controller: ThreadpoolController) -> int:
    """How many threads BLAS may use: the largest, since some libraries are built for one only."""
    found = (library for library in controller.info() if library["user_api"] == "blas")
    return max((library["num_threads"] for library in found), default=1)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside the block, for as long as any caller is inside one."""
    with _lock:
        if _state["users"] == 0:
            if _state["controller"] is None:
                _state["controller"] = ThreadpoolController()  # scans the loaded libraries: once
            _take_control()
            _state["allowed"] = _user_setting(_state["controller"])
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


def over_slices(function: Callable[[slice], None], n_items: int, flops: float) -> None:
    """Call ``function`` with slices that cover ``n_items``, on as many threads as BLAS may use.

    The calls must not depend on each other; each runs with one BLAS thread.
    """
    with one_blas_thread():
        if flops < WORTH_SLICES or n_items < N_SLICES:
            function(slice(0, n_items))
            return
        bounds = [n_items * i // N_SLICES for i in range(N_SLICES + 1)]
        slices = list(map(slice, bounds[:-1], bounds[1:]))
        helpers = min(_state["allowed"], N_SLICES) - 1
        _share(function, deque(slices), helpers)


def _share(function: Callable[[slice], None], left: deque[slice], n_helpers: int) -> None:
    """This thread and its helpers take slices until none is left."""

    def work() -> None:
        while left:
            try:
                part = left.popleft()
            except IndexError:  # another thread was quicker
                return
            function(part)

    helpers = [_pool(n_helpers).submit(work) for _ in range(n_helpers)]
    try:
        work()
    finally:
        left.clear()  # after an error nobody goes on
        running = [helper for helper in helpers if not helper.cancel()]
        for helper in running:
            helper.result()


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    """Kept, since a thread takes longer to start than some slices; a forked child has none."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_pool.cache_clear)
    return ThreadPoolExecutor(n_threads, thread_name_prefix="rowsparse")
