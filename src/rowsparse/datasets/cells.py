"""What the cells of a column mean: numbers, words, dates, or a mixture that nobody meant."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from enum import StrEnum

import numpy as np

from rowsparse.datasets.base import NUMERIC

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
BLANK = " \t\0"  # zero bytes are what a crash leaves of a page that was never written
SWITCHES = {"true": 1.0, "false": 0.0}
DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}([T ].*)?"
    r"|\d{1,2}:\d{2}(:\d{2}([.]\d+)?)?"
)


class Kind(StrEnum):
    """What a column holds."""

    NUMBERS = "numbers"
    WORDS = "words"
    STRAY = "numbers with words among them"
    DATES = "dates"
    NOTHING = "nothing"
    OTHER = "lists or bytes"


def number(cell: str) -> float | None:
    """NaN where the cell is missing, None where it is a word."""
    if is_missing(cell):
        return np.nan
    # Python reads "1_5" as 15; in a data file it is a code or a mistake, never fifteen.
    if "_" in cell:
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def is_missing(cell: str) -> bool:
    return cell.strip(BLANK).lower() in MISSING


def recognise(column: np.ndarray) -> tuple[Kind, np.ndarray]:
    """What the column holds, and its values: numbers with NaN for gaps, or objects with None.

    Of a STRAY column the values are the words alone.
    """
    if column.dtype.kind in NUMERIC:
        return Kind.NUMBERS, column
    if column.dtype.kind in "mM":
        return Kind.DATES, column
    values = column.tolist()
    types = {type(value) for value in values if value is not None}
    if types and types <= {bool, int, float, Decimal}:
        return Kind.NUMBERS, np.array([np.nan if v is None else float(v) for v in values])
    if any(issubclass(kind, date | time | timedelta) for kind in types):
        return Kind.DATES, column
    if not types <= {str, bool, int, float, Decimal}:
        return Kind.OTHER, column
    return _of_text([None if value is None else str(value) for value in values])


def _of_text(cells: Sequence[str | None]) -> tuple[Kind, np.ndarray]:
    cells = [None if cell is None or is_missing(cell) else cell.strip(BLANK) for cell in cells]
    # every different cell is read once: columns repeat themselves
    counts = Counter(cell for cell in cells if cell is not None)
    if not counts:
        return Kind.NOTHING, np.array(cells, dtype=object)
    meaning: dict[str | None, float | None] = {cell: number(cell) for cell in counts}
    if {cell.lower() for cell in counts} <= SWITCHES.keys():
        meaning = {cell: SWITCHES[cell.lower()] for cell in counts}
    words = [cell for cell in counts if meaning[cell] is None]
    if not words:
        meaning[None] = np.nan
        return Kind.NUMBERS, np.array([meaning[cell] for cell in cells], dtype=float)
    if all(map(DATE.fullmatch, words)) and len(words) == len(counts):
        return Kind.DATES, np.array(cells, dtype=object)
    n_words = sum(counts[word] for word in words)
    if n_words < counts.total() / 2:  # mostly numbers: the words are mistakes or codes of gaps
        return Kind.STRAY, np.array(words, dtype=object)
    return Kind.WORDS, np.array(cells, dtype=object)


def target_values(cells: Sequence[str | None]) -> np.ndarray:
    """Whole numbers, else numbers, else labels as they are written; NaN or None where missing."""
    labels = np.array(
        [None if cell is None or is_missing(cell) else cell.strip(BLANK) for cell in cells],
        dtype=object,
    )
    if any("_" in cell for cell in labels if cell is not None):  # as in number
        return labels
    for kind in (np.int64, float):
        try:
            return labels.astype(kind)
        except (TypeError, ValueError, OverflowError):
            continue
    return labels
