"""Missing values: what is put in their place."""

from __future__ import annotations

import numpy as np

from rowsparse.datasets.base import Impute


def filled(values: np.ndarray, gaps: np.ndarray, impute: Impute) -> np.ndarray:
    """The column with its median, or the smallest of its most frequent values, in the gaps."""
    present = values[~gaps]
    if impute == "most-frequent":
        different, counts = np.unique(present, return_counts=True)
        value = different[np.argmax(counts)]
    else:
        value = np.median(present)
    return np.where(gaps, value, values)
