r"""Passes over a large matrix stored by columns, for few outputs.

BLAS multiplies a matrix by three or five columns at half the speed of memory: it is made for many.
Here four columns of X meet two or three outputs at a time, in pieces that stay in the cache, so
that X is read once, at the speed of memory, and the sums of squares of columns come out of the same
pass. Sums are kept in the precision of X within a piece and in float64 between pieces. The same
products of columns with columns, for which BLAS is not made either, are Gram matrices of few.

The kernels are plain Python that numba compiles at first use; they see X transposed, as rows. Whole
rows and not parts of matrices go into the inner loops: numba knows of those that they have no gaps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .compiling import REORDERED, LazyKernel
from .threads import N_SLICES, over_slices

# Samples: four columns and the outputs are read from memory once. With 512 products take 1.0 to 1.5
# times as long and sums of columns 1.3 to 1.7 times, with 8192 the same (2 to 12 outputs).
PIECE = 4096
# Where a piece of many columns shall stay in the cache: a Gram matrix of 40 to 100 columns takes
# the same time with 1024, 1.1 to 1.5 times as long with 4096 and 1.0 to 1.3 times with 256.
SHORT_PIECE = 512


def columns_times(
    X: np.ndarray,
    R: np.ndarray,
    squares: np.ndarray | None = None,
    columns: np.ndarray | None = None,
    samples: Sequence[slice] | None = None,
) -> np.ndarray:
    """``X' R`` in float64, for the named columns and over the given samples, or for all; also
    writes ``sum_i x_ij**2`` into ``squares`` where that is given."""
    if samples is None:
        samples = [slice(0, X.shape[0])]
    if columns is None:
        columns = np.arange(X.shape[1])
    Rt = np.ascontiguousarray(R.T, dtype=X.dtype)
    out = np.zeros((columns.size, R.shape[1]))
    sums = np.zeros(columns.size if squares is not None else 0)

    def multiply(part: slice) -> None:
        for some in samples:
            _COLUMNS_TIMES(
                X.T, columns[part], Rt, out[part], sums[part], some.start, some.stop, PIECE
            )

    n_samples = sum(some.stop - some.start for some in samples)
    over_slices(multiply, columns.size, flops=2.0 * n_samples * R.shape[1] * columns.size)
    if squares is not None:
        squares[:] = sums
    return out


def gram(X: np.ndarray, columns: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """``A'A`` for the named columns A of X less their centers, without a copy of the columns."""
    k = columns.size
    bounds = np.linspace(0, X.shape[0], N_SLICES + 1).astype(int)
    parts = np.zeros((N_SLICES, k, k))

    def multiply(part: slice) -> None:
        for i in range(part.start, part.stop):
            _GRAM(X.T, columns, centers, parts[i], bounds[i], bounds[i + 1], SHORT_PIECE)

    over_slices(multiply, N_SLICES, flops=X.shape[0] * float(k) ** 2)
    lower = np.tril(parts.sum(axis=0))
    return lower + np.tril(lower, -1).T


def combine_columns(X: np.ndarray, columns: np.ndarray, W: np.ndarray) -> np.ndarray:
    """``X[:, columns] W`` in float64 and Fortran order, without a copy of the columns."""
    out = np.empty((W.shape[1], X.shape[0]))
    out.fill(0.0)  # here, since threads that meet new pages together get in each other's way

    def combine(part: slice) -> None:
        _COMBINE_COLUMNS(X.T, columns, W, out, part.start, part.stop, PIECE)

    over_slices(combine, X.shape[0], flops=2.0 * X.shape[0] * W.size)
    return out.T


def _columns_times(Xt, columns, Rt, out, squares, begin, end, piece):
    fours = columns.size - columns.size % 4
    for p in range(0, fours, 4):
        for start in range(begin, end, piece):
            stop = min(start + piece, end)
            four = four_rows(Xt, columns[p : p + 4], start, stop)
            add_products(four, Rt, start, stop, out[p : p + 4])
            if squares.size:
                for b in range(4):
                    squares[p + b] += _dot(four[b], four[b])
    for p in range(fours, columns.size):
        for start in range(begin, end, piece):
            stop = min(start + piece, end)
            column = Xt[columns[p], start:stop]
            if squares.size:
                squares[p] += _dot(column, column)
            for k in range(Rt.shape[0]):
                out[p, k] += _dot(column, Rt[k, start:stop])


