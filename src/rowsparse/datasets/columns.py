"""From the columns of a table to a design: each column becomes numbers, is left out, or refused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from rowsparse.datasets.base import (
    NUMERIC,
    Dataset,
    DatasetError,
    Reading,
    counted,
    shortened,
)
from rowsparse.datasets.cells import Kind, number, recognise
from rowsparse.datasets.gaps import GapFiller
from rowsparse.inputs import did_you_mean

Columns = Mapping[str, np.ndarray]

# As many different words are a category whatever the number of rows; beyond, and in more than
# every second row another one, they are names or free text.
FEW_WORDS = 20
# Ten numbers that happen to count the rows are one order out of 3.6 million.
ROWS_TO_COUNT = 10
CALLED_ID = re.compile(r"(.*[ _.-])?(id|index|nr|no|row|unnamed: \d+|column \d+)", re.IGNORECASE)


class Coding:
    """The columns of a table on their way into a design, and what is to be said about them."""

    def __init__(self, path: Path, how: Reading, names: Iterable[str]) -> None:
        self.path = path
        self.how = how
        self.taken = set(names)
        self.features: dict[str, np.ndarray] = {}
        self.ids: dict[str, np.ndarray] = {}
        self.counting: list[str] = []
        self.different: list[str] = []
        self.empty: list[str] = []
        self.coded: dict[str, int] = {}
        self.groups: dict[str, list[str]] = {}  # the columns of every category
        self.filled: dict[str, int] = {}
        self.refused: dict[str, dict[str, str]] = {"dates": {}, "stray": {}, "crowded": {}}
        self.missing: dict[str, int] = {}
        self.first_gap: int | None = None

    def add(self, name: str, column: np.ndarray) -> None:
        kind, values = recognise(column)
        if name in self.how.ids:
            self.ids[name] = column
        elif kind == Kind.NUMBERS:
            self._add_numbers(name, values)
        elif kind == Kind.WORDS:
            self._add_words(name, values)
        elif kind == Kind.NOTHING:
            self.empty.append(name)
        else:
            group = "dates" if kind == Kind.DATES else "stray"
            example = next((str(value) for value in values if value is not None), "")
            self.refused[group][name] = example

    def _add_numbers(self, name: str, values: np.ndarray) -> None:
        if name not in self.how.keep and counts_rows(name, values):
            self.ids[name] = values
            self.counting.append(name)
            return
        gaps = np.isnan(values) if values.dtype.kind == "f" else np.zeros(0, dtype=bool)
        if not gaps.any():
            self.features[name] = values
        elif gaps.all():
            self.empty.append(name)
        elif self.how.impute is None:
            self._note_gaps(name, gaps)
        else:
            self.filled[name] = int(gaps.sum())
            self.features[name] = values
            if self.how.impute == "indicator":
                self._add_new(f"{name}=missing", gaps)

    def _add_words(self, name: str, values: np.ndarray) -> None:
        gaps = np.array([value is None for value in values], dtype=bool)
        words = Counter(value for value in values.tolist() if value is not None)
        if name not in self.how.keep and len(words) == values.size > 1:
            # another word in every row names the rows, and could not be learned from
            self.ids[name] = values
            self.different.append(name)
            return
        if len(words) > max(FEW_WORDS, values.size / 2):
            self.refused["crowded"][name] = str(len(words))
            return
        if gaps.any() and self.how.impute is None:
            self._note_gaps(name, gaps)
            return
        levels = sorted(words)
        self.coded[name] = len(levels)
        # of two words one column says it all
        shown = levels[1:] if len(levels) == 2 else levels
        cells = [(level, values == level) for level in shown]
        if gaps.any():
            self.filled[name] = int(gaps.sum())
            if self.how.impute == "indicator":  # one more word, which leaves no gap
                cells.append(("missing", gaps))
            else:
                cells = [(level, _with_gaps(column, gaps)) for level, column in cells]
        self.groups[name] = [self._add_new(f"{name}={level}", column) for level, column in cells]

    def _add_new(self, name: str, column: np.ndarray) -> str:
        """A column of the truth; it must not take the name of one that is in the file."""
        while name in self.taken:
            name += "'"
        self.taken.add(name)
        self.features[name] = column
        return name

    def filler(self) -> GapFiller | None:
        """What fills the gaps that are still there; None where there are none."""
        if self.how.impute is None or not self.filled:
            return None
        place = {name: j for j, name in enumerate(self.features)}
        numbers = [place[name] for name in self.filled if name in place]
        words = []
        if self.how.impute != "indicator":
            for name in self.filled:
                if name in self.groups:
                    words.append([place[column] for column in self.groups[name]])
        return GapFiller(self.how.impute, numbers, words)

    def together(self) -> dict[str, tuple[int, ...]]:
        """The places of the columns of every category."""
        place = {name: j for j, name in enumerate(self.features)}
        places = {}
        for name, columns in self.groups.items():
            places[name] = tuple(place[column] for column in columns)
        return places

    def _note_gaps(self, name: str, gaps: np.ndarray) -> None:
        self.missing[name] = int(gaps.sum())
        row = int(np.argmax(gaps))
        self.first_gap = row if self.first_gap is None else min(row, self.first_gap)

    def check(self) -> None:
        """Refuse what cannot become numbers, the worst first."""
        for group, sentence in REFUSALS.items():
            columns = self.refused[group]
            if columns:
                name, example = next(iter(columns.items()))
                names = shortened(list(columns))
                why = sentence.format(names=names, name=name, example=example)
                raise DatasetError(f"{self.path}: {why}")
        if self.missing:
            raise missing_values(self.path, self.missing, self.first_gap or 0)
        check_finite(self.path, self.features)

    def notes(self) -> tuple[str, ...]:
        """What was done, in sentences."""
        counting = shortened(self.counting)
        different = shortened(self.different)
        empty = shortened(self.empty)
        coded = counted(self.coded)
        filled = counted(self.filled)
        said = {
            f"Left out {counting} (running numbers); --keep NAME makes it a feature.": counting,
            f"Left out {different} (another word in every row); --ignore NAME says the same "
            "without this note.": different,
            f"Left out {empty} (no values at all).": empty,
            f"Coded as one 0/1 column per word, selected together: {coded} (number of "
            "words).": coded,
            f"Filled missing values ({self.how.impute}) in {filled}.": filled,
        }
        return tuple(sentence for sentence, columns in said.items() if columns)


def _with_gaps(column: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    # half precision holds 0, 1 and NaN, and leaves the precision of the table to its numbers
    cells = column.astype(np.float16)
    cells[gaps] = np.nan
    return cells


REFUSALS = {
    "stray": "expected numbers, or one word of a few, in every feature column, got other values "
    "among the numbers in {names} (for example {example!r} in {name!r}); correct them, or leave "
    "these columns out with --ignore.",
    "dates": "expected numbers in every feature column, got dates or times in {names} (for "
    "example {example!r} in {name!r}); turn them into numbers, such as days since the first one, "
    "or leave these columns out with --ignore.",
    "crowded": "expected numbers or a few words in every feature column, got {example} different "
    "words in {name!r}; leave these columns out with --ignore: {names}.",
}


def counts_rows(name: str, values: np.ndarray) -> bool:
    """Whether the column counts the rows, from 0 or 1, or is called an id and never repeats."""
    n = values.size
    if n < 2 or values.dtype.kind == "b":
        return False
    called = CALLED_ID.fullmatch(name) is not None
    # both ends first: nearly every other column is answered by them
    begins = values[0] in (0, 1)
    ends = values[-1] - values[0] == n - 1
    if begins and ends and (called or n >= ROWS_TO_COUNT):
        return bool(np.array_equal(values, np.arange(n) + values[0]))
    if not called:
        return False
    never_repeats = np.unique(values).size == n
    return never_repeats and bool(np.all(values == np.round(values)))


def missing_values(path: Path, counts: Mapping[str, int], first_row: int) -> DatasetError:
    return DatasetError(
        f"{path}: expected no missing values, got some in {counted(counts)} (first in data row "
        f"{first_row + 1}); fill them in with --impute median, most-frequent or indicator, or "
        f"leave those rows or columns out."
    )


def check_finite(path: Path, columns: Columns) -> None:
    infinite = [name for name, column in columns.items() if np.isinf(column).any()]
    if infinite:
        raise DatasetError(
            f"{path}: expected finite numbers, got infinite ones in {shortened(infinite)}; "
            f"replace them or drop those rows or columns."
        )


def check_names(path: Path, names: Sequence[str], how: Reading) -> None:
    """Every column has its own name, and those that were asked for are among them."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DatasetError(
            f"{path}: expected different column names, got {shortened(sorted(twice))} more than "
            f"once; rename or remove the copies."
        )
    if not how.targets:
        raise DatasetError(
            f"{path}: expected the name of the target column, got none; name it with --target "
            f"(target= in Python), one of {shortened(names)}."
        )
    check_known(path, names, {"a target": how.targets})
    check_known(path, names, {"an ignored": how.ignore, "an id": how.ids, "a kept": how.keep})
    if len(set(how.targets)) < len(how.targets):
        raise DatasetError(
            f"{path}: expected different target columns, got {shortened(how.targets)}; name each "
            f"once."
        )


