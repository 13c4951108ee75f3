r"""Block sweeps: minimise over one row of W after the other, each exactly.

Both sweeps lower  ``1/2 tr(W'GW) - tr(B'W) + sum_j strength_j size(w_j)**p``, where the size of a
row is its Euclidean norm or (``clipped``) its largest magnitude. The first keeps the
gradient ``Q = G W - B`` of the quadratic up to date through the rows of G; the second keeps the
weighted residual of the samples instead, for working sets too large for a Gram matrix.

The loops are written once, in plain Python over NumPy rows. Small problems run them as they are;
from ``COMPILED_FROM`` rows on numba compiles the same source (cached on disk, at first use and
never at import). The choice depends on the size alone, so equal calls give equal bits.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from .clip import clip_level, register_clip_level
from .compiling import compile_cached, numba_tools

COMPILED_FROM = 64
_FASTMATH = {"reassoc", "contract", "nsz", "arcp"}


def sweep_gram(G, Q, W, strength, p, rows, n_sweeps, tol, clipped=False):
    """Sweep over ``rows`` with the Gram matrix; W and Q (m x c, Fortran order) change in place.

    Stops after ``n_sweeps`` or when a sweep moves no row by more than ``tol`` in the scale
    ``sqrt(G_jj) |dw_j|``. Returns that largest move of the last sweep.
    """
    space = _space(W, clipped)
    return _kernel(_sweep_gram, len(W))(G, Q.T, W.T, strength, p, rows, n_sweeps, tol, space)


def sweep_samples(X, R, W, curvature, strength, p, rows, n_sweeps, tol, clipped=False):
    """The same with ``R = X W - Y`` (n x c) kept up to date; X already holds sqrt(weight / n)."""
    rows = rows[curvature[rows] > 0.0]
    if not rows.size:
        return 0.0
    kernel = _kernel(_sweep_samples, len(W))
    space = _space(W, clipped)
    return kernel(X.T, R.T, W.T, curvature, strength, p, rows, n_sweeps, tol, space)


def _space(W, clipped):
    """Where a clipped row is sorted; None stands for Euclidean norms, and numba compiles only
    the branch that its type selects."""
    return np.empty(W.shape[1]) if clipped else None


def _sweep_gram(G, Qt, Wt, strength, p, rows, n_sweeps, tol, space):
    delta = np.empty(Wt.shape[0])
    moved = 0.0
    for _ in range(n_sweeps):
        moved = 0.0
        for j in rows:
            curvature = G[j, j]
            if curvature <= 0.0:
                continue
            if space is None:
                size = _row_step(Wt[:, j], Qt[:, j], curvature, strength[j], p, delta)
            else:
                size = _clip_step(Wt[:, j], Qt[:, j], curvature, strength[j], p, delta, space)
            if size > 0.0:
                Wt[:, j] += delta
                _add_outer(Qt, delta, G[j])
                moved = max(moved, math.sqrt(curvature) * size)
        if moved <= tol:
            break
    return moved


def _sweep_samples(Xt, Rt, Wt, curvatures, strength, p, rows, n_sweeps, tol, space):
    delta = np.empty(Wt.shape[0])
    gradient = np.empty(Wt.shape[0])
    moved = 0.0
    known = False  # whether ``gradient`` is already that of the row whose turn it is
    for _ in range(n_sweeps):
        moved = 0.0
        for position in range(rows.size):
            j = rows[position]
            if not known:
                _rows_times(Rt, Xt[j], gradient)
            if space is None:
                size = _row_step(Wt[:, j], gradient, curvatures[j], strength[j], p, delta)
            else:
                size = _clip_step(Wt[:, j], gradient, curvatures[j], strength[j], p, delta, space)
            known = size > 0.0
            if known:  # one pass over the residual updates it and meets the next row
                following = rows[(position + 1) % rows.size]
                Wt[:, j] += delta
                _add_outer_then_times(Rt, delta, Xt[j], Xt[following], gradient)
                moved = max(moved, math.sqrt(curvatures[j]) * size)
        if moved <= tol:
            break
    return moved


def _row_step(w, gradient, curvature, strength, p, delta):
    """Writes the change of one row to its exact minimiser into ``delta``; returns its norm."""
    squares = 0.0
    for k in range(w.size):
        delta[k] = w[k] - gradient[k] / curvature
        squares += delta[k] * delta[k]
    norm = math.sqrt(squares)
    shrunk = _shrink_one(norm, strength / curvature, p)
    factor = shrunk / norm if shrunk > 0.0 else 0.0
    squares = 0.0
    for k in range(w.size):
        delta[k] = delta[k] * factor - w[k]
        squares += delta[k] * delta[k]
    return math.sqrt(squares)


def _clip_step(w, gradient, curvature, strength, p, delta, space):
    """The same where the size of a row is its largest magnitude."""
    for k in range(w.size):
        delta[k] = w[k] - gradient[k] / curvature
        space[k] = abs(delta[k])
    level = clip_level(space, strength / curvature, p, False)
    squares = 0.0
    for k in range(w.size):
        delta[k] = min(max(delta[k], -level), level) - w[k]
        squares += delta[k] * delta[k]
    return math.sqrt(squares)


def _shrink_one(z, rho, p):
    """``numerics.shrink.shrink`` for one number (the same formulas, without array overhead)."""
    if p == 1.0:
        return max(z - rho, 0.0)
    smallest = (2.0 * (1.0 - p) * rho) ** (1.0 / (2.0 - p))
    if z <= smallest * (2.0 - p) / (2.0 * (1.0 - p)):
        return 0.0
    if p == 0.0 or rho == 0.0:
        return z
    relative = rho / z * z ** (p - 1.0)
    s = 1.0
    for _ in range(60):
        power = relative * p * s ** (p - 2.0)
        step = (s - 1.0 + power * s) / (1.0 + (p - 1.0) * power)
        s -= step
        if abs(step) <= 4e-16:
            break
    return z * s


def _add_outer(At, delta, row):
    At += delta[:, None] * row


def _add_outer_loops(At, delta, row):
    for k in range(delta.size):
        for i in range(row.size):
            At[k, i] += delta[k] * row[i]


def _rows_times(At, row, out):
    out[:] = At @ row


def _rows_times_loops(At, row, out):
    for k in range(At.shape[0]):
        total = 0.0
        for i in range(row.size):
            total += At[k, i] * row[i]
        out[k] = total


def _add_outer_then_times(At, delta, row, following, out):
    _add_outer(At, delta, row)
    _rows_times(At, following, out)


def _add_outer_then_times_loops(At, delta, row, following, out):
    for k in range(0, delta.size - 1, 2):  # two outputs share what is loaded of the rows
        first, second = 0.0, 0.0
        for i in range(row.size):
            a = At[k, i] + delta[k] * row[i]
            b = At[k + 1, i] + delta[k + 1] * row[i]
            At[k, i] = a
            At[k + 1, i] = b
            first += a * following[i]
            second += b * following[i]
        out[k], out[k + 1] = first, second
    if delta.size % 2:
        k, total = delta.size - 1, 0.0
        for i in range(row.size):
            a = At[k, i] + delta[k] * row[i]
            At[k, i] = a
            total += a * following[i]
        out[k] = total


def _kernel(function, n_rows):
    """The compiled kernel for many rows, the plain function for few or without numba."""
    if n_rows < COMPILED_FROM:
        return function
    return _compiled().get(function.__name__, function)


@cache
def _compiled() -> dict:
    """Compile lazily; without numba, or where its cache cannot be written, still give an answer."""
    tools = numba_tools()
    if tools is None:
        return {}
    fast = {"fastmath": _FASTMATH}
    tools.overload(_add_outer, jit_options=fast)(lambda At, delta, row: _add_outer_loops)
    tools.overload(_rows_times, jit_options=fast)(lambda At, row, out: _rows_times_loops)
    tools.overload(_add_outer_then_times, jit_options=fast)(
        lambda At, delta, row, following, out: _add_outer_then_times_loops
    )
    register_clip_level(tools)
    for function in (_shrink_one, _row_step, _clip_step):
        tools.register_jitable(function)
    kernels = (_sweep_gram, _sweep_samples)
    return {f.__name__: compile_cached(tools, f, _FASTMATH) for f in kernels}
