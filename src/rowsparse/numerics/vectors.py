"""What kernels do with vectors, as loops for the compiler and as NumPy has it without one.

NumPy's own functions take numba seconds to compile, for the most part messages about shapes.
"""

from __future__ import annotations

from .compiling import compiled_as


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
