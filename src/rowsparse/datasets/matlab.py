"""MATLAB files up to version 7: numbers, sparse or not, and names as rows of text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rowsparse.datasets.base import DatasetError
from rowsparse.datasets.safety import check_expansion

HDF5 = b"\x89HDF"
ITEM = 8  # bytes of MATLAB's numbers in memory
READABLE = {
    "double", "single", "int8", "int16", "int32", "int64",
    "uint8", "uint16", "uint32", "uint64", "logical", "sparse", "char",
}  # fmt: skip


def matlab_arrays(path: Path) -> dict[str, Callable[[], Any]]:
    """The variables that are numbers or text; cells and structures are left alone."""
    from scipy.io import whosmat

    with path.open("rb") as stream:
        start = stream.read(1024)
    if HDF5 in start or b"MATLAB 7.3" in start[:128]:
        raise DatasetError(
            f"{path}: expected a MATLAB file up to version 7, got one of version 7.3; save it with "
            f"save('name.mat', ..., '-v7')."
        )
    size = path.stat().st_size
    for name, shape, kind in whosmat(path):
        if kind in READABLE and kind != "sparse":
            stated = ITEM
            for length in shape:
                stated *= int(length)
            check_expansion(f"{path}: {name}", abs(stated), size)
    return {
        name: partial(_variable, path, name) for name, _, kind in whosmat(path) if kind in READABLE
    }


def _variable(path: Path, name: str) -> Any:
    from scipy.io import loadmat

    value = loadmat(path, variable_names=[name], chars_as_strings=True)[name]
    if isinstance(value, np.ndarray) and value.dtype.kind == "U":
        return np.char.strip(value.ravel())  # rows of text have one length
    return value
