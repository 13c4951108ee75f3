"""How every command that fits begins: what was asked for is checked before the data is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rowsparse.cli.engine import Engine
from rowsparse.cli.options import DataOptions, OutputOptions, check_scoring
from rowsparse.cli.output import check_folder
from rowsparse.datasets import Dataset
from rowsparse.selectors import GroupedSelector

RESUMED = "manifest.json"  # a folder that holds it goes on where it was


def opened(
    data: DataOptions,
    output: OutputOptions,
    selectors: dict[str, Any],
    *,
    scoring: str | None = None,
    store: Path | None = None,
    replaces: str | None = RESUMED,
    reader: Engine | None = None,
) -> Dataset:
    """The dataset, once the files and names that go with it are in order.

    The ``selectors`` are told what the dataset knows about its target; ``replaces`` is the file
    that makes a ``store`` of its own kind, which may be written to again. Without a ``reader`` X
    is read into memory.
    """
    output.check(data.data)
    check_scoring(scoring)
    check_folder("--store", store, replaces)
    dataset = data.load() if reader is None else reader.load(data)
    for selector in selectors.values():
        _set_task(selector, dataset.task)
    return dataset


def grouped(selector: Any, dataset: Dataset) -> Any:
    """A selector that keeps the columns of a category together, where the dataset has some."""
    # a category of two words is one column: there is nothing to keep together
    if all(len(columns) == 1 for columns in dataset.groups.values()):
        return selector
    return GroupedSelector(selector, dataset.groups, selector.n_features_to_select)


def at_most(dataset: Dataset, ks: Sequence[int]) -> list[int]:
    """Numbers of features that the dataset has; a category is one."""
    further = sum(len(columns) - 1 for columns in dataset.groups.values())
    most = dataset.n_features - further
    return sorted({min(k, most) for k in ks})


def _set_task(selector: Any, task: str) -> None:
    """A named dataset says what its target is; a user who said so is right."""
    known = selector.get_params(deep=False)
    if task != "auto" and known.get("task") == "auto":
        selector.set_params(task=task)
