"""NumPy files: dense .npz, and sparse ones that keep their target beside them.

Dense:   NAME.npz with X and y (or Y), and optionally class_names, label_names, feature_names.
Sparse:  NAME.X.npz as scipy.sparse.save_npz writes it, NAME.y.npy, and optionally
         NAME.class_names.npy and NAME.feature_names.npy.

Nothing is ever unpickled: a data file must not be able to run code.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from rowsparse.datasets.base import (
    Dataset,
    DatasetError,
    did_you_mean,
    numbered_names,
    shortened,
)

SPARSE_SUFFIX = ".X.npz"
# What zipfile and NumPy raise at a damaged file; NotImplementedError is zipfile's for a compression
# method it does not know, which a flipped byte in the header looks like.
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, NotImplementedError)


def read_npz(path: Path, target: str | None = None) -> Dataset:
    if path.name.endswith(SPARSE_SUFFIX):
        return _dataset(path, _sparse_design(path), _beside(path), target)
    arrays = _inside(path)
    if "X" not in arrays.names:
        raise DatasetError(
            f"{path}: expected an array called 'X', got {_listing(arrays)}; save the file with "
            f"numpy.savez(path, X=X, y=y)."
        )
    return _dataset(path, _dense_design(path, arrays.read("X")), arrays, target)


@dataclass(frozen=True)
class Arrays:
    """Named arrays on disk, read one at a time and only when asked for."""

    names: tuple[str, ...]
    read: Callable[[str], np.ndarray]


def _inside(path: Path) -> Arrays:
    """The arrays inside one .npz file."""

    def read(name: str) -> np.ndarray:
        try:
            with np.load(path, allow_pickle=False) as archive:
                return archive[name]
        except UNREADABLE as error:
            raise _damaged(path, error) from error

    # NumPy takes any other file for a pickle, and says so; that would mislead.
    if not zipfile.is_zipfile(path):
        raise _damaged(path, zipfile.BadZipFile())
    try:
        with np.load(path, allow_pickle=False) as archive:
            return Arrays(tuple(archive.files), read)
    except UNREADABLE as error:
        raise _damaged(path, error) from error


def _beside(path: Path) -> Arrays:
    """The arrays kept beside a sparse design: NAME.y.npy is 'y' of NAME.X.npz."""
    stem = path.name.removesuffix(SPARSE_SUFFIX)
    files = {
        file.name.removeprefix(f"{stem}.").removesuffix(".npy"): file
        for file in sorted(path.parent.glob("*.npy"))
        if file.name.startswith(f"{stem}.")
    }

    def read(name: str) -> np.ndarray:
        try:
            return np.load(files[name], allow_pickle=False)
        except UNREADABLE as error:
            raise _damaged(files[name], error) from error

    return Arrays(tuple(files), read)


def _damaged(path: Path, error: Exception) -> DatasetError:
    if "allow_pickle" in str(error):
        return DatasetError(
            f"{path}: expected arrays of numbers or text, got pickled Python objects, which are "
            f"never loaded because they can run code; save names with dtype=str and numbers as "
            f"numbers."
        )
    return DatasetError(
        f"{path}: expected a NumPy file, got one that cannot be read ({type(error).__name__}); "
        f"it is damaged, cut off or of another kind: write it again."
    )


def _listing(arrays: Arrays) -> str:
    return shortened(sorted(arrays.names)) if arrays.names else "no arrays at all"


def _dense_design(path: Path, X: np.ndarray) -> np.ndarray:
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise DatasetError(
            f"{path}: expected 'X' to be a matrix of numbers, got shape {X.shape} and dtype "
            f"{X.dtype}; save samples as rows and features as columns."
        )
    # Small integers would wrap around in the first product.
    return X if X.dtype.kind == "f" else X.astype(float)


def _sparse_design(path: Path) -> Any:
    try:
        X = scipy.sparse.load_npz(path)
    except UNREADABLE as error:
        raise _damaged(path, error) from error
    return X if X.dtype.kind == "f" else X.astype(float)


def _dataset(path: Path, X: Any, arrays: Arrays, target: str | None) -> Dataset:
    key = _target_key(path, arrays, target)
    y = arrays.read(key)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim not in (1, 2):
        raise DatasetError(
            f"{path}: expected {key!r} to be one column or a matrix, got shape {y.shape}; "
            f"save one value, or one row, per sample."
        )
    names = {"y": "class_names", "Y": "label_names"}.get(key, "")
    target_names = tuple(map(str, arrays.read(names))) if names in arrays.names else None
    stem = path.name.removesuffix(SPARSE_SUFFIX).removesuffix(".npz")
    feature_names = _feature_names(arrays, X.shape[1])
    return Dataset(stem, X, y, feature_names, target_names, source=str(path))


def _target_key(path: Path, arrays: Arrays, target: str | None) -> str:
    wanted = ("y", "Y") if target is None else (target,)
    found = next((key for key in wanted if key in arrays.names), None)
    if found is not None:
        return found
    expected = "a target called 'y' or 'Y'" if target is None else f"an array called {target!r}"
    advice = "save it with the data" if target is None else "name one of these"
    raise DatasetError(
        f"{path}: expected {expected}, got {_listing(arrays)}; {advice}."
        f"{did_you_mean(target or 'y', arrays.names)}"
    )


def _feature_names(arrays: Arrays, n_features: int) -> tuple[str, ...]:
    """The stored names; a feature whose stored name is empty gets its number."""
    numbered = numbered_names(n_features)
    if "feature_names" not in arrays.names:
        return numbered
    stored = [str(name) for name in arrays.read("feature_names")]
    if len(stored) != n_features:
        return tuple(stored)  # Dataset refuses it, with the two numbers
    return tuple(name or number for name, number in zip(stored, numbered, strict=True))
