"""rowsparse datasets list | info: what data there is by name."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import typer
from rich.text import Text

from rowsparse.cli.base import AsJson, plain_table, print_json, said_plainly, terminal
from rowsparse.datasets.base import Dataset, DatasetError, shortened
from rowsparse.datasets.registry import (
    FOLDER_VARIABLE,
    about,
    dataset_names,
    describe,
    load_any,
    load_dataset,
    target_of,
)

datasets_app = typer.Typer(
    help=(
        "Named datasets: those that come with scikit-learn, and the npz files in the folder "
        f"named by the environment variable {FOLDER_VARIABLE}."
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
)


@datasets_app.command("list")
def list_datasets(as_json: AsJson = False) -> None:
    """List every dataset that DATA may name."""
    with said_plainly():
        entries = [_listed(name) for name in dataset_names()]
    if as_json:
        print_json(entries)
        return
    table = plain_table(*entries[0], words=("name", "target", "source"))
    for entry in entries:
        table.add_row(*(Text(str(value)) for value in entry.values()))
    terminal().print(table)


@datasets_app.command("info")
def info(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A name from 'datasets list', or a file.")
    ],
    target: Annotated[
        list[str] | None, typer.Option("--target", metavar="COL", help="As in 'select'.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Describe one dataset: size, classes and how many samples each has, features."""
    with said_plainly():
        dataset = load_any(name, target)
    storage = "dense" if isinstance(dataset.X, np.ndarray) else "sparse"
    facts = {"name": dataset.name, **_sizes(dataset), "source": dataset.source, "storage": storage}
    counts = _counts(dataset)
    if counts:
        facts["counts"] = counts
    if as_json:
        print_json({**facts, "feature_names": list(dataset.feature_names)})
        return
    table = plain_table("", "", words=("",))
    table.show_header = False
    if counts:
        facts["counts"] = ", ".join(f"{label}: {n}" for label, n in counts.items())
    facts["feature_names"] = shortened(dataset.feature_names)
    for key, value in facts.items():
        table.add_row(Text(key), Text(str(value)))
    terminal().print(table)


def _listed(name: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name, "samples": None, "features": None}
    entry["target"] = "cannot be read: see 'datasets info'"
    # A damaged file in the folder must not hide the others.
    with contextlib.suppress(DatasetError):
        entry |= _sizes(load_dataset(name))
    return {**entry, "source": about(name)}


def _sizes(dataset: Dataset) -> dict[str, Any]:
    target = describe(dataset)
    return {"samples": dataset.n_samples, "features": dataset.n_features, "target": target}


def _counts(dataset: Dataset) -> dict[str, int]:
    """Samples per class, or per label; nothing for numbers."""
    target = target_of(dataset)
    if target.kind == "numbers":
        return {}
    labels: Sequence[Any] = target.output_names
    n_each = (target.Y > 0).sum(axis=0)
    if target.classes is not None:  # two of them share one column of Y
        labels = target.classes.tolist()
        n_each = np.bincount(target.codes)
    names = dataset.target_names
    if names and len(names) == len(labels):
        labels = names
    return {str(label): int(n) for label, n in zip(labels, n_each, strict=True)}
