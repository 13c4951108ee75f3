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
operations (cached on disk, at first use and never at import), and so within the many problems of
a path. The choice depends on sizes alone, so equal calls give equal bits.
"""

from __future__ import annotations

import math

import numpy as np

from .clip import clip_level
from .compiling import (
    COMPILED_FROM,
    REORDERED,
    LazyKernel,
    add_scaled,
    assign,
    compiled_as,
    dot,
    worth_compiling,
)
from .passes import add_combination, add_products, four_rows
from .rows import NEWTON_STEPS, smallest_output

BATCH = 4  # rows that share one pass over the gradient or the residual, as ``passes`` takes them


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
    gradient = np.empty(n_outputs)
    delta = np.empty(n_outputs)
    # moves that Q does not hold yet, and the rows that made them
    moves = np.empty((batch, n_outputs))
    movers = np.empty(batch, np.int64)
    waiting = 0
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
                add_scaled(Wt[:, j], 1.0, delta)
                assign(moves[waiting], delta)
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
    gradients = np.empty((batch, n_outputs))
    moves = np.empty((batch, n_outputs))
    moved = 0.0
    for _ in range(n_sweeps):
        moved = 0.0
        for start in range(0, rows.size, batch):
            names = rows[start : start + batch]
            _rows_times(Xt, names, Rt, gradients)
            any_moved = False
            for b in range(names.size):
                j = names[b]
                w = Wt[:, j]
                gradient = gradients[b]
                curvature = curvatures[j]
                delta = moves[b]
                if ridges[j] > 0.0:
                    add_scaled(gradient, ridges[j], w)
                if space is None:
                    size = _row_step(w, gradient, curvature, strength[j], p, delta)
                else:
                    size = _clip_step(w, gradient, curvature, strength[j], p, delta, space)
                if not size > 0.0:
                    delta[:] = 0.0
                    continue
                any_moved = True
                if not known[start]:
                    _products_within(Xt, names, products[start : start + batch])
                    known[start] = True
                add_scaled(w, 1.0, delta)
                for later in range(b + 1, names.size):
                    add_scaled(gradients[later], products[start + later, b], delta)
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
    threshold = smallest_output(rho, p) * (2.0 - p) / (2.0 * (1.0 - p))
    if z <= threshold:
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


def _add_outers_loops(At, moves, B, names):
    if names.size == BATCH:
        four = four_rows(B, names, 0, B.shape[1])
        for k in range(At.shape[0]):
            add_combination(four, moves[:, k], At[k])
        return
    for b in range(names.size):
        for k in range(At.shape[0]):
            add_scaled(At[k], moves[b, k], B[names[b]])


@compiled_as(_add_outers_loops)
def _add_outers(At, moves, B, names):
    """``At += sum_b moves[b] B[names[b]]'``: one pass over At for the whole batch."""
    if names.size == 1:
        At += moves[0][:, None] * B[names[0]]
    else:
        At += moves[: names.size].T @ B[names]


def _products_within_loops(B, names, out):
    if names.size == BATCH:
        _six_products(four_rows(B, names, 0, B.shape[1]), out)
        return
    for later in range(1, names.size):
        for b in range(later):
            out[later, b] = dot(B[names[later]], B[names[b]])


@compiled_as(_products_within_loops)
def _products_within(B, names, out):
    """``out[b, a] = B[names[b]]' B[names[a]]`` for a < b."""
    out[:, : names.size] = B[names] @ B[names].T


def _six_products(four, out):
    """Of four rows with each other, in one pass over them."""
    first, second, third, fourth = four
    a = b = c = d = e = f = 0.0
    for i in range(first.size):
        a += second[i] * first[i]
        b += third[i] * first[i]
        c += third[i] * second[i]
        d += fourth[i] * first[i]
        e += fourth[i] * second[i]
        f += fourth[i] * third[i]
    out[1, 0] = a
    out[2, 0] = b
    out[2, 1] = c
    out[3, 0] = d
    out[3, 1] = e
    out[3, 2] = f


def _rows_times_loops(B, names, At, out):
    if names.size == BATCH:
        out[:] = 0.0
        add_products(four_rows(B, names, 0, B.shape[1]), At, 0, B.shape[1], out)
        return
    for b in range(names.size):
        for k in range(At.shape[0]):
            out[b, k] = dot(B[names[b]], At[k])


@compiled_as(_rows_times_loops)
def _rows_times(B, names, At, out):
    """``out[b, k] = B[names[b]]' At[k]``."""
    out[: names.size] = B[names] @ At.T


_KERNELS = {f: LazyKernel(f, REORDERED) for f in (_sweep_gram, _sweep_samples)}


def _kernel(function, n_rows):
    return _KERNELS[function] if worth_compiling(n_rows, COMPILED_FROM) else function
