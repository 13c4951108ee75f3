"""What a pass sums over some rows of X, Y and the weights s about a point W, for every r.

Z are the rows as the problem sees them, E = Z W - Y their residual, which is forgotten again.
Sums are those over the samples, not yet divided by their number.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..losses.residual import ResidualLoss
from ..numerics.rows import nonzero_rows, row_norms

Array = np.ndarray
BITS = 40  # of a number, left out: sizes that agree in the other 24 agree to one part in 4096


def point_sums(
    Z: Array, Y: Array, s: Array, W: Array, loss: ResidualLoss, cap: float
) -> tuple[float, Array, Array]:
    """The true loss, the gradient of the smoothed one, and the squares of the columns under the
    weights of the majorizer, of which none is above ``cap`` times that of the sample."""
    E, h = _residual(Z, Y, s, W, loss)
    value = replace(loss, sample_weight=s, smoothing=0.0).total_of_residual(E)
    return value, Z.T @ (h[:, None] * E), np.minimum(h, cap * s) @ (Z * Z)


def model_sums(
    Z: Array,
    Y: Array,
    s: Array,
    W: Array,
    rows: Array,
    loss: ResidualLoss,
    cap: float,
    with_products: bool,
    radial: Array,
) -> tuple[float, Array, Array, Array, Array, Array]:
    """Of the columns ``rows`` alone: the smoothed loss, its gradient, the squares under the weights
    of the majorizer and under capped ones, if wanted the products under the first, and what the
    Hessian of the columns ``radial`` lacks of these along the residuals."""
    E, h = _residual(Z, Y, s, W, loss)
    value = replace(loss, sample_weight=s).total_of_residual(E)
    X = Z[:, rows]
    squares = X * X
    metric = np.minimum(h, cap * s) @ squares
    products = np.zeros((0, 0))
    if with_products:
        weighted = np.sqrt(h)[:, None] * X
        products = weighted.T @ weighted
    lost = _lost_directions(E, h, loss)
    J = (Z[:, radial, None] * lost[:, None, :]).reshape(len(Z), radial.size * Y.shape[1])
    return value, X.T @ (h[:, None] * E), h @ squares, metric, products, J.T @ J


def cross_sums(
    Z: Array, Y: Array, s: Array, W: Array, left: Array, right: Array, loss: ResidualLoss
) -> tuple[Array]:
    """Products of some columns with others, under the weights of the majorizer."""
    _, h = _residual(Z, Y, s, W, loss)
    return ((h[:, None] * Z[:, left]).T @ Z[:, right],)


def radial_sums(
    Z: Array, Y: Array, s: Array, W: Array, rows: Array, loss: ResidualLoss, D: Array
) -> tuple[Array]:
    """What the Hessian of some columns lacks along the residuals, times D."""
    E, h = _residual(Z, Y, s, W, loss)
    lost = _lost_directions(E, h, loss)
    X = Z[:, rows]
    along = np.einsum("ij,ij->i", lost, X @ D)
    return (X.T @ (along[:, None] * lost),)


def size_counts(Z: Array, Y: Array, s: Array, W: Array) -> tuple[Array, Array]:
    """How many samples have a residual of which size, by the leading bits of its norm."""
    sizes = row_norms(_predicted(Z, W) - Y)
    kinds, counts = np.unique(sizes.view(np.int64) >> BITS, return_counts=True)
    return kinds, counts


def counts_together(some: tuple[Array, Array], others: tuple[Array, Array]) -> tuple[Array, Array]:
    """Of the samples of both."""
    kinds, which = np.unique(np.append(some[0], others[0]), return_inverse=True)
    counts = np.zeros(kinds.size, dtype=np.int64)
    np.add.at(counts, which, np.append(some[1], others[1]))
    return kinds, counts


def median_of(kinds: Array, counts: Array) -> float:
    """The median size, to one part in 4096."""
    middle = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2))
    if kinds[middle] == 0:
        return 0.0
    return float(np.array([(kinds[middle] << BITS) + (1 << (BITS - 1))]).view(float)[0])


def dual_sums(
    Z: Array, Y: Array, s: Array, W: Array, loss: ResidualLoss, free: Array, beta: Array
) -> tuple[float, float, float, float]:
    """Of Theta, the gradient of the loss in Z W without its part ``beta`` along the free columns:
    its product with Y, the squares of its rows over their weights and as they are, and the largest
    row for a weight of one."""
    slopes = _dual_slopes(Z, Y, s, W, loss, free, beta)
    linear = float(np.vdot(s[:, None] * slopes, Y))
    sizes = row_norms(slopes)
    return linear, float(s @ sizes**2), float(s**2 @ sizes**2), float(sizes.max(initial=0.0))


def sums_and_largest(some: tuple[float, ...], others: tuple[float, ...]) -> tuple[float, ...]:
    """Of the samples of both; what is last is a largest one."""
    sums = (one + other for one, other in zip(some[:-1], others[:-1], strict=True))
    return (*sums, max(some[-1], others[-1]))


def dual_costs(
    Z: Array,
    Y: Array,
    s: Array,
    W: Array,
    loss: ResidualLoss,
    free: Array,
    beta: Array,
    largest: float,
) -> tuple[float]:
    """``ResidualLoss.dual_cost`` of the same Theta."""
    sizes = row_norms(_dual_slopes(Z, Y, s, W, loss, free, beta))
    return (loss.dual_cost(sizes, s, largest),)


def weighted_products(Z: Array, Y: Array, s: Array, columns: Array) -> tuple[Array]:
    """Of all columns with some, under the weights of the samples."""
    return (Z.T @ (s[:, None] * Z[:, columns]),)


def _dual_slopes(
    Z: Array, Y: Array, s: Array, W: Array, loss: ResidualLoss, free: Array, beta: Array
) -> Array:
    E, h = _residual(Z, Y, s, W, loss)
    return E * (h / s)[:, None] - Z[:, free] @ beta


def _residual(Z: Array, Y: Array, s: Array, W: Array, loss: ResidualLoss) -> tuple[Array, Array]:
    """E, and the weights of its samples in the majorizer."""
    E = _predicted(Z, W) - Y
    return E, replace(loss, sample_weight=s).residual_weights(E)


def _predicted(Z: Array, W: Array) -> Array:
    used = nonzero_rows(W)
    return Z @ W if used.all() else Z[:, used] @ W[used]


def _lost_directions(E: Array, h: Array, loss: ResidualLoss) -> Array:
    """Directions of the residuals, as long as roots of what the curvature of each lacks."""
    norms = row_norms(E)
    directions = np.divide(E, norms[:, None], out=np.zeros_like(E), where=norms[:, None] > 0)
    return directions * np.sqrt(h * loss.radial_loss_of_curvature(E))[:, None]