def check_known(path: Path, names: Sequence[str], asked: Mapping[str, Sequence[str]]) -> None:
    known = set(names)
    for what, wanted in asked.items():
        for name in wanted:
            if name not in known:
                raise DatasetError(
                    f"{path}: expected {what} column that exists, got {name!r}; "
                    f"the columns are {shortened(names)}.{did_you_mean(name, names)}"
                    f"{_perhaps_no_header(names)}"
                )


def _perhaps_no_header(names: Sequence[str]) -> str:
    """A hint where most names are numbers, which data is and names are not."""
    n_numbers = sum(number(name) is not None for name in names)
    if 2 * n_numbers <= len(names):
        return ""
    return " If the first line holds data and no names, add --no-header (header=False in Python)."


def assemble(path: Path, columns: Columns, how: Reading) -> Dataset:
    """The dataset of a table. One target column stays a vector; several become a matrix."""
    coding = Coding(path, how, columns)
    for column_name, column in columns.items():
        if column_name not in how.targets and column_name not in how.ignore:
            coding.add(column_name, column)
    coding.check()
    if not coding.features and coding.notes():
        raise DatasetError(
            f"{path}: expected some column that can be a feature, got none: "
            f"{' '.join(coding.notes())}"
        )
    n = len(columns[how.targets[0]])
    X = _matrix(list(coding.features.values()), n)
    filler = coding.filler()
    targets = [checked_target(path, name, columns[name]) for name in how.targets]
    y = targets[0]
    target_names = None
    if len(targets) > 1:
        _check_numbers(path, dict(zip(how.targets, targets, strict=True)))
        y = np.column_stack(targets)
        target_names = how.targets
    return Dataset(
        path.stem,
        X if filler is None else filler.fit_transform(X),
        y,
        tuple(coding.features),
        target_names,
        source=str(path),
        target=how.targets[0],
        ids=coding.ids,
        notes=coding.notes(),
        groups=coding.together(),
        filler=filler,
        with_gaps=None if filler is None else X,
    )


