r"""Block sweeps: minimise over one row of W after the other, each exactly.

Both sweeps lower  ``1/2 tr(W'GW) - tr(B'W) + sum_j strength_j size(w_j)**p``, where the size of a
row is its Euclidean norm or (``clipped``) its largest magnitude. The first keeps the
gradient ``Q = G W - B`` of the quadratic up to date through the rows of G; the second keeps the
weighted residual of the samples instead, for working sets too large for a Gram matrix.

Row by row, such an update would fetch the whole gradient or residual for two operations per
number. So ``BATCH`` rows share one pass over it: within a batch a row learns of the moves before it
through the products ``x_j'x_k``, which the Gram matrix holds or which are computed once per call.
This is the same sweep, up to rounding.

The sweeps are written once, in plain Python over NumPy rows. Small problems run them as they are;
from ``COMPILED_FROM`` rows on numba compiles the same source, with loops in place of NumPy's
operations (cached on disk, at first use and never at import). The choice depends on the size
alone, so equal calls give equal bits.
"""

from __future__ import annotations

import math

import numpy as np

from .clip import clip_level
from .compiling import COMPILED_FROM, REORDERED, LazyKernel, compiled_as
from .rows import NEWTON_STEPS

BATCH = 4  # rows that share one pass over the gradient or the residual


def sweep_gram(G, Q, W, strength, p, rows, n_sweeps, tol, clipped=False) -> float:
    """Sweep over ``rows`` with the Gram matrix; W and Q (m x c, Fortran order) change in place.

    Stops after ``n_sweeps`` or when a sweep moves no row by more than ``tol`` in the scale
    ``sqrt(G_jj) |dw_j|``. Returns that largest move of the last sweep.
    """
    space = _space(W, clipped)
    kernel = _kernel(_sweep_gram, len(W))
    batch = 1 if kernel is _sweep_gram else BATCH  # of plain Python it would save nothing
    return kernel(G, Q.T, W.T, strength, p, rows, n_sweeps, tol, space, batch)


def sweep_samples(
    X, R, W, curvature, strength, p, rows, n_sweeps, tol, clipped=False, ridges=None
) -> float:
    """The same with ``R = X W - Y`` (n x c) kept up to date; X already holds sqrt(weight / n).

    Ridges add ``ridges_j/2 |w_j|**2``; the curvatures hold them already.
    """
    ridges = np.zeros(len(W)) if ridges is None else ridges
    rows = rows[curvature[rows] > 0.0]
    if not rows.size:
        return 0.0
    space = _space(W, clipped)
    kernel = _kernel(_sweep_samples, len(W))
    return kernel(X.T, R.T, W.T, curvature, ridges, strength, p, rows, n_sweeps, tol, space, BATCH)


def _space(W, clipped):
    """Where a clipped row is sorted; None stands for Euclidean norms, and numba compiles only
    the branch that its type selects."""
    return np.empty(W.shape[1]) if clipped else None


def _sweep_gram(G, Qt, Wt, strength, p, rows, n_sweeps, tol, space, batch):
    n_outputs = Wt.shape[0]
    gradient, delta = np.empty(n_outputs), np.empty(n_outputs)
    moves, movers, waiting = np.empty((batch, n_outputs)), np.empty(batch, np.int64), 0
    moved = 0.0
    for _ in range(n_sweeps):
        moved = 0.0
        for j in rows:
            curvature = G[j, j]
            if curvature <= 0.0:
                continue
            _gradient_of(j, G, Qt, moves, movers, waiting, gradient)
            if space is None:
                size = _row_step(Wt[:, j], gradient, curvature, strength[j], p, delta)
            else:
                size = _clip_step(Wt[:, j], gradient, curvature, strength[j], p, delta, space)
            if size > 0.0:
                _add(Wt[:, j], delta)
                _copy(delta, moves, waiting)
                movers[waiting] = j
                waiting += 1
                moved = max(moved, math.sqrt(curvature) * size)
                if waiting == batch:
                    _add_outers(Qt, moves, G, movers)
                    waiting = 0
        if moved <= tol:
            break
    if waiting:
        _add_outers(Qt, moves, G, movers[:waiting])
    return moved


