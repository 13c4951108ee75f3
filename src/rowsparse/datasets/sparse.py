"""Sparse designs from files: every index is checked before SciPy's compiled code follows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from rowsparse.datasets.base import NUMERIC, Dataset, DatasetError, Reading, numbered_names
from rowsparse.stores.safety import reading

KEYS = {"format", "shape", "data"}  # what scipy.sparse.save_npz always writes
PARTS = {
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "bsr": ("indices", "indptr"),
    "coo": ("row", "col"),
    "dia": ("offsets",),
}
OF_SPARSE = KEYS | {"_is_array"}.union(*PARTS.values())
# Of a wider matrix in a file that is not as large only the columns with entries are kept: a
# million names and scores fit anywhere, and a kilobyte can claim a hundred million columns.
ALWAYS_ALLOWED = 1_000_000
WHOLE = 2.0**53  # every whole number up to here is a float


def sparse_matrix(arrays: Mapping[str, Callable[[], Any]], n: int) -> Any:
    """The matrix that save_npz wrote, which must have ``n`` rows."""
    kind = _word(arrays["format"]())
    shape = tuple(int(length) for length in arrays["shape"]())
    data = arrays["data"]()
    parts = [arrays[name]() for name in PARTS[kind]]
    # the caller knows the file, and says that it is damaged
    if len(shape) != 2 or data.dtype.kind not in NUMERIC:
        raise ValueError
    if any(part.ndim != 1 or part.dtype.kind not in "iu" for part in parts):
        raise ValueError
    as_array = "_is_array" in arrays and bool(arrays["_is_array"]())
    make = vars(sparse)[f"{kind}_{'array' if as_array else 'matrix'}"]
    given = (data, tuple(parts)) if kind == "coo" else (data, *parts)
    _check_rows(shape, n)  # before SciPy allocates anything of that length
    return checked(make(given, shape=shape), n)


def _word(array: np.ndarray) -> str:
    value = array.item()
    return value.decode("ascii") if isinstance(value, bytes) else str(value)


def _check_rows(shape: tuple[int, ...], n: int) -> None:
    if shape[0] != n:
        raise DatasetError(
            f"X: expected as many rows as there are target values, got {shape[0]} and {n}; check "
            f"that both come from the same samples."
        )


def checked(X: Any, n: int) -> Any:
    """The same matrix by rows or columns, its indices within its shape."""
    _check_rows(X.shape, n)
    if X.format in ("csr", "csc", "bsr"):
        X.check_format(full_check=True)
    if X.format == "csc":  # as many column pointers as columns
        return X
    if X.format != "csr":  # scipy checks what coo and dia hold when it makes them
        X = X.tocsr()
        X.check_format(full_check=True)
    return X


def narrowed(X: Any, n_bytes: int) -> tuple[Any, tuple[str, ...], str]:
    """The matrix, numbered names of its columns, and a note if the empty ones had to go."""
    n, d = X.shape
    if d <= max(ALWAYS_ALLOWED, n_bytes) or not sparse.issparse(X) or X.format != "csr":
        return X, numbered_names(d), ""
    used, places = np.unique(X.indices, return_inverse=True)
    X = type(X)((X.data, places, X.indptr), shape=(n, used.size))
    names = tuple(f"x{j}" for j in used)
    return X, names, f"Left out {d - used.size:,} of {d:,} columns, which have no entries."


def read_svmlight(path: Path, how: Reading) -> Dataset:
    """The lines of an svmlight file, as scikit-learn reads them."""
    from sklearn.datasets import load_svmlight_file

    if how.targets:
        raise DatasetError(
            f"{path}: expected no target name for an svmlight file, got {how.targets[0]!r}; its "
            f"lines begin with the target, so leave the name out."
        )
    with reading(path, "svmlight lines such as '1 3:0.5 7:2'"):
        X, y = load_svmlight_file(str(path), zero_based=True)
        X = checked(X, len(y))
        X, names, note = narrowed(X, path.stat().st_size)
    # Most files count features from 1; names keep the file's own numbers either way.
    counts_from_one = names[0] == "x0" and X.shape[1] > 1 and X[:, [0]].nnz == 0
    first = 1 if counts_from_one else 0
    # classes are written as whole numbers, and are to be told as such
    if np.all(y == np.round(y)) and np.all(np.abs(y) <= WHOLE):
        y = y.astype(np.int64)
    notes = (note,) if note else ()
    return Dataset(path.stem, X[:, first:], y, names[first:], source=str(path), notes=notes)
