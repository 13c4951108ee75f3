"""Tables whose columns have types already: Parquet, Feather (Arrow), Excel.

Parquet and Feather are read by pyarrow, or by polars where only that is installed: of the two,
pyarrow answers a damaged file without a word of its own on the terminal.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rowsparse.datasets.base import Dataset, DatasetError, Reading
from rowsparse.datasets.columns import assemble, check_names
from rowsparse.stores.safety import check_expansion, reading

KINDS = {".parquet": "a Parquet file", ".feather": "a Feather file", ".arrow": "an Arrow file"}
ITEM = 8  # bytes of a number in memory


def read_columnar(path: Path, how: Reading) -> Dataset:
    """The table in a Parquet, Feather or Arrow file."""
    kind = KINDS[path.suffix.lower()]
    for read in (_with_pyarrow, _with_polars):
        try:
            with reading(path, kind):
                names, columns, index = read(path)
        except ImportError:
            continue
        check_names(path, names, how)
        # An index that pandas wrote names the rows, unless it is what is asked for.
        named_rows = [name for name in index if name not in how.targets]
        how = replace(how, ids=(*how.ids, *named_rows))
        return assemble(path, dict(zip(names, columns, strict=True)), how)
    raise DatasetError(
        f"{path}: expected pyarrow or polars, to read {kind}, got neither; run pip install "
        f"pyarrow, or save the table as .csv."
    )


def read_excel(path: Path, how: Reading) -> Dataset:
    """The first sheet of a workbook, its first row the names."""
    try:
        import openpyxl
    except ImportError:
        raise DatasetError(
            f"{path}: expected openpyxl, to read an Excel file, got none; run pip install "
            f"openpyxl, or save the table as .csv."
        ) from None
    with reading(path, "an Excel file"):
        # a workbook is an archive, and a small one may unpack to more than memory holds
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
            check_expansion(path, unpacked, path.stat().st_size)
        # data_only: what formulas came to, not the formulas
        sheet = openpyxl.load_workbook(path, read_only=True, data_only=True).worksheets[0]
        sheet.reset_dimensions()  # what a file says of its size pads every row to it
        rows = [row for row in sheet.iter_rows(values_only=True) if not _is_empty(row)]
    width = max(map(len, rows), default=0)
    full = [(*row, *[None] * (width - len(row))) for row in rows]
    header = full[0] if full else ()
    names = []
    for j, cell in enumerate(header, start=1):
        names.append(f"column {j}" if cell is None else str(cell))
    check_names(path, names, how)
    body = full[1:]
    cells = zip(*body, strict=True) if body else ((),) * width
    columns = map(typed, cells)
    return assemble(path, dict(zip(names, columns, strict=True)), how)


def _is_empty(row: Sequence[Any]) -> bool:
    """Rows that were formatted and never filled are in the sheet as well."""
    return all(cell is None for cell in row)


def typed(values: Sequence[Any]) -> np.ndarray:
    """Numbers as numbers, with NaN for gaps; the rest as objects, with None."""
    kinds = {type(value) for value in values if value is not None}
    # a larger integer would not fit, a gap needs NaN
    if kinds == {int} and None not in values and max(map(abs, values)) < 2**63:
        return np.array(values, dtype=np.int64)
    if kinds and kinds <= {int, float}:
        return np.array([np.nan if value is None else value for value in values], dtype=float)
    column = np.empty(len(values), dtype=object)  # np.array would make a matrix of lists
    column[:] = values
    return column


def _with_pyarrow(path: Path) -> tuple[list[str], list[np.ndarray], list[str]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.suffix.lower() == ".parquet":
        with pq.ParquetFile(path) as file:
            facts = file.metadata
            unpacked = ITEM * facts.num_rows * facts.num_columns
            check_expansion(path, unpacked, path.stat().st_size)
            table = file.read()
    else:
        with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as file:
            table = file.read_all()
    table.validate(full=True)  # offsets and codes, before anything follows them
    notes = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
    columns = [_arrow_values(pa, column) for column in table.columns]
    return table.column_names, columns, _index_of(notes, table.column_names)


def _arrow_values(pa: Any, column: Any) -> np.ndarray:
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return column.to_numpy()
    if pa.types.is_boolean(kind) and not column.null_count:
        return column.to_numpy()
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64()).to_numpy()
    return typed(column.to_pylist())


def _with_polars(path: Path) -> tuple[list[str], list[np.ndarray], list[str]]:
    import polars as pl

    if path.suffix.lower() == ".parquet":
        notes = json.loads(pl.read_parquet_metadata(path).get("pandas") or "{}")
        frame = pl.read_parquet(path)
    else:
        notes = {}
        frame = pl.read_ipc(path)
    columns = []
    for column in frame:
        numeric = column.dtype.is_numeric()
        columns.append(column.to_numpy() if numeric else typed(column.to_list()))
    return frame.columns, columns, _index_of(notes, frame.columns)


def _index_of(notes: dict[str, Any], names: Sequence[str]) -> list[str]:
    """The columns that pandas says are the index; a range of numbers is no column."""
    index = notes.get("index_columns", [])
    return [name for name in index if isinstance(name, str) and name in names]
