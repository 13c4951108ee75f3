r"""Passes over a large matrix stored by columns, for few outputs.

BLAS multiplies a matrix by three or five columns at half the speed of memory: it is made for many.
Here four columns of X meet two outputs at a time, in pieces that stay in the first cache, so that X
is read once, at the speed of memory, and the sums of squares of its columns come out of the same
pass. Sums are kept in the precision of X within a piece and in float64 between pieces.

The kernels are plain Python that numba compiles at first use; without numba, for small matrices
and for many outputs BLAS is the better choice (``worth_own_pass``).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from .compiling import compile_cached, numba_tools
from .threads import over_slices

WORTH = 10**7  # entries: numba costs some tenths of a second in a new process
FEWEST_OUTPUTS, MOST_OUTPUTS = 2, 12  # BLAS reads X as fast for one, and is made for many
PIECE = 1024  # samples
_FASTMATH = {"reassoc", "contract", "nsz"}


def worth_own_pass(X: np.ndarray, n_outputs: int) -> bool:
    """Whether these passes beat BLAS on X; it depends on X and the number of outputs alone."""
    few = FEWEST_OUTPUTS <= n_outputs <= MOST_OUTPUTS
    return few and X.flags.f_contiguous and X.size >= WORTH and bool(_compiled())


def columns_times(X: np.ndarray, R: np.ndarray, squares: np.ndarray | None = None) -> np.ndarray:
    """``X' R`` in float64; also writes ``sum_i x_ij**2`` into ``squares`` where that is given."""
    Xt, Rt = X.T, np.ascontiguousarray(R.T, dtype=X.dtype)
    out = np.zeros((X.shape[1], R.shape[1]))
    sums = np.zeros(X.shape[1] if squares is not None else 0)
    kernel = _kernel(_columns_times)

    def multiply(part: slice) -> None:
        kernel(Xt[part], Rt, out[part], sums[part], PIECE)

    over_slices(multiply, X.shape[1], flops=2.0 * X.size * R.shape[1])
    if squares is not None:
        squares[:] = sums
    return out


def combine_columns(X: np.ndarray, columns: np.ndarray, W: np.ndarray) -> np.ndarray:
    """``X[:, columns] W`` in float64 and Fortran order, without a copy of the columns."""
    out = np.zeros((W.shape[1], X.shape[0]))
    kernel = _kernel(_combine_columns)

    def combine(part: slice) -> None:
        kernel(X.T, columns, W, out, part.start, part.stop, PIECE)

    over_slices(combine, X.shape[0], flops=2.0 * X.shape[0] * W.size)
    return out.T


def _columns_times(Xt, Rt, out, squares, piece):
    n_columns, n = Xt.shape
    for j in range(0, n_columns - 3, 4):
        for start in range(0, n, piece):
            stop = min(start + piece, n)
            first, second = Xt[j, start:stop], Xt[j + 1, start:stop]
            third, fourth = Xt[j + 2, start:stop], Xt[j + 3, start:stop]
            for k in range(0, Rt.shape[0] - 1, 2):
                one, two = Rt[k, start:stop], Rt[k + 1, start:stop]
                _add_eight(first, second, third, fourth, one, two, out[j : j + 4, k : k + 2])
            for b in range(4):  # what is left over, from the cache
                column = Xt[j + b, start:stop]
                if squares.size:
                    squares[j + b] += _dot(column, column)
                if Rt.shape[0] % 2:
                    out[j + b, -1] += _dot(column, Rt[-1, start:stop])
    for j in range(n_columns - n_columns % 4, n_columns):
        for start in range(0, n, piece):
            column = Xt[j, start : start + piece]
            if squares.size:
                squares[j] += _dot(column, column)
            for k in range(Rt.shape[0]):
                out[j, k] += _dot(column, Rt[k, start : start + piece])


def _dot(x, y):
    total = x.dtype.type(0)
    for i in range(x.size):
        total += x[i] * y[i]
    return total


def _add_eight(first, second, third, fourth, one, two, out):
    """Eight sums in registers: six numbers are loaded for eight products."""
    a = b = c = d = e = f = g = h = first.dtype.type(0)
    for i in range(first.size):
        a += first[i] * one[i]
        b += second[i] * one[i]
        c += third[i] * one[i]
        d += fourth[i] * one[i]
        e += first[i] * two[i]
        f += second[i] * two[i]
        g += third[i] * two[i]
        h += fourth[i] * two[i]
    out[0, 0] += a
    out[1, 0] += b
    out[2, 0] += c
    out[3, 0] += d
    out[0, 1] += e
    out[1, 1] += f
    out[2, 1] += g
    out[3, 1] += h


def _combine_columns(Xt, columns, W, out, begin, end, piece):
    fours = columns.size - columns.size % 4
    for start in range(begin, end, piece):
        stop = min(start + piece, end)
        for p in range(0, fours, 4):
            first, second = Xt[columns[p], start:stop], Xt[columns[p + 1], start:stop]
            third, fourth = Xt[columns[p + 2], start:stop], Xt[columns[p + 3], start:stop]
            for k in range(out.shape[0]):
                _add_combination(first, second, third, fourth, W[p : p + 4, k], out[k, start:stop])
        for p in range(fours, columns.size):
            for k in range(out.shape[0]):
                _add_multiple(Xt[columns[p], start:stop], W[p, k], out[k, start:stop])


def _add_combination(first, second, third, fourth, weights, out):
    a, b, c, d = weights[0], weights[1], weights[2], weights[3]
    for i in range(out.size):
        out[i] += a * first[i] + b * second[i] + c * third[i] + d * fourth[i]


def _add_multiple(x, weight, out):
    for i in range(out.size):
        out[i] += weight * x[i]


def _kernel(function):
    """The compiled kernel; the plain function without numba."""
    return _compiled().get(function.__name__, function)


@cache
def _compiled() -> dict:
    """Compile lazily; empty without numba."""
    tools = numba_tools()
    if tools is None:
        return {}
    parts = (_dot, _add_eight, _add_combination, _add_multiple)
    for function in parts:
        tools.register_jitable(fastmath=_FASTMATH)(function)
    kernels = (_columns_times, _combine_columns)
    return {f.__name__: compile_cached(tools, f, _FASTMATH) for f in kernels}
