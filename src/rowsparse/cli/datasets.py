"""rowsparse datasets list | info | fetch: what data there is by name."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import typer

from rowsparse.cli.application import PlainGroup
from rowsparse.cli.options import AsJson, DataOptions, with_options
from rowsparse.cli.terminal import (
    plain_table,
    print_json,
    said_plainly,
    say,
    show_notes,
    terminal,
    working,
)
from rowsparse.datasets.base import Dataset, shortened
from rowsparse.datasets.registry import (
    FOLDER_VARIABLE,
    about,
    dataset_names,
    describe,
    load_dataset,
    target_of,
)
from rowsparse.datasets.remote import REMOTE, fetch_dataset

datasets_app = typer.Typer(
    help=(
        "Named datasets: those that come with scikit-learn, the npz and mat files in the folder "
        f"named by the environment variable {FOLDER_VARIABLE}, and those that were fetched."
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
    cls=PlainGroup,
)


@datasets_app.command("list")
def list_datasets(as_json: AsJson = False) -> None:
    """List every dataset that DATA may name."""
    with said_plainly():
        here = dataset_names()
        entries = [_listed(name) for name in here]
        away = {"samples": None, "features": None, "target": "remote: see 'datasets fetch'"}
        entries += [{"name": n, **away, "source": about(n)} for n in REMOTE if n not in here]
    if as_json:
        print_json(entries)
        return
    rows = [["" if value is None else value for value in entry.values()] for entry in entries]
    terminal().print(plain_table(list(entries[0]), rows, words=("name", "target", "source")))


@datasets_app.command("info")
@with_options
def info(data: DataOptions, as_json: AsJson = False) -> None:
    """Describe one dataset: size, classes and how many samples each has, features."""
    with said_plainly():
        dataset = data.load()
        storage = "dense" if isinstance(dataset.X, np.ndarray) else "sparse"
        facts = {
            "name": dataset.name,
            **_sizes(dataset),
            "source": dataset.source,
            "storage": storage,
        }
        counts = _counts(dataset)
    show_notes(dataset.notes)
    if counts:
        facts["counts"] = counts
    if as_json:
        print_json({**facts, "feature_names": list(dataset.feature_names)})
        return
    if counts:
        facts["counts"] = ", ".join(f"{label}: {n}" for label, n in counts.items())
    facts["feature_names"] = shortened(dataset.feature_names)
    terminal().print(plain_table(("", ""), list(facts.items()), words=("",)))


@datasets_app.command("fetch")
def fetch(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="One of those that 'datasets list' calls remote.")
    ],
) -> None:
    """Download a dataset, check it, and keep it for all commands."""
    with said_plainly(), working(f"Fetching {name}"):
        path = fetch_dataset(name)
    say(f"{name} is here: {path}.")


def _listed(name: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name, "samples": None, "features": None}
    entry["target"] = "cannot be read: see 'datasets info'"
    # A bad file in the folder must not hide the others.
    with contextlib.suppress(ValueError, OSError, MemoryError):
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
