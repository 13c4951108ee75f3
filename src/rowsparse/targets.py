"""y as the n x c matrix of numbers that the losses see, and the names that lead back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Target:
    """Y (n x c, float64), what it was made of, and the class labels where there are any."""

    Y: np.ndarray
    kind: str  # "binary", "multiclass", "multilabel" or "numbers"
    classes: np.ndarray | None = None

    @property
    def output_names(self) -> list[str]:
        """One name per column of Y: the class it stands for, or its position."""
        if self.kind == "binary" and self.classes is not None:
            return [str(self.classes[1])]
        if self.kind == "multiclass" and self.classes is not None:
            return [str(label) for label in self.classes]
        return [str(k) for k in range(self.Y.shape[1])]

    @property
    def codes(self) -> np.ndarray:
        """The position of every sample's class in ``classes``."""
        if self.kind == "binary":
            return (self.Y[:, 0] > 0).astype(int)
        return self.Y.argmax(axis=1)


def labels_target(y: np.ndarray) -> Target:
    """Class labels: one ±1 column for two classes (+1 is the second), ±1 one-hot for more.

    Two classes coded in two ±1 columns select the same rows: that problem at alpha equals this
    one at ``alpha * 2**((p - r) / 2)``.
    """
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in y})
        raise ValueError(
            f"Expected class labels of one type, got a mix of {', '.join(kinds)} in y; "
            "convert them with y.astype(str)."
        ) from None
    if classes.size < 2:
        raise ValueError(
            f"Expected at least two classes in y, got 1 class ({classes[0]!r}); "
            "a constant target has nothing to select features for."
        )
    if classes.size == 2:
        return Target(2.0 * codes.reshape(-1, 1) - 1.0, "binary", classes)
    Y = np.full((codes.size, classes.size), -1.0)
    Y[np.arange(codes.size), codes.ravel()] = 1.0
    return Target(Y, "multiclass", classes)


def indicator_target(Y: np.ndarray) -> Target:
    """A 0/1 (or ±1) label-indicator matrix: ±1, one column per label."""
    return Target(np.where(np.asarray(Y) > 0, 1.0, -1.0), "multilabel")


def numbers_target(y: np.ndarray) -> Target:
    """Numbers stay numbers; one output is one column."""
    Y = np.array(y, dtype=float, order="F")  # products with X read it by columns
    return Target(Y.reshape(-1, 1) if Y.ndim == 1 else Y, "numbers")
