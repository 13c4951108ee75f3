r"""Information gain: how much knowing the (binned) feature lowers the entropy of the target.

IG_j = H(y) - H(y | bin of x_j) = sum_{b,c} p_bc log(p_bc / (p_b p_c))       in nats

Numbers become codes by equal-frequency bins, supervised cuts, or three states around the mean.
Codes come as (features x samples), 0, 1, …. A column with no more distinct values than bins is
discrete: every value is its own bin, whatever the rule but "mdlp" and "sigma" say.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..inputs import check_integer
from ..numerics import tables
from ..numerics.compiling import worth_loading
from .base import Output, Table, blocks, check_table
from .states import three_state_scores


def information_gain(X, y, n_bins="mdlp", *, task="auto", sample_weight=None) -> np.ndarray:
    """Mutual information of every binned feature with the target, in nats (Quinlan 1986).

    Parameters
    ----------
    X : array, sparse matrix or data frame, (n_samples, n_features)
        Sparse X is made dense a block of columns at a time.
    y : labels, a 0/1 label-indicator matrix (mean over labels), or numbers
        Numbers are cut into equal-frequency bins first: ``n_bins``, or four if that is a name.
    n_bins : int, "mdlp" or "sigma"
        "mdlp": supervised cuts (Fayyad & Irani 1993), as in Weka; a feature with no cut scores 0.
        An integer: that many equal-frequency bins; a column with no more distinct values is taken
        as discrete, each value its own bin. "sigma": cut at mean ± half a standard deviation.
    task : {"auto", "classification", "regression"}
    sample_weight : array, optional; a weight of 2 is a row that is there twice

    Returns
    -------
    scores : array (n_features,), larger is better; 0 for a constant column

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse.filters import information_gain
    >>> scores = information_gain(X, y)
    >>> scores.argsort()[::-1][:3].tolist()
    [6, 12, 9]
    """
    check_bins(n_bins)
    table = check_table(X, y, task, sample_weight, blocks=n_bins == "sigma")
    labels = as_labels(table, n_bins)
    if table.in_blocks:
        return three_state_scores(table, labels)
    n, d = table.shape
    compiled = worth_loading(n * d * len(labels))
    scores = np.zeros(d)
    for columns, coded in coded_blocks(table, n_bins, labels):
        for codes, output in zip(coded, labels, strict=True):
            n_codes = int(codes.max()) + 1
            scores[columns] += tables.mutual_information(
                codes, output.values, table.weights, n_codes, output.n_classes, compiled
            )
    return np.where(table.varying, scores / len(labels), 0.0)


def check_bins(n_bins) -> None:
    """An integer from 2 on, or the name of a rule."""
    if n_bins in ("mdlp", "sigma"):
        return
    if isinstance(n_bins, str):
        raise ValueError(
            f"Expected n_bins as an integer >= 2, 'mdlp' or 'sigma', got n_bins={n_bins!r}."
        )
    check_integer("n_bins", n_bins, 2, np.iinfo(tables.CODE).max, "or 'mdlp' or 'sigma'")


def as_labels(table: Table, n_bins) -> list[Output]:
    """Outputs of class codes as they are; numbers cut into equal-frequency bins."""
    labels = []
    for output in table.outputs:
        if not output.n_classes:
            # The named rules are for X; more bins of y would forbid most of their cuts.
            n_cut = 4 if isinstance(n_bins, str) else n_bins
            codes = quantile_codes(output.values[:, None], n_cut, table.weights)[0]
            used, codes = np.unique(codes, return_inverse=True)
            output = Output(codes.astype(np.intp), used.size)
        labels.append(output)
    return labels


def coded_blocks(
    table: Table, n_bins, outputs: list[Output]
) -> Iterator[tuple[slice, list[np.ndarray]]]:
    """Columns and their codes (w x n), for each output of classes; only supervised cuts differ."""
    w = table.weights
    # of all blocks together: each may be small
    compiled = table.shape[0] * table.shape[1] * len(outputs) >= tables.CUTS_COMPILED_FROM
    for columns, block in blocks(table.X, arrays=8):  # sorting makes about eight of its size
        if n_bins == "mdlp":
            yield columns, [supervised_codes(block, output, w, compiled) for output in outputs]
        elif n_bins == "sigma":
            yield columns, [three_states(block, w)] * len(outputs)
        else:
            yield columns, [quantile_codes(block, n_bins, w)] * len(outputs)


def quantile_codes(block: np.ndarray, n_bins: int, weights: np.ndarray) -> np.ndarray:
    """Equal-frequency bins: the code of x is ``floor(n_bins * share of the weight below x)``.

    Equal values share a code, so bins of data with ties may be uneven or empty.
    """
    order, values = _sorted(block)
    new = np.ones(values.shape, dtype=bool)  # the first of equal values
    new[:, 1:] = values[:, 1:] != values[:, :-1]
    sorted_weights = weights[order]
    before = np.cumsum(sorted_weights, axis=1) - sorted_weights
    # what lies below the first of equal values lies below all of them
    below = np.maximum.accumulate(np.where(new, before, 0.0), axis=1)
    shares = below / weights.sum()
    # The sum of weights may fall short of a whole share by rounding: a sample on the boundary
    # belongs to the upper bin.
    codes = np.floor(n_bins * shares + 1e-9)
    # A column of few values is discrete: each is a bin of its own, however often it occurs.
    distinct = np.cumsum(new, axis=1) - 1
    discrete = distinct[:, -1] < n_bins
    codes[discrete] = distinct[discrete]
    return _in_order_of_samples(codes, order)


def supervised_codes(
    block: np.ndarray, output: Output, weights: np.ndarray, compiled: bool
) -> np.ndarray:
    """Intervals of the recursive minimal-entropy partition with the MDL stop (Fayyad & Irani 1993).

    A column that no cut improves enough has one interval, hence no information.
    """
    order, values = _sorted(block)
    classes = output.values[order]
    cuts = tables.supervised_cuts(values, classes, weights[order], output.n_classes, compiled)
    return _in_order_of_samples(np.cumsum(cuts, axis=1), order)


def three_states(block: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Below mean - sd/2, between, above mean + sd/2 (Ding & Peng 2005)."""
    mean = weights @ block / weights.sum()
    half = 0.5 * np.sqrt(weights @ (block - mean) ** 2 / weights.sum())
    above = (block > mean + half).astype(tables.CODE)
    return (above + (block > mean - half)).T


def _sorted(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The order of the samples in every column and the values in that order (w x n both)."""
    columns = np.ascontiguousarray(block.T)
    order = np.argsort(columns, axis=1, kind="stable")
    return order, np.take_along_axis(columns, order, axis=1)


def _in_order_of_samples(sorted_codes: np.ndarray, order: np.ndarray) -> np.ndarray:
    codes = np.empty(order.shape, dtype=tables.CODE)
    np.put_along_axis(codes, order, sorted_codes.astype(tables.CODE), axis=1)
    return codes
