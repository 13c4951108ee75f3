"""X, y and names in a tree of arrays: Zarr groups, and h5ad files as scanpy writes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

import numpy as np

from rowsparse.inputs import did_you_mean
from rowsparse.stores.base import DenseRows, Lines, SparseRows, Store
from rowsparse.stores.files import texts
from rowsparse.stores.safety import DatasetError, check_expansion, damaged, reading

# One chunk is in memory as a whole while it is unpacked.
MOST_BYTES_OF_CHUNK = 1 << 30


class Tree(ABC):
    """An open tree of arrays, while it is found out what is where in it."""

    path: Path
    kind: str  # what a damaged one should have been

    @abstractmethod
    def names(self, key: str = "") -> list[str]:
        """What a group holds; nothing if there is no such group."""

    @abstractmethod
    def lines(self, key: str) -> Lines | None:
        """The array of this name; None if there is none."""

    @abstractmethod
    def chunk(self, key: str) -> tuple[int, ...]:
        """The shape in which an array is packed, ones where it is not."""

    @abstractmethod
    def held(self, key: str) -> int:
        """Bytes on disk of an array."""

    @abstractmethod
    def attribute(self, key: str, name: str) -> object:
        """What is noted beside a group or array; None if nothing is."""

    def values(self, key: str) -> np.ndarray:
        """A whole array, unless it states far more than the disk holds."""
        lines = self.array(key)
        count = int(np.prod(lines.shape, dtype=float))
        check_expansion(self.path, count * max(lines.dtype.itemsize, 1), self.held(key))
        return lines.read(0, lines.shape[0])

    def array(self, key: str) -> Lines:
        lines = self.lines(key)
        if lines is None or not lines.shape:
            raise damaged(self.path, self.kind, f"no array {key!r}")
        return lines


def tree_rows(tree: Tree, block_bytes: int) -> Store:
    """X, dense or as compressed sparse rows, with the names of its columns."""
    if "X" not in tree.names():
        raise DatasetError(
            f"{tree.path}: expected an array or group called 'X', got "
            f"{', '.join(tree.names()[:8]) or 'nothing'}; save the table under that name."
        )
    if tree.lines("X") is None:
        store: Store = _sparse(tree, block_bytes)
    else:
        store = dense_rows(tree, "X", block_bytes)
    store.names = _column_names(tree, store.shape[1])
    return store


def dense_rows(tree: Tree, key: str, block_bytes: int) -> DenseRows:
    """A matrix in chunks, read in slabs that begin where chunks do."""
    lines = tree.array(key)
    chunk = tree.chunk(key)
    chunk_bytes = int(np.prod(chunk, dtype=float)) * lines.dtype.itemsize
    if chunk_bytes > MOST_BYTES_OF_CHUNK:
        raise DatasetError(
            f"{tree.path}: expected chunks of less than {MOST_BYTES_OF_CHUNK >> 20} MiB, got "
            f"{chunk_bytes >> 20} MiB in chunks of shape {chunk}; save it again in chunks of fewer "
            f"rows."
        )
    return DenseRows(tree.path, lines, block_bytes, step=chunk[0])


def _sparse(tree: Tree, block_bytes: int) -> SparseRows:
    kind = str(tree.attribute("X", "encoding-type") or "csr_matrix")
    if kind != "csr_matrix":
        raise DatasetError(
            f"{tree.path}: expected X by rows (csr_matrix), got {kind}, of which rows cannot be "
            f"read one after the other; save it with adata.X = adata.X.tocsr()."
        )
    with reading(tree.path, tree.kind):
        n, d = (int(length) for length in np.asarray(tree.attribute("X", "shape")))
    # the row pointers are read as a whole, values and columns in blocks
    indptr = tree.array("X/indptr")
    check_expansion(tree.path, 8 * indptr.shape[0], tree.held("X/indptr"))
    if n + 1 != indptr.shape[0]:
        raise damaged(tree.path, tree.kind, f"{n} rows without as many row pointers")
    parts = (tree.array("X/data"), tree.array("X/indices"), indptr)
    return SparseRows(tree.path, parts, d, block_bytes)


def _column_names(tree: Tree, n_columns: int) -> list[str] | None:
    """Those of var in AnnData, or an array feature_names."""
    key = "feature_names"
    if "var" in tree.names():
        key = f"var/{tree.attribute('var', '_index') or '_index'}"
    if tree.lines(key) is None:
        return None
    names = texts(tree.path, tree.values(key))
    if len(names) != n_columns:
        raise DatasetError(
            f"{tree.path}: expected one name per column, got {n_columns} columns and {len(names)} "
            f"names; correct {key}."
        )
    return names


def tree_target(tree: Tree, target: str | None) -> np.ndarray | None:
    """A column of obs or an array beside X; None if there is none and none is asked for."""
    columns = [name for name in tree.names("obs") if not name.startswith("_")]
    beside = [name for name in tree.names() if tree.lines(name) is not None and name != "X"]
    for name in [target] if target else ["y", "Y"]:
        if name in columns:
            return _labels(tree, f"obs/{name}")
        if name in beside:
            return tree.values(name)
    if target is None:
        return None
    known = [*columns, *beside]
    raise DatasetError(
        f"{tree.path}: expected a target column that exists, got {target!r}; there are "
        f"{', '.join(known[:8]) or 'none'}.{did_you_mean(target, known)}"
    )


def _labels(tree: Tree, key: str) -> np.ndarray:
    """Numbers or words; categories are words with a number for each sample."""
    if tree.lines(key) is not None:
        return tree.values(key)
    codes = tree.values(f"{key}/codes")
    categories = tree.values(f"{key}/categories")
    if codes.size and codes.max() >= categories.size:
        raise damaged(tree.path, tree.kind, "codes without a category")
    if categories.dtype.kind in "biuf":
        labels = categories[codes].astype(object)
    else:
        labels = np.array(texts(tree.path, categories), dtype=object)[codes]
    labels[codes < 0] = None  # as pandas codes a gap
    return labels
