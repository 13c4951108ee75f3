"""Text tables before they are parsed: where the text comes from, and how its cells are told apart.

Plain, compressed or from standard input; UTF-8 with or without a byte order mark, or UTF-16;
commas, semicolons, tabs or bars; decimal points, or commas where the comma separates nothing.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

from rowsparse.datasets.base import DatasetError, Reading, numbered_names
from rowsparse.datasets.safety import CHUNK

STANDARD_INPUT = "-"
DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
NAMED_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}
LONGEST_LINE = 2**26  # characters; 20,000 names of a header are some 2**18
LINES_LOOKED_AT = 100  # for decimal commas
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
WITH_POINT = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")


@dataclass(frozen=True)
class Text:
    """A text table that is ready to be parsed, as often as need be."""

    path: Path
    content: bytes | None  # None: what stands in the file
    delimiter: str
    decimal_comma: bool
    names: list[str]  # of its columns
    header: bool  # whether they are its first line

    def open(self) -> TextIO:
        return _open(self.path, self.content)

    def rows(self) -> Iterator[list[str]]:
        """The cells of every row below the names."""
        with self.open() as stream:
            rows = csv.reader(stream, delimiter=self.delimiter, strict=True)
            if self.header:
                next(rows)
            yield from map(with_points, rows) if self.decimal_comma else rows


def with_points(cells: Iterable[str]) -> list[str]:
    """The cells with decimal points instead of commas where they are numbers."""
    return [cell.replace(",", ".") if WITH_COMMA.fullmatch(cell) else cell for cell in cells]


def find_text(path: Path, suffix: str, content: bytes | None, how: Reading) -> Text:
    """The table in a file, or in the ``content`` that came out of it."""
    content = _as_utf8(path, content)
    with _open(path, content) as stream:
        line = stream.readline(LONGEST_LINE)
    if len(line) == LONGEST_LINE:
        raise DatasetError(
            f"{path}: expected lines of text, got one of more than {LONGEST_LINE:,} characters; "
            f"the file is damaged or of another kind."
        )
    delimiter = _delimiter(line, DELIMITERS.get(suffix, ","), how.delimiter)
    with _open(path, content) as stream:
        first = next(csv.reader(stream, delimiter=delimiter, strict=True), [])
    names = _names(path, first, how.header)
    text = Text(path, content, delimiter, False, names, how.header)
    if delimiter == ",":
        return text
    cells = [cell for row in islice(text.rows(), LINES_LOOKED_AT) for cell in row]
    some_commas = any(map(WITH_COMMA.fullmatch, cells))
    some_points = any(map(WITH_POINT.fullmatch, cells))
    # where there are both, commas part thousands or are words
    commas = some_commas and not some_points
    return Text(path, content, delimiter, commas, names, how.header)


def from_standard_input() -> bytes:
    """All of it, unless it is no text: a device of zeros would never end."""
    first = sys.stdin.buffer.read(CHUNK)
    if not first:
        raise DatasetError("-: expected a text table on standard input, got nothing; pipe one in.")
    if b"\0" in first and not first.startswith(UTF16):
        raise DatasetError("-: expected a text table on standard input, got binary data.")
    return first + sys.stdin.buffer.read()


def _open(path: Path, content: bytes | None) -> TextIO:
    stream = path.open("rb") if content is None else io.BytesIO(content)
    return io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")


def _as_utf8(path: Path, content: bytes | None) -> bytes | None:
    if content is None:
        with path.open("rb") as stream:
            if not stream.read(2).startswith(UTF16):
                return None
        content = path.read_bytes()
    if content.startswith(UTF16):
        return content.decode("utf-16").encode()
    return content


def _delimiter(line: str, usual: str, given: str | None) -> str:
    """What was asked for, else what is usual, unless only something else parts the first line."""
    if given is not None:
        delimiter = NAMED_DELIMITERS.get(given, given)
        if len(delimiter) != 1 or delimiter in '"\r\n':
            raise DatasetError(
                f"--delimiter: expected one character, or {', '.join(NAMED_DELIMITERS)}, got "
                f"{given!r}."
            )
        return delimiter
    cells = {mark: _count(line, mark) for mark in (usual, ",", ";", "\t", "|")}
    return usual if cells[usual] > 1 else max(cells, key=lambda mark: cells[mark])


def _count(line: str, delimiter: str) -> int:
    return len(next(csv.reader([line], delimiter=delimiter), []))


def _names(path: Path, cells: list[str], header: bool) -> list[str]:
    if not cells:
        raise DatasetError(
            f"{path}: expected a first line with column names, got an empty file or line; "
            f"check that the file was written completely."
        )
    if not header:
        return list(numbered_names(len(cells)))
    if all(_is_number(cell) for cell in cells):
        raise DatasetError(
            f"{path}: expected column names in the first line, got numbers; add a line of names, "
            f"or say --no-header, which names the columns x0 to x{len(cells) - 1}."
        )
    # pandas and R leave the name of the column of row names empty
    return [cell.strip() or f"column {j}" for j, cell in enumerate(cells, start=1)]


def _is_number(cell: str) -> bool:
    try:
        value = float(cell.replace(",", "."))
    except ValueError:
        return False
    return value == value  # a column may well be called "nan"
