r"""mRMR: features that say much about the target and little about each other, one at a time.

    miq   I(x_j; y) / mean_{s in S} I(x_j; x_s)          mid   the difference of the two
    fcq   F(x_j, y) / mean_{s in S} |corr(x_j, x_s)|     fcd   the difference of the two

The first pick has the largest relevance. Every later pick adds one column of redundancies to a
running sum, so k picks cost O(n d k) time and O(d) memory beside one recoded copy of X.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from ..inputs import check_feature_weights, check_memory
from ..numerics import tables
from ..numerics.compiling import worth_loading
from ..numerics.threads import one_blas_thread
from ..warn import say_fewer_than
from .base import Table, check_choice, check_how_many, check_table, favour, logger
from .fisher import f_of_table
from .information import as_labels, check_bins, coded_blocks

Redundancy = Callable[[int], np.ndarray]
LEAST_REDUNDANCY = 1e-3  # in quotients: a smaller one would outweigh all relevance


def mrmr(
    X,
    y,
    n_features_to_select,
    *,
    criterion="miq",
    n_bins=5,
    task="auto",
    sample_weight=None,
    feature_weights=None,
) -> tuple[np.ndarray, np.ndarray]:
    """Minimal redundancy, maximal relevance (Ding & Peng 2005; Peng, Long & Ding 2005).

    Parameters
    ----------
    X : array, sparse matrix or data frame, (n_samples, n_features)
        Sparse X stays sparse for "fcq" and "fcd"; for "miq" and "mid" the codes of all entries,
        two bytes each, are kept.
    y : labels, a 0/1 label-indicator matrix (relevance is the mean over labels), or numbers
    n_features_to_select : int
    criterion : {"miq", "mid", "fcq", "fcd"}
        Mutual information or F and correlation; quotient or difference. In quotients every single
        redundancy counts as at least 0.001.
    n_bins : int, "mdlp" or "sigma"
        How numbers are binned for mutual information, see `information_gain`. "fcq" and "fcd"
        need no bins and ignore it.
    task : {"auto", "classification", "regression"}
    sample_weight : array, optional; a weight of 2 is a row that is there twice
    feature_weights : array, optional
        0: taken before all others, so that the rest complements it; infinity: never taken; a larger
        factor lowers the criterion of its feature.

    Returns
    -------
    order : array (n_features_to_select,), the features in the order in which they were taken
    scores : array (n_features,), the criterion of each feature when it was taken, and of the
        features that were not taken in the last round
    """
    check_choice("criterion", criterion, ("miq", "mid", "fcq", "fcd"))
    check_bins(n_bins)
    table = check_table(X, y, task, sample_weight)
    d = table.shape[1]
    k = check_how_many(n_features_to_select, table)
    factors = check_feature_weights(feature_weights, d, None)
    factors = np.where(table.varying, 1.0 if factors is None else factors, np.inf)
    usable = int(np.count_nonzero(np.isfinite(factors)))
    if usable < k:
        say_fewer_than(k, usable)
    k = min(k, usable)
    quotient = criterion.endswith("q")
    if criterion.startswith("mi"):
        relevance, against = _information(table, n_bins, k)
        return _greedy(relevance, against, factors, k, quotient)
    with one_blas_thread():  # many small products: threads would cost more than they give
        return _greedy(f_of_table(table), _correlation(table), factors, k, quotient)


def _greedy(
    relevance: np.ndarray, against: Redundancy, factors: np.ndarray, k: int, quotient: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Picks by criterion; ``against(j)`` gives the redundancy of every feature with feature j."""
    total = np.zeros_like(relevance)
    value = relevance
    scores = relevance.copy()
    open_factors = factors.copy()  # infinite for what may not be taken, or has been
    order: list[int] = []
    for step in range(k):
        if step:
            redundancy = against(order[-1])
            if quotient:
                total += np.maximum(redundancy, LEAST_REDUNDANCY)
                value = relevance * step / total
            else:
                total += redundancy
                value = relevance - total / step
            scores = np.where(np.isin(np.arange(value.size), order), scores, value)
        best = int(np.argmax(favour(value, open_factors)))
        order.append(best)
        open_factors[best] = np.inf
        logger.debug("mrmr: %d of %d: column %d", step + 1, k, best)
    return np.array(order, dtype=int), scores


def _correlation(table: Table) -> Redundancy:
    """|corr| of one column with all, from a standardised copy; sparse X stays as it is."""
    design = table.standardized()
    shares = (table.weights / table.weights.sum())[:, None]
    if sparse.issparse(table.X):
        return lambda j: np.abs(design.rmatmul(shares * design.take(np.array([j])))[:, 0])
    Z = design.take(np.arange(table.shape[1]))
    return lambda j: np.abs(Z.T @ (shares[:, 0] * Z[:, j]))


def _information(table: Table, n_bins, k: int) -> tuple[np.ndarray, Redundancy]:
    """Mutual information of every binned column with the target, and of one with all; where the
    bins depend on the output, redundancy too is the mean over outputs."""
    n, d = table.shape
    outputs = as_labels(table, n_bins)
    n_codings = len(outputs) if n_bins == "mdlp" else 1
    needed = float(tables.CODE().itemsize) * n_codings * d * n
    check_memory(needed, table.X, "mrmr", "take criterion='fcq', which codes nothing")
    coded = np.empty((n_codings, d, n), dtype=tables.CODE)
    for columns, parts in coded_blocks(table, n_bins, outputs[:n_codings]):
        coded[:, columns] = parts
    sizes = coded.max(axis=(1, 2)).astype(int) + 1
    compiled = worth_loading(k * n * d * n_codings)

    def information(number: int, other: np.ndarray, n_other: int) -> np.ndarray:
        number = min(number, n_codings - 1)
        return tables.mutual_information(
            coded[number], other, table.weights, sizes[number], n_other, compiled
        )

    def against(j: int) -> np.ndarray:
        codes = enumerate(coded[:, j].astype(np.intp))
        return np.mean([information(c, other, sizes[c]) for c, other in codes], axis=0)

    relevance = [information(c, o.values, o.n_classes) for c, o in enumerate(outputs)]
    return np.where(table.varying, np.mean(relevance, axis=0), 0.0), against
