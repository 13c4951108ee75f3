"""Loops that numba compiles at their first use, never at import, and keeps on disk where it can.

numba's cache looks only at the file of a kernel, not at the files of the helpers that it inlines.
So a kernel is cached under a name that holds a hash of all those files: edit one of them, and the
next process compiles anew. Where nothing can be written, or what is there cannot be read, kernels
are compiled in every process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from . import rounding
from .threads import cached_property, whole

Function = TypeVar("Function", bound=Callable[..., Any])

# Sweeps and row proxes over fewer rows run as plain Python, which takes milliseconds: numba takes
# tenths of a second to load.
COMPILED_FROM = 64
# Numbers that are compared or counted: for so many NumPy takes some tenths of a second, too.
WORTH_LOADING = 2e7
# Rows times problems of one call: so many steps on rows take longer in plain Python than numba
# takes to load (50 alphas on the 61 columns of digits: .1 s each time).
MANY_STEPS = 2000
REORDERED = frozenset({"reassoc", "contract", "nsz"})  # sums may be taken several terms at a time
_LOOPS: dict[Callable[..., Any], Callable[..., Any]] = {}


_often: ContextVar[bool] = ContextVar("often", default=False)


@contextmanager
def for_many(n_rows: int, n_problems: int) -> Iterator[None]:
    """Around many problems of one size: their loops are compiled however few their rows are."""
    token = _often.set(_often.get() or n_rows * n_problems >= MANY_STEPS)
    try:
        yield
    finally:
        _often.reset(token)


def worth_compiling(n_rows: int, compiled_from: int = COMPILED_FROM) -> bool:
    """Whether loops over so many rows run compiled, which the sizes alone decide."""
    return n_rows >= compiled_from or _often.get()


@cache
def _numba() -> ModuleType | None:
    try:
        import numba
    except ImportError:
        return None
    return numba


def numba_is_there() -> bool:
    """Whether there is a compiler; without one NumPy or SciPy may be the better way."""
    return _numba() is not None


def worth_loading(n_operations: float) -> bool:
    """Whether so much is counted or compared that compiled loops pay for their loading.

    The caller decides by the size of the whole problem, so equal calls give equal bits.
    """
    return n_operations >= WORTH_LOADING


def compiled_as(loops: Callable[..., Any]) -> Callable[[Function], Function]:
    """Decorate a function that is written NumPy's way: compiled kernels call the loops instead."""

    def remember(function: Function) -> Function:
        _LOOPS[function] = loops
        return function

    return remember


class LazyKernel:
    """Plain Python loops over arrays; called, they run compiled, or as they are without numba.

    The functions that it calls, found by their names, are compiled with it and with its flags.
    """

    def __init__(self, plain: Callable[..., Any], fastmath: frozenset[str] = frozenset()):
        self.plain = plain
        self.fastmath = fastmath
        self.cached = True

    def __call__(self, *arguments):
        if not numba_is_there():
            return self.plain(*arguments)
        return whole(self._run, *arguments)

    def _run(self, *arguments):
        try:
            return self.compiled(*arguments)
        except Exception:
            if not self.cached:
                raise
        # The cache is read and written before anything runs: forget it, and start once more.
        self.cached = False
        self.compiled = _compiled(self.plain, self.fastmath)
        return self.compiled(*arguments)

    @cached_property
    def compiled(self) -> Callable[..., Any]:
        """The loops as numba compiles them."""
        try:
            return _compiled(self.plain, self.fastmath, self._name_in_cache())
        except (OSError, RuntimeError):  # no source to read, no place for a cache
            self.cached = False
            return _compiled(self.plain, self.fastmath)

    def _name_in_cache(self) -> str:
        """With a hash of all that the machine code depends on; this file holds the flags, the other
        the constants that are not beside the loops."""
        files = {function.__code__.co_filename for function in _with_callees(self.plain)}
        digest = hashlib.sha256()
        for file in sorted(files | {__file__, str(rounding.__file__)}):
            digest.update(Path(file).read_bytes())
        for function in _with_callees(self.plain):  # numbers may come from elsewhere
            digest.update(repr(_numbers(function)).encode())
        return f"{self.plain.__name__}_{digest.hexdigest()[:16]}"


@cache
def _compiled(
    function: Callable[..., Any],
    fastmath: frozenset[str],
    name_in_cache: str | None = None,
    callee: bool = False,
) -> Callable[..., Any]:
    """numba's version of a function, in a namespace where what it calls is compiled too."""
    assert isinstance(function, FunctionType)
    numba = _numba()
    assert numba is not None
    namespace = dict(function.__globals__)
    for name, called in _callees(function).items():
        namespace[name] = _compiled(called, fastmath, callee=True)
    twin = FunctionType(function.__code__, namespace, name_in_cache or function.__name__)
    twin.__qualname__ = twin.__name__  # what numba calls the file in its cache
    return numba.njit(
        twin,
        cache=name_in_cache is not None,
        nogil=True,
        fastmath=set(fastmath),
        # the ways in from C and from Python take as long to compile as a short function itself
        no_cfunc_wrapper=True,
        no_cpython_wrapper=callee,
    )


def _with_callees(function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    yield function
    for callee in _callees(function).values():
        yield from _with_callees(callee)


def _numbers(function: Callable[..., Any]) -> dict[str, float]:
    """The numbers that a function names, which its machine code holds."""
    named = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    return {name: number for name, number in named.items() if isinstance(number, int | float)}


def _callees(function: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The functions that a function names, which are those it calls, as the compiler wants them."""
    named = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    functions = {name: thing for name, thing in named.items() if isinstance(thing, FunctionType)}
    return {name: _LOOPS.get(function, function) for name, function in functions.items()}


# What kernels do with vectors: NumPy's own functions take numba seconds to compile, for the most
# part messages about shapes.


def _assign_loops(x, y):
    for a in range(len(x)):
        x[a] = y[a]


@compiled_as(_assign_loops)
def assign(x, y):
    """Copy so much of y as x has room for."""
    x[:] = y[: len(x)]


def _add_scaled_loops(x, scale, y):
    for a in range(len(x)):
        x[a] += scale * y[a]


@compiled_as(_add_scaled_loops)
def add_scaled(x, scale, y):
    """``x += scale * y``, in place."""
    x += scale * y


def _subtract_loops(x, scale, y):
    for a in range(len(x)):
        x[a] -= scale * y[a]


@compiled_as(_subtract_loops)
def subtract(x, scale, y):
    """``x -= scale * y``, in place."""
    x -= scale * y


def _dot_loops(x, y):
    total = 0.0
    for a in range(len(x)):
        total += x[a] * y[a]
    return total


@compiled_as(_dot_loops)
def dot(x, y):
    """``x'y``."""
    return x @ y
