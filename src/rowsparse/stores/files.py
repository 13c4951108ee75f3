"""Stores of plain NumPy files: one matrix, a folder of pieces, compressed sparse rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from rowsparse.stores.base import DenseRows, SparseRows, Stack, Store
from rowsparse.stores.npy import NpyLines, columns_at_once, everything, members, npy_lines
from rowsparse.stores.safety import DatasetError, damaged, reading

OF_SPARSE = ("data", "indices", "indptr")
BESIDE = ("y", "Y", "feature_names", "class_names", "label_names")  # never pieces of X


def npy_rows(path: Path, block_bytes: int) -> Store:
    """One .npy file, and the names beside it."""
    store = _matrix(npy_lines(path), block_bytes)
    store.names = names_of(path, arrays_beside(path))
    return store


def _matrix(lines: NpyLines, block_bytes: int) -> DenseRows:
    if lines.by_columns:
        block_bytes = columns_at_once(lines, block_bytes)
    return DenseRows(lines.path, lines, block_bytes)


def folder_rows(path: Path, block_bytes: int) -> Store:
    """A folder of .npy files: pieces of X in the order of their numbers, or a sparse matrix."""
    arrays = arrays_inside(path)
    if set(OF_SPARSE) <= arrays.keys():
        lines = {name: npy_lines(file) for name, file in arrays.items()}
        store: Store = _sparse(path, lines, block_bytes)
    else:
        pieces = [file for name, file in arrays.items() if name not in BESIDE]
        if not pieces:
            raise DatasetError(
                f"{path}: expected .npy files with pieces of X, or .parquet files, got neither; "
                f"name the file or folder that holds them."
            )
        store = Stack(path, [_matrix(npy_lines(file), block_bytes) for file in pieces])
    store.names = names_of(path, arrays)
    return store


def npz_rows(path: Path, block_bytes: int) -> Store:
    """What scipy.sparse.save_npz writes with compressed=False."""
    arrays = members(path)
    if not {"format", "shape", *OF_SPARSE} <= arrays.keys():
        raise DatasetError(
            f"{path}: expected a sparse matrix by rows, as scipy.sparse.save_npz writes it, got "
            f"other arrays ({', '.join(sorted(arrays)[:8])}); save X alone as .npy to read it in "
            f"blocks."
        )
    store = _sparse(path, arrays, block_bytes)
    store.names = names_of(path, arrays_beside(path))
    return store


def _sparse(path: Path, arrays: Mapping[str, NpyLines], block_bytes: int) -> SparseRows:
    kind = str(everything(arrays["format"]).astype(str)) if "format" in arrays else "csr"
    if kind != "csr":
        raise DatasetError(
            f"{path}: expected a sparse matrix by rows (csr), got {kind!r}, of which rows cannot "
            f"be read one after the other; save X.tocsr() instead."
        )
    parts = (arrays["data"], arrays["indices"], arrays["indptr"])
    if "shape" not in arrays:
        return SparseRows(path, parts, _largest(arrays["indices"], block_bytes) + 1, block_bytes)
    with reading(path, "compressed sparse rows"):
        n, d = (int(length) for length in everything(arrays["shape"]))
    if n + 1 != arrays["indptr"].shape[0]:
        raise damaged(path, "compressed sparse rows", f"{n} rows without as many row pointers")
    return SparseRows(path, parts, d, block_bytes)


def _largest(indices: NpyLines, block_bytes: int) -> int:
    """The last column with an entry, for a matrix that does not say how many it has."""
    # in parts: there may be more entries than memory holds
    count = indices.shape[0]
    step = max(1, block_bytes // indices.dtype.itemsize)
    largest = -1
    for start in range(0, count, step):
        largest = max(largest, int(indices.read(start, min(start + step, count)).max()))
    return largest


def arrays_beside(path: Path) -> dict[str, Path]:
    """NAME.y.npy beside NAME.npy, NAME.npz or NAME.X.npy is called y."""
    stem = path.name.removesuffix(path.suffix).removesuffix(".X") + "."
    found = {}
    # not globbed by the stem: a name may hold letters that mean something in a pattern
    for file in sorted(path.parent.glob("*.npy")):
        if file.name.startswith(stem) and file != path:
            found[file.stem.removeprefix(stem)] = file
    return found


def arrays_inside(path: Path) -> dict[str, Path]:
    """The .npy files of a folder by name, piece_2 before piece_10."""
    files = sorted(path.glob("*.npy"), key=by_number)
    return {file.stem: file for file in files}


def by_number(path: Path) -> list[tuple[int, int, str]]:
    """A key that sorts the numbers in names as numbers."""
    pieces = re.split(r"(\d+)", path.as_posix())
    return [(0, int(text), "") if text.isdecimal() else (1, 0, text) for text in pieces]


def names_of(path: Path, arrays: Mapping[str, Path]) -> list[str] | None:
    """The names of the columns, where a file beside X holds them."""
    if "feature_names" not in arrays:
        return None
    return texts(path, everything(npy_lines(arrays["feature_names"])))


def texts(path: Path, values: np.ndarray | Sequence[object]) -> list[str]:
    """Names, whether saved as text or as bytes."""
    with reading(path, "names as text"):
        names = []
        for value in np.asarray(values).ravel().tolist():
            names.append(value.decode("utf-8") if isinstance(value, bytes) else str(value))
        return names


def target_beside(path: Path, arrays: Mapping[str, Path], target: str | None) -> np.ndarray | None:
    """The array that ``target`` names, else y or Y; None if there is none and none is asked for."""
    wanted = [target] if target else ["y", "Y"]
    for name in wanted:
        if name in arrays:
            return everything(npy_lines(arrays[name]))
    if target and Path(target).suffix == ".npy":
        return everything(npy_lines(Path(target)))
    if target:
        raise DatasetError(
            f"{path}: expected a target called {target!r} beside X, got "
            f"{', '.join(sorted(arrays)[:8]) or 'no other arrays'}; save it as "
            f"{path.stem}.{target}.npy, or name the .npy file that holds it."
        )
    return None
