"""Named real datasets: those scikit-learn ships, and those in the folder ROWSPARSE_DATA."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sklearn.datasets

from rowsparse.datasets.arrays import SPARSE_SUFFIX
from rowsparse.datasets.base import Dataset, DatasetError, Task
from rowsparse.datasets.files import load_file
from rowsparse.inputs import did_you_mean
from rowsparse.targets import Target, as_target

FOLDER_VARIABLE = "ROWSPARSE_DATA"


@dataclass(frozen=True)
class Packaged:
    """A dataset that scikit-learn ships: how to get it, and what kind of target it has."""

    fetch: Callable[[], Any]
    task: Task
    about: str


PACKAGED = {
    "breast_cancer": Packaged(
        sklearn.datasets.load_breast_cancer, "classification", "cell nuclei, benign or malignant"
    ),
    "diabetes": Packaged(
        sklearn.datasets.load_diabetes, "regression", "disease progression after one year"
    ),
    "digits": Packaged(
        sklearn.datasets.load_digits, "classification", "handwritten digits, 8 by 8 pixels"
    ),
    "iris": Packaged(sklearn.datasets.load_iris, "classification", "three species of iris"),
    "wine": Packaged(sklearn.datasets.load_wine, "classification", "three cultivars of wine"),
}


def dataset_names() -> list[str]:
    """Every name that `load_dataset` knows now."""
    return sorted([*PACKAGED, *_folder_files()], key=str.lower)


def load_dataset(name: str, target: str | Sequence[str] | None = None) -> Dataset:
    """A dataset by name. Its target is part of it; `target` names another array of an npz set."""
    files = _folder_files()
    if name in files:
        return load_file(files[name], target)
    if name not in PACKAGED:
        raise DatasetError(_unknown(name))
    if target:
        raise DatasetError(
            f"{name}: expected no target name for a dataset of scikit-learn, got "
            f"{target if isinstance(target, str) else target[0]!r}; it carries its own: leave the "
            f"name out."
        )
    return _load_packaged(name)


def load_any(data: str, target: str | Sequence[str] | None = None) -> Dataset:
    """A named dataset if there is one of that name, else a file (write ./digits for a file)."""
    if data in PACKAGED or data in _folder_files():
        return load_dataset(data, target)
    path = Path(data)
    if path.exists() or path.suffix or path.name != data:
        return load_file(path, target)
    raise DatasetError(_unknown(data))


def describe(dataset: Dataset) -> str:
    """What the target is, in a few words: '3 classes', '14 labels', '2 outputs', 'numbers'."""
    target = target_of(dataset)
    if target.classes is not None:
        return f"{target.classes.size} classes"
    if dataset.y.ndim == 1:
        return "numbers"
    return f"{dataset.y.shape[1]} {'labels' if target.kind == 'multilabel' else 'outputs'}"


def target_of(dataset: Dataset) -> Target:
    """The target as a selector reads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it reads whole numbers as numbers
        return as_target(dataset.y, dataset.task)


def about(name: str) -> str:
    """One line on where the dataset of this name comes from."""
    packaged = PACKAGED.get(name)
    return f"scikit-learn: {packaged.about}" if packaged else f"file in {FOLDER_VARIABLE}"


def _load_packaged(name: str) -> Dataset:
    packaged = PACKAGED[name]
    bunch = packaged.fetch()
    classes = packaged.task == "classification"
    return Dataset(
        name,
        bunch.data,
        bunch.target,
        tuple(map(str, bunch.feature_names)),
        tuple(map(str, bunch.target_names)) if classes else None,
        task=packaged.task,
        source=about(name),
    )


def _folder_files() -> dict[str, Path]:
    """Name to file for the folder of ROWSPARSE_DATA; names of scikit-learn's sets stay theirs."""
    setting = os.environ.get(FOLDER_VARIABLE)
    if not setting:
        return {}
    folder = Path(setting)
    if not folder.is_dir():
        raise DatasetError(
            f"{FOLDER_VARIABLE}: expected a folder with npz files, got {setting!r}, which is none; "
            f"correct the environment variable or unset it."
        )
    files = {
        file.name.removesuffix(SPARSE_SUFFIX).removesuffix(".npz"): file
        for file in sorted(folder.glob("*.npz"))
    }
    return {name: file for name, file in files.items() if name not in PACKAGED}


def _unknown(name: str) -> str:
    known = dataset_names()
    return (
        f"{name!r}: expected a file or the name of a dataset, got neither; "
        f"'rowsparse datasets list' shows the names, and {FOLDER_VARIABLE} may name a folder with "
        f"more.{did_you_mean(name, known)}"
    )
