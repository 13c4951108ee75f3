"""What a search found, as plain values."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..values import ByValue, ShownInNotebooks
from .intervals import Interval
from .saving import load_result, save_result
from .tables import data_frame


@dataclass(frozen=True, eq=False)
class Tuning(ByValue, ShownInNotebooks):
    """All candidates of a search and which was taken.

    Attributes
    ----------
    params : one mapping per candidate
    scores : array (candidates x folds)
    means, errors : of the scores, and standard errors of the means, one per candidate
    sizes, seconds : mean numbers of features, and what the candidate took
    best_index, rule : which was taken, and by which rule
    selector, scoring : names
    support, names : columns selected on all samples, and their names
    n_features : number of columns of X

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import TopKSelector
    >>> from rowsparse.model_selection import SelectorCV
    >>> result = SelectorCV(TopKSelector(), ks=[2, 5]).fit(X, y).result_
    >>> result.best_params["n_features_to_select"]
    5
    """

    params: tuple[dict[str, Any], ...]
    scores: np.ndarray
    means: np.ndarray
    errors: np.ndarray
    sizes: np.ndarray
    seconds: np.ndarray
    best_index: int
    rule: Any
    selector: str
    scoring: str
    support: np.ndarray
    n_features: int
    names: np.ndarray

    def __repr__(self) -> str:
        return (
            f"<Tuning of {len(self.params)} candidates on {self.scores.shape[1]} folds: "
            f"{self.best_params}, score {self.means[self.best_index]:.3g}, shown by to_frame()>"
        )

    @property
    def best_params(self) -> dict[str, Any]:
        """Of the candidate that was taken."""
        return self.params[self.best_index]

    def to_frame(self) -> Any:
        """One line per candidate as a pandas data frame."""
        facts = {"score": self.means, "error": self.errors, "n_features": self.sizes}
        frame = data_frame(list(self.params)).assign(**facts, seconds=self.seconds)
        return frame.assign(chosen=np.arange(len(frame)) == self.best_index)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write to a folder: JSON and npz, no pickle."""
        # plain values, which a person can read in the JSON; all others are arrays
        names = ("params", "best_index", "rule", "selector", "scoring", "n_features")
        facts = {name: vars(self)[name] for name in names}
        arrays = {name: value for name, value in vars(self).items() if name not in names}
        save_result(folder, "tuning", facts, arrays)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Tuning:
        """Read what ``save`` wrote."""
        facts, arrays = load_result(folder, "tuning")
        # JSON has no tuples
        facts["params"] = tuple(facts["params"])
        return cls(**{**facts, **arrays})


@dataclass(frozen=True, eq=False)
class NestedScore(ByValue):
    """The outer scores of a search.

    Attributes
    ----------
    scores, sizes, params, supports : score, number of features, what was chosen, and which columns,
        one entry per outer fold
    interval : Interval
        Of the mean score, corrected for resampling.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import TopKSelector
    >>> from rowsparse.model_selection import SelectorCV
    >>> nested = SelectorCV(TopKSelector(), ks=[2, 5], cv=3).nested_score(X, y)
    >>> nested.scores.size, nested.mean > 0.9
    (3, True)
    """

    scores: np.ndarray
    sizes: np.ndarray
    params: tuple[dict[str, Any], ...]
    supports: tuple[np.ndarray, ...]
    interval: Interval

    @property
    def mean(self) -> float:
        """Over the outer folds."""
        return float(np.nanmean(self.scores))

    def __str__(self) -> str:
        return (
            f"{self.interval} over {self.scores.size} outer folds, "
            f"{self.sizes.min()} to {self.sizes.max()} features"
        )

    def __repr__(self) -> str:
        return f"<NestedScore {self}>"
