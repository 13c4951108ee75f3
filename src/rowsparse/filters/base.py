"""What all filters share: checked input, outputs one by one, dense blocks of columns."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_X_y

from ..inputs import as_target, check_sample_weight, read_target

logger = logging.getLogger("rowsparse.filters")

BLOCK_BYTES = 4 << 20  # of a dense block of columns


@dataclass(frozen=True)
class Output:
    """One column of the target: class codes 0, 1, … or numbers."""

    values: np.ndarray
    n_classes: int  # 0 for numbers

    def class_weights(self, weights: np.ndarray) -> np.ndarray:
        """How much weight each class has."""
        return np.bincount(self.values, weights, minlength=self.n_classes)

    def indicator(self) -> np.ndarray:
        """n x classes, zeros and ones."""
        return (self.values[:, None] == np.arange(self.n_classes)).astype(float)


@dataclass(frozen=True)
class Table:
    """Checked input: X (ndarray or CSC, rows of weight zero dropped), outputs, weights, and which
    columns vary. Weights are counts: a weight of 2 is a row that is there twice."""

    X: Any
    outputs: list[Output]
    weights: np.ndarray
    weighted: bool
    varying: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape


def check_table(X, y, task: str = "auto", sample_weight=None) -> Table:
    """Validate what a filter is given; every refusal says what was expected."""
    if y is None:
        raise ValueError("Expected a target y, got None: filters are supervised.")
    X, y = check_X_y(
        X,
        y,
        accept_sparse="csc",
        dtype=[np.float64, np.float32],
        multi_output=True,
        ensure_min_samples=2,
        estimator="The filter",
    )
    weights = check_sample_weight(sample_weight, X.shape[0])
    if weights is not None and not weights.all():
        X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
    outputs = _outputs(y, task)
    weighted = weights is not None
    weights = np.ones(X.shape[0]) if weights is None else weights
    return Table(X, outputs, weights, weighted, varying_columns(X))


def _outputs(y, task: str) -> list[Output]:
    y, kind = read_target(y, task)
    if kind == "labels":
        target = np.unique(y, return_inverse=True)
        classes, codes = target[0], target[1].ravel()
        if classes.size < 2:
            raise ValueError(
                f"Expected at least two classes in y, got 1 class ({classes[0]!r}); "
                "a constant target has nothing to select features for."
            )
        return [Output(codes.astype(np.intp), classes.size)]
    if kind == "numbers":
        columns = as_target(y, "regression").Y.T
        return [Output(column, 0) for column in columns if np.ptp(column) > 0]
    columns = (np.asarray(y) > 0).T.astype(np.intp)
    outputs = [Output(column, 2) for column in columns if 0 < column.sum() < column.size]
    if not outputs:
        raise ValueError(
            "Expected some label in y that is present in some samples and absent in others, "
            "got only constant labels; there is nothing to select features for."
        )
    return outputs


def column_ranges(X) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest value of every column."""
    low, high = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return np.asarray(low, dtype=float), np.asarray(high, dtype=float)


def varying_columns(X) -> np.ndarray:
    """Columns whose range is more than rounding; the others carry no information."""
    low, high = column_ranges(X)
    size = np.maximum(np.abs(low), np.abs(high))
    return high - low > 10 * np.finfo(X.dtype).eps * size


def block_slices(n: int, d: int, width: int | None = None) -> list[slice]:
    """Slices of columns whose dense blocks hold about ``BLOCK_BYTES``."""
    width = max(1, BLOCK_BYTES // (8 * n)) if width is None else width
    return [slice(start, min(start + width, d)) for start in range(0, d, width)]


def dense_block(X, columns) -> np.ndarray:
    """Some columns as a new float64 array in C order."""
    block = X[:, columns]
    if sparse.issparse(block):
        return block.toarray(order="C").astype(float, copy=False)
    return np.array(block, dtype=float, order="C")


def blocks(X, width: int | None = None) -> Iterator[tuple[slice, np.ndarray]]:
    """X as dense blocks of columns, one after the other; sparse X is never dense as a whole."""
    for columns in block_slices(X.shape[0], X.shape[1], width):
        yield columns, dense_block(X, columns)


def check_count(name: str, value, low: int, high: int | None, why: str = "") -> int:
    """An integer in a range."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value > high):
        span = f"from {low} to {high}" if high is not None else f">= {low}"
        error = ValueError if whole else TypeError
        raise error(f"Expected {name} as an integer {span}{why}, got {name}={value!r}.")
    return int(value)


def check_choice(name: str, value, choices: tuple) -> None:
    """One of a few names."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"Expected {name} to be one of {choices}, got {name}={value!r}.")


def favour(scores: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Scores after feature weights: 0 lifts a feature above all, infinity drops it below all, and
    a larger factor always lowers the score, also a negative one."""
    with np.errstate(divide="ignore", invalid="ignore"):
        changed = np.where(scores > 0, scores / factors, scores * factors)
    changed = np.where(factors == 0, np.inf, changed)
    return np.where(np.isinf(factors), -np.inf, changed)
