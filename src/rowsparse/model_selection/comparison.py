"""What a comparison found, as plain values."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..values import ByValue, ShownInNotebooks
from .intervals import Interval, corrected_interval, score_limits
from .saving import load_result, number, pack, save_result, unpack
from .stability_index import nogueira
from .tables import data_frame


@dataclass(frozen=True, eq=False)
class Cell(ByValue):
    """One method at one k on one fold, scored by one estimator.

    ``seconds`` are those of the whole path, which all k and estimators of a fold share;
    ``failure`` is empty or says why ``score`` is NaN.

    Attributes
    ----------
    method, repeat, fold, k, estimator : which it is
    score, seconds, failure : as above
    columns : those that were selected

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> from rowsparse import ScoreSelector, TopKSelector
    >>> from rowsparse.model_selection import compare
    >>> methods = {"topk": TopKSelector(), "f": ScoreSelector("f")}
    >>> found = compare(methods, X, y, ks=[2], cv=3)
    >>> found.cells[0].method, found.cells[0].k, found.cells[0].columns.size
    ('topk', 2, 2)
    """

    method: str
    repeat: int
    fold: int
    k: int
    estimator: str
    score: float
    seconds: float
    columns: np.ndarray
    failure: str = ""

    @property
    def key(self) -> str:
        """Of the path that it belongs to."""
        return f"{self.method}/{self.repeat}/{self.fold}"

    def facts(self) -> dict[str, Any]:
        """In the words of JSON."""
        # JSON has no arrays
        return {**asdict(self), "columns": self.columns.tolist()}

    @classmethod
    def of_facts(cls, facts: dict[str, Any]) -> Cell:
        """From what ``facts`` gave."""
        columns = np.array(facts["columns"], dtype=int)
        # JSON has no NaN: it was saved as null
        score = number(facts["score"])
        seconds = number(facts["seconds"])
        return cls(**{**facts, "columns": columns, "score": score, "seconds": seconds})


@dataclass(frozen=True)
class Difference:
    """Two methods at one k with one estimator: the mean of first minus second over folds.

    Attributes
    ----------
    first, second, k, estimator : what is compared
    interval : Interval
        Of first minus second, corrected for resampling.
    p_value : of no difference

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> from rowsparse import ScoreSelector, TopKSelector
    >>> from rowsparse.model_selection import compare
    >>> methods = {"topk": TopKSelector(), "f": ScoreSelector("f")}
    >>> found = compare(methods, X, y, ks=[2], cv=3)
    >>> print(found.differences()[0])
    topk and f are not separable at k = 2 (ridge): 0.018 [-0.069, 0.104]
    """

    first: str
    second: str
    k: int
    estimator: str
    interval: Interval
    p_value: float

    @property
    def separable(self) -> bool:
        """Whether the interval leaves out zero. It is one of many: some do so by chance."""
        return self.interval.low > 0 or self.interval.high < 0

    def __str__(self) -> str:
        where = f"at k = {self.k} ({self.estimator})"
        if np.isnan(self.interval.low):
            return f"{self.first} and {self.second} cannot be compared {where}: too few folds"
        if not self.separable:
            return f"{self.first} and {self.second} are not separable {where}: {self.interval}"
        # an interval that leaves out zero lies on one side of it
        better, worse = (self.first, self.second)
        if self.interval.high < 0:
            better, worse = worse, better
        return f"{better} is better than {worse} {where}: {self.interval}"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ByValue, ShownInNotebooks):
    """Methods at numbers of features on the same folds.

    ``cells`` are the records; ``methods``, ``ks`` and ``estimators`` what they range over;
    ``n_features`` the number of columns, ``names`` theirs or empty; ``test_share`` is
    n_test / n_train, ``scoring`` the name of the score, ``n_cells`` how many were asked for.

    Attributes
    ----------
    cells, methods, ks, estimators : as above
    n_features, names, test_share, scoring, n_cells : as above

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> from rowsparse import ScoreSelector, TopKSelector
    >>> from rowsparse.model_selection import compare
    >>> methods = {"topk": TopKSelector(), "f": ScoreSelector("f")}
    >>> found = compare(methods, X, y, ks=[2], cv=3)
    >>> found.finished, len(found.cells)
    (True, 6)
    """

    cells: tuple[Cell, ...]
    methods: tuple[str, ...]
    ks: tuple[int, ...]
    estimators: tuple[str, ...]
    n_features: int
    test_share: float
    scoring: str
    n_cells: int
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        ks = ", ".join(map(str, self.ks))
        return (
            f"<Comparison of {', '.join(self.methods)} at k = {ks}: {len(self.cells)} of "
            f"{self.n_cells} cells, shown by to_frame() and intervals()>"
        )

    @property
    def finished(self) -> bool:
        """Whether every cell is there."""
        return len(self.cells) == self.n_cells

    @property
    def failures(self) -> dict[str, str]:
        """The first message of every method that failed somewhere."""
        found: dict[str, str] = {}
        for cell in self.cells:
            if cell.failure:
                # one message is enough: a method mostly fails in one way
                found.setdefault(cell.method, cell.failure)
        return found

    def scores(self, method: str, k: int, estimator: str) -> np.ndarray:
        """One score per fold, repeat after repeat."""
        found = self._of(method, k, estimator)
        return np.array([cell.score for cell in found])

    def _of(self, method: str, k: int, estimator: str) -> list[Cell]:
        _refuse_unknown("method", method, self.methods)
        _refuse_unknown("k", k, self.ks)
        _refuse_unknown("estimator", estimator, self.estimators)
        found = [
            cell for cell in self.cells
            if (cell.method, cell.k, cell.estimator) == (method, k, estimator)
        ]  # fmt: skip
        # pairs of methods are compared fold by fold, and a store lists cells as they came
        return sorted(found, key=lambda cell: (cell.repeat, cell.fold))

    def interval(self, method: str, k: int, estimator: str, level: float = 0.95) -> Interval:
        """The mean score, with bounds corrected for overlapping training sets and within what the
        score can be."""
        limits = score_limits(self.scoring)
        scores = self.scores(method, k, estimator)
        return corrected_interval(scores, self.test_share, level, limits)[0]

    def stability(self, method: str, k: int) -> Interval:
        """Nogueira's index of the columns selected on the training sets.

        They share samples, so this is more than new data would show; it is the same for all.
        """
        found = self._of(method, k, self.estimators[0])
        # a fold that failed says nothing about stability
        selections = [cell.columns for cell in found if cell.columns.size]
        return nogueira(selections, self.n_features)

    def differences(
        self, *, k: int | None = None, estimator: str | None = None, level: float = 0.95
    ) -> list[Difference]:
        """Every pair of methods at every k and estimator, on the folds that both have."""
        found = []
        for one in self.estimators if estimator is None else (estimator,):
            for size in self.ks if k is None else (k,):
                for first, second in combinations(self.methods, 2):
                    found.append(self._difference(first, second, size, one, level))
        return found

    def _difference(
        self, first: str, second: str, k: int, estimator: str, level: float
    ) -> Difference:
        mine = {(c.repeat, c.fold): c.score for c in self._of(first, k, estimator)}
        other = {(c.repeat, c.fold): c.score for c in self._of(second, k, estimator)}
        # a fold that one of them failed on would compare different samples
        both = sorted(mine.keys() & other.keys())
        gains = np.array([mine[at] - other[at] for at in both])
        interval, p_value = corrected_interval(gains, self.test_share, level)
        return Difference(first, second, k, estimator, interval, p_value)

    def not_separable(self, *, k: int | None = None, estimator: str | None = None) -> list[str]:
        """A sentence for every pair of methods that these folds cannot tell apart."""
        found = self.differences(k=k, estimator=estimator)
        return [str(one) for one in found if not one.separable]

    def to_frame(self) -> Any:
        """One line per cell as a pandas data frame."""
        return data_frame([{**vars(cell), "columns": tuple(cell.columns.tolist())}
                           for cell in self.cells])  # fmt: skip

    def intervals(self, level: float = 0.95) -> Any:
        """One line per method, k and estimator as a pandas data frame: score, low, high, the
        stability index, seconds of a path, folds with a score."""
        return data_frame(list(self.summary(level)))

    def summary(self, level: float = 0.95) -> Iterable[dict[str, Any]]:
        """The lines of ``intervals`` as plain values, which plots need too."""
        for estimator in self.estimators:
            for method in self.methods:
                for k in self.ks:
                    yield self._line(method, k, estimator, level)

    def _line(self, method: str, k: int, estimator: str, level: float) -> dict[str, Any]:
        interval = self.interval(method, k, estimator, level)
        found = self._of(method, k, estimator)
        # the path of a method that failed has no time
        seconds = [cell.seconds for cell in found if np.isfinite(cell.seconds)]
        return {
            "method": method,
            "k": k,
            "estimator": estimator,
            "score": interval.estimate,
            "low": interval.low,
            "high": interval.high,
            "stability": self.stability(method, k).estimate,
            "seconds": float(np.mean(seconds)) if seconds else float("nan"),
            "n_scores": int(sum(np.isfinite(cell.score) for cell in found)),
        }

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write to a folder: JSON and npz, no pickle."""
        facts = {name: value for name, value in vars(self).items() if name != "cells"}
        # lists of numbers go to the archive of arrays, which is read faster
        facts["cells"] = [{**cell.facts(), "columns": None} for cell in self.cells]
        save_result(folder, "comparison", facts, pack([cell.columns for cell in self.cells]))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Comparison:
        """Read what ``save`` wrote, or the ``store`` of a comparison that was finished."""
        facts, arrays = load_result(folder, "comparison")
        columns = unpack(arrays)
        cells = [
            Cell.of_facts({**cell, "columns": own})
            for cell, own in zip(facts.pop("cells"), columns, strict=True)
        ]
        for name in ("methods", "ks", "estimators", "names"):
            # JSON gives lists, which are not equal to tuples
            facts[name] = tuple(facts[name])
        return cls(cells=tuple(cells), **facts)


def _refuse_unknown(what: str, value: Any, known: tuple[Any, ...]) -> None:
    # nothing is known of it: NaN would look like a failure
    if value not in known:
        raise ValueError(
            f"Expected {what} to be one of {', '.join(map(repr, known))}, got {value!r}."
        )
