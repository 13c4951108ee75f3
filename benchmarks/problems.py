"""The data: real sets from ROWSPARSE_DATA, and synthetic ones with known informative rows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

DATA = Path(
    os.environ.get("ROWSPARSE_DATA", Path(__file__).parent.parent.parent / "shared" / "data")
)


@dataclass(frozen=True)
class Problem:
    name: str
    X: np.ndarray
    Y: np.ndarray
    labels: np.ndarray | None = None


@lru_cache(maxsize=2)
def real(name: str, *, centre_targets: bool = True) -> Problem:
    """Standardised X, classes as a +-1 one-hot matrix (two classes: two columns)."""
    path = DATA / f"{name}.npz"
    if not path.exists():
        raise FileNotFoundError(f"{path.name} not found: set ROWSPARSE_DATA to its folder")
    with np.load(path) as file:
        X, labels = standardise(file["X"]), file["y"]
    Y = np.where(labels[:, None] == np.unique(labels), 1.0, -1.0)
    return Problem(name, X, Y - Y.mean(axis=0) if centre_targets else Y, labels)


@lru_cache(maxsize=1)
def synthetic(n: int, d: int, c: int, *, informative: int = 50, seed: int = 0) -> Problem:
    """Gaussian X; `informative` rows of W are standard normal; noise sd = half the signal's sd."""
    rng = np.random.default_rng([seed, n, d, c])
    X = standardise(rng.standard_normal((n, d)))
    rows = rng.choice(d, informative, replace=False)
    signal = X[:, rows] @ rng.standard_normal((informative, c))
    Y = signal + 0.5 * signal.std() * rng.standard_normal((n, c))
    return Problem(f"{n}x{d}x{c}", X, Y - Y.mean(axis=0))


def standardise(X):
    """Mean 0, variance 1; constant columns become zero."""
    X = np.array(X, dtype=np.float64)
    X -= X.mean(axis=0)
    scale = X.std(axis=0)
    scale[scale <= 1e-12] = 1.0
    X /= scale
    return X
