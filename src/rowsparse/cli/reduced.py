"""The table of a dataset with the selected columns only."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from rowsparse.datasets import Dataset


def reduced_table(dataset: Dataset, support: np.ndarray) -> tuple[list[str], Any]:
    """Names and rows: what names the samples, the columns of ``support``, the target."""
    columns = {name: np.asarray(values) for name, values in dataset.ids.items()}
    for j in np.flatnonzero(support).tolist():
        column = dataset.X[:, [j]]  # one at a time: nothing else of a sparse X is made dense
        if issparse(column):
            column = column.toarray()
        columns[dataset.feature_names[j]] = np.ravel(column)
    columns |= _targets(dataset)
    values = [column.tolist() for column in columns.values()]
    return list(columns), zip(*values, strict=True)


def _targets(dataset: Dataset) -> dict[str, np.ndarray]:
    """The target under its own name where there is one; codes are written as what they mean."""
    names = dataset.target_names
    if dataset.y.ndim == 2:
        names = names or tuple(f"target{j}" for j in range(dataset.y.shape[1]))
        return dict(zip(names, dataset.y.T, strict=True))
    y = dataset.y
    if names is not None and y.dtype.kind in "iu":
        are_codes = y.min() >= 0 and y.max() < len(names)
        y = np.array(names)[y] if are_codes else y
    return {dataset.target or "target": y}
