"""Products of some columns of [X Y], the members, with all: what few passes say about X.

The members' products among themselves and with Y are summed in float64. Those with the other
columns only tell which of these should become members; where X is float32 they are multiplied in
it, centred, and summed in float64 over short parts: right to 1e-8 of the columns' lengths, for half
of the time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from .moments import Summary, dense_sums, marks_of, ranges, row_parts, summary

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
        ``exact`` those with the members, the new ones and the targets in this order."""
        d = wide.shape[1]
        known = self.members[self.members < d]
        targets = self.members[self.members >= d]
        members = np.concatenate([known, new, targets])
        products = np.zeros((members.size, self.means.size))
        products[: known.size] = self.products[: known.size]
        products[known.size + new.size :] = self.products[known.size :]
        of_new = products[known.size : known.size + new.size]
        of_new[:, :d] = wide
        of_new[:, members] = exact
        products[:, new] = exact.T
        return replace(self, members=members, products=products)

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
    d = block.shape[1]
    products = np.zeros((Y.shape[1], d + Y.shape[1]))
    if not block.shape[0] or sparse.issparse(block):
        known = summary(block, True, direction, weights, Y)
        T = Y - known.moments.means[d:]
        # weighted targets sum to zero: the means of X have no part in the product
        products[:, :d] = (block.T @ (weights[:, None] * T)).T
    else:
        # infinite entries leave NaN in sums, which is looked for when all rows have been seen
        with np.errstate(invalid="ignore", over="ignore"):
            moments, products[:, :d] = dense_sums(block, weights, Y, with_targets=True)
        T = Y - moments.means[d:]
        known = Summary(moments, *ranges(block), (marks_of(block, direction),))
    products[:, d:] = (weights[:, None] * T).T @ T
    return FirstLook(known, products)


def member_products(
    block: Any, new: Array, near: Array, centers: Array, single: bool, weights: Array, T: Array
) -> tuple[Array, Array]:
    """Of one block: products of the new columns with all of X, and in float64 those with the
    columns near, which they end, and with the centred targets T."""
    if sparse.issparse(block):
        wide = _of_sparse_block(block, new, centers, weights)
        with_targets = _of_sparse_block(block, new, centers, weights, T)
        return wide, np.hstack([wide[:, near], with_targets])
    d = block.shape[1]
    wide = np.zeros((new.size, d))
    exact = np.zeros((new.size, near.size + T.shape[1]))
    working = np.dtype(np.float32 if single else np.float64)
    nearest_centers = centers.astype(working)
    for rows in row_parts(block, working.itemsize * d):
        part = block[rows]
        Z = np.subtract(part, nearest_centers, dtype=working)
        s = weights[rows, None].astype(working)
        wide += (s * Z[:, new]).T @ Z
        E = part[:, near] - centers[near]
        with_all = np.hstack([E, T[rows]])
        exact += (weights[rows, None] * E[:, near.size - new.size :]).T @ with_all
    return wide, exact


def rounded_apart(centers: Array, single: bool) -> Array:
    """By how much the centers that were subtracted differ from those that were meant."""
    return centers - centers.astype(np.float32) if single else np.zeros_like(centers)


def sums_of_each(some: tuple[Array, ...], others: tuple[Array, ...]) -> tuple[Array, ...]:
    """One by one; neither is changed, so that a lost task can be done again."""
    return tuple(one + other for one, other in zip(some, others, strict=True))


def _of_sparse_block(
    block: Any, new: Array, centers: Array, weights: Array, T: Array | None = None
) -> Array:
    """Of the new columns with all, or with the targets."""
    weighted = weights[:, None] * (block[:, new].toarray() - centers[new])
    if T is not None:
        return np.asarray(weighted.T @ T)
    return np.asarray((block.T @ weighted).T) - np.outer(weighted.sum(axis=0), centers)
