"""Missing values: what is put in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from rowsparse.datasets.base import Impute


class GapFiller(TransformerMixin, BaseEstimator):
    """Puts into gaps, which are NaN, what the samples that it was fitted on suggest.

    Inside folds it is fitted on the training part, so that no test sample says what is filled in.

    Parameters
    ----------
    impute : of numbers: the "median" ("indicator" too, whose columns are there already) or the
        smallest of the "most-frequent" values
    columns : the columns of numbers that have gaps
    words : the columns of every category that has gaps, one 0/1 column per word; a category of two
        words has one column. Its most frequent word is filled in.
    """

    def __init__(
        self,
        impute: Impute = "median",
        columns: Sequence[int] = (),
        words: Sequence[Sequence[int]] = (),
    ) -> None:
        self.impute = impute
        self.columns = columns
        self.words = words

    def fit(self, X: np.ndarray, y: Any = None) -> Self:
        self.values_ = [_usual_number(X[:, j], self.impute) for j in self.columns]
        self.cells_ = [_usual_word(X[:, list(word)]) for word in self.words]
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        X = X.copy(order="K")
        for j, value in zip(self.columns, self.values_, strict=True):
            X[np.isnan(X[:, j]), j] = value
        for word, cells in zip(self.words, self.cells_, strict=True):
            gaps = np.isnan(X[:, word[0]])
            X[np.ix_(gaps, list(word))] = cells
        return X


def _usual_number(values: np.ndarray, impute: Impute) -> float:
    present = values[~np.isnan(values)]
    if not present.size:  # in this training part: a constant, which is never selected
        return 0.0
    if impute == "most-frequent":
        different, counts = np.unique(present, return_counts=True)
        return float(different[np.argmax(counts)])
    return float(np.median(present))


def _usual_word(columns: np.ndarray) -> np.ndarray:
    """The cells of the most frequent word; of two that are equally frequent the first."""
    present = columns[~np.isnan(columns[:, 0])]
    counts = present.sum(axis=0)
    cells = np.zeros(counts.size)
    if counts.size == 1:  # the other of two words has no column
        cells[0] = 2 * counts[0] > len(present)
    else:
        cells[np.argmax(counts)] = 1.0
    return cells
