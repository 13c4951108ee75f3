"""What a loaded dataset is, how a file is to be read, and the one kind of error bad data gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from rowsparse.stores.safety import DatasetError

Task = Literal["auto", "classification", "regression"]
Impute = Literal["median", "most-frequent", "indicator"]
NUMERIC = "biuf"  # NumPy kinds: bool, signed, unsigned, float


@dataclass(frozen=True)
class Reading:
    """How a file is to be read; the first three make sense for some kinds of file only.

    Parameters
    ----------
    targets : the target columns of a table, or the name of the target array of a file of arrays.
    delimiter : what separates the cells of a text table; None: found out from its first line.
    header : whether the first line of a text table holds names; without, they are x0, x1, …
    ignore : columns to leave out.
    ids : columns that name the samples: left out as features, kept in ``Dataset.ids``.
    keep : columns that are features although they look like such names.
    impute : what to put where a value is missing: the "median" (the most frequent value of
        categories), the "most-frequent" one, or the median and an "indicator" column beside it.
        None: missing values are refused.

    Examples
    --------
    >>> from rowsparse.datasets import Reading
    >>> Reading(targets=("kind",), ids=("sample",)).header
    True
    """

    targets: tuple[str, ...] = ()
    delimiter: str | None = None
    header: bool = True
    ignore: Sequence[str] = ()
    ids: Sequence[str] = ()
    keep: Sequence[str] = ()
    impute: Impute | None = None


@dataclass(frozen=True, eq=False)
class Dataset:
    """A design, its target, and the names that go with them.

    ``y`` is one column (labels or numbers) or a matrix (several outputs, or 0/1 labels).
    ``target_names`` names the codes 0, 1, … in ``y``, or the columns of a matrix ``y``;
    it is None where the values in ``y`` speak for themselves. ``ids`` holds the columns that name
    the samples, ``notes`` what was done to the file's columns, in sentences; ``groups`` the columns
    of every category. Where values were missing ``X`` has them filled in from all
    samples, ``with_gaps`` is X with NaN, and ``filler`` (a ``gaps.GapFiller``) fills it in from
    some of them.

    Attributes
    ----------
    name : str
    X : array or sparse matrix (n_samples, n_features)
    y : array (n_samples,) or (n_samples, n_outputs)
    feature_names, target_names : names, see above
    task : {"auto", "classification", "regression"}
    source, target : the file, and what y is called in it
    ids, notes, groups, with_gaps, filler : see above

    Examples
    --------
    >>> from rowsparse.datasets import load_dataset
    >>> data = load_dataset("iris")
    >>> data.n_samples, data.n_features, data.feature_names[0]
    (150, 4, 'sepal length (cm)')
    """

    name: str
    X: Any
    y: np.ndarray
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...] | None = None
    task: Task = "auto"
    source: str = ""
    target: str = ""  # what y is called in the file
    ids: Mapping[str, np.ndarray] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    filler: Any = None
    with_gaps: Any = None

    def __post_init__(self) -> None:
        n, d = self.X.shape
        where = self.source or self.name
        if n == 0 or d == 0:
            raise DatasetError(
                f"{where}: expected at least one sample and one feature, got {n} samples and "
                f"{d} features; check that the data has rows, and columns besides the target."
            )
        if self.y.shape[0] != n:
            raise DatasetError(
                f"{where}: expected one target value per sample, got {n} samples and "
                f"{self.y.shape[0]} target values; check that both come from the same rows."
            )
        if len(self.feature_names) != d:
            raise DatasetError(
                f"{where}: expected one name per feature, got {d} features and "
                f"{len(self.feature_names)} names; leave the names out or give all of them."
            )

    @property
    def unfilled(self) -> Any:
        """X as it is in the file, for whoever fills gaps from a part of the samples."""
        return self.X if self.filler is None else self.with_gaps

    @property
    def n_samples(self) -> int:
        """Rows of X."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Columns of X."""
        return int(self.X.shape[1])


def shortened(names: Sequence[str] | np.ndarray) -> str:
    """The names as a list a person reads: at most eight of them, then how many more."""
    shown = ", ".join(repr(str(name)) for name in names[:8])
    more = len(names) - 8
    return f"{shown} and {more} more" if more > 0 else shown


def counted(counts: Mapping[str, int]) -> str:
    """The names with a count behind each, shortened in the same way."""
    shown = ", ".join(f"{name!r} ({count})" for name, count in list(counts.items())[:8])
    more = len(counts) - 8
    return f"{shown} and {more} more" if more > 0 else shown


def numbered_names(n_features: int) -> tuple[str, ...]:
    """Names for features that came without any: x0, x1, … as scikit-learn writes them."""
    return tuple(f"x{j}" for j in range(n_features))
