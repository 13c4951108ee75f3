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
    values = [column.tolist() for column in columns.values()]  # plain numbers, not NumPy's
    return list(columns), zip(*values, strict=True)


def _targets(dataset: Dataset) -> dict[str, np.ndarray]:
    """The target under its own name where there is one; codes are written as what they mean."""
    y = dataset.y
    names = dataset.target_names
    if y.ndim == 2:
        names = names or tuple(f"target{j}" for j in range(y.shape[1]))
        return dict(zip(names, y.T, strict=True))
    are_integers = y.dtype.kind in "iu"
    # integers beyond the names are numbers beside which names were stored
    if names is not None and are_integers and y.min() >= 0 and y.max() < len(names):
        y = np.array(names)[y]
    return {dataset.target or "target": y}
