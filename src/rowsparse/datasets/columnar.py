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
        # An index that pandas wrote names the rows.
        how = replace(how, ids=(*how.ids, *(name for name in index if name not in how.targets)))
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
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            check_expansion(path, sum(m.file_size for m in members), path.stat().st_size)
        sheet = openpyxl.load_workbook(path, read_only=True, data_only=True).worksheets[0]
        sheet.reset_dimensions()  # what a file says of its size pads every row to it
        rows = [row for row in sheet.iter_rows(values_only=True) if any(v is not None for v in row)]
    width = max(map(len, rows), default=0)
    full = [(*row, *[None] * (width - len(row))) for row in rows]
    header = full[0] if full else ()
    names = [f"column {j}" if v is None else str(v) for j, v in enumerate(header, start=1)]
    check_names(path, names, how)
    cells = zip(*full[1:], strict=True) if len(full) > 1 else ((),) * width
    return assemble(path, dict(zip(names, map(typed, cells), strict=True)), how)


def typed(values: Sequence[Any]) -> np.ndarray:
    """Numbers as numbers, with NaN for gaps; the rest as objects, with None."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int} and None not in values and max(map(abs, values)) < 2**63:
        return np.array(values, dtype=np.int64)
    if kinds and kinds <= {int, float}:
        return np.array([np.nan if value is None else value for value in values], dtype=float)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _with_pyarrow(path: Path) -> tuple[list[str], list[np.ndarray], list[str]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.suffix.lower() == ".parquet":
        with pq.ParquetFile(path) as file:
            facts = file.metadata
            check_expansion(path, ITEM * facts.num_rows * facts.num_columns, path.stat().st_size)
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
    columns = [c.to_numpy() if c.dtype.is_numeric() else typed(c.to_list()) for c in frame]
    return frame.columns, columns, _index_of(notes, frame.columns)


def _index_of(notes: dict[str, Any], names: Sequence[str]) -> list[str]:
    index = notes.get("index_columns", [])
    return [name for name in index if isinstance(name, str) and name in names]
