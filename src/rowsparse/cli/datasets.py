"""rowsparse datasets list | info: what data there is by name."""

from __future__ import annotations

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
        entries = [_summary(name) for name in dataset_names()]
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
    facts = _facts(dataset)
    if as_json:
        print_json({**facts, "feature_names": list(dataset.feature_names)})
        return
    table = plain_table("", "", words=("",))
    table.show_header = False
    for key, value in facts.items():
        if isinstance(value, dict):
            value = ", ".join(f"{label}: {n}" for label, n in value.items())
        table.add_row(Text(key), Text(str(value)))
    table.add_row(Text("feature_names"), Text(shortened(dataset.feature_names)))
    terminal().print(table)


def _summary(name: str) -> dict[str, Any]:
    """One line of the list. A damaged file in the folder must not hide the others."""
    try:
        dataset = load_dataset(name)
    except DatasetError:
        return _line(name, None, None, "cannot be read: see 'datasets info'")
    return _line(name, dataset.n_samples, dataset.n_features, describe(dataset))


def _line(name: str, n_samples: int | None, n_features: int | None, target: str) -> dict[str, Any]:
    return {
        "name": name,
        "samples": n_samples,
        "features": n_features,
        "target": target,
        "source": about(name),
    }


def _facts(dataset: Dataset) -> dict[str, Any]:
    facts = _line(dataset.name, dataset.n_samples, dataset.n_features, describe(dataset))
    facts["storage"] = "dense" if isinstance(dataset.X, np.ndarray) else "sparse"
    facts["source"] = dataset.source
    counts = _counts(dataset)
    return {**facts, "counts": counts} if counts else facts


def _counts(dataset: Dataset) -> dict[str, int]:
    """Samples per class, or per label; nothing for numbers."""
    target = target_of(dataset)
    labels: Sequence[Any] = target.output_names
    if target.kind == "numbers":
        return {}
    if target.classes is None:
        n_each = (target.Y > 0).sum(axis=0)
    else:
        n_each = np.bincount(target.codes)
        labels = target.classes.tolist()
    names = dataset.target_names
    if names and len(names) == len(labels):
        labels = names
    return {str(label): int(n) for label, n in zip(labels, n_each, strict=True)}
