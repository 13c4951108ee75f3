"""What the filters that fit linear classifiers share: standardised columns and ±1 targets."""

from __future__ import annotations

import numpy as np

from ..designs import Standardized, as_design
from .base import Output, Table


def standardised(table: Table, columns: np.ndarray) -> np.ndarray:
    """Some columns as a dense block of mean zero and unit variance under the sample weights."""
    design, w = as_design(table.X), table.weights
    means = design.means(w)
    spread = np.sqrt(design.squares(w, means) / w.sum())
    return Standardized(design, means, np.where(spread > 0, spread, 1.0)).take(columns)


def one_vs_rest(output: Output) -> list[np.ndarray]:
    """One ±1 vector for two classes (+1 is the second), one per class for more."""
    positives = [1] if output.n_classes == 2 else range(output.n_classes)
    return [np.where(output.values == label, 1.0, -1.0) for label in positives]
