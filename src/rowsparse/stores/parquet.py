"""Parquet files and folders of them, read by row groups; a large row group in several parts."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rowsparse.inputs import did_you_mean
from rowsparse.numerics.memory import CACHE_BYTES
from rowsparse.stores.base import Store
from rowsparse.stores.files import by_number
from rowsparse.stores.safety import DatasetError, check_expansion, check_file, damaged, reading

KIND = "a Parquet file"
ITEM = 8  # bytes of a number in memory
BUFFER_BYTES = 1 << 20  # of a column of a row group that is read as a stream


@dataclass(frozen=True)
class Piece:
    """What a block is made of: some row groups of a file, or rows of one of them."""

    path: Path
    groups: tuple[int, ...]
    skipped: int  # rows of the first group that belong to blocks before
    rows: int


class Stream:
    """The rows of some row groups, taken in the order in which they are packed."""

    def __init__(self, path: Path, groups: Sequence[int], columns: Sequence[str], batch: int):
        import pyarrow.parquet as pq

        # buffered, not read ahead: a row group may be larger than memory
        self._file = pq.ParquetFile(path, buffer_size=BUFFER_BYTES, pre_buffer=False)
        self._batches: Iterator[Any] = self._file.iter_batches(
            batch, row_groups=list(groups), columns=list(columns), use_threads=False
        )
        self._rest: Any = None  # of a batch that was taken in part
        self.position = 0

    def take(self, rows: int) -> Iterator[Any]:
        """The next rows, as batches."""
        while rows:
            batch = next(self._batches) if self._rest is None else self._rest
            self._rest = batch.slice(rows) if batch.num_rows > rows else None
            batch = batch.slice(0, rows)
            rows -= batch.num_rows
            self.position += batch.num_rows
            yield batch

    def skip(self, rows: int) -> None:
        for _ in self.take(rows):
            pass

    def close(self) -> None:
        self._file.close()


class ParquetRows(Store):
    """The numeric columns of one file or several, one below the other."""

    def __init__(
        self, path: Path, files: Sequence[Path], columns: Sequence[str], single: bool, limit: int
    ):
        self.path = path
        self.names = list(columns)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        row_bytes = max(1, len(columns) * self.dtype.itemsize)
        self.pieces = [
            piece for file in files for piece in _pieces(file, max(1, limit // row_bytes))
        ]
        self.bounds = np.cumsum([0, *(piece.rows for piece in self.pieces)], dtype=np.int64)
        self.shape = (int(self.bounds[-1]), len(columns))
        self._batch = max(1, CACHE_BYTES // row_bytes)  # rows: the copy finds them in the cache
        self._lock = threading.Lock()
        self._open: tuple[Path, int, Stream] | None = None  # a row group that is read in parts

    def __getstate__(self) -> dict[str, Any]:
        # an open file and a lock belong to their process
        return {**vars(self), "_lock": None, "_open": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

    def block(self, number: int) -> np.ndarray:
        piece = self.pieces[number]
        out = np.empty((piece.rows, self.shape[1]), self.dtype)
        filled = 0
        with reading(piece.path, KIND), self._lock:
            stream = self._stream(piece)
            for batch in stream.take(piece.rows):
                _check_gaps(piece.path, batch)
                rows = out[filled : filled + batch.num_rows]
                for j, column in enumerate(batch.columns):
                    rows[:, j] = numbers(column)
                filled += batch.num_rows
            if self._open is None:
                stream.close()
        return out

    def _stream(self, piece: Piece) -> Stream:
        """Where the piece begins. Blocks are asked for in order, so that a row group of many parts
        is unpacked once: the stream that gave the part before goes on."""
        group = piece.groups[0]
        if self._open is not None:
            path, open_group, stream = self._open
            if (path, open_group, stream.position) == (piece.path, group, piece.skipped):
                return stream
            stream.close()
            self._open = None
        stream = Stream(piece.path, piece.groups, self.names or (), self._batch)
        stream.skip(piece.skipped)
        if len(piece.groups) == 1:
            self._open = (piece.path, group, stream)
        return stream


def _pieces(path: Path, most_rows: int) -> Iterator[Piece]:
    """Small row groups together, large ones in parts."""
    waiting: list[int] = []
    rows = 0
    for group, size in enumerate(_group_sizes(path)):
        if waiting and rows + size > most_rows:
            yield Piece(path, tuple(waiting), 0, rows)
            waiting = []
            rows = 0
        if size <= most_rows:
            if size:  # some writers leave groups without rows
                waiting.append(group)
            rows += size
            continue
        for start in range(0, size, most_rows):
            yield Piece(path, (group,), start, min(most_rows, size - start))
    if waiting:
        yield Piece(path, tuple(waiting), 0, rows)


def _group_sizes(path: Path) -> list[int]:
    import pyarrow.parquet as pq

    check_file(path)
    with reading(path, KIND), pq.ParquetFile(path) as file:
        facts = file.metadata
        sizes = [facts.row_group(i).num_rows for i in range(facts.num_row_groups)]
    # both are only stated; a difference would show as a block cut short, much later
    if min(sizes, default=0) < 0 or sum(sizes) != facts.num_rows:
        raise damaged(path, KIND, "row groups that do not add up")
    return sizes


def parquet_rows(
    path: Path, targets: Sequence[str], ignore: Sequence[str], block_bytes: int
) -> Store:
    """The table in a file, or in all files of a folder in the order of their numbers."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise DatasetError(
            f"{path}: expected pyarrow, to read {KIND} in blocks, got none; run pip install "
            f"pyarrow."
        ) from None
    files = parquet_files(path)
    with reading(files[0], KIND):
        schema = pq.read_schema(files[0])
    for file in files[1:]:
        with reading(file, KIND):
            other = pq.read_schema(file)
        if other.names != schema.names or other.types != schema.types:
            raise DatasetError(
                f"{file}: expected the columns of {files[0].name}, with the same types, got "
                f"others; keep only pieces of one table in the folder."
            )
    features, single = _features(path, schema, targets, ignore)
    store = ParquetRows(path, files, features, single, block_bytes)
    if targets:
        store.y = _target(path, files, targets)
    return store


