"""Products of some columns of [X Y], the members, with all: what few passes say about X.

The members' products among themselves and with Y are summed in float64. Those with the other
columns only tell which of these should become members; where X is float32 they are multiplied in
it, centred, and summed in float64 over short parts: right to 1e-8 of the columns' lengths, for half
of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics.memory import CACHE_BYTES
from .moments import Summary, dense_parts, summary

Array = np.ndarray


@dataclass(frozen=True)
class FirstLook:
    """What the first pass says of some rows: a summary, and the products of Y with all columns."""

    summary: Summary
    with_targets: Array  # central, c x m

    def merged(self, other: FirstLook) -> FirstLook:
        """Of the rows of both, in this order."""
        some, others = self.summary.moments, other.summary.moments
        if not some.total or not others.total:
            products = self.with_targets if some.total else other.with_targets
        else:
            share = others.total / (some.total + others.total)
            # as moments are merged: nothing cancels, however far from zero the columns lie
            apart = np.sqrt(some.total * share) * (others.means - some.means)
            n_targets = len(self.with_targets)
            products = self.with_targets + other.with_targets
            products += np.outer(apart[apart.size - n_targets :], apart)
        return FirstLook(self.summary.merged(other.summary), products)


@dataclass(frozen=True)
class MemberProducts:
    """Weighted means and sums of squares of the columns of [X Y], and the central products of the
    members with all; the targets, last of the columns, are the last of the members."""

    total: float  # of the weights
    means: Array
    squares: Array  # central
    members: Array  # columns of [X Y]
    products: Array  # members x all columns
    digits: float  # relative error of products with columns that are no members

    @classmethod
    def of_targets(cls, seen: FirstLook, dtype: np.dtype) -> MemberProducts:
        """Of Y alone: where a search for members begins."""
        moments = seen.summary.moments
        c, m = seen.with_targets.shape
        # sums of many terms lose some digits more than one product
        digits = 64 * float(np.finfo(dtype).eps)
        targets = np.arange(m - c, m)
        squares = moments.diagonal
        return cls(moments.total, moments.means, squares, targets, seen.with_targets, digits)

    def with_members(self, new: Array, wide: Array, exact: Array) -> MemberProducts:
        """With more columns of X as members. ``wide`` are their products with all columns of X,
        ``exact`` those with the members that are columns of X, the new ones last."""
        d = wide.shape[1]
        known = self.members[self.members < d]
        targets = self.members[self.members >= d]
        near = np.append(known, new)
        with_targets = self.products[known.size :, new]
        products = np.hstack([wide, with_targets.T])
        products[:, near] = exact
        old = self.products[: known.size].copy()
        old[:, new] = exact[:, : known.size].T
        products = np.vstack([old, products, self.products[known.size :]])
        return replace(self, members=np.append(near, targets), products=products)

    def transformed(self, centers: Array, scales: Array) -> MemberProducts:
        """Of the columns ``(z - centers) / scales``."""
        products = self.products / scales
        products /= scales[self.members, None]
        means = (self.means - centers) / scales
        return replace(self, means=means, squares=self.squares / scales**2, products=products)

    def with_column_of_ones(self, position: int) -> MemberProducts:
        """Of the columns and one more, which is one everywhere."""
        return replace(
            self,
            means=np.insert(self.means, position, 1.0),
            squares=np.insert(self.squares, position, 0.0),
            members=self.members + (self.members >= position),
            products=np.insert(self.products, position, 0.0, axis=1),
        )


def first_look(block: Any, direction: Array, weights: Array, Y: Array) -> FirstLook:
    """Of one block of rows, and their weights and targets."""
    known = summary(block, True, direction, weights, Y)
    d = block.shape[1]
    means = known.moments.means
    weighted = weights[:, None] * (Y - means[d:])
    products = np.zeros((Y.shape[1], d + Y.shape[1]))
    products[:, d:] = weighted.T @ (Y - means[d:])
    with np.errstate(invalid="ignore", over="ignore"):  # as in ``summary``
        if sparse.issparse(block):
            # the weighted targets sum to zero: the means of X have no part in the product
            products[:, :d] = (block.T @ weighted).T
        else:
            for rows, part in dense_parts(block, d):
                products[:, :d] += weighted[rows].T @ (part - means[:d])
    return FirstLook(known, products)


def member_products(
    block: Any, new: Array, near: Array, centers: Array, single: bool, weights: Array
) -> tuple[Array, Array]:
    """Of one block: products of the new columns with all, and with those near, which they end."""
    if sparse.issparse(block):
        wide = _of_sparse_block(block, new, centers, weights)
        return wide, wide[:, near]
    d = block.shape[1]
    wide = np.zeros((new.size, d))
    exact = np.zeros((new.size, near.size))
    working = np.dtype(np.float32 if single else np.float64)
    nearest_centers = centers.astype(working)
    for rows in _row_parts(block, working.itemsize * d):
        part = block[rows]
        Z = np.subtract(part, nearest_centers, dtype=working)
        s = weights[rows, None].astype(working)
        wide += (s * Z[:, new]).T @ Z
        if single:
            E = part[:, near] - centers[near]
            exact += (weights[rows, None] * E[:, near.size - new.size :]).T @ E
    return wide, exact if single else wide[:, near]


def rounded_apart(centers: Array, single: bool) -> Array:
    """By how much the centers that were subtracted differ from those that were meant."""
    return centers - centers.astype(np.float32) if single else np.zeros_like(centers)


def sums_of_each(some: tuple[Array, ...], others: tuple[Array, ...]) -> tuple[Array, ...]:
    """One by one; neither is changed, so that a lost task can be done again."""
    return tuple(one + other for one, other in zip(some, others, strict=True))


def _of_sparse_block(block: Any, new: Array, centers: Array, weights: Array) -> Array:
    weighted = weights[:, None] * block[:, new].toarray()
    products = np.asarray((block.T @ weighted).T)
    products -= np.outer(weighted.sum(axis=0), centers)
    sums = np.asarray(weights @ block)
    return products - np.outer(centers[new], sums - weights.sum() * centers)


def _row_parts(block: Any, row_bytes: int) -> Iterator[slice]:
    size = max(1, CACHE_BYTES // row_bytes)
    for start in range(0, block.shape[0], size):
        yield slice(start, min(start + size, block.shape[0]))
