"""Zarr stores in a local folder, versions 2 and 3, sharded or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rowsparse.stores.base import Lines, Store
from rowsparse.stores.files import arrays_beside, names_of, target_beside
from rowsparse.stores.safety import DatasetError, reading
from rowsparse.stores.tree import Tree, dense_rows, tree_rows, tree_target

KIND = "a Zarr store"


@dataclass(frozen=True)
class ZarrLines:
    """An array in a Zarr store."""

    path: Path
    key: str
    shape: tuple[int, ...]
    dtype: np.dtype

    def read(self, start: int, stop: int) -> np.ndarray:
        import zarr

        with reading(self.path, KIND):
            array = zarr.open_array(self.path, mode="r", path=self.key)
            _refuse_code(self.path, array)  # again: the store may have been exchanged since
            return np.asarray(array[int(start) : int(stop)])


class ZarrTree(Tree):
    def __init__(self, path: Path, root: Any, array_type: Any):
        self.path = path
        self.kind = KIND
        self._root = root
        self._array_type = array_type

    def _node(self, key: str) -> Any:
        if not key or isinstance(self._root, self._array_type):
            return None if key else self._root
        return self._root.get(key)

    def names(self, key: str = "") -> list[str]:
        node = self._node(key)
        return [] if node is None or isinstance(node, self._array_type) else sorted(node.keys())

    def lines(self, key: str) -> Lines | None:
        node = self._node(key)
        if not isinstance(node, self._array_type):
            return None
        _refuse_code(self.path, node)
        return ZarrLines(self.path, key, node.shape, np.dtype(node.dtype))

    def chunk(self, key: str) -> tuple[int, ...]:
        node = self._node(key)
        return node.shards or node.chunks  # a shard is a file, and holds many chunks

    def held(self, key: str) -> int:
        return int(self._node(key).nbytes_stored())

    def attribute(self, key: str, name: str) -> object:
        return self._node(key).attrs.get(name)


def zarr_rows(path: Path, target: str | None, block_bytes: int) -> Store:
    """An array, or a group with X, y and names, or with X, obs and var as AnnData writes it."""
    try:
        import zarr
    except ImportError:
        raise DatasetError(
            f"{path}: expected zarr, to read a Zarr store, got none; run pip install zarr."
        ) from None
    with reading(path, KIND):
        root = zarr.open(path, mode="r")
        tree = ZarrTree(path, root, zarr.Array)
        if isinstance(root, zarr.Array):
            store: Store = dense_rows(tree, "", block_bytes)
            beside = arrays_beside(path)
            store.names = names_of(path, beside)
            store.y = target_beside(path, beside, target)
            return store
        store = tree_rows(tree, block_bytes)
        store.y = tree_target(tree, target)
    return store


def _refuse_code(path: Path, array: Any) -> None:
    """One codec of Zarr's unpacks by running what the file says."""
    facts = array.metadata.to_dict()
    packing = {name: value for name, value in facts.items() if name != "attributes"}
    if "pickle" in str(packing).lower():
        raise DatasetError(
            f"{path}: expected numbers or text, got pickled Python objects, which are never "
            f"loaded because they can run code; save the array with a codec such as zstd."
        )
