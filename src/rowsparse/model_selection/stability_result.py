"""What many selections on subsamples have in common, as plain values."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..inputs import check_number
from ..values import ByValue, ShownInNotebooks
from .error_bounds import pfer_bound, smallest_threshold
from .intervals import Interval
from .saving import load_result, pack, save_result, unpack
from .stability_index import jaccard, kuncheva, nogueira

STRONG = 0.5  # correlation, by Cohen's (1988) convention


def _nothing() -> np.ndarray:
    return np.zeros(0, dtype=int)


def _no_correlations() -> np.ndarray:
    return np.zeros((0, 0))


@dataclass(frozen=True, eq=False, repr=False)
class Stability(ByValue, ShownInNotebooks):
    """The columns selected on every half-sample, and what follows from them.

    ``selections`` holds one array of columns per half-sample (2 per pair); ``n_features`` is the
    number of columns d; ``threshold``, ``q`` and ``pfer`` belong together by ``bound``; ``names``
    are those of the columns or empty; ``n_pairs`` the complete pairs. ``frequent`` are the columns
    selected on more than half of them, which some threshold selects, and ``correlations`` those
    between them; both are empty where X was not in memory or a feature is several columns.

    Attributes
    ----------
    selections, n_features, names : as above
    threshold, q, pfer, bound : as above
    frequent, correlations : as above

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import TopKSelector
    >>> from rowsparse.model_selection import StabilitySelector
    >>> found = StabilitySelector(TopKSelector(3), n_pairs=5, random_state=0).fit(X, y).stability_
    >>> found.n_pairs, float(found.probabilities.max())
    (5, 1.0)
    """

    selections: tuple[np.ndarray, ...]
    n_features: int
    threshold: float
    q: int
    pfer: float
    bound: str
    names: tuple[str, ...] = ()
    frequent: np.ndarray = field(default_factory=_nothing)
    correlations: np.ndarray = field(default_factory=_no_correlations)

    def __repr__(self) -> str:
        return f"<Stability: {self.explanation()}>"

    @property
    def n_pairs(self) -> int:
        """How many complementary pairs there are."""
        return len(self.selections) // 2

    @property
    def probabilities(self) -> np.ndarray:
        """The share of half-samples on which each column was selected."""
        counts = np.bincount(np.concatenate(self.selections), minlength=self.n_features)
        return counts / len(self.selections)

    @property
    def support(self) -> np.ndarray:
        """The stable columns."""
        # shares are multiples of 1/(2B): rounding must not lose one that is at the threshold
        return np.flatnonzero(self.probabilities >= self.threshold - 1e-9)

    @property
    def nogueira(self) -> Interval:
        """Stability corrected for chance: 1 is the same columns always, 0 is chance."""
        return nogueira(list(self.selections), self.n_features)

    @property
    def kuncheva(self) -> Interval:
        """The same from pairs of selections."""
        return kuncheva(list(self.selections), self.n_features)

    @property
    def jaccard(self) -> Interval:
        """Common columns among those of either, over pairs of selections."""
        return jaccard(list(self.selections), self.n_features)

    def at(self, *, threshold: float | None = None, pfer: float | None = None) -> Stability:
        """The same selections under another threshold, or the smallest that keeps a pfer."""
        if (threshold is None) == (pfer is None):
            raise ValueError(
                "Expected one of threshold and pfer, which gives the other (q is that of the "
                f"fits), got threshold={threshold!r} and pfer={pfer!r}."
            )
        # the bound is of pairs: it rises when some of them were not finished
        facts = (self.n_features, self.n_pairs, self.bound)
        if threshold is None:
            assert pfer is not None
            check_number("pfer", pfer, 0.0, low_open=True)
            threshold = smallest_threshold(self.q, pfer, *facts)
        check_threshold("threshold", threshold)
        reached = pfer_bound(threshold, self.q, *facts)
        return replace(self, threshold=float(threshold), pfer=reached)

    def probability_of_any(self, columns: Iterable[int]) -> float:
        """The share of half-samples on which at least one of these columns was selected.

        Columns that carry the same signal share its selections between them: none may be stable
        where the group is.
        """
        group = np.asarray(list(columns), dtype=int)
        return float(np.mean([np.isin(group, one).any() for one in self.selections]))

    def explanation(self) -> str:
        """In words what is stable, and if nothing is, what would be."""
        if self.support.size:
            return f"{self._what_is_stable()}{self._what_is_alike()}"
        probabilities = self.probabilities
        best = float(probabilities.max())
        name = self._name(int(np.argmax(probabilities)))
        would = ""
        # at or below one half no bound holds, so there is nothing to offer
        if best > 0.5:
            promised = self.at(threshold=best).pfer
            would = f", which threshold={best:.2f} would select with pfer={promised:.3g}"
        return (
            f"No column is stable: the most frequent, {name}, was selected on {best:.0%} of "
            f"{len(self.selections)} half-samples{would}; {self.threshold:.0%} were asked for. "
            "Columns that can stand in for each other share their selections: see "
            "interchangeable()."
        )

    def _what_is_stable(self) -> str:
        found = self.support.size
        selected = (
            f"{found} of {self.n_features} columns were selected on at least "
            f"{self.threshold:.0%} of {len(self.selections)} half-samples; "
        )
        if self.pfer < found:
            return selected + f"at most {self.pfer:.3g} of them are expected to be false."
        return selected + (
            f"how many of them are false is not known: with q={self.q} the bound is "
            f"{self.pfer:.3g}. Lower q, or raise the threshold."
        )

    def _what_is_alike(self) -> str:
        """What the bound does not say of stable columns that are correlated with each other."""
        stable = np.isin(self.frequent, self.support)
        sizes = np.abs(self.correlations[np.ix_(stable, stable)])
        sizes[np.tril_indices_from(sizes)] = 0.0
        if sizes.max(initial=0.0) < STRONG:
            return ""
        first, second = np.unravel_index(np.argmax(sizes), sizes.shape)
        columns = self.frequent[stable]
        return (
            f" Some are correlated, {self._name(columns[first])} and {self._name(columns[second])} "
            f"at {sizes.max():.2f}: a column that goes along with a true one is selected in its "
            "stead, and the bound does not count it as false."
        )

    def _name(self, column: int) -> str:
        return self.names[column] if self.names else f"x{column}"

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write to a folder: JSON and npz, no pickle."""
        names = ("n_features", "threshold", "q", "pfer", "bound", "names")
        facts = {name: vars(self)[name] for name in names}
        arrays = {"frequent": self.frequent, "correlations": self.correlations}
        save_result(folder, "stability", facts, {**pack(list(self.selections)), **arrays})

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Stability:
        """Read what ``save`` wrote."""
        facts, arrays = load_result(folder, "stability")
        # JSON gives lists, which are not equal to tuples
        facts["names"] = tuple(facts["names"])
        # results of earlier days have no correlations
        facts["frequent"] = arrays.get("frequent", _nothing())
        facts["correlations"] = arrays.get("correlations", _no_correlations())
        return cls(tuple(unpack(arrays)), **facts)


def check_threshold(name: str, value: Any) -> None:
    """A share above one half: at or below it no bound holds."""
    if check_number(name, value, 0.0, 1.0) <= 0.5:
        raise ValueError(
            f"Expected {name} above 0.5, at or below which no error bound holds, got {value!r}; "
            "0.6 to 0.9 are usual."
        )
