"""csv and tsv files, through the csv module alone: the same result with and without pandas."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from rowsparse.datasets.base import (
    Dataset,
    DatasetError,
    assemble,
    check_unique,
    missing_values,
    not_numbers,
    target_positions,
)

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
BLANK = " \t\0"  # zero bytes are what a crash leaves of a page that was never written
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}


def read_delimited(path: Path, targets: Sequence[str], delimiter: str) -> Dataset:
    """One pass over the file, row by row: memory is that of the numbers, not of their text."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = csv.reader(stream, delimiter=delimiter, strict=True)
            return _read_rows(path, rows, targets, delimiter)
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"{path}: expected UTF-8 text, got bytes that are not; save the file as UTF-8."
        ) from error
    except csv.Error as error:
        raise DatasetError(
            f"{path}: expected a well-formed table of text, got a damaged one ({error}); "
            f"the file is cut off or of another kind: write it again."
        ) from error


def _read_rows(
    path: Path, rows: Iterator[list[str]], targets: Sequence[str], delimiter: str
) -> Dataset:
    header = _checked_header(path, next(rows, []), delimiter)
    target_columns = target_positions(path, header, targets)
    features = [j for j in range(len(header)) if j not in target_columns]
    names = [header[j] for j in features]
    trouble = _Trouble(path)
    numbers = array("d")
    target_cells: list[list[str]] = [[] for _ in target_columns]
    n_rows = 0
    for n_rows, row in enumerate(_full_rows(path, rows, len(header)), start=1):
        cells = [row[j] for j in features]
        try:
            numbers.extend(_numbers(cells))
        except ValueError:
            trouble.note(n_rows, names, cells)
        for column, j in zip(target_cells, target_columns, strict=True):
            column.append(row[j].strip(BLANK))
    trouble.raise_if_any()
    X = (np.frombuffer(numbers) if numbers else np.empty(0)).reshape(n_rows, len(features))
    y = [_target(path, *named) for named in zip(targets, target_cells, strict=True)]
    return assemble(path, X, names, y, targets)


def _checked_header(path: Path, header: list[str], delimiter: str) -> list[str]:
    if not header:
        raise DatasetError(
            f"{path}: expected a first line with column names, got an empty file or line; "
            f"check that the file was written completely."
        )
    names = [name.strip() for name in header]
    _check_separator(path, names, delimiter)
    if all(_is_number(name) for name in names):
        raise DatasetError(
            f"{path}: expected column names in the first line, got numbers; add a line of names."
        )
    if "" in names:
        raise DatasetError(
            f"{path}: expected a name for every column, got none for column "
            f"{names.index('') + 1}; name it or remove it (pandas: to_csv(index=False))."
        )
    check_unique(path, names)
    return names


def _check_separator(path: Path, names: list[str], delimiter: str) -> None:
    other = next((mark for mark in SEPARATORS if mark in names[0]), None)
    if len(names) == 1 and other is not None:
        raise DatasetError(
            f"{path}: expected columns separated by {SEPARATORS[delimiter]}, got a first line "
            f"separated by {SEPARATORS[other]}; save it as .csv with commas or as .tsv with tabs."
        )


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


def _is_number(text: str) -> bool:
    try:
        _numbers([text])
    except ValueError:
        return False
    return text.strip().lower() not in MISSING


class _Trouble:
    """Collects the cells that are no numbers, so that one sentence can name all their columns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.words: dict[str, str] = {}
        self.missing: dict[str, int] = {}

    def note(self, row: int, names: list[str], cells: list[str]) -> None:
        for name, cell in zip(names, cells, strict=True):
            if cell.strip().lower() in MISSING:
                self.missing.setdefault(name, row)
            elif not _is_number(cell):
                self.words.setdefault(name, cell)

    def raise_if_any(self) -> None:
        if self.words:
            raise not_numbers(self.path, self.words)
        if self.missing:
            raise missing_values(self.path, list(self.missing), min(self.missing.values()))


def _target(path: Path, name: str, cells: list[str]) -> np.ndarray:
    """Whole numbers, else numbers, else labels as they are written."""
    for row, cell in enumerate(cells, start=1):
        if cell.lower() in MISSING:
            raise missing_values(path, [name], row)
    if not all(_is_number(cell) for cell in cells):
        return np.array(cells, dtype=str)
    try:
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array([float(cell) for cell in cells])
