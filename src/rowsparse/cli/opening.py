"""How every command that fits begins: what was asked for is checked before the data is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rowsparse.cli.options import DataOptions, OutputOptions, check_scoring
from rowsparse.cli.output import check_folder
from rowsparse.datasets import Dataset

RESUMED = "manifest.json"  # a folder that holds it goes on where it was


def opened(
    data: DataOptions,
    output: OutputOptions,
    selectors: dict[str, Any],
    *,
    scoring: str | None = None,
    store: Path | None = None,
    replaces: str | None = RESUMED,
) -> Dataset:
    """The dataset, once the files and names that go with it are in order.

    The ``selectors`` are told what the dataset knows about its target; ``replaces`` is the file
    that makes a ``store`` of its own kind, which may be written to again.
    """
    output.check(data.data)
    check_scoring(scoring)
    check_folder("--store", store, replaces)
    dataset = data.load()
    for selector in selectors.values():
        _set_task(selector, dataset.task)
    return dataset


def _set_task(selector: Any, task: str) -> None:
    """A named dataset says what its target is; a user who said so is right."""
    known = selector.get_params(deep=False)
    if task != "auto" and known.get("task") == "auto":
        selector.set_params(task=task)
