"""What threads, forks and Ctrl-C ask of code that they may break into.

One BLAS thread around many small products, and our own threads for passes over all of X. A threaded
BLAS wakes and joins its workers for every product; on products of some hundred rows that costs more
than the product, and on a busy machine forty times more. The limit is a property of the whole
process, so nested and concurrent uses are counted and only the last one restores it. A pass over X
is cut into slices that depend on its size alone, so that the number of threads never changes a bit
of the result.

Ctrl-C where nothing is half done. Python answers a signal between any two steps of the interpreter:
after the BLAS limit is lowered and before the block begins that restores it, or while compiled code
hands over its result, which then ends in a SystemError. While the frame of such unbroken code is on
the stack the answer is put off until that code ends. The answer is always the user's own handler's.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, TypeVar

import threadpoolctl
from threadpoolctl import ThreadpoolController

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property:
        """``functools.cached_property`` as it is from Python 3.12 on: without a lock.

        The lock of earlier ones is one for all objects of a class while it computes. Fits in
        several threads would wait for each other, and a process that is forked while another thread
        computes would wait for ever.
        """

        def __init__(self, function):
            self.function = function
            self.__doc__ = function.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = self.function(instance)
            instance.__dict__[self.name] = value
            return value


# Operations of one product, .34 s of one processor: what waking threads costs is nothing beside it.
WORTH_THREADS = 2e10
WORTH_SLICES = 4e7  # some milliseconds: a thread is started in a tenth of one
# More than most machines have processors: one that is busy with other work takes fewer of them.
N_SLICES = 8

Result = TypeVar("Result")
Code = TypeVar("Code", bound=Callable[..., Any])

_UNBROKEN: set[CodeType] = set()


class _Deferral:
    """The handler in place of the user's, which it calls, now or later."""

    def __init__(self) -> None:
        self.users: Any = None
        self.waiting = False

    def answer(self, number: int, frame: FrameType | None) -> None:
        while frame is not None:
            if frame.f_code in _UNBROKEN:
                self.waiting = True
                return
            frame = frame.f_back
        self.users(number, frame)

    @property
    def installed(self) -> bool:
        """Asked of Python itself: a note of our own could be a step ahead or behind."""
        return signal.getsignal(signal.SIGINT) == self.answer

    def begin(self) -> bool:
        """Install the handler; False where it is there already or of no use."""
        if threading.current_thread() is not threading.main_thread() or self.installed:
            return False
        users = signal.getsignal(signal.SIGINT)
        if not callable(users):  # ignored, or the default of the system: no Python runs
            return False
        self.users = users
        self.waiting = False
        signal.signal(signal.SIGINT, self.answer)
        return True

    def end(self, began: bool) -> None:
        """Restore the user's handler if this is the end of what began it, and answer."""
        if began and self.installed:
            signal.signal(signal.SIGINT, self.users)
        if self.waiting and threading.current_thread() is threading.main_thread():
            self.waiting = False
            self.users(signal.SIGINT, None)


_deferral = _Deferral()


def unbroken(function: Code) -> Code:
    """Decorate a function that no interrupt may leave half-way; it begins and ends
    the deferral itself."""
    _UNBROKEN.add(function.__code__)
    return function


@unbroken
def whole(work: Callable[..., Result], *arguments: Any) -> Result:
    """Run to the end; an interrupt meanwhile is answered then."""
    began = _deferral.begin()
    try:
        return work(*arguments)
    finally:
        _deferral.end(began)


class _OwnBlocks(threading.local):
    """The open blocks of each thread: a fork takes along those of the thread that forks."""

    open_blocks = 0


class _BlasLimit:
    """The one owner of the limit: how many blocks are open, and what the user had set before."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.open_blocks = 0
        self.of_this_thread = _OwnBlocks()
        self.allowed = 1  # threads, by the user's setting

    def enter(self) -> None:
        with self.lock:
            if self.open_blocks == 0:
                self._lower()
            self.open_blocks += 1
        self.of_this_thread.open_blocks += 1

    def leave(self) -> None:
        self.of_this_thread.open_blocks -= 1
        with self.lock:
            self.open_blocks -= 1
            if self.open_blocks == 0:
                self._restore()

    def after_fork_in_child(self) -> None:
        """The thread that forked is the only one left, and so are its blocks."""
        if self.open_blocks > 0:
            self.open_blocks = self.of_this_thread.open_blocks
            if self.open_blocks == 0:
                self._restore()
        self.lock = threading.Lock()

    def _lower(self) -> None:
        _take_control()
        libraries = [lib for lib in _controller().info() if lib["user_api"] == "blas"]
        # the largest, since some libraries are built for one thread only
        self.allowed = max((library["num_threads"] for library in libraries), default=1)
        self.limiter = _controller().limit(limits=1, user_api="blas")

    def _restore(self) -> None:
        _take_control()
        self.limiter.restore_original_limits()
        _take_control()  # and leave none behind


@cache
def _controller() -> ThreadpoolController:
    """Scans the loaded libraries: once."""
    return ThreadpoolController()


def _take_control() -> None:
    """threadpoolctl lets one Python thread at a time change OpenBLAS and ignores all others; the
    count of blocks above does what that rule is for, also when the last to leave is another."""
    clear = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


_limit = _BlasLimit()


class one_blas_thread(AbstractContextManager[None]):
    """Limit BLAS to one thread inside the block, for as long as any caller is inside one.

    Not a generator: an interrupt could end that between the limit and the block. Python itself
    answers none between ``__enter__`` and the block, nor between the block and ``__exit__``.
    """

    @unbroken
    def __enter__(self) -> None:
        self.began = _deferral.begin()
        _limit.enter()
        while _deferral.waiting:  # answered outside; the handler need not raise
            self.__exit__()
            self.began = _deferral.begin()
            _limit.enter()

    @unbroken
    def __exit__(self, *error: object) -> None:
        _limit.leave()
        _deferral.end(self.began)


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
        helpers = min(_limit.allowed, N_SLICES) - 1
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
    """Kept, since a thread takes longer to start than some slices."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix="rowsparse")


def _after_fork_in_child() -> None:
    _limit.after_fork_in_child()
    _pool.cache_clear()  # its threads have stayed behind


if sys.platform != "win32":
    # Nobody is half way in or out of a block while the process forks.
    os.register_at_fork(
        before=lambda: _limit.lock.acquire(),
        after_in_parent=lambda: _limit.lock.release(),
        after_in_child=_after_fork_in_child,
    )
