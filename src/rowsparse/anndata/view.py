"""What is read of an AnnData: values, groups of cells, genes by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..inputs import did_you_mean

CELLS_AT_ONCE = 4000  # of a file or a lazy array: some 100 MB of 30,000 genes, a tenth stored


@dataclass(frozen=True)
class View:
    """The matrix of an AnnData that is asked for, wherever it lives."""

    X: Any
    names: np.ndarray

    @classmethod
    def of(cls, adata: Any, layer: str | None, use_raw: bool) -> View:
        if use_raw and layer is not None:
            raise ValueError("Expected layer or use_raw=True, got both; leave one out.")
        if use_raw:
            if adata.raw is None:
                raise ValueError("Expected adata.raw with use_raw=True, got none; leave it out.")
            return cls(adata.raw.X, adata.raw.var_names.to_numpy(dtype=str))
        names = adata.var_names.to_numpy(dtype=str)
        if layer is None:
            return cls(adata.X, names)
        if layer not in adata.layers:
            raise ValueError(
                f"Expected layer to be one of {list(adata.layers)}, got {layer!r}."
                f"{did_you_mean(layer, adata.layers)}"
            )
        return cls(adata.layers[layer], names)

    def read(self, cells: np.ndarray, columns: np.ndarray) -> Any:
        """These cells and genes, sparse where it is; a file or a lazy array is read in parts, so
        that never more of it is in memory than one part and what is asked for."""
        if isinstance(self.X, np.ndarray) or sparse.issparse(self.X):
            # what is asked for whole is not copied
            X = self.X if columns.size == self.X.shape[1] else self.X[:, columns]
            return X if cells.size == X.shape[0] else X[cells]
        parts = []
        for start in range(0, self.X.shape[0], CELLS_AT_ONCE):
            stop = start + CELLS_AT_ONCE
            part = self.X[start:stop]
            part = part.compute() if "compute" in dir(part) else part  # of Dask
            inside = cells[(cells >= start) & (cells < stop)]
            parts.append(part[inside - start][:, columns])
        if sparse.issparse(parts[0]):
            return sparse.vstack(parts, format="csr")
        return np.concatenate([np.asarray(part) for part in parts])


def labels_of(
    adata: Any, groupby: str, groups: str | Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """The cells with one of the groups, and its name; the order of categories plays no part."""
    if groupby not in adata.obs:
        raise ValueError(
            f"Expected groupby to be a column of adata.obs, got {groupby!r}."
            f"{did_you_mean(groupby, list(adata.obs))}"
        )
    column = adata.obs[groupby]
    known = column.notna().to_numpy()  # before the text, in which a gap would be a group "nan"
    labels = column.astype(str).to_numpy(dtype=str)
    if not isinstance(groups, str):
        wanted = [str(group) for group in groups]
        unknown = [group for group in wanted if group not in labels[known]]
        if unknown:
            close = did_you_mean(unknown[0], np.unique(labels[known]).tolist())
            raise ValueError(f"Expected groups of {groupby!r}, got {unknown[0]!r}.{close}")
        known = known & np.isin(labels, wanted)  # pandas 3 lends its array to be read
    elif groups != "all":
        raise ValueError(f"Expected groups to be 'all' or a list of names, got {groups!r}.")
    cells = np.flatnonzero(known)
    found = np.unique(labels[cells])
    if found.size < 2:
        raise ValueError(
            f"Expected at least two groups of cells in {groupby!r}, got {found.tolist()}; a panel "
            "tells groups apart."
        )
    if 2 * found.size > cells.size:
        raise ValueError(
            f"Expected groups of several cells in {groupby!r}, got {found.size} different values "
            f"in {cells.size} cells; name a column of types or clusters."
        )
    return cells, labels[cells]


def positions(view: View, names: Iterable[str] | None, parameter: str) -> np.ndarray:
    """Where the named genes are; a name that is not there is answered with the nearest ones."""
    wanted = [] if names is None else [str(name) for name in names]
    place = {name: j for j, name in enumerate(view.names.tolist())}
    unknown = [name for name in wanted if name not in place]
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise ValueError(
            f"Expected {parameter} to name genes of the data, got {unknown[0]!r}{more}."
            f"{did_you_mean(unknown[0], place)}"
        )
    without_repeats = dict.fromkeys(wanted)
    return np.array([place[name] for name in without_repeats], dtype=int)


def mask_of(adata: Any, column: str) -> np.ndarray:
    if column not in adata.var:
        raise ValueError(
            f"Expected a boolean column of adata.var, got {column!r}."
            f"{did_you_mean(column, list(adata.var))}"
        )
    return adata.var[column].to_numpy(dtype=bool)