def _gram(Xt, columns, centers, G, begin, end, piece):
    """Adds the lower triangle, and some of the upper one, of the samples from begin to end."""
    block = np.empty((columns.size, piece))
    positions = np.arange(columns.size)
    fours = columns.size - columns.size % 4
    for start in range(begin, end, piece):
        size = min(start + piece, end) - start
        for p in range(columns.size):
            _subtract(Xt[columns[p], start : start + size], centers[p], block[p, :size])
        for p in range(0, fours, 4):
            four = four_rows(block, positions[p : p + 4], 0, size)
            add_products(four, block[: p + 4], 0, size, G[p : p + 4])
        for p in range(fours, columns.size):
            for q in range(p + 1):
                G[p, q] += _dot(block[p, :size], block[q, :size])


def _combine_columns(Xt, columns, W, out, begin, end, piece):
    fours = columns.size - columns.size % 4
    for start in range(begin, end, piece):
        stop = min(start + piece, end)
        for p in range(0, fours, 4):
            four = four_rows(Xt, columns[p : p + 4], start, stop)
            for k in range(out.shape[0]):
                add_combination(four, W[p : p + 4, k], out[k, start:stop])
        for p in range(fours, columns.size):
            for k in range(out.shape[0]):
                add_multiple(Xt[columns[p], start:stop], W[p, k], out[k, start:stop])


def four_rows(A, names, start, stop):
    """A part of each of the four named rows."""
    return (
        A[names[0], start:stop],
        A[names[1], start:stop],
        A[names[2], start:stop],
        A[names[3], start:stop],
    )


def add_products(four, Rt, start, stop, out):
    """Products of four rows with all rows of Rt: three at a time, the rest in pairs."""
    c = Rt.shape[0]
    n_pairs = (0, 2, 1)[c % 3] if c > 1 else 0  # what is left of threes: none, 4 or 2 rows
    for k in range(0, 2 * n_pairs, 2):
        _add_eight(four, Rt[k, start:stop], Rt[k + 1, start:stop], out[:, k : k + 2])
    for k in range(2 * n_pairs, c - 2, 3):
        one = Rt[k, start:stop]
        two = Rt[k + 1, start:stop]
        three = Rt[k + 2, start:stop]
        _add_twelve(four, one, two, three, out[:, k : k + 3])
    if c == 1:
        for b in range(4):
            out[b, 0] += _dot(four[b], Rt[0, start:stop])


def _dot(x, y):
    total = x.dtype.type(0)
    for i in range(x.size):
        total += x[i] * y[i]
    return total


def _subtract(x, center, out):
    for i in range(x.size):
        out[i] = x[i] - center


def _add_eight(four, one, two, out):
    """Eight sums in registers: six numbers are loaded for eight products."""
    x, y, z, w = four
    a = b = c = d = e = f = g = h = x.dtype.type(0)
    for i in range(x.size):
        a += x[i] * one[i]
        b += y[i] * one[i]
        c += z[i] * one[i]
        d += w[i] * one[i]
        e += x[i] * two[i]
        f += y[i] * two[i]
        g += z[i] * two[i]
        h += w[i] * two[i]
    _add_column(out[:, 0], a, b, c, d)
    _add_column(out[:, 1], e, f, g, h)


def _add_twelve(four, one, two, three, out):
    """Twelve sums in registers: seven numbers are loaded for twelve products."""
    x, y, z, w = four
    a = b = c = d = e = f = g = h = k = m = p = q = x.dtype.type(0)
    for i in range(x.size):
        a += x[i] * one[i]
        b += y[i] * one[i]
        c += z[i] * one[i]
        d += w[i] * one[i]
        e += x[i] * two[i]
        f += y[i] * two[i]
        g += z[i] * two[i]
        h += w[i] * two[i]
        k += x[i] * three[i]
        m += y[i] * three[i]
        p += z[i] * three[i]
        q += w[i] * three[i]
    _add_column(out[:, 0], a, b, c, d)
    _add_column(out[:, 1], e, f, g, h)
    _add_column(out[:, 2], k, m, p, q)


def _add_column(out, a, b, c, d):
    out[0] += a
    out[1] += b
    out[2] += c
    out[3] += d


def add_combination(four, weights, out):
    """Add the sum of four rows, each times its weight: one pass over what is added to."""
    x, y, z, w = four
    a = weights[0]
    b = weights[1]
    c = weights[2]
    d = weights[3]
    for i in range(out.size):
        out[i] += a * x[i] + b * y[i] + c * z[i] + d * w[i]


def add_multiple(x, weight, out):
    for i in range(out.size):
        out[i] += weight * x[i]


_COLUMNS_TIMES = LazyKernel(_columns_times, REORDERED)
_GRAM = LazyKernel(_gram, REORDERED)
_COMBINE_COLUMNS = LazyKernel(_combine_columns, REORDERED)
