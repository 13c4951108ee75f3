"""The only place that asks what type X has."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .base import Design
from .dense import DenseDesign
from .sparse import SparseDesign


def as_design(X) -> Design:
    """A design for an array, a memory map, a sparse matrix or array, or a design itself."""
    if isinstance(X, Design):
        return X
    if sparse.issparse(X):
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(float)
        return SparseDesign(X)
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(
            f"Expected X with two dimensions (samples × features), got {X.ndim}; "
            "use X.reshape(-1, 1) for a single feature."
        )
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(float)
    return DenseDesign(X)
