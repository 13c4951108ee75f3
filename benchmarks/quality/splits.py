"""The same splits for every method, and columns scaled by the training rows alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from .data import CLASSES, Data

FOLDS = 5
SMALL, REPEATS = 250, 3  # sets with at most so many rows are split so many times


@dataclass(frozen=True)
class Split:
    repeat: int
    fold: int
    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def places(data: Data) -> list[tuple[int, int]]:
    repeats = REPEATS if len(data.X) <= SMALL else 1
    return [(repeat, fold) for repeat in range(repeats) for fold in range(FOLDS)]


def split(data: Data, repeat: int, fold: int) -> Split:
    train, test = list(_rows(data, repeat))[fold]
    mean = data.X[train].mean(axis=0)
    spread = data.X[train].std(axis=0)
    spread[spread <= 1e-12 * np.abs(mean)] = 1.0  # constant in training, up to rounding
    scaled = [(data.X[rows] - mean) / spread for rows in (train, test)]
    return Split(repeat, fold, scaled[0], data.y[train], scaled[1], data.y[test])


def _rows(data: Data, repeat: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    kind = StratifiedKFold if data.task == CLASSES else KFold
    return kind(FOLDS, shuffle=True, random_state=repeat).split(data.X, data.y)