def _check_numbers(path: Path, targets: Columns) -> None:
    for name, column in targets.items():
        if column.dtype.kind not in NUMERIC:
            raise DatasetError(
                f"{path}: expected numbers in each of several target columns, got labels in "
                f"{name!r}; name one label column, or 0/1 columns for several labels."
            )


def _matrix(columns: Sequence[np.ndarray], n: int) -> np.ndarray:
    """Side by side, in single precision if that is what the file holds and nothing is lost."""
    kinds = {column.dtype for column in columns}
    single = np.dtype(np.float32) in kinds and all(np.can_cast(k, np.float32) for k in kinds)
    # by columns, as solvers read it
    X = np.empty((n, len(columns)), np.float32 if single else np.float64, order="F")
    for j, column in enumerate(columns):
        X[:, j] = column
    return X


def checked_target(path: Path, name: str, column: np.ndarray) -> np.ndarray:
    if column.dtype.kind in NUMERIC:
        gaps = np.isnan(column)
        if not gaps.any():
            check_finite(path, {name: column})
            return column
    else:
        gaps = np.array([value is None for value in column], dtype=bool)
    if gaps.any():
        rows = np.flatnonzero(gaps)
        raise DatasetError(
            f"{path}: expected a target without missing values, got some in {name!r} ({rows.size}) "
            f"(first in data row {rows[0] + 1}); leave those rows out."
        )
    return np.array([str(value) for value in column], dtype=str)
