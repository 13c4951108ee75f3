"""Named real datasets: those scikit-learn ships, and those in the folder ROWSPARSE_DATA."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from rowsparse.datasets.arrays import name_of
from rowsparse.datasets.base import Dataset, DatasetError, Reading, Task
from rowsparse.datasets.files import load_file
from rowsparse.datasets.matrix import finished
from rowsparse.datasets.remote import REMOTE, fetched
from rowsparse.datasets.text import STANDARD_INPUT
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
        load_breast_cancer, "classification", "cell nuclei, benign or malignant"
    ),
    "diabetes": Packaged(load_diabetes, "regression", "disease progression after one year"),
    "digits": Packaged(load_digits, "classification", "handwritten digits, 8 by 8 pixels"),
    "iris": Packaged(load_iris, "classification", "three species of iris"),
    "wine": Packaged(load_wine, "classification", "three cultivars of wine"),
}


def dataset_names() -> list[str]:
    """Every name that `load_dataset` knows now.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from rowsparse.datasets import dataset_names
    >>> "iris" in dataset_names()
    True
    """
    return sorted([*PACKAGED, *_own_files()], key=str.lower)


def load_dataset(name: str, target: str | Sequence[str] | None = None, **options: Any) -> Dataset:
    """A dataset by name. Its target is part of it; `target` names another array of an npz set.

    ``options`` are the fields of `Reading`, as in `load_file`.

    Parameters
    ----------
    name : one of ``dataset_names()``
    target : as in `load_file`
    **options : the fields of `Reading`

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from rowsparse.datasets import load_dataset
    >>> load_dataset("wine").target_names
    ('class_0', 'class_1', 'class_2')
    """
    files = _own_files()
    if name in files:
        return load_file(files[name], target, **options)
    if name in REMOTE:
        raise DatasetError(
            f"{name}: expected a dataset that is here, got one that is not yet; "
            f"'rowsparse datasets fetch {name}' downloads it."
        )
    if name not in PACKAGED:
        raise DatasetError(
            f"{name!r}: expected a file or the name of a dataset, got neither; 'rowsparse datasets "
            f"list' shows the names, and {FOLDER_VARIABLE} may name a folder with more."
            f"{did_you_mean(name, [*dataset_names(), *REMOTE])}"
        )
    if target:
        raise DatasetError(
            f"{name}: expected no target name for a dataset of scikit-learn, got "
            f"{target if isinstance(target, str) else target[0]!r}; it carries its own: leave the "
            f"name out."
        )
    packaged = PACKAGED[name]
    # read when it is asked for: importing loads no data
    bunch = packaged.fetch()
    feature_names = tuple(map(str, bunch.feature_names))
    classes = packaged.task == "classification"
    class_names = tuple(map(str, bunch.target_names)) if classes else None
    dataset = Dataset(
        name, bunch.data, bunch.target, feature_names, class_names, packaged.task, about(name)
    )
    return finished(dataset, Reading(**options))


def load_any(data: str, target: str | Sequence[str] | None = None, **options: Any) -> Dataset:
    """A named dataset if there is one of that name, else a file (write ./digits for a file).

    Parameters
    ----------
    data : a name or a path
    target : as in `load_file`
    **options : the fields of `Reading`

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from rowsparse.datasets import load_any
    >>> load_any("iris").n_features
    4
    """
    path = Path(data)
    looks_like_a_path = path.suffix or path.name != data
    may_be_file = path.exists() or looks_like_a_path or data == STANDARD_INPUT
    # a folder in which somebody has a file called "iris" does not change what iris is
    if may_be_file and data not in dataset_names():
        return load_file(path, target, **options)
    return load_dataset(data, target, **options)


def describe(dataset: Dataset) -> str:
    """What the target is, in a few words: '3 classes', '14 labels', '2 outputs', 'numbers'."""
    target = target_of(dataset)
    if target.classes is not None:
        return f"{target.classes.size} classes"
    if dataset.y.ndim == 1:
        return "numbers"
    return f"{dataset.y.shape[1]} {'labels' if target.kind == 'multilabel' else 'outputs'}"


def target_of(dataset: Dataset, task: str = "auto") -> Target:
    """The target as a selector reads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it reads whole numbers as numbers
        return as_target(dataset.y, dataset.task if task == "auto" else task)


def about(name: str) -> str:
    """One line on where the dataset of this name comes from."""
    packaged = PACKAGED.get(name)
    if packaged:
        return f"scikit-learn: {packaged.about}"
    in_folder = name in _files_of_the_folder()
    return f"file in {FOLDER_VARIABLE}" if in_folder else f"scikit-feature: {REMOTE[name].about}"


def _own_files() -> dict[str, Path]:
    """Name to file: those of the folder, then those that were fetched; scikit-learn's stay."""
    # the folder after what was fetched: who put a file there means that one
    files = fetched() | _files_of_the_folder()
    return {name: file for name, file in files.items() if name not in PACKAGED}


def _files_of_the_folder() -> dict[str, Path]:
    setting = os.environ.get(FOLDER_VARIABLE)
    if not setting:
        return {}
    folder = Path(setting)
    if not folder.is_dir():
        raise DatasetError(
            f"{FOLDER_VARIABLE}: expected a folder with npz files, got {setting!r}, which is none; "
            f"correct the environment variable or unset it."
        )
    files = {}
    for suffix in ("*.mat", "*.npz"):  # of two files of one name the npz counts
        for file in sorted(folder.glob(suffix)):
            files[name_of(file)] = file
    return files
