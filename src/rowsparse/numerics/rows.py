r"""Rows of a matrix: their norms, the largest of them, and the maps that shrink them.

Rows are shrunk by the proximal map of ``rho * t**p`` on the half line, for every p in [0, 1]. For
z >= 0 and rho >= 0 the scalar problem is

    min over t >= 0 of  1/2 (t - z)**2 + rho * t**p          (t**0 counts: 0 at t = 0, else 1)

and its global minimiser is 0 up to a threshold, then jumps to the larger root of
``t - z + rho p t**(p-1) = 0``. Ties go to zero; zero in gives zero out; nothing is ever NaN.
"""

from __future__ import annotations

import numpy as np

NEWTON_STEPS = 60  # a bound only, should rounding keep steps from becoming zero


def row_norms(W: np.ndarray) -> np.ndarray:
    """Euclidean norm of every row; exact for entries from 1e-300 to 1e300.

    Squares of entries near the ends of the range under- or overflow, so each row is first divided
    by its largest entry whenever the plain sum of squares is not safely inside the range.
    """
    W = np.asarray(W)
    if W.shape[1] == 1:
        return np.abs(W[:, 0])
    squares = row_squares(W)
    norms = np.sqrt(squares)
    huge = 1e30 if W.dtype == np.float32 else 1e280
    unsafe = (squares < 1 / huge) | (squares > huge)
    unsafe[unsafe] = nonzero_rows(W[unsafe])
    if unsafe.any():
        rows = W[unsafe]
        largest = np.abs(rows).max(axis=1)
        scaled = rows / largest[:, None]
        norms[unsafe] = largest * np.sqrt(row_squares(scaled))
    return norms


def row_squares(W: np.ndarray) -> np.ndarray:
    """Sum of squares of every row, where entries are known to be far from the ends of the range."""
    return np.einsum("ij,ij->i", W, W)


def nonzero_rows(W: np.ndarray) -> np.ndarray:
    """Which rows of W have a nonzero entry."""
    if len(W) < 1000:
        return np.asarray(W.any(axis=1))
    mask = W[:, 0] != 0  # many short rows: column by column is twice as fast
    for k in range(1, W.shape[1]):
        mask |= W[:, k] != 0
    return mask


def largest_first(scores: np.ndarray) -> np.ndarray:
    """Indices from the largest score to the smallest; equal scores keep the lower index first."""
    return np.argsort(-np.asarray(scores, dtype=float), kind="stable")


def largest(scores: np.ndarray, k: int) -> np.ndarray:
    """The indices of the k largest scores in increasing order; ties go to the lower index."""
    scores = np.asarray(scores, dtype=float)
    if not 0 < k < scores.size:
        return np.sort(largest_first(scores)[: max(k, 0)])
    least = -np.partition(-scores, k - 1)[k - 1]
    if np.isnan(least):  # NaN is smaller than every number
        return np.sort(largest_first(scores)[:k])
    above = np.flatnonzero(scores > least)
    ties = np.flatnonzero(scores == least)[: k - above.size]
    return np.sort(np.concatenate([above, ties]))


def n_distinct(marks: np.ndarray) -> int:
    """How many rows differ, by one number for each: a product of it with one direction.

    Eleven digits are those that products of equal rows share, whatever the order of their sums.
    """
    scale = np.abs(marks).max() or 1.0
    return np.unique(np.round(marks / scale, 11)).size


def threshold(rho, p: float):
    """The largest z that is shrunk to zero by ``shrink(z, rho, p)``.

    >>> float(threshold(0.3, 1.0)), float(threshold(0.5, 0.0))
    (0.3, 1.0)
    """
    rho = np.asarray(rho, dtype=float)
    if p == 1:
        return rho
    smallest = smallest_output(rho, p)
    return smallest * (2 - p) / (2 * (1 - p))


def smallest_output(rho, p: float):
    """What ``shrink`` gives for the smallest z that it does not shrink to zero, p < 1."""
    return (2 * (1 - p) * rho) ** (1 / (2 - p))


def strength_to_zero(z, p: float):
    """The smallest rho with ``shrink(z, rho, p) == 0``: the inverse of ``threshold``."""
    z = np.asarray(z, dtype=float)
    if p == 1:
        return z
    smallest = 2 * (1 - p) * z / (2 - p)
    return smallest ** (2 - p) / (2 * (1 - p))


def shrink(z, rho, p: float) -> np.ndarray:
    """Global minimiser of 1/2 (t - z)**2 + rho t**p over t >= 0, elementwise; z, rho >= 0."""
    z, rho = np.broadcast_arrays(np.asarray(z, dtype=float), np.asarray(rho, dtype=float))
    if p == 1:
        return np.subtract(z, rho, out=np.zeros(z.shape), where=z > rho)
    kept = z > threshold(rho, p)  # ties go to zero
    if p == 0:
        return np.where(kept, z, 0.0)
    t = np.zeros(z.shape)
    if kept.any():
        t[kept] = _larger_root(z[kept], rho[kept], p)
    return t


def _larger_root(z: np.ndarray, rho: np.ndarray, p: float) -> np.ndarray:
    """Newton from t = z decreases monotonically to the larger root (the map is convex there)."""
    relative = rho / z * z ** (p - 1)  # in units of z: s - 1 + relative p s**(p-1) = 0
    s = np.ones_like(z)
    for _ in range(NEWTON_STEPS):
        power = relative * p * s ** (p - 2)
        step = (s - 1 + power * s) / (1 + (p - 1) * power)
        s = s - step
        if np.all(np.abs(step) <= 4e-16):  # two last digits: the next step is rounding
            break
    return z * s


def resized_rows(Z: np.ndarray, norms: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Rows of the given sizes in the directions of Z, whose norms these are; zero rows stay."""
    factors = np.divide(sizes, norms, out=np.zeros_like(norms), where=norms > 0)
    return Z * factors[:, None]


def longer_rows(Z: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Rows that are longer by so much in their directions; zero rows grow along the first axis."""
    norms = row_norms(Z)
    longer = resized_rows(Z, norms, norms + by)
    if longer.shape[1]:
        longer[:, 0] += np.where(norms == 0, by, 0.0)
    return longer


def residual_shrink(z: np.ndarray, rho: np.ndarray, r: float) -> np.ndarray:
    """Global minimiser of 1/2 (t - z)**2 + rho t**r over t >= 0, elementwise, for 0 < r <= 2."""
    if r <= 1:
        return shrink(z, rho, r)
    if r == 2:
        return z / (1 + 2 * rho)
    # t + rho r t**(r-1) = z, concave and increasing: Newton from below climbs to the root
    with np.errstate(over="ignore"):
        small = np.divide(z, 2 * r * rho, out=np.full(z.shape, np.inf), where=rho > 0)
        t = np.minimum(z / 2, small ** (1 / (r - 1)))
    for _ in range(NEWTON_STEPS):
        power = rho * r * np.power(t, r - 2, out=np.zeros_like(t), where=t > 0)
        step = (z - t - power * t) / (1 + (r - 1) * power)
        t = np.where(t > 0, t + step, 0.0)
        if np.all(np.abs(step) <= 4e-16 * z):
            break
    return t
