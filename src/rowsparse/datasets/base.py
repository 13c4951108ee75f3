"""What a loaded dataset is, what every table of named columns must satisfy, and the one kind of
error a bad dataset gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rowsparse.inputs import did_you_mean

Task = Literal["auto", "classification", "regression"]


class DatasetError(ValueError):
    """The data cannot be used as it is; the message is one sentence that says what to do."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A design, its target, and the names that go with them.

    ``y`` is one column (labels or numbers) or a matrix (several outputs, or 0/1 labels).
    ``target_names`` names the codes 0, 1, … in ``y``, or the columns of a matrix ``y``;
    it is None where the values in ``y`` speak for themselves.
    """

    name: str
    X: Any
    y: np.ndarray
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...] | None = None
    task: Task = "auto"
    source: str = ""

    def __post_init__(self) -> None:
        n, d = self.X.shape
        where = self.source or self.name
        if n == 0 or d == 0:
            raise DatasetError(
                f"{where}: expected at least one sample and one feature, got {n} samples and "
                f"{d} features; check that the data has rows, and columns besides the target."
            )
        if self.y.shape[0] != n:
            raise DatasetError(
                f"{where}: expected one target value per sample, got {n} samples and "
                f"{self.y.shape[0]} target values; check that both come from the same rows."
            )
        if len(self.feature_names) != d:
            raise DatasetError(
                f"{where}: expected one name per feature, got {d} features and "
                f"{len(self.feature_names)} names; leave the names out or give all of them."
            )

    @property
    def n_samples(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])


def numbered_names(n_features: int, first: int = 0) -> tuple[str, ...]:
    """Names for features that came without any: x0, x1, … as scikit-learn writes them."""
    return tuple(f"x{j}" for j in range(first, first + n_features))


def shortened(names: Sequence[str], limit: int = 8) -> str:
    """The names as a list a person reads: at most `limit` of them, then how many more."""
    shown = ", ".join(repr(str(name)) for name in names[:limit])
    more = len(names) - limit
    return f"{shown} and {more} more" if more > 0 else shown


def check_unique(path: Path, names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if list(names).count(name) > 1})
        raise DatasetError(
            f"{path}: expected different column names, got {shortened(twice)} more than once; "
            f"rename or remove the copies."
        )


def target_positions(path: Path, names: Sequence[str], targets: Sequence[str]) -> list[int]:
    if not targets:
        raise DatasetError(
            f"{path}: expected the name of the target column, got none; name it with --target "
            f"(target= in Python), one of {shortened(names)}."
        )
    for target in targets:
        if target not in names:
            raise DatasetError(
                f"{path}: expected a target column that exists, got {target!r}; "
                f"the columns are {shortened(names)}.{did_you_mean(target, names)}"
            )
    if len(set(targets)) < len(targets):
        raise DatasetError(
            f"{path}: expected different target columns, got {shortened(targets)}; name each once."
        )
    return [list(names).index(target) for target in targets]


def not_numbers(path: Path, examples: dict[str, str]) -> DatasetError:
    """The error for feature columns with words in them; `examples` is one cell per such column."""
    name, cell = next(iter(examples.items()))
    return DatasetError(
        f"{path}: expected numbers in every feature column, got other values in "
        f"{shortened(list(examples))} (for example {cell!r} in {name!r}); encode them as numbers "
        f"or remove these columns."
    )


def missing_values(path: Path, columns: Sequence[str], first_row: int) -> DatasetError:
    return DatasetError(
        f"{path}: expected no missing values, got some in {shortened(columns)} (first in data row "
        f"{first_row}); fill them in or drop those rows or columns first."
    )


def check_finite(path: Path, values: np.ndarray, names: Sequence[str]) -> None:
    if np.isfinite(values).all():
        return
    missing = np.isnan(values)
    if missing.any():
        first_row = int(np.flatnonzero(missing.any(axis=1))[0]) + 1
        raise missing_values(path, _named(names, missing), first_row)
    raise DatasetError(
        f"{path}: expected finite numbers, got infinite ones in "
        f"{shortened(_named(names, np.isinf(values)))}; replace them or drop those rows or columns."
    )


def _named(names: Sequence[str], flagged: np.ndarray) -> list[str]:
    """The columns in which anything is flagged."""
    return [name for name, bad in zip(names, np.asarray(flagged.any(axis=0)), strict=True) if bad]


def assemble(
    path: Path,
    X: np.ndarray,
    feature_names: Sequence[str],
    target_columns: Sequence[np.ndarray],
    targets: Sequence[str],
) -> Dataset:
    """One target column stays a vector; several become the columns of a matrix."""
    check_finite(path, X, feature_names)
    for name, column in zip(targets, target_columns, strict=True):
        if column.dtype.kind == "f":
            check_finite(path, column[:, None], [name])
    if len(targets) == 1:
        y, target_names = target_columns[0], None
    else:
        y, target_names = _matrix(path, target_columns, targets), tuple(targets)
    return Dataset(path.stem, X, y, tuple(feature_names), target_names, source=str(path))


def _matrix(path: Path, columns: Sequence[np.ndarray], targets: Sequence[str]) -> np.ndarray:
    for name, column in zip(targets, columns, strict=True):
        if column.dtype.kind not in "biuf":
            raise DatasetError(
                f"{path}: expected numbers in each of several target columns, got labels in "
                f"{name!r}; name one label column, or 0/1 columns for several labels."
            )
    return np.column_stack(columns)