def _sweep_samples(Xt, Rt, Wt, curvatures, ridges, strength, p, rows, n_sweeps, tol, space, batch):
    n_outputs = Wt.shape[0]
    products = np.empty((rows.size, batch))  # of the columns of X within a batch
    known = np.zeros(rows.size, np.bool_)  # at the start of a batch: whether they are computed
    gradients, moves = np.empty((batch, n_outputs)), np.empty((batch, n_outputs))
    moved = 0.0
    for _ in range(n_sweeps):
        moved = 0.0
        for start in range(0, rows.size, batch):
            names = rows[start : start + batch]
            _rows_times(Xt, names, Rt, gradients)
            any_moved = False
            for b in range(names.size):
                j, delta = names[b], moves[b]
                w, gradient, curvature = Wt[:, j], gradients[b], curvatures[j]
                if ridges[j] > 0.0:
                    _add_scaled(gradient, w, ridges[j])
                if space is None:
                    size = _row_step(w, gradient, curvature, strength[j], p, delta)
                else:
                    size = _clip_step(w, gradient, curvature, strength[j], p, delta, space)
                if not size > 0.0:
                    delta[:] = 0.0
                else:
                    any_moved = True
                    if not known[start]:
                        _products_within(Xt, names, products[start : start + batch])
                        known[start] = True
                    _add(Wt[:, j], delta)
                    for later in range(b + 1, names.size):
                        _add_scaled(gradients[later], delta, products[start + later, b])
                    moved = max(moved, math.sqrt(curvature) * size)
            if any_moved:
                _add_outers(Rt, moves, Xt, names)
        if moved <= tol:
            break
    return moved


def _row_step_loops(w, gradient, curvature, strength, p, delta):
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


@compiled_as(_row_step_loops)
def _row_step(w, gradient, curvature, strength, p, delta):
    """Writes the change of one row to its exact minimiser into ``delta``; returns its norm."""
    if w.size < 8:  # NumPy's operations cost as much as the loops over so many numbers
        return _row_step_loops(w, gradient, curvature, strength, p, delta)
    z = w - gradient / curvature
    norm = math.sqrt(z @ z)
    shrunk = _shrink_one(norm, strength / curvature, p)
    z *= shrunk / norm if shrunk > 0.0 else 0.0
    np.subtract(z, w, out=delta)
    return math.sqrt(delta @ delta)


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
    """``rows.shrink`` for one number (the same formulas, without array overhead)."""
    if p == 1.0:
        return max(z - rho, 0.0)
    smallest = (2.0 * (1.0 - p) * rho) ** (1.0 / (2.0 - p))
    if z <= smallest * (2.0 - p) / (2.0 * (1.0 - p)):
        return 0.0
    if p == 0.0 or rho == 0.0:
        return z
    relative = rho / z * z ** (p - 1.0)
    s = 1.0
    for _ in range(NEWTON_STEPS):
        power = relative * p * s ** (p - 2.0)
        step = (s - 1.0 + power * s) / (1.0 + (p - 1.0) * power)
        s -= step
        if abs(step) <= 4e-16:
            break
    return z * s


def _gradient_of_loops(j, G, Qt, moves, movers, waiting, out):
    for k in range(out.size):
        total = Qt[k, j]
        for b in range(waiting):
            total += G[movers[b], j] * moves[b, k]  # rows of G that stay in the cache
        out[k] = total


@compiled_as(_gradient_of_loops)
def _gradient_of(j, G, Qt, moves, movers, waiting, out):
    """Row j of the gradient, with the moves that Q does not hold yet."""
    out[:] = Qt[:, j]
    if waiting:
        out += G[movers[:waiting], j] @ moves[:waiting]


def _copy_loops(source, matrix, row):
    for k in range(source.size):
        matrix[row, k] = source[k]


@compiled_as(_copy_loops)
def _copy(source, matrix, row):
    matrix[row] = source


def _add_loops(total, row):
    for k in range(total.size):
        total[k] += row[k]


@compiled_as(_add_loops)
def _add(total, row):
    total += row


def _add_scaled_loops(total, row, factor):
    for k in range(total.size):
        total[k] += factor * row[k]


