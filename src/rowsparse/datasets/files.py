"""load_file: from a file on disk to a Dataset, by its extension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from rowsparse.datasets.arrays import read_npz
from rowsparse.datasets.base import Dataset, DatasetError, numbered_names
from rowsparse.datasets.delimited import read_delimited
from rowsparse.datasets.parquet import read_parquet


def load_file(path: str | Path, target: str | Sequence[str] | None = None) -> Dataset:
    """Read a dataset.

    Parameters
    ----------
    path : the file; its extension says what it is: csv, tsv, parquet, npz, svmlight.
    target : the target column of a table (several columns: several outputs), or the name of the
        target array in an npz file ("y" or "Y" unless told otherwise). svmlight files carry it.
    """
    path = Path(path)
    _check_exists(path)
    read = READERS.get(path.suffix.lower())
    if read is None:
        raise DatasetError(
            f"{path}: expected a file ending in {', '.join(sorted(READERS))}, got "
            f"{path.suffix or 'no ending'!r}; convert it, or rename it to what it is."
        )
    if path.stat().st_size == 0:
        raise DatasetError(f"{path}: expected data, got an empty file; write it again.")
    targets = [target] if isinstance(target, str) else list(target or [])
    return read(path, targets)


def _check_exists(path: Path) -> None:
    if path.is_dir():
        raise DatasetError(f"{path}: expected a file, got a folder; name one file in it.")
    if not path.exists():
        raise FileNotFoundError(f"{path}: expected a file, got nothing there; check the path.")


def _read_npz(path: Path, targets: Sequence[str]) -> Dataset:
    if len(targets) > 1:
        raise DatasetError(
            f"{path}: expected at most one target array for an npz file, got {len(targets)} names; "
            f"save several outputs as the columns of one array."
        )
    return read_npz(path, targets[0] if targets else None)


def _read_svmlight(path: Path, targets: Sequence[str]) -> Dataset:
    from sklearn.datasets import load_svmlight_file

    if targets:
        raise DatasetError(
            f"{path}: expected no target name for an svmlight file, got {targets[0]!r}; its lines "
            f"begin with the target, so leave the name out."
        )
    try:
        X, y = load_svmlight_file(str(path), zero_based=True)
    except (ValueError, IndexError) as error:
        raise DatasetError(
            f"{path}: expected svmlight lines such as '1 3:0.5 7:2', got something else "
            f"({' '.join(str(error).split())}); the file is damaged or of another kind."
        ) from error
    # Most files count features from 1; names keep the file's own numbers either way.
    first = 1 if X.shape[1] > 1 and X[:, [0]].nnz == 0 else 0
    X = X[:, first:]
    whole = np.isfinite(y).all() and (y == np.round(y)).all()
    y = y.astype(np.int64) if whole else y
    return Dataset(path.stem, X, y, numbered_names(X.shape[1], first), source=str(path))


READERS: dict[str, Callable[[Path, Sequence[str]], Dataset]] = {
    ".csv": partial(read_delimited, delimiter=","),
    ".tsv": partial(read_delimited, delimiter="\t"),
    ".parquet": read_parquet,
    ".npz": _read_npz,
    ".svmlight": _read_svmlight,
    ".svm": _read_svmlight,
    ".libsvm": _read_svmlight,
}
