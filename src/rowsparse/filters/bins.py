"""Numbers to codes: equal-frequency bins, supervised cuts, or three states around the mean.

Codes come as (features x samples), 0, 1, …. A column with no more distinct values than bins is
discrete: every value is its own bin, whatever the rule but "mdlp" and "sigma" say.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..inputs import check_integer
from ..numerics.tables import CODE, supervised_cuts
from .base import Output, Table, blocks


def check_bins(n_bins) -> None:
    """An integer from 2 on, or the name of a rule."""
    if n_bins in ("mdlp", "sigma"):
        return
    if isinstance(n_bins, str):
        raise ValueError(
            f"Expected n_bins as an integer >= 2, 'mdlp' or 'sigma', got n_bins={n_bins!r}."
        )
    check_integer("n_bins", n_bins, 2, np.iinfo(CODE).max, "or 'mdlp' or 'sigma'")


def coded_blocks(
    table: Table, n_bins, outputs: list[Output]
) -> Iterator[tuple[slice, list[np.ndarray]]]:
    """Columns and their codes (w x n), for each output of classes; only supervised cuts differ."""
    w = table.weights
    for columns, block in blocks(table.X, arrays=8):  # sorting makes about eight of its size
        if n_bins == "mdlp":
            yield columns, [supervised_codes(block, output, w) for output in outputs]
        else:
            codes = sigma_codes(block, w) if n_bins == "sigma" else quantile_codes(block, n_bins, w)
            yield columns, [codes] * len(outputs)


def quantile_codes(block: np.ndarray, n_bins: int, weights: np.ndarray) -> np.ndarray:
    """Equal-frequency bins: the code of x is ``floor(n_bins * share of the weight below x)``.

    Equal values share a code, so bins of data with ties may be uneven or empty.
    """
    order, values = _sorted(block)
    new = np.ones(values.shape, dtype=bool)
    new[:, 1:] = values[:, 1:] != values[:, :-1]
    sorted_weights = weights[order]
    before = np.cumsum(sorted_weights, axis=1) - sorted_weights
    below = np.maximum.accumulate(np.where(new, before, 0.0), axis=1)
    # The sum of weights may fall short of a whole share by rounding: a sample on the boundary
    # belongs to the upper bin.
    codes = np.floor(n_bins * below / weights.sum() + 1e-9)
    distinct = np.cumsum(new, axis=1) - 1
    discrete = distinct[:, -1] < n_bins
    codes[discrete] = distinct[discrete]
    return _in_order_of_samples(codes, order)


def supervised_codes(block: np.ndarray, output: Output, weights: np.ndarray) -> np.ndarray:
    """Intervals of the recursive minimal-entropy partition with the MDL stop (Fayyad & Irani 1993).

    A column that no cut improves enough has one interval, hence no information.
    """
    order, values = _sorted(block)
    cuts = supervised_cuts(values, output.values[order], weights[order], output.n_classes)
    return _in_order_of_samples(np.cumsum(cuts, axis=1), order)


def sigma_codes(block: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Three states: below mean - sd/2, between, above mean + sd/2 (Ding & Peng 2005)."""
    mean = weights @ block / weights.sum()
    half = 0.5 * np.sqrt(weights @ (block - mean) ** 2 / weights.sum())
    above = (block > mean + half).astype(CODE)
    return (above + (block > mean - half)).T


def as_labels(output: Output, n_bins, table: Table) -> Output:
    """Class codes as they are; numbers cut into equal-frequency bins."""
    if output.n_classes:
        return output
    if isinstance(n_bins, str):
        n_bins = 4  # the rules are for X; more bins of y would forbid most of their cuts
    codes = quantile_codes(output.values[:, None], n_bins, table.weights)[0]
    used, codes = np.unique(codes, return_inverse=True)
    return Output(codes.astype(np.intp), used.size)


def _sorted(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The order of the samples in every column and the values in that order (w x n both)."""
    columns = np.ascontiguousarray(block.T)
    order = np.argsort(columns, axis=1, kind="stable")
    return order, np.take_along_axis(columns, order, axis=1)


def _in_order_of_samples(sorted_codes: np.ndarray, order: np.ndarray) -> np.ndarray:
    codes = np.empty(order.shape, dtype=CODE)
    np.put_along_axis(codes, order, sorted_codes.astype(CODE), axis=1)
    return codes
