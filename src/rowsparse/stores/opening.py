"""open_rows: from a path to a store of rows, by what is there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rowsparse.inputs import did_you_mean
from rowsparse.stores.base import BLOCK_BYTES, NUMERIC, ChosenColumns, Store
from rowsparse.stores.files import (
    arrays_beside,
    arrays_inside,
    folder_rows,
    npy_rows,
    npz_rows,
    target_beside,
    texts,
)
from rowsparse.stores.hdf5 import h5ad_rows
from rowsparse.stores.npy import everything, npy_lines
from rowsparse.stores.parquet import parquet_files, parquet_rows
from rowsparse.stores.safety import DatasetError, damaged
from rowsparse.stores.zarrays import zarr_rows

ZARR_FILES = (".zarray", ".zgroup", "zarr.json")


def open_rows(
    path: str | Path,
    target: str | Sequence[str] | None = None,
    *,
    ignore: Sequence[str] = (),
    block_bytes: int = BLOCK_BYTES,
) -> Store:
    """X on disk, to be fitted without ever being in memory as a whole.

    Parameters
    ----------
    path : what holds X. A .npy file; a folder of .npy pieces; a sparse matrix by rows, as
        ``scipy.sparse.save_npz(path, X, compressed=False)`` writes it or as a folder with
        data.npy, indices.npy and indptr.npy; a Zarr array or group; a Parquet file or a folder of
        them; an h5ad file.
    target : the column of a table, of obs of an h5ad file, or the name of an array beside X:
        "y" is NAME.y.npy beside NAME.npy, y.npy in a folder, y in a Zarr group; or the path of a
        .npy file. Several columns of a table are several outputs. Without it y (or Y) is taken if
        it is there.
    ignore : columns to leave out, by name.
    block_bytes : how much of X is read at a time; two blocks are in memory.

    Returns
    -------
    A store, which a selector takes in place of X. Its ``y`` is the target (None if there is none),
    ``names`` are the columns' names (None if nothing names them), ``shape`` and ``dtype`` are
    those of X.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from rowsparse import TopKSelector, open_rows
    >>> X, y = load_wine(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(folder + "/wine.npy", X)
    ...     np.save(folder + "/wine.y.npy", y)
    ...     rows = open_rows(folder + "/wine.npy")
    ...     selector = TopKSelector(3).fit(rows, rows.y)
    >>> selector.get_support(indices=True).size
    3
    """
    path = Path(path)
    if block_bytes < 1:
        raise ValueError(f"Expected block_bytes of at least 1, got {block_bytes}.")
    if not path.exists():
        raise FileNotFoundError(f"{path}: expected a file or folder, got nothing; check the path.")
    targets = (target,) if isinstance(target, str) else tuple(target or ())
    if len(targets) == 1 and Path(targets[0]).suffix == ".npy" and Path(targets[0]).is_file():
        store = open_rows(path, ignore=ignore, block_bytes=block_bytes)
        store.y = everything(npy_lines(Path(targets[0])))
        return finished(store, targets[0])
    if is_parquet(path):
        store = parquet_rows(path, targets, ignore, block_bytes)
    else:
        if len(targets) > 1:
            raise DatasetError(
                f"{path}: expected at most one target for a store of arrays, got {len(targets)} "
                f"names; save several outputs as the columns of one array."
            )
        store = _arrays(path, targets[0] if targets else None, block_bytes)
        store = _without(store, ignore)
    return finished(store, targets[0] if targets else "y")


def _arrays(path: Path, target: str | None, block_bytes: int) -> Store:
    suffix = path.suffix.lower()
    if is_zarr(path):
        return zarr_rows(path, target, block_bytes)
    if suffix == ".h5ad":
        return h5ad_rows(path, target, block_bytes)
    if path.is_dir():
        store = folder_rows(path, block_bytes)
        store.y = target_beside(path, arrays_inside(path), target)
        return store
    if suffix not in (".npy", ".npz"):
        raise DatasetError(
            f"{path}: expected something that can be read in blocks (.npy, .npz of a sparse "
            f"matrix, .zarr, .parquet, .h5ad, or a folder of .npy or .parquet files), got "
            f"{suffix or 'no ending'!r}; convert it, or read it with rowsparse.datasets.load_file."
        )
    store = npy_rows(path, block_bytes) if suffix == ".npy" else npz_rows(path, block_bytes)
    store.y = target_beside(path, arrays_beside(path), target)
    return store


def is_zarr(path: Path) -> bool:
    return path.is_dir() and any((path / name).is_file() for name in ZARR_FILES)


def is_parquet(path: Path) -> bool:
    if path.is_dir():
        return not is_zarr(path) and bool(parquet_files(path))
    return path.suffix.lower() == ".parquet"


def _without(store: Store, ignore: Sequence[str]) -> Store:
    """The store without the columns of these names."""
    if not ignore:
        return store
    names = store.names or [f"x{j}" for j in range(store.shape[1])]
    for name in ignore:
        if name not in names:
            raise DatasetError(
                f"{store.path}: expected an ignored column that exists, got {name!r}."
                f"{did_you_mean(name, names)}"
            )
    kept = [j for j, name in enumerate(names) if name not in ignore]
    chosen = ChosenColumns(store, np.array(kept, dtype=np.int64))
    chosen.names = [names[j] for j in kept]  # numbers stay those of the file
    chosen.y = store.y
    return chosen


def finished(store: Store, target: str) -> Store:
    """The store, once it is sure that what belongs together has the same length."""
    n, d = store.shape
    if n == 0 or d == 0:
        raise DatasetError(
            f"{store.path}: expected at least one sample and one feature, got {n} samples and {d} "
            f"features; check that the data has rows, and columns besides the target."
        )
    if store.names is not None and len(store.names) != d:
        raise DatasetError(
            f"{store.path}: expected one name per feature, got {d} features and "
            f"{len(store.names)} names; leave the names out or give all of them."
        )
    if store.y is not None:
        store.y = _checked_target(store, target, store.y)
    return store


def _checked_target(store: Store, target: str, y: np.ndarray) -> np.ndarray:
    """Numbers without gaps, or labels as text, as many as there are rows."""
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim not in (1, 2) or len(y) != store.shape[0]:
        raise DatasetError(
            f"{store.path}: expected one target value per sample, got {store.shape[0]} samples and "
            f"{target!r} of shape {y.shape}; check that both come from the same rows."
        )
    if y.dtype.kind in NUMERIC:
        gaps = ~np.isfinite(y)
    elif y.dtype.kind in "OSUT":
        gaps = np.array([value is None or value != value for value in y.ravel().tolist()])
    else:
        raise damaged(store.path, f"labels or numbers in {target!r}", f"dtype {y.dtype}")
    if gaps.any():
        raise DatasetError(
            f"{store.path}: expected a target of finite numbers or labels, got {int(gaps.sum())} "
            f"missing or infinite values in {target!r}; leave those rows out."
        )
    if y.dtype.kind in NUMERIC:
        return y
    return np.array(texts(store.path, y)).reshape(y.shape)
