"""Text tables, parsed: by polars where it is installed, by the csv module elsewhere.

Both give the same columns: numbers where every cell is one or missing (NaN), else the cells as
they are written (None where missing). The csv module also says in words what is wrong with a file,
so whatever polars stumbles over is read again by it.
"""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rowsparse.datasets.base import Dataset, DatasetError, Reading
from rowsparse.datasets.cells import MISSING, is_missing, number, target_values
from rowsparse.datasets.columns import assemble, check_names
from rowsparse.datasets.text import Text, find_text, with_points

NO_SPELLINGS = [
    *MISSING, *map(str.upper, MISSING), *map(str.title, MISSING), "NaN",
]  # fmt: skip


def read_delimited(path: Path, suffix: str, content: bytes | None, how: Reading) -> Dataset:
    """The table in a text file, or in the ``content`` that came out of it."""
    try:
        text = find_text(path, suffix, content, how)
        check_names(path, text.names, how)
        columns = _with_polars(text, how.targets)
        if columns is None:
            columns = _with_csv(text, how.targets)
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"{path}: expected UTF-8 text, got bytes that are not; save the file as UTF-8."
        ) from error
    except csv.Error as error:
        raise DatasetError(
            f"{path}: expected a well-formed table of text, got a damaged one ({error}); "
            f"the file is cut off or of another kind: write it again."
        ) from error
    for name in how.targets:
        if columns[name].dtype == object:
            columns[name] = target_values(columns[name].tolist())
    return assemble(path, columns, how)


def _with_polars(text: Text, targets: Sequence[str]) -> dict[str, np.ndarray] | None:
    """The columns, or None where the csv module has to decide."""
    try:
        import polars as pl
    except ImportError:
        return None
    try:
        frame = _frame(pl, text, targets)
    except (pl.exceptions.PolarsError, IndexError):
        return None
    frame = _without_blank_end(frame)
    # a row that is too short ends in gaps: whether it is, the csv module sees
    if frame.width != len(text.names) or frame.to_series(-1).null_count():
        return None
    return {name: _values(column, text) for name, column in zip(text.names, frame, strict=True)}


def _frame(pl: Any, text: Text, targets: Sequence[str]) -> Any:
    """Read once, or again with what the first reading says is needed: each option costs time."""
    frame = _read(pl, text)
    again: dict[str, Any] = {}
    words = [column for column in frame if column.dtype == pl.String]
    if any(column.is_in(NO_SPELLINGS).any() for column in words):
        again["null_values"] = NO_SPELLINGS
    labels = [frame.to_series(text.names.index(name)) for name in targets]
    as_written = {label.name: pl.String for label in labels if label.dtype == pl.Boolean}
    if as_written:  # True, TRUE or true
        again["schema_overrides"] = as_written
    return _read(pl, text, **again) if again else frame


def _read(pl: Any, text: Text, **options: Any) -> Any:
    options |= {
        "source": text.path if text.content is None else text.content,
        "has_header": False,
        "skip_rows": int(text.header),
        "separator": text.delimiter,
        "decimal_comma": text.decimal_comma,
    }
    try:
        return pl.read_csv(**options)
    except pl.exceptions.ComputeError:  # a column of numbers has a word beyond its beginning
        options |= {"infer_schema_length": None, "null_values": NO_SPELLINGS}
        return pl.read_csv(**options)


def _without_blank_end(frame: Any) -> Any:
    """Blank lines, as many programs leave at the end, are rows of gaps to polars."""
    n = frame.height
    while n and all(cell is None for cell in frame.row(n - 1)):
        n -= 1
    return frame.head(n)


def _values(column: Any, text: Text) -> np.ndarray:
    if column.dtype.is_numeric():
        wider = "128" in str(column.dtype)  # than any integer of NumPy
        return column.cast(float).to_numpy() if wider else column.to_numpy()
    cells = column.cast(str).to_list()  # polars takes true and false, so written, for booleans
    if text.decimal_comma:
        # a number among words is written as the csv module would give it
        cells = [None if cell is None else with_points([cell])[0] for cell in cells]
    return np.array(cells, dtype=object)


def _with_csv(text: Text, targets: Sequence[str]) -> dict[str, np.ndarray]:
    """Row by row: memory is that of the numbers, not of their text."""
    words = {text.names.index(name) for name in targets}
    numbers, found = _numbers(text, words)
    # a column that turns out to hold words costs another reading, and few columns do
    while found:
        words |= found
        numbers, found = _numbers(text, words)
    cells: dict[int, list[str | None]] = {j: [] for j in words}
    for row in _full_rows(text):
        for j, column in cells.items():
            column.append(None if is_missing(row[j]) else row[j])
    rest = [j for j in range(len(text.names)) if j not in words]
    columns = {j: np.array(column, dtype=object) for j, column in cells.items()}
    if rest:
        matrix = np.asarray(numbers).reshape(-1, len(rest))
        columns |= dict(zip(rest, matrix.T, strict=True))
    return {name: columns[j] for j, name in enumerate(text.names)}


def _numbers(text: Text, words: set[int]) -> tuple[array[float], set[int]]:
    """The numbers of all columns but those of ``words``, or which other columns hold words."""
    rest = [j for j in range(len(text.names)) if j not in words]
    numbers = array("d")
    for row in _full_rows(text):
        cells = [row[j] for j in rest]
        try:
            if "_" in "".join(cells):  # as in number
                raise ValueError
            numbers.fromlist(list(map(float, cells)))
        except ValueError:
            one_by_one = [number(cell) for cell in cells]
            found = {j for j, value in zip(rest, one_by_one, strict=True) if value is None}
            if found:
                return numbers, found
            numbers.extend(value for value in one_by_one if value is not None)
    return numbers, set()


def _full_rows(text: Text) -> Iterator[list[str]]:
    n_columns = len(text.names)
    for count, row in enumerate(text.rows(), start=1):
        if not row:  # a blank line, as many programs leave at the end
            continue
        if len(row) != n_columns:
            raise DatasetError(
                f"{text.path}: expected {n_columns} cells in every row, got {len(row)} in data "
                f"row {count}; the file is damaged or cut off there."
            )
        yield row
