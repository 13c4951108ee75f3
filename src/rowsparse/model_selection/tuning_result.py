"""What a search found, as plain values."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..values import ByValue, ShownInNotebooks
from .intervals import Interval
from .saving import load_result, save_result


@dataclass(frozen=True, eq=False)
class Tuning(ByValue, ShownInNotebooks):
    """All candidates of a search and which was taken.

    ``params`` has one mapping per candidate; ``scores`` is candidates x folds; ``means``,
    ``errors`` (standard errors of the means), ``sizes`` (mean numbers of features) and ``seconds``
    have one number per candidate; ``support`` are the columns selected on all samples, ``names``
    theirs.
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

    @property
    def best_params(self) -> dict[str, Any]:
        """Of the candidate that was taken."""
        return self.params[self.best_index]

    def to_frame(self) -> Any:
        """One line per candidate as a pandas data frame."""
        import pandas

        facts = {"score": self.means, "error": self.errors, "n_features": self.sizes}
        frame = pandas.DataFrame(list(self.params)).assign(**facts, seconds=self.seconds)
        return frame.assign(chosen=np.arange(len(frame)) == self.best_index)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write to a folder: JSON and npz, no pickle."""
        names = ("params", "best_index", "rule", "selector", "scoring", "n_features")
        facts = {name: vars(self)[name] for name in names}
        arrays = {name: value for name, value in vars(self).items() if name not in names}
        save_result(folder, "tuning", facts, arrays)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Tuning:
        """Read what ``save`` wrote."""
        facts, arrays = load_result(folder, "tuning")
        facts["params"] = tuple(facts["params"])
        return cls(**{**facts, **arrays})


@dataclass(frozen=True, eq=False)
class NestedScore(ByValue):
    """The outer scores of a search: ``scores``, ``sizes`` (numbers of features) and ``params``
    (what was chosen) have one entry per outer fold; ``interval`` is corrected for resampling."""

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
