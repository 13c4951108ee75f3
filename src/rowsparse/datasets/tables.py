"""Tables of named columns: csv and tsv files through the csv module alone, so that the result is
the same with and without pandas; Parquet files through polars or pandas."""

from __future__ import annotations

import csv
import json
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rowsparse.datasets.base import Dataset, DatasetError, shortened
from rowsparse.inputs import did_you_mean

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
BLANK = " \t\0"  # zero bytes are what a crash leaves of a page that was never written
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
NUMERIC = "biuf"  # NumPy kinds: bool, signed, unsigned, float


def read_delimited(path: Path, targets: Sequence[str], delimiter: str) -> Dataset:
    """One pass over the file, row by row: memory is that of the numbers, not of their text."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = csv.reader(stream, delimiter=delimiter, strict=True)
            header = _header(path, next(rows, []), delimiter)
            _check_names(path, header, targets)
            return _read_rows(path, rows, header, targets)
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"{path}: expected UTF-8 text, got bytes that are not; save the file as UTF-8."
        ) from error
    except csv.Error as error:
        raise DatasetError(
            f"{path}: expected a well-formed table of text, got a damaged one ({error}); "
            f"the file is cut off or of another kind: write it again."
        ) from error


def _header(path: Path, cells: list[str], delimiter: str) -> list[str]:
    if not cells:
        raise DatasetError(
            f"{path}: expected a first line with column names, got an empty file or line; "
            f"check that the file was written completely."
        )
    names = [name.strip() for name in cells]
    other = next((mark for mark in SEPARATORS if mark in names[0]), None)
    if len(names) == 1 and other is not None:
        raise DatasetError(
            f"{path}: expected columns separated by {SEPARATORS[delimiter]}, got a first line "
            f"separated by {SEPARATORS[other]}; save it as .csv with commas or as .tsv with tabs."
        )
    if not any(number is None or np.isnan(number) for number in map(_number, names)):
        raise DatasetError(
            f"{path}: expected column names in the first line, got numbers; add a line of names."
        )
    if "" in names:
        raise DatasetError(
            f"{path}: expected a name for every column, got none for column "
            f"{names.index('') + 1}; name it or remove it (pandas: to_csv(index=False))."
        )
    return names


def _read_rows(
    path: Path, rows: Iterator[list[str]], header: list[str], targets: Sequence[str]
) -> Dataset:
    features = [j for j, name in enumerate(header) if name not in targets]
    names = [header[j] for j in features]
    numbers = array("d")
    words: dict[str, str] = {}
    targets_cells: list[list[str]] = [[] for _ in targets]
    places = [header.index(name) for name in targets]
    for row in _full_rows(path, rows, len(header)):
        cells = [row[j] for j in features]
        try:
            numbers.extend(_numbers(cells))
        except ValueError:
            for name, cell in zip(names, cells, strict=True):
                number = _number(cell)
                numbers.append(np.nan if number is None else number)
                if number is None:
                    words.setdefault(name, cell)
        for column, j in zip(targets_cells, places, strict=True):
            column.append(row[j].strip(BLANK))
    _check_no_words(path, words)
    X = np.asarray(numbers).reshape(len(targets_cells[0]), len(features))
    return _assemble(path, X, names, dict(zip(targets, map(_target, targets_cells), strict=True)))


def _full_rows(path: Path, rows: Iterator[list[str]], n_columns: int) -> Iterator[list[str]]:
    for number, row in enumerate(rows, start=1):
        if not row:  # a blank line, as many programs leave at the end
            continue
        if len(row) != n_columns:
            raise DatasetError(
                f"{path}: expected {n_columns} cells in every row, got {len(row)} in data row "
                f"{number}; the file is damaged or cut off there."
            )
        yield row


def _numbers(cells: list[str]) -> list[float]:
    # Python reads "1_5" as 15; in a data file it is a code or a mistake, never fifteen.
    if "_" in "".join(cells):
        raise ValueError
    return list(map(float, cells))


def _number(cell: str) -> float | None:
    """NaN where the cell is missing, None where it is a word."""
    if cell.strip().lower() in MISSING:
        return np.nan
    try:
        return _numbers([cell])[0]
    except ValueError:
        return None


def _target(cells: list[str]) -> np.ndarray:
    """Whole numbers, else numbers, else labels as they are written; NaN or None where missing."""
    labels = np.array([None if cell.lower() in MISSING else cell for cell in cells], dtype=object)
    if "_" in "".join(cells):  # as in _numbers
        return labels
    for kind in (np.int64, float):
        try:
            return labels.astype(kind)
        except (TypeError, ValueError, OverflowError):
            continue
    return labels


def read_parquet(path: Path, targets: Sequence[str]) -> Dataset:
    columns = _columns(path)
    _check_names(path, list(columns), targets)
    names = [name for name in columns if name not in targets]
    words = {
        name: str(next((value for value in columns[name] if value is not None), None))
        for name in names
        if columns[name].dtype.kind not in NUMERIC
    }
    _check_no_words(path, words)
    X = np.empty((len(columns[targets[0]]), len(names)))
    for j, name in enumerate(names):
        X[:, j] = columns[name]
    return _assemble(path, X, names, {name: columns[name] for name in targets})


def _columns(path: Path) -> dict[str, np.ndarray]:
    for read in (_with_polars, _with_pandas):
        try:
            return read(path)
        except ImportError:
            continue
        except OSError:  # no permission, and the like: the system's own words are clear
            raise
        except Exception as error:
            # Each library has its own family of errors for a damaged file; to the person who
            # reads the message they are all the same thing.
            raise DatasetError(
                f"{path}: expected a Parquet file, got one that cannot be read "
                f"({type(error).__name__}); it is damaged, cut off or of another kind: "
                f"write it again."
            ) from error
    raise DatasetError(
        f"{path}: expected polars, or pandas with pyarrow, to read a Parquet file, got neither; "
        f"run pip install polars, or save the table as .csv."
    )


def _with_polars(path: Path) -> dict[str, np.ndarray]:
    import polars as pl

    # A pandas index is written as a column like any other; it labels rows and is no feature.
    notes = json.loads(pl.read_parquet_metadata(path).get("pandas") or "{}")
    index = [name for name in notes.get("index_columns", []) if isinstance(name, str)]
    frame = pl.read_parquet(path).drop(index)
    return {column.name: column.to_numpy() for column in frame}


def _with_pandas(path: Path) -> dict[str, np.ndarray]:
    import pandas as pd

    frame = pd.read_parquet(path, engine="pyarrow")
    return {str(name): _pandas_values(pd, frame[name]) for name in frame.columns}


def _pandas_values(pd: Any, column: Any) -> np.ndarray:
    """The values as polars would give them: gaps are NaN among numbers and None among the rest."""
    gaps = column.isna()
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy(dtype=float, na_value=np.nan) if gaps.any() else column.to_numpy()
    return column.astype(object).where(~gaps, None).to_numpy()


def _check_names(path: Path, names: Sequence[str], targets: Sequence[str]) -> None:
    """Every column has its own name, and the targets are among them."""
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if list(names).count(name) > 1})
        raise DatasetError(
            f"{path}: expected different column names, got {shortened(twice)} more than once; "
            f"rename or remove the copies."
        )
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


def _check_no_words(path: Path, words: dict[str, str]) -> None:
    """``words`` has one cell of every feature column that is not one of numbers."""
    if words:
        name, cell = next(iter(words.items()))
        raise DatasetError(
            f"{path}: expected numbers in every feature column, got other values in "
            f"{shortened(list(words))} (for example {cell!r} in {name!r}); encode them as numbers "
            f"or remove these columns."
        )


def _check_finite(path: Path, values: np.ndarray, names: Sequence[str]) -> None:
    _check_complete(path, np.isnan(values), names)
    infinite = np.isinf(values).any(axis=0)
    if infinite.any():
        raise DatasetError(
            f"{path}: expected finite numbers, got infinite ones in "
            f"{shortened(np.array(names)[infinite])}; replace them or drop those rows or columns."
        )


def _check_complete(path: Path, missing: np.ndarray, names: Sequence[str]) -> None:
    rows = np.flatnonzero(missing.any(axis=1))
    if rows.size:
        columns = np.array(names)[missing.any(axis=0)]
        raise DatasetError(
            f"{path}: expected no missing values, got some in {shortened(columns)} (first in data "
            f"row {rows[0] + 1}); fill them in or drop those rows or columns first."
        )


def _assemble(
    path: Path, X: np.ndarray, names: Sequence[str], targets: dict[str, np.ndarray]
) -> Dataset:
    """One target column stays a vector; several become the columns of a matrix."""
    _check_finite(path, X, names)
    columns = [_checked_target(path, name, column) for name, column in targets.items()]
    if len(columns) == 1:
        return Dataset(path.stem, X, columns[0], tuple(names), source=str(path))
    for name, column in zip(targets, columns, strict=True):
        if column.dtype.kind not in NUMERIC:
            raise DatasetError(
                f"{path}: expected numbers in each of several target columns, got labels in "
                f"{name!r}; name one label column, or 0/1 columns for several labels."
            )
    y = np.column_stack(columns)
    return Dataset(path.stem, X, y, tuple(names), tuple(targets), source=str(path))


def _checked_target(path: Path, name: str, column: np.ndarray) -> np.ndarray:
    if column.dtype.kind in NUMERIC:
        _check_finite(path, column[:, None], [name])
        return column
    missing = np.array([value is None for value in column], dtype=bool)
    _check_complete(path, missing[:, None], [name])
    return np.array([str(value) for value in column], dtype=str)
