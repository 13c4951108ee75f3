"""Parquet files, through polars or pandas, whichever is installed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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

NUMERIC = "biuf"  # NumPy kinds: bool, signed, unsigned, float


def read_parquet(path: Path, targets: Sequence[str]) -> Dataset:
    columns = _columns(path)
    check_unique(path, list(columns))
    target_positions(path, list(columns), targets)
    names = [name for name in columns if name not in targets]
    words = {
        name: str(next((value for value in columns[name] if value is not None), None))
        for name in names
        if columns[name].dtype.kind not in NUMERIC
    }
    if words:
        raise not_numbers(path, words)
    X = np.empty((len(columns[targets[0]]), len(names)))
    for j, name in enumerate(names):
        X[:, j] = columns[name]
    y = [_target(path, name, columns[name]) for name in targets]
    return assemble(path, X, names, y, targets)


def _target(path: Path, name: str, column: np.ndarray) -> np.ndarray:
    if column.dtype.kind in NUMERIC:
        return column
    for row, value in enumerate(column, start=1):
        if value is None:
            raise missing_values(path, [name], row)
    return np.array([str(value) for value in column], dtype=str)


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
