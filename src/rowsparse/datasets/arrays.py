"""Files of arrays: X, y (or Y) and names, each read only when it is asked for.

NAME.npz       with X and y (or Y), and optionally class_names, label_names, feature_names
NAME.npz       as scipy.sparse.save_npz writes it: X alone; the other arrays stand beside it
NAME.npy       X alone, too, or NAME.X.npz, NAME.X.npy
NAME.y.npy     beside it, and optionally NAME.class_names.npy and NAME.feature_names.npy
NAME.mat       of MATLAB up to version 7, with the names of the first

Nothing is ever unpickled: a data file must not be able to run code.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from rowsparse.datasets.base import NUMERIC, Dataset, DatasetError, Reading, shortened
from rowsparse.datasets.matlab import matlab_arrays
from rowsparse.datasets.safety import read_member, read_npy
from rowsparse.datasets.sparse import KEYS, OF_SPARSE, checked, narrowed, sparse_matrix
from rowsparse.inputs import did_you_mean
from rowsparse.stores.files import arrays_beside
from rowsparse.stores.safety import damaged, reading

Arrays = Mapping[str, Callable[[], Any]]
ARRAY_SUFFIXES = (".npz", ".npy", ".mat")
KINDS = {".npz": "a NumPy file", ".npy": "a NumPy file", ".mat": "a MATLAB file"}


def name_of(path: Path) -> str:
    """What a file of arrays is called as a dataset."""
    return path.name.removesuffix(path.suffix).removesuffix(".X")


def read_arrays(path: Path, how: Reading) -> Dataset:
    """The dataset in a file of arrays and in those beside it."""
    if len(how.targets) > 1:
        raise DatasetError(
            f"{path}: expected at most one target array for a file of arrays, got "
            f"{len(how.targets)} names; save several outputs as the columns of one array."
        )
    with reading(path, KINDS[path.suffix.lower()]):
        return _dataset(path, _arrays_of(path), how)


def _arrays_of(path: Path) -> Arrays:
    if path.suffix.lower() == ".mat":
        return matlab_arrays(path)
    beside = {name: partial(_npy, file) for name, file in arrays_beside(path).items()}
    if path.suffix.lower() == ".npy":
        return {"X": partial(_npy, path), **beside}
    with zipfile.ZipFile(path) as archive:
        # names alone: arrays that nobody asks for may be large, or damaged
        members = [name for name in archive.namelist() if name.endswith(".npy")]
    inside = {name.removesuffix(".npy"): partial(read_member, path, name) for name in members}
    # a sparse matrix alone: its target stands beside it
    return {**beside, **inside} if inside.keys() >= KEYS else inside


def _npy(path: Path) -> np.ndarray:
    with reading(path, "a NumPy file"), path.open("rb") as stream:
        return read_npy(path, stream, path.stat().st_size)


def _dataset(path: Path, arrays: Arrays, how: Reading) -> Dataset:
    key = _target_key(path, arrays, how)
    y = _target(path, key, arrays[key]())
    X = _design(path, arrays, len(y))
    note = ""
    if "feature_names" not in arrays:
        X, names, note = narrowed(X, path.stat().st_size)
    else:
        found = texts(path, "feature_names", arrays["feature_names"]())
        # An empty name is replaced by its number; that there are enough is for Dataset to check.
        names = tuple(name or f"x{j}" for j, name in enumerate(found))
    labels = {"y": "class_names", "Y": "label_names"}.get(key, "")
    target_names = texts(path, labels, arrays[labels]()) if labels in arrays else None
    return Dataset(
        name_of(path), X, y, names, target_names, source=str(path), notes=(note,) if note else ()
    )


def _target_key(path: Path, arrays: Arrays, how: Reading) -> str:
    # several labels at once are a matrix, which papers write in capitals
    found = [key for key in how.targets or ("y", "Y") if key in arrays]
    if found:
        return found[0]
    listed = [name for name in arrays if name not in OF_SPARSE]
    got = shortened(sorted(listed)) if listed else "no arrays at all"
    wanted = how.targets[0] if how.targets else "y"
    expected = f"an array called {wanted!r}" if how.targets else "a target called 'y' or 'Y'"
    advice = "name one of these" if how.targets else "save it with the data"
    raise DatasetError(
        f"{path}: expected {expected}, got {got}; {advice}.{did_you_mean(wanted, listed)}"
    )


def _target(path: Path, key: str, y: Any) -> np.ndarray:
    if issparse(y):
        full = y.size == y.shape[0] * y.shape[1]
        y = y.toarray() if full else checked(y, y.shape[0]).toarray()
    if y.ndim == 2 and 1 in y.shape:  # MATLAB has no vectors
        y = y.ravel()
    if y.ndim not in (1, 2):
        raise DatasetError(
            f"{path}: expected {key!r} to be one column or a matrix, got shape {y.shape}; "
            f"save one value, or one row, per sample."
        )
    if y.dtype.kind in "SUO":
        return np.array(texts(path, key, y.ravel())).reshape(y.shape)
    if y.dtype.kind not in NUMERIC:
        raise DatasetError(
            f"{path}: expected {key!r} to hold labels or numbers, got dtype {y.dtype}; convert it."
        )
    return y


def _design(path: Path, arrays: Arrays, n: int) -> Any:
    if arrays.keys() >= KEYS:
        return _with_wide_numbers(sparse_matrix(arrays, n))
    if "X" not in arrays:
        raise DatasetError(
            f"{path}: expected an array called 'X', got {shortened(sorted(arrays))}; save the file "
            f"with numpy.savez(path, X=X, y=y)."
        )
    X = arrays["X"]()
    if X.ndim != 2 or X.dtype.kind not in NUMERIC:
        raise DatasetError(
            f"{path}: expected 'X' to be a matrix of numbers, got shape {X.shape} and dtype "
            f"{X.dtype}; save samples as rows and features as columns."
        )
    return _with_wide_numbers(checked(X, n) if issparse(X) else X)


def _with_wide_numbers(X: Any) -> Any:
    """Small integers would wrap around in the first product, halves overflow."""
    return X if X.dtype in (np.float32, np.float64) else X.astype(float)


def texts(path: Path, key: str, array: Any) -> tuple[str, ...]:
    """Names, whether saved as text or as bytes."""
    if issparse(array) or array.ndim == 0 or max(array.shape) != array.size:
        raise DatasetError(
            f"{path}: expected {key!r} to be a list of names, got shape {array.shape}; save one "
            f"name each."
        )
    values = []
    for value in array.ravel().tolist():
        values.append(value.decode("utf-8") if isinstance(value, bytes) else value)
    if array.dtype.kind == "O" and not all(isinstance(value, str) for value in values):
        raise damaged(path, f"{key!r} as a list of names", "other things in it")
    return tuple(map(str, values))
