"""Numbers to codes: equal-frequency bins, supervised cuts, or three states around the mean.

Codes come as (features x samples), 0, 1, …. A column with no more distinct values than bins is
discrete: every value is its own bin, whatever the rule but "mdlp" and "sigma" say.
"""

from __future__ import annotations

import numpy as np

from ..numerics.tables import CODE, supervised_cuts
from .base import BLOCK_BYTES, Output, Table, check_count

RULES = ("mdlp", "sigma")
TARGET_BINS = 4  # for numbers in y where the rule for X is a name: more would forbid most cuts


def check_bins(n_bins) -> None:
    """An integer from 2 on, or the name of a rule."""
    if isinstance(n_bins, str):
        if n_bins not in RULES:
            raise ValueError(
                f"Expected n_bins as an integer >= 2, 'mdlp' or 'sigma', got n_bins={n_bins!r}."
            )
        return
    check_count("n_bins", n_bins, 2, np.iinfo(CODE).max, " (or 'mdlp' or 'sigma')")


def binning_width(n: int) -> int:
    """Columns to bin at a time: sorting needs about eight arrays of their size."""
    return max(1, BLOCK_BYTES // (8 * 8 * n))


def codes_of(block: np.ndarray, n_bins, weights: np.ndarray, output: Output) -> np.ndarray:
    """The columns of a dense block (n x w) as codes (w x n); ``output`` holds class codes."""
    if n_bins == "mdlp":
        return supervised_codes(block, output, weights)
    if n_bins == "sigma":
        return sigma_codes(block, weights)
    return quantile_codes(block, n_bins, weights)


def quantile_codes(block: np.ndarray, n_bins: int, weights: np.ndarray) -> np.ndarray:
    """Equal-frequency bins: the code of x is ``floor(n_bins * share of the weight below x)``.

    Equal values share a code, so bins of data with ties may be uneven or empty.
    """
    columns = np.ascontiguousarray(block.T)
    order = np.argsort(columns, axis=1, kind="stable")
    values = np.take_along_axis(columns, order, axis=1)
    new = np.ones(values.shape, dtype=bool)
    new[:, 1:] = values[:, 1:] != values[:, :-1]
    before = np.cumsum(weights[order], axis=1) - weights[order]
    below = np.maximum.accumulate(np.where(new, before, 0.0), axis=1)
    codes = np.floor(n_bins * below / weights.sum() + 1e-9)
    distinct = np.cumsum(new, axis=1) - 1
    few = distinct[:, -1] < n_bins
    codes[few] = distinct[few]
    out = np.empty(codes.shape, dtype=CODE)
    np.put_along_axis(out, order, codes.astype(CODE), axis=1)
    return out


def supervised_codes(block: np.ndarray, output: Output, weights: np.ndarray) -> np.ndarray:
    """Intervals of the recursive minimal-entropy partition with the MDL stop (Fayyad & Irani 1993).

    A column that no cut improves enough has one interval, hence no information.
    """
    columns = np.ascontiguousarray(block.T)
    order = np.argsort(columns, axis=1, kind="stable")
    values = np.take_along_axis(columns, order, axis=1)
    cuts = supervised_cuts(values, output.values[order], weights[order], output.n_classes)
    out = np.empty(cuts.shape, dtype=CODE)
    np.put_along_axis(out, order, np.cumsum(cuts, axis=1).astype(CODE), axis=1)
    return out


def sigma_codes(block: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Three states: below mean - sd/2, between, above mean + sd/2 (Ding & Peng 2005)."""
    mean = weights @ block / weights.sum()
    half = 0.5 * np.sqrt(weights @ (block - mean) ** 2 / weights.sum())
    return ((block > mean - half).astype(CODE) + (block > mean + half)).T


def as_labels(output: Output, n_bins, table: Table) -> Output:
    """Class codes as they are; numbers cut into equal-frequency bins."""
    if output.n_classes:
        return output
    n_bins = TARGET_BINS if isinstance(n_bins, str) else n_bins
    codes = quantile_codes(output.values[:, None], n_bins, table.weights)[0]
    codes = np.unique(codes, return_inverse=True)[1].astype(np.intp)
    return Output(codes, int(codes.max()) + 1)
