"""What all filters share: checked input, outputs one by one, dense blocks of columns."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_X_y

from ..designs import ChunkedDesign, Standardized, as_design, canonical, in_blocks
from ..inputs import check_integer, check_sample_weight, explain_no_table, refuse_strange_table
from ..numerics.memory import CACHE_BYTES
from ..numerics.rounding import largest_with
from ..targets import Target, as_target

logger = logging.getLogger("rowsparse.filters")

ADDITIVE = "fisher, f and information_gain with n_bins='sigma'"
FIRST_FEWER = "keep fewer columns first, by f_score or information_gain"


@dataclass(frozen=True)
class Output:
    """One column of the target: class codes 0, 1, … or numbers."""

    values: np.ndarray
    n_classes: int  # 0 for numbers

    def class_weights(self, weights: np.ndarray) -> np.ndarray:
        """How much weight each class has."""
        return np.bincount(self.values, weights, minlength=self.n_classes)

    def signs(self) -> list[np.ndarray]:
        """One ±1 vector for two classes (+1 is the second), one per class for more."""
        first = 1 if self.n_classes == 2 else 0
        return [np.where(self.values == c, 1.0, -1.0) for c in range(first, self.n_classes)]


@dataclass(frozen=True)
class Table:
    """Checked input: X (ndarray or CSC, rows of weight zero dropped), outputs, weights, and which
    columns vary. Weights are counts: a weight of 2 is a row that is there twice."""

    X: Any  # or a ChunkedDesign, for filters that pass over blocks
    outputs: list[Output]
    weights: np.ndarray
    varying: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    def take(self, columns: np.ndarray) -> Table:
        """The table of some columns."""
        X = self.X.of_columns(columns) if self.in_blocks else self.X[:, columns]
        return replace(self, X=X, varying=self.varying[columns])

    @property
    def in_blocks(self) -> bool:
        """Whether X is read a block of rows at a time."""
        return isinstance(self.X, ChunkedDesign)

    def standardized(self) -> Standardized:
        """X with columns of mean zero and unit variance under the weights; sparse X stays so."""
        X = self.X.astype(float) if sparse.issparse(self.X) else self.X
        design = as_design(X)
        means = design.means(self.weights)
        spread = np.sqrt(design.squares(self.weights, means) / self.weights.sum())
        return Standardized(design, means, np.where(self.varying, spread, 1.0))


def check_table(X, y, task: str = "auto", sample_weight=None, *, blocks: bool = False) -> Table:
    """Validate what a filter is given; a table has been validated and is taken as it is. With
    ``blocks`` X may be a store or a Dask array: the filter needs sums over samples alone."""
    held_in_blocks = in_blocks(X)
    if not blocks and (held_in_blocks or (isinstance(X, Table) and X.in_blocks)):
        raise TypeError(f"Expected X in memory for this filter; X in blocks is for {ADDITIVE}.")
    if isinstance(X, Table):  # a selector has validated it
        return X
    if y is None:
        raise ValueError("Expected a target y, got None: filters are supervised.")
    if held_in_blocks:
        X = as_design(X)
        y = np.asarray(y)
    else:
        X, y = _checked(X, y)
    if len(y) != X.shape[0]:
        raise ValueError(f"Expected as many samples in y as in X ({X.shape[0]}), got {len(y)}.")
    weights = check_sample_weight(sample_weight, X.shape[0])
    if weights is not None and not weights.all():
        there = weights > 0  # a weight of zero is a row that is not there
        X = X.only(there) if held_in_blocks else X[there]
        y = y[there]
        weights = weights[there]
    return table_of(X, as_target(y, task), weights)


def _checked(X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """X and y as arrays of numbers."""
    refuse_strange_table(X)
    try:
        with np.errstate(invalid="ignore"):  # of 1e308 - 1e308, in the look for NaN
            return check_X_y(
                X,
                y,
                accept_sparse="csc",
                dtype=[np.float64, np.float32],
                multi_output=True,
                ensure_min_samples=2,
                estimator="The filter",
            )
    except (TypeError, ValueError):
        explain_no_table(X)
        raise


def check_classes(X, y, task: str, sample_weight, name: str) -> Table:
    """The table of a filter that fits classifiers and cannot do anything else."""
    table = check_table(X, y, task, sample_weight)
    if not all(output.n_classes for output in table.outputs):
        raise ValueError(
            f"{name}: expected class labels in y, got numbers; use another filter such as relieff, "
            "or task='classification' if they are codes of classes."
        )
    return table


def table_of(X: Any, target: Target, weights: np.ndarray | None) -> Table:
    """The table of input that has been validated; no weight is zero."""
    if weights is None:
        weights = np.ones(X.shape[0])
    X = canonical(X)  # SciPy's min and max would sort and add up entries in the one given
    if isinstance(X, ChunkedDesign):
        return Table(X, _outputs(target), weights, _varying_in_blocks(X, target, weights))
    low, high = column_ranges(X)
    return Table(_in_range(X, low, high), _outputs(target), weights, _varying(low, high, X.dtype))


def _in_range(X: Any, low: np.ndarray, high: np.ndarray) -> Any:
    """X, or a copy where columns whose squares would overflow or vanish are brought near one by
    powers of two, to the digit: no filter sees the unit of a column."""
    sizes = np.maximum(np.abs(low), np.abs(high))
    far = largest_with(3)  # squares of smaller numbers, and sums of them, are finite
    extreme = (sizes > far) | ((sizes < 1 / far) & (sizes > 0))
    if not extreme.any():
        return X
    exponents = np.where(extreme, -np.frexp(sizes)[1], 0)
    if sparse.issparse(X):
        X = X.copy()
        X.data = np.ldexp(X.data, np.repeat(exponents, np.diff(X.indptr)))
        return X
    return np.ldexp(X, exponents)


def _varying_in_blocks(X: ChunkedDesign, target: Target, weights: np.ndarray) -> np.ndarray:
    """By the first pass, which leaves means and sums of squares as well."""
    known = X.summarise(weights, target.Y, diagonal_only=True)
    squares = known.moments.diagonal[: X.shape[1]]
    if not np.isfinite(squares).all():
        raise ValueError(
            "Expected finite numbers in X whose sums of squares are finite, got NaN, infinity or "
            f"too large numbers in column {int(np.argmin(np.isfinite(squares)))}; clean or rescale "
            "X."
        )
    return _varying(known.lowest.astype(float), known.highest.astype(float), X.dtype)


def _outputs(target: Target) -> list[Output]:
    if target.classes is not None:
        return [Output(target.codes, target.classes.size)]
    # A constant output says nothing about any feature, and would divide by its spread.
    varying = target.Y[:, np.ptp(target.Y, axis=0) > 0].T
    if target.kind == "numbers":
        return [Output(column, 0) for column in varying]
    if not varying.size:
        raise ValueError(
            "Expected some label in y that is present in some samples and absent in others, "
            "got only constant labels; there is nothing to select features for."
        )
    return [Output((label > 0).astype(np.intp), 2) for label in varying]


def column_ranges(X) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest value of every column."""
    low = X.min(axis=0)
    high = X.max(axis=0)
    if sparse.issparse(X):
        low = low.toarray().ravel()
        high = high.toarray().ravel()
    return low.astype(float), high.astype(float)


