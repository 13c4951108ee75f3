"""h5ad files of single cells: X, one column of obs as the target, the names of var."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from rowsparse.datasets.base import Dataset, DatasetError, Reading, shortened
from rowsparse.datasets.columns import check_known, checked_target
from rowsparse.datasets.sparse import checked
from rowsparse.stores.safety import check_expansion, damaged, reading

# A heap of text in HDF5: its signature, then its version and three zeros; its size; its objects.
HEAP = b"GCOL\x01\x00\x00\x00"
OBJECT = struct.Struct("<H6xQ")  # its number (0: the free rest of the heap) and its size


def read_h5ad(path: Path, how: Reading) -> Dataset:
    """The cells of a file as scanpy writes it; nothing but X, obs[target] and names is read."""
    try:
        import h5py

        try:
            from anndata.io import read_elem
        except ImportError:  # anndata before 0.11
            from anndata.experimental import read_elem
    except ImportError:
        raise DatasetError(
            f"{path}: expected anndata, to read an h5ad file, got none; run pip install anndata."
        ) from None
    _check_heaps(path)
    with reading(path, "an h5ad file"), h5py.File(path, "r") as file:
        obs, var = file["obs"], file["var"]
        columns = [name for name in obs if name != obs.attrs.get("_index")]
        _check_target(path, columns, how)
        for part in (file["X"], obs[how.targets[0]], var[var.attrs["_index"]]):
            _check_sizes(h5py, path, part)
        y = _labels(read_elem(obs[how.targets[0]]))
        X = read_elem(file["X"])
        names = tuple(str(name) for name in read_elem(var[var.attrs["_index"]]))
        X = checked(X, len(y)) if issparse(X) else X
    y = checked_target(path, how.targets[0], y)
    X = X if X.dtype in (np.float32, np.float64) else X.astype(float)
    return Dataset(path.stem, X, y, names, source=str(path), target=how.targets[0])


def _check_target(path: Path, columns: list[str], how: Reading) -> None:
    if len(how.targets) != 1:
        raise DatasetError(
            f"{path}: expected one column of obs as the target, got "
            f"{shortened(how.targets) if how.targets else 'none'}; name it with --target, one of "
            f"{shortened(columns)}."
        )
    check_known(path, columns, {"a target": how.targets})


def _check_sizes(h5py: Any, path: Path, part: Any) -> None:
    """A dataset states a shape and may hold nothing: zeros are made up when it is read."""
    sets = list(part.values()) if isinstance(part, h5py.Group) else [part]
    for held in sets:
        if isinstance(held, h5py.Dataset):
            check_expansion(path, held.size * held.dtype.itemsize, path.stat().st_size)


def _check_heaps(path: Path) -> None:
    """Refuse a heap whose free rest is stated to be empty: HDF5 looks for its end for ever, in
    compiled code that neither Ctrl-C nor a time limit ends."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        start = content.find(HEAP)
        while start >= 0:
            if not _heap_ends(content, start):
                raise damaged(path, "an h5ad file", "a heap without end")
            start = content.find(HEAP, start + 1)


def _heap_ends(content: mmap.mmap, start: int) -> bool:
    """Whether going from object to object gets past the end of the heap."""
    header = start + len(HEAP)
    if header + 8 > len(content):
        return True  # cut off, which HDF5 sees
    size = int.from_bytes(content[header : header + 8], "little")
    end = min(start + size, len(content))
    at = header + 8
    while at + OBJECT.size <= end:
        number, length = OBJECT.unpack_from(content, at)
        padded = -(-length // 8) * 8
        step = OBJECT.size + padded if number else length
        if step == 0:
            return False
        at += step
    return True


def _labels(column: Any) -> np.ndarray:
    """The column of obs: numbers, or labels with None where one is missing."""
    values = np.asarray(column)
    if values.dtype.kind in "biuf":
        return values
    return np.array([None if value != value else value for value in values.tolist()], dtype=object)
