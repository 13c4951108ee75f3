"""X in blocks with so many columns that a fit to few of them need not know all products."""

from __future__ import annotations

import numpy as np

from .base import Array
from .chunked import ChunkedDesign
from .members import (
    FirstLook,
    MemberProducts,
    first_look,
    member_products,
    rounded_apart,
    sums_of_each,
)

# A column whose spread is beyond this, or below one part in it, is not squared in single precision:
# entries that lie far out must not leave its range, which ends at 1e38.
WIDEST_SPREAD = 1e8


class SearchedDesign(ChunkedDesign):
    """A design by passes that learns the products of one set of columns after the other."""

    def __init__(self, base: ChunkedDesign):
        super().__init__(base.passes, base.used)
        self._products: MemberProducts | None = None

    @property
    def members(self) -> Array:
        """The columns of X whose products with all others are known; all once it is complete."""
        if self._products is None:
            return np.arange(self.shape[1])
        known = self._products.members
        return known[known < self.shape[1]]

    def look(self, weights: Array, Y: Array) -> None:
        """The first pass: a summary, and the products of Y with all columns."""
        by_rows = (weights, Y)
        seen: FirstLook = self.total(first_look, (self._direction(),), by_rows, FirstLook.merged)
        self.learn(seen.summary, weights, Y)
        self._products = MemberProducts.of_targets(seen, self.dtype)

    def take_in(self, new: Array) -> None:
        """A pass for the products of some more columns with all."""
        known = self._products
        if known is None or self._summarised is None:
            raise ValueError("Expected a design that has been looked at.")
        d = self.shape[1]
        centers = known.means[:d]
        near = np.append(self.members, new)
        single = self.dtype == np.float32 and _fits_single(known.squares[:d] / known.total)
        shared = (new, near, centers, single)
        weights, Y = self._summarised
        by_rows = (weights, Y - known.means[d:])
        wide, exact = self.total(member_products, shared, by_rows, sums_of_each)
        apart = rounded_apart(centers, single)
        wide -= known.total * np.outer(apart[new], apart)
        self._products = known.with_members(new, wide, exact)

    def know_all(self) -> None:
        """A pass for the products of all columns: what is left for sets too large."""
        if self._summarised is None:
            raise ValueError("Expected a design that has been looked at.")
        self._products = None
        self.summarise(*self._summarised, diagonal_only=False)

    def forget(self) -> None:
        """Know no products at all: sums are passed over X for at every step."""
        self._products = None

    def member_products(self, weights: Array, Y: Array) -> MemberProducts | None:
        return self._products if self._was_summarised(weights, Y) else None


def _fits_single(variances: Array) -> bool:
    spreads = np.sqrt(variances[variances > 0])
    within = (spreads < WIDEST_SPREAD) & (spreads > 1 / WIDEST_SPREAD)
    return bool(within.all())
