"""load_file: from a file on disk to a Dataset, by its extension.

Tables are read in ``tables``. The others:

dense .npz     NAME.npz with X and y (or Y), and optionally class_names, label_names, feature_names
sparse .npz    NAME.X.npz as scipy.sparse.save_npz writes it, NAME.y.npy, and optionally
               NAME.class_names.npy and NAME.feature_names.npy
svmlight       as scikit-learn reads it

Nothing is ever unpickled: a data file must not be able to run code.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from rowsparse.datasets.base import Dataset, DatasetError, shortened
from rowsparse.datasets.tables import NUMERIC, read_delimited, read_parquet
from rowsparse.inputs import did_you_mean

SPARSE_SUFFIX = ".X.npz"
# What zipfile and NumPy raise at a damaged file; NotImplementedError is zipfile's for a compression
# method it does not know, which a flipped byte in the header looks like.
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, NotImplementedError)


def load_file(path: str | Path, target: str | Sequence[str] | None = None) -> Dataset:
    """Read a dataset.

    Parameters
    ----------
    path : the file; its extension says what it is: csv, tsv, parquet, npz, svmlight.
    target : the target column of a table (several columns: several outputs), or the name of the
        target array in an npz file ("y" or "Y" unless told otherwise). svmlight files carry it.
    """
    path = Path(path)
    if path.is_dir():
        raise DatasetError(f"{path}: expected a file, got a folder; name one file in it.")
    if not path.exists():
        raise FileNotFoundError(f"{path}: expected a file, got nothing there; check the path.")
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


def _read_npz(path: Path, targets: Sequence[str]) -> Dataset:
    if len(targets) > 1:
        raise DatasetError(
            f"{path}: expected at most one target array for an npz file, got {len(targets)} names; "
            f"save several outputs as the columns of one array."
        )
    holders = _holders(path)
    X = _design(path, holders)
    key = _target_key(path, holders, targets)
    y = _array(holders, key)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim not in (1, 2):
        raise DatasetError(
            f"{path}: expected {key!r} to be one column or a matrix, got shape {y.shape}; "
            f"save one value, or one row, per sample."
        )
    feature_names = _numbered_names(X.shape[1])
    if "feature_names" in holders:
        feature_names = tuple(map(str, _array(holders, "feature_names")))
        # An empty name is replaced by its number; that there are enough is for Dataset to check.
        feature_names = tuple(name or f"x{j}" for j, name in enumerate(feature_names))
    names = {"y": "class_names", "Y": "label_names"}.get(key, "")
    target_names = tuple(map(str, _array(holders, names))) if names in holders else None
    return Dataset(name_of(path), X, y, feature_names, target_names, source=str(path))


def name_of(path: Path) -> str:
    """What an npz file is called as a dataset."""
    return path.name.removesuffix(SPARSE_SUFFIX).removesuffix(".npz")


def _holders(path: Path) -> dict[str, Path]:
    """Which file holds an array of which name: NAME.y.npy beside NAME.X.npz holds 'y'."""
    if path.name.endswith(SPARSE_SUFFIX):
        stem = path.name.removesuffix("X.npz")
        beside = sorted(path.parent.glob("*.npy"))
        return {f.stem.removeprefix(stem): f for f in beside if f.name.startswith(stem)}

    def list_names() -> list[str]:
        # Not through NumPy, which takes any other file for a pickle and says so: misleading.
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()

    return {file.removesuffix(".npy"): path for file in _loaded(path, list_names)}


def _design(path: Path, holders: dict[str, Path]) -> Any:
    if path.name.endswith(SPARSE_SUFFIX):
        X = _loaded(path, lambda: scipy.sparse.load_npz(path))
    elif "X" not in holders:
        raise DatasetError(
            f"{path}: expected an array called 'X', got {_listing(holders)}; save the file "
            f"with numpy.savez(path, X=X, y=y)."
        )
    else:
        X = _array(holders, "X")
        if X.ndim != 2 or X.dtype.kind not in NUMERIC:
            raise DatasetError(
                f"{path}: expected 'X' to be a matrix of numbers, got shape {X.shape} and dtype "
                f"{X.dtype}; save samples as rows and features as columns."
            )
    # Small integers would wrap around in the first product.
    return X if X.dtype.kind == "f" else X.astype(float)


def _target_key(path: Path, holders: dict[str, Path], targets: Sequence[str]) -> str:
    found = [key for key in targets or ("y", "Y") if key in holders]
    if found:
        return found[0]
    expected = f"an array called {targets[0]!r}" if targets else "a target called 'y' or 'Y'"
    advice = "name one of these" if targets else "save it with the data"
    wanted = targets[0] if targets else "y"
    raise DatasetError(
        f"{path}: expected {expected}, got {_listing(holders)}; {advice}."
        f"{did_you_mean(wanted, holders)}"
    )


def _listing(holders: dict[str, Path]) -> str:
    return shortened(sorted(holders)) if holders else "no arrays at all"


def _array(holders: dict[str, Path], name: str) -> np.ndarray:
    """One array, read only when it is asked for."""

    def read() -> np.ndarray:
        found = np.load(holders[name], allow_pickle=False)
        if isinstance(found, np.ndarray):
            return found
        with found:
            return found[name]

    return _loaded(holders[name], read)


def _loaded(path: Path, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except UNREADABLE as error:
        if "allow_pickle" in str(error):
            raise DatasetError(
                f"{path}: expected arrays of numbers or text, got pickled Python objects, which "
                f"are never loaded because they can run code; save names with dtype=str and "
                f"numbers as numbers."
            ) from error
        raise DatasetError(
            f"{path}: expected a NumPy file, got one that cannot be read "
            f"({type(error).__name__}); it is damaged, cut off or of another kind: write it again."
        ) from error


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
    names = _numbered_names(X.shape[1])[first:]
    whole = np.isfinite(y).all() and (y == np.round(y)).all()
    y = y.astype(np.int64) if whole else y
    return Dataset(path.stem, X[:, first:], y, names, source=str(path))


def _numbered_names(n_features: int) -> tuple[str, ...]:
    """Names for features that came without any: x0, x1, … as scikit-learn writes them."""
    return tuple(f"x{j}" for j in range(n_features))


READERS: dict[str, Callable[[Path, Sequence[str]], Dataset]] = {
    ".csv": partial(read_delimited, delimiter=","),
    ".tsv": partial(read_delimited, delimiter="\t"),
    ".parquet": read_parquet,
    ".npz": _read_npz,
    ".svmlight": _read_svmlight,
    ".svm": _read_svmlight,
    ".libsvm": _read_svmlight,
}
