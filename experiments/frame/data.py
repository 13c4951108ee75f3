"""Data by name and splits with fixed seeds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rowsparse.datasets import load_dataset


@dataclass(frozen=True, eq=False)
class Table:
    """A named data set as plain arrays; y holds classes 0, 1, … or a 0/1 matrix of labels."""

    name: str
    X: np.ndarray
    y: np.ndarray

    @property
    def shape(self) -> str:
        """Samples × features × classes or labels."""
        n, d = self.X.shape
        outputs = self.y.shape[1] if self.y.ndim == 2 else len(np.unique(self.y))
        return f"{n}×{d}×{outputs}"


@lru_cache(maxsize=2)  # plans go through one data set after the other; AR alone is 27 MB
def load(name: str) -> Table:
    """From the folder ROWSPARSE_DATA, or what ``rowsparse datasets fetch`` brought."""
    dataset = load_dataset(name)
    return Table(name, np.asarray(dataset.X, dtype=float), np.asarray(dataset.y))


def random_splits(
    n: int, n_splits: int, train_share: float, seed: int = 0
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Plain random parts for training and test, split i the same however many are asked for."""
    size = round(train_share * n)
    orders = [np.random.default_rng([seed, i]).permutation(n) for i in range(n_splits)]
    return [(order[:size], order[size:]) for order in orders]


def standardised(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both parts with the means and deviations of the training part; constant columns are zero."""
    centre = train.mean(axis=0)
    scale = train.std(axis=0)
    constant = scale <= 1e-12 * np.maximum(np.abs(centre), 1.0)
    safe = np.where(constant, 1.0, scale)
    varying = ~constant
    return (train - centre) / safe * varying, (test - centre) / safe * varying
