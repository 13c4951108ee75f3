"""The last word on a design that came as a matrix: columns left out, gaps filled or refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from rowsparse.datasets.base import Dataset, DatasetError, Reading, counted
from rowsparse.datasets.columns import check_known, missing_values
from rowsparse.datasets.gaps import GapFiller


def finished(dataset: Dataset, how: Reading) -> Dataset:
    """The dataset as it was asked for: what a table gets column by column."""
    where = Path(dataset.source or dataset.name)
    if how.ignore or how.ids:
        names = dataset.feature_names
        check_known(where, names, {"an ignored": how.ignore, "an id": how.ids})
        out = {*how.ignore, *how.ids}
        stay = [j for j, name in enumerate(names) if name not in out]
        ids = {}
        for name in how.ids:
            ids[name] = _dense(dataset.X[:, [names.index(name)]])
        kept = tuple(names[j] for j in stay)
        dataset = replace(dataset, X=dataset.X[:, stay], feature_names=kept, ids=ids)
    # entries that a sparse matrix does not store are zero, which is finite
    values = dataset.X.data if issparse(dataset.X) else dataset.X
    if np.isfinite(values).all():
        return dataset
    # no number stands for infinity, and to fill sparse columns would make them dense
    if issparse(dataset.X) or np.isinf(values).any():
        raise DatasetError(
            f"{where}: expected finite numbers in X, got missing or infinite ones; replace them."
        )
    return _without_gaps(where, dataset, how)


def _without_gaps(where: Path, dataset: Dataset, how: Reading) -> Dataset:
    gaps = np.isnan(dataset.X)
    names = dataset.feature_names
    columns = np.flatnonzero(gaps.any(axis=0)).tolist()
    counts = {names[j]: int(gaps[:, j].sum()) for j in columns}
    if how.impute is None:
        first_row = int(np.argmax(gaps.any(axis=1)))
        raise missing_values(where, counts, first_row)
    for j in columns:
        if gaps[:, j].all():
            raise DatasetError(
                f"{where}: expected some value in every column, got none at all in {names[j]!r}; "
                f"leave it out with --ignore."
            )
    X = dataset.X
    new: list[str] = []
    if how.impute == "indicator":
        new = [f"{names[j]}=missing" for j in columns]
        X = np.column_stack([X, gaps[:, columns].astype(X.dtype)])
    note = f"Filled missing values ({how.impute}) in {counted(counts)}."
    filler = GapFiller(how.impute, columns)
    return replace(
        dataset,
        X=filler.fit_transform(X),
        feature_names=(*names, *new),
        notes=(*dataset.notes, note),
        filler=filler,
        with_gaps=X,  # for resampling, which fills inside of its folds
    )


def _dense(column: Any) -> np.ndarray:
    return np.ravel(column.toarray() if issparse(column) else column)
