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
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from rowsparse.datasets.base import Dataset, DatasetError, numbered_names, shortened
from rowsparse.inputs import did_you_mean

SPARSE_SUFFIX = ".X.npz"
# Named arrays on disk, read one at a time and only when asked for.
Arrays = dict[str, Callable[[], np.ndarray]]
# What zipfile and NumPy raise at a damaged file; NotImplementedError is zipfile's for a compression
# method it does not know, which a flipped byte in the header looks like.
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, NotImplementedError)


def read_npz(path: Path, target: str | None = None) -> Dataset:
    if path.name.endswith(SPARSE_SUFFIX):
        X = _loaded(path, scipy.sparse.load_npz)
        arrays = _beside(path)
    else:
        arrays = _inside(path)
        if "X" not in arrays:
            raise DatasetError(
                f"{path}: expected an array called 'X', got {_listing(arrays)}; save the file "
                f"with numpy.savez(path, X=X, y=y)."
            )
        X = arrays["X"]()
        _check_matrix(path, X)
    # Small integers would wrap around in the first product.
    X = X if X.dtype.kind == "f" else X.astype(float)
    return _dataset(path, X, arrays, target)


def _inside(path: Path) -> Arrays:
    """The arrays inside one .npz file."""
    # NumPy takes any other file for a pickle, and says so; that would mislead.
    if not zipfile.is_zipfile(path):
        raise _damaged(path, zipfile.BadZipFile())

    def names(file: Path) -> list[str]:
        with np.load(file, allow_pickle=False) as archive:
            return archive.files

    def read(file: Path, name: str) -> np.ndarray:
        with np.load(file, allow_pickle=False) as archive:
            return archive[name]

    return {name: partial(_loaded, path, partial(read, name=name)) for name in _loaded(path, names)}


def _beside(path: Path) -> Arrays:
    """The arrays kept beside a sparse design: NAME.y.npy is 'y' of NAME.X.npz."""
    stem = path.name.removesuffix("X.npz")
    load = partial(np.load, allow_pickle=False)
    return {
        file.name.removeprefix(stem).removesuffix(".npy"): partial(_loaded, file, load)
        for file in sorted(path.parent.glob("*.npy"))
        if file.name.startswith(stem)
    }


def _loaded(path: Path, load: Callable[[Path], Any]) -> Any:
    try:
        return load(path)
    except UNREADABLE as error:
        raise _damaged(path, error) from error


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
    return shortened(sorted(arrays)) if arrays else "no arrays at all"


def _check_matrix(path: Path, X: np.ndarray) -> None:
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise DatasetError(
            f"{path}: expected 'X' to be a matrix of numbers, got shape {X.shape} and dtype "
            f"{X.dtype}; save samples as rows and features as columns."
        )


def _dataset(path: Path, X: Any, arrays: Arrays, target: str | None) -> Dataset:
    key = _target_key(path, arrays, target)
    y = arrays[key]()
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim not in (1, 2):
        raise DatasetError(
            f"{path}: expected {key!r} to be one column or a matrix, got shape {y.shape}; "
            f"save one value, or one row, per sample."
        )
    names = {"y": "class_names", "Y": "label_names"}.get(key, "")
    target_names = tuple(map(str, arrays[names]())) if names in arrays else None
    stem = path.name.removesuffix(SPARSE_SUFFIX).removesuffix(".npz")
    feature_names = _feature_names(arrays, X.shape[1])
    return Dataset(stem, X, y, feature_names, target_names, source=str(path))


def _target_key(path: Path, arrays: Arrays, target: str | None) -> str:
    wanted = ("y", "Y") if target is None else (target,)
    found = next((key for key in wanted if key in arrays), None)
    if found is not None:
        return found
    expected = "a target called 'y' or 'Y'" if target is None else f"an array called {target!r}"
    advice = "save it with the data" if target is None else "name one of these"
    raise DatasetError(
        f"{path}: expected {expected}, got {_listing(arrays)}; {advice}."
        f"{did_you_mean(target or 'y', arrays)}"
    )


def _feature_names(arrays: Arrays, n_features: int) -> tuple[str, ...]:
    """The stored names; a feature whose stored name is empty gets its number."""
    numbered = numbered_names(n_features)
    if "feature_names" not in arrays:
        return numbered
    stored = [str(name) for name in arrays["feature_names"]()]
    if len(stored) != n_features:
        return tuple(stored)  # Dataset refuses it, with the two numbers
    return tuple(name or number for name, number in zip(stored, numbered, strict=True))