@compiled_as(_add_scaled_loops)
def _add_scaled(total, row, factor):
    total += factor * row


def _add_outers_loops(At, moves, B, names):
    if names.size == BATCH:
        first, second, third, fourth = B[names[0]], B[names[1]], B[names[2]], B[names[3]]
        for k in range(At.shape[0]):
            row, a, b, c, d = At[k], moves[0, k], moves[1, k], moves[2, k], moves[3, k]
            for i in range(row.size):
                row[i] += a * first[i] + b * second[i] + c * third[i] + d * fourth[i]
    else:
        for b in range(names.size):
            single = B[names[b]]
            for k in range(At.shape[0]):
                row, a = At[k], moves[b, k]
                for i in range(row.size):
                    row[i] += a * single[i]


@compiled_as(_add_outers_loops)
def _add_outers(At, moves, B, names):
    """``At += sum_b moves[b] B[names[b]]'``: one pass over At for the whole batch."""
    if names.size == 1:
        At += moves[0][:, None] * B[names[0]]
    else:
        At += moves[: names.size].T @ B[names]


def _products_within_loops(B, names, out):
    if names.size == BATCH:
        first, second, third, fourth = B[names[0]], B[names[1]], B[names[2]], B[names[3]]
        a = b = c = d = e = f = 0.0
        for i in range(first.size):
            a += second[i] * first[i]
            b += third[i] * first[i]
            c += third[i] * second[i]
            d += fourth[i] * first[i]
            e += fourth[i] * second[i]
            f += fourth[i] * third[i]
        out[1, 0], out[2, 0], out[2, 1], out[3, 0], out[3, 1], out[3, 2] = a, b, c, d, e, f
    else:
        for later in range(1, names.size):
            row = B[names[later]]
            for b in range(later):
                other, total = B[names[b]], 0.0
                for i in range(row.size):
                    total += row[i] * other[i]
                out[later, b] = total


@compiled_as(_products_within_loops)
def _products_within(B, names, out):
    """``out[b, a] = B[names[b]]' B[names[a]]`` for a < b."""
    out[:, : names.size] = B[names] @ B[names].T


def _rows_times_loops(B, names, At, out):
    if names.size == BATCH:
        _four_rows_times(B[names[0]], B[names[1]], B[names[2]], B[names[3]], At, out)
    else:
        for b in range(names.size):
            single = B[names[b]]
            for k in range(At.shape[0]):
                row, total = At[k], 0.0
                for i in range(row.size):
                    total += single[i] * row[i]
                out[b, k] = total


@compiled_as(_rows_times_loops)
def _rows_times(B, names, At, out):
    """``out[b, k] = B[names[b]]' At[k]``."""
    out[: names.size] = B[names] @ At.T


def _four_rows_times(first, second, third, fourth, At, out):
    """Two outputs at a time: eight sums in registers, six loads for eight products."""
    last = At.shape[0] - 1
    for k in range(0, last, 2):
        row, other = At[k], At[k + 1]
        a = b = c = d = e = f = g = h = 0.0
        for i in range(row.size):
            a += first[i] * row[i]
            b += second[i] * row[i]
            c += third[i] * row[i]
            d += fourth[i] * row[i]
            e += first[i] * other[i]
            f += second[i] * other[i]
            g += third[i] * other[i]
            h += fourth[i] * other[i]
        out[0, k], out[1, k], out[2, k], out[3, k] = a, b, c, d
        out[0, k + 1], out[1, k + 1], out[2, k + 1], out[3, k + 1] = e, f, g, h
    if last % 2 == 0:
        row = At[last]
        a = b = c = d = 0.0
        for i in range(row.size):
            a += first[i] * row[i]
            b += second[i] * row[i]
            c += third[i] * row[i]
            d += fourth[i] * row[i]
        out[0, last], out[1, last], out[2, last], out[3, last] = a, b, c, d


_KERNELS = {f: LazyKernel(f, REORDERED) for f in (_sweep_gram, _sweep_samples)}


def _kernel(function, n_rows):
    return function if n_rows < COMPILED_FROM else _KERNELS[function]