def _varying(low: np.ndarray, high: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Columns whose range is more than rounding; the others carry no information."""
    size = np.maximum(np.abs(low), np.abs(high))
    # of halves: the whole range of numbers up to 1e308 would overflow
    return high / 2 - low / 2 > 5 * np.finfo(dtype).eps * size


def dense_block(X, columns) -> np.ndarray:
    """Some columns as a new float64 array in C order."""
    block = X[:, columns]
    if sparse.issparse(block):
        return block.toarray(order="C").astype(float, copy=False)
    return np.array(block, dtype=float, order="C")


def blocks(X, arrays: int = 1) -> Iterator[tuple[slice, np.ndarray]]:
    """X as dense blocks of columns, one after the other; sparse X is never dense as a whole.

    ``arrays`` of the size of a block, that the caller makes, together hold ``CACHE_BYTES``.
    """
    n, d = X.shape
    width = max(1, CACHE_BYTES // (8 * arrays * n))
    for start in range(0, d, width):
        columns = slice(start, min(start + width, d))
        yield columns, dense_block(X, columns)


def check_how_many(value: Any, table: Table) -> int:
    """How many features to select: at most the columns of X."""
    return check_integer("n_features_to_select", value, 1, table.shape[1], "the columns of X")


def check_choice(name: str, value, choices: tuple) -> None:
    """One of a few names."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"Expected {name} to be one of {choices}, got {name}={value!r}.")


def favour(scores: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Scores after feature weights: 0 lifts a feature above all, infinity drops it below all, and
    a larger factor always lowers the score, also a negative one."""
    lifted = factors == 0
    dropped = np.isinf(factors)
    plain = np.where(lifted | dropped, 1.0, factors)
    changed = np.where(scores > 0, scores / plain, scores * plain)
    changed[lifted] = np.inf
    changed[dropped] = -np.inf
    return changed