def parquet_files(path: Path) -> list[Path]:
    """The file, or every Parquet file under a folder."""
    if path.is_file():
        return [path]
    files = sorted(path.rglob("*.parquet"), key=by_number)
    files = [file for file in files if not file.name.startswith((".", "_"))]
    hive = [file for file in files if "=" in file.relative_to(path).parent.as_posix()]
    if hive:
        raise DatasetError(
            f"{path}: expected files that hold all columns, got folders such as "
            f"{hive[0].parent.name!r}, whose name holds one; write the table without partitions."
        )
    return files


def _features(
    path: Path, schema: Any, targets: Sequence[str], ignore: Sequence[str]
) -> tuple[list[str], bool]:
    """The columns of X, and whether single precision holds them all."""
    import pyarrow as pa

    names = schema.names
    if len(set(names)) < len(names):
        raise DatasetError(f"{path}: expected different column names, got some more than once.")
    for what, asked in (("a target", targets), ("an ignored", ignore)):
        for name in asked:
            if name not in names:
                raise DatasetError(
                    f"{path}: expected {what} column that exists, got {name!r}; the columns are "
                    f"{', '.join(names[:8])}{' …' if len(names) > 8 else ''}."
                    f"{did_you_mean(name, names)}"
                )
    with reading(path, KIND):
        notes = dict(json.loads((schema.metadata or {}).get(b"pandas", b"{}")))
    index = [name for name in notes.get("index_columns", []) if isinstance(name, str)]
    out = {*targets, *ignore, *index}
    features = [name for name in names if name not in out]
    kinds = {name: schema.field(name).type for name in features}
    other = [name for name, kind in kinds.items() if not _is_numeric(pa, kind)]
    if other:
        raise DatasetError(
            f"{path}: expected numbers in every column of a table that is read in blocks, got "
            f"{kinds[other[0]]} in {other[0]!r} ({len(other)} such); turn them into numbers, or "
            f"leave them out with --ignore (ignore= in Python)."
        )
    types = {np.dtype(kind.to_pandas_dtype()) for kind in kinds.values()}
    single = np.dtype(np.float32) in types and all(np.can_cast(t, np.float32) for t in types)
    return features, single


def _is_numeric(pa: Any, kind: Any) -> bool:
    return (
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    )  # decimals and dates have meanings that a person should settle


def _target(path: Path, files: Sequence[Path], targets: Sequence[str]) -> np.ndarray:
    """The target columns, of which all rows are in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    found: list[list[np.ndarray]] = [[] for _ in targets]
    for file in files:
        check_file(file)
        with reading(file, KIND), pq.ParquetFile(file) as table:
            stated = ITEM * table.metadata.num_rows * len(targets)
            check_expansion(file, stated, file.stat().st_size)
            columns = table.read(columns=list(targets))
            columns.validate(full=True)
            for name, chunks in zip(targets, found, strict=True):
                column = columns.column(name)
                if _is_numeric(pa, column.type):
                    chunks.append(numbers(column))
                else:
                    chunks.append(np.array(column.to_pylist(), dtype=object))
    joined = [np.concatenate(chunks) for chunks in found]
    if len(joined) == 1:
        return joined[0]
    if any(column.dtype.kind == "O" for column in joined):
        raise DatasetError(
            f"{path}: expected numbers in each of several target columns, got labels; name one "
            f"label column, or 0/1 columns for several labels."
        )
    return np.column_stack(joined)


def numbers(column: Any) -> np.ndarray:
    """An Arrow column as NumPy has it; gaps are NaN."""
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _check_gaps(path: Path, batch: Any) -> None:
    gaps = [name for name, column in zip(batch.schema.names, batch.columns, strict=True)
            if column.null_count]  # fmt: skip
    if gaps:
        raise DatasetError(
            f"{path}: expected no missing values in a table that is read in blocks, got some in "
            f"{gaps[0]!r} ({len(gaps)} such columns); fill them in, or leave the columns out with "
            f"--ignore (ignore= in Python)."
        )
