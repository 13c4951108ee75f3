"""h5ad files of single cells, read in blocks as backed AnnData is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rowsparse.stores.base import Lines, Store
from rowsparse.stores.safety import DatasetError, check_file, reading
from rowsparse.stores.tree import Tree, tree_rows, tree_target

KIND = "an h5ad file"


@dataclass(frozen=True)
class Hdf5Lines:
    """An array in an HDF5 file."""

    path: Path
    key: str
    shape: tuple[int, ...]
    dtype: np.dtype

    def read(self, start: int, stop: int) -> np.ndarray:
        import h5py

        # opened for every range: what holds an open file cannot be sent to another process
        with reading(self.path, KIND), h5py.File(self.path, "r") as file:
            return np.asarray(file[self.key][int(start) : int(stop)])


class Hdf5Tree(Tree):
    def __init__(self, path: Path, file: Any, array_type: Any):
        self.path = path
        self.kind = KIND
        self._file = file
        self._array_type = array_type

    def _node(self, key: str) -> Any:
        """What is there under this name; links that lead out of the file are not followed."""
        node = self._file
        for name in filter(None, key.split("/")):
            if isinstance(node, self._array_type) or name not in node:
                return None
            node = node[name]
            # whoever made the file must not choose what else is read
            if node.file.filename != self._file.filename:
                return None
        return node

    def names(self, key: str = "") -> list[str]:
        node = self._node(key)
        return [] if node is None or isinstance(node, self._array_type) else list(node)

    def lines(self, key: str) -> Lines | None:
        node = self._node(key)
        if not isinstance(node, self._array_type):
            return None
        return Hdf5Lines(self.path, key, node.shape, node.dtype)

    def chunk(self, key: str) -> tuple[int, ...]:
        node = self._node(key)
        return node.chunks or (1,) * len(node.shape)

    def held(self, key: str) -> int:
        return int(self._node(key).id.get_storage_size())

    def attribute(self, key: str, name: str) -> object:
        return self._node(key).attrs.get(name)


def h5ad_rows(path: Path, target: str | None, block_bytes: int) -> Store:
    """X of an h5ad file, dense or CSR; the target is a column of obs."""
    check_file(path)
    try:
        import h5py
    except ImportError:
        raise DatasetError(
            f"{path}: expected h5py, to read an h5ad file, got none; run pip install h5py."
        ) from None
    with reading(path, KIND), h5py.File(path, "r") as file:
        tree = Hdf5Tree(path, file, h5py.Dataset)
        store = tree_rows(tree, block_bytes)
        store.y = tree_target(tree, target)
    return store
