"""What a loaded dataset is, and the one kind of error a bad dataset gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Task = Literal["auto", "classification", "regression"]


class DatasetError(ValueError):
    """The data cannot be used as it is; the message is one sentence that says what to do."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A design, its target, and the names that go with them.

    ``y`` is one column (labels or numbers) or a matrix (several outputs, or 0/1 labels).
    ``target_names`` names the codes 0, 1, … in ``y``, or the columns of a matrix ``y``;
    it is None where the values in ``y`` speak for themselves.
    """

    name: str
    X: Any
    y: np.ndarray
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...] | None = None
    task: Task = "auto"
    source: str = ""

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
    def n_samples(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])


def shortened(names: Sequence[str] | np.ndarray) -> str:
    """The names as a list a person reads: at most eight of them, then how many more."""
    shown = ", ".join(repr(str(name)) for name in names[:8])
    more = len(names) - 8
    return f"{shown} and {more} more" if more > 0 else shown
