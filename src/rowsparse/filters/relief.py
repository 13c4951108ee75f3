r"""ReliefF and RReliefF: does a feature differ between near samples of different classes?

    W_j = 1/m sum_i w_i ( sum_{c != y_i} P(c) / (1 - P(y_i)) mean_{k nearest of class c} diff_j
                          - mean_{k nearest of class y_i} diff_j )

Distances are sums of the same differences. They are computed for a chunk of rows at a time, so that
memory is one dense copy of X plus chunk x n numbers; all outputs of y share them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.utils import check_random_state

from ..inputs import check_integer, check_number
from ..numerics import differences
from ..numerics.compiling import worth_loading
from ..numerics.memory import CACHE_BYTES
from ..numerics.rounding import HALF_THE_DIGITS
from ..numerics.threads import one_blas_thread
from .base import (
    Output,
    Table,
    blocks,
    check_choice,
    check_table,
    column_ranges,
    dense_block,
    logger,
)

FEW_VALUES = 10  # at most so many distinct values, on average three times each: discrete
IN_A_MINUTE = 1.2e11  # differences: 2,000 x 2,000, dense, took 3.9 s of CPU time
# Columns: eight rows of them, which pass together, fit the cache. 128 to 2048 take the same time,
# all columns at once (200 x 10,000) a third more.
BLOCK_WIDTH = 512

Pairs = tuple[np.ndarray, np.ndarray]  # neighbours of every row of a chunk, and what each counts


def relieff(
    X,
    y,
    *,
    n_neighbors=10,
    n_samples=None,
    metric="manhattan",
    scaling="range",
    priors="empirical",
    sigma=None,
    discrete_features="auto",
    task="auto",
    sample_weight=None,
    random_state=None,
    n_jobs=None,
) -> np.ndarray:
    """ReliefF for labels (Kononenko 1994), RReliefF for numbers (Robnik-Sikonja & Kononenko 1997).

    ``diff`` is ``|a - b| / range`` for a numeric feature and ``a != b`` for a discrete one.

    Parameters
    ----------
    X : array, sparse matrix or data frame, (n_samples, n_features)
        Sparse X is made dense 512 columns at a time.
    y : labels, a 0/1 label-indicator matrix (mean over labels), or numbers
    n_neighbors : int
        Nearest hits, and nearest misses of every other class; fewer where a class has fewer.
    n_samples : int, optional
        Sum over so many random rows only (``random_state``); their neighbours come from all rows.
    metric : {"manhattan", "euclidean"}
        How neighbours are found. The sum of differences is the papers' choice; "euclidean" goes
        through BLAS, for about 40 % of the time.
    scaling : {"range", "none"}
        "none": ``|a - b|`` as it is, in the units of the data, as scikit-feature does.
    priors : {"empirical", "uniform", "inverse"}
        Weight of the misses of class c: P(c) / (1 - P(y_i)) as in the paper; equal for all classes
        as in skrebate; or its inverse (1 - P(y_i)) / P(c), which is what scikit-feature computes.
    sigma : float, optional
        The r-th neighbour counts ``exp(-(r / sigma)**2)``; None: all count the same.
    discrete_features : "auto", None, boolean mask or indices
        "auto": columns with at most ten distinct values, each on average three times; None: none.
    task : {"auto", "classification", "regression"}
    sample_weight : array, optional; a weight of 2 is a row that is there twice
    random_state : int or RandomState, for ``n_samples``
    n_jobs : int, optional; threads over chunks of rows

    Returns
    -------
    scores : array (n_features,), larger is better, usually between -1 and 1 ("range")

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse.filters import relieff
    >>> scores = relieff(X, y)
    >>> scores.argsort()[::-1][:3].tolist()
    [11, 6, 12]
    """
    check_choice("metric", metric, ("manhattan", "euclidean"))
    check_choice("scaling", scaling, ("range", "none"))
    check_choice("priors", priors, ("empirical", "uniform", "inverse"))
    k = check_integer("n_neighbors", n_neighbors, 1)
    influence = _influence(k, sigma)
    table = check_table(X, y, task, sample_weight)
    n, d = table.shape
    rows = np.arange(n)
    if n_samples is not None:
        check_integer("n_samples", n_samples, 1, n, "the rows of X")
        rows = np.sort(check_random_state(random_state).permutation(n)[:n_samples])
    columns = Columns(table, discrete_columns(table, discrete_features), scaling)
    compiled = worth_loading(rows.size * n * d)
    worker = _Worker(table, columns, influence, metric, priors, compiled)
    size = max(16, CACHE_BYTES // (8 * n))  # distances of so many rows are held, per thread
    chunks = [rows[start : start + size] for start in range(0, rows.size, size)]
    logger.info("relieff: %d rows in %d chunks", rows.size, len(chunks))
    minutes = rows.size * n * d / IN_A_MINUTE
    if minutes > 1:
        few = int(rows.size / minutes) + 1
        logger.warning(
            "relieff may take %.0f s; n_samples=%d would take a minute", 60 * minutes, few
        )
    with one_blas_thread():  # chunks are what runs in parallel
        parts = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(worker)(c) for c in chunks)
    return worker.scores(np.sum(parts, axis=0), table.weights[rows].sum())


def _influence(k: int, sigma) -> np.ndarray:
    """Summed influence of the first 0, 1, …, k neighbours."""
    if sigma is None:
        return np.arange(k + 1.0)
    sigma = check_number("sigma", sigma, 0.0, np.inf, low_open=True)
    each = np.exp(-((np.arange(1, k + 1) / sigma) ** 2))
    return np.concatenate([[0.0], np.cumsum(each)])


def discrete_columns(table: Table, discrete_features) -> np.ndarray:
    """Which columns are discrete, as a mask."""
    d = table.shape[1]
    mask = np.zeros(d, dtype=bool)
    if isinstance(discrete_features, str):
        check_choice("discrete_features", discrete_features, ("auto",))
        return _few_values(table)
    given = np.asarray([] if discrete_features is None else discrete_features)
    if given.size == 0:
        return mask
    is_mask = given.dtype == bool and given.shape == (d,)
    if not is_mask and not (given.dtype.kind in "iu" and given.ndim == 1):
        raise ValueError(
            "Expected discrete_features as 'auto', None, a mask with one entry per column of X "
            f"({d}) or column numbers, got {discrete_features!r:.60}."
        )
    outside = given[(given < -d) | (given >= d)]
    if not is_mask and outside.size:
        raise ValueError(
            f"Expected column numbers from {-d} to {d - 1} in discrete_features, got {outside[0]}."
        )
    mask[given] = True
    return mask


def _few_values(table: Table) -> np.ndarray:
    most = min(FEW_VALUES, int(table.weights.sum()) // 3)
    mask = np.zeros(table.shape[1], dtype=bool)
    for columns, start in blocks(table.X[:64]):  # enough to rule out nearly all numeric columns
        mask[columns] = _distinct(start) <= most
    suspects = np.flatnonzero(mask)
    for part, block in blocks(table.X[:, suspects]):
        mask[suspects[part]] = _distinct(block) <= most
    return mask


def _distinct(block: np.ndarray) -> np.ndarray:
    """Number of distinct values in every column; the block is sorted in place."""
    block.sort(axis=0)
    return 1 + np.count_nonzero(block[1:] != block[:-1], axis=0)


class Columns:
    """The columns as differences see them: numbers divided by their range, discrete ones as they
    are, in contiguous blocks. Dense X is copied once; sparse X is made dense block by block."""

    def __init__(self, table: Table, discrete: np.ndarray, scaling: str):
        self.X = table.X
        self.low, high = column_ranges(table.X)
        span = np.where(discrete | ~table.varying, 1.0, high - self.low)
        self.scale = span if scaling == "range" else np.ones_like(span)
        self.unit = np.mean(span / self.scale)  # of a difference: 1, or the mean range
        self.parts: list[tuple[np.ndarray, bool]] = []
        for kind in (False, True):
            # Constant columns are left out: they make no difference.
            used = np.flatnonzero((discrete == kind) & table.varying)
            for start in range(0, used.size, BLOCK_WIDTH):
                self.parts.append((used[start : start + BLOCK_WIDTH], kind))
        self.kept: list[np.ndarray] = []
        if not sparse.issparse(table.X):
            self.kept = [self._block(columns) for columns, _ in self.parts]

    def _block(self, columns: np.ndarray) -> np.ndarray:
        block = dense_block(self.X, columns)
        block -= self.low[columns]
        block /= self.scale[columns]
        return block

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray, bool]]:
        """Column numbers, their block, and whether it is discrete."""
        for number, (columns, discrete) in enumerate(self.parts):
            block = self.kept[number] if self.kept else self._block(columns)
            yield columns, block, discrete


@dataclass(frozen=True)
class _Worker:
    """Handles one chunk of rows: distances, neighbours, sums of differences."""

    table: Table
    columns: Columns
    influence: np.ndarray
    metric: str
    priors: str
    compiled: bool

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Sums of differences for every column, and in the last place how much they count; one
        line for an output of classes, two for numbers."""
        D = self._distances(rows)
        D[np.arange(rows.size), rows] = np.inf  # nobody is its own neighbour
        pairs: list[Pairs] = []
        for output in self.table.outputs:
            find = self._class_pairs if output.n_classes else self._near_pairs
            pairs += find(D, rows, output)
        sums = np.zeros((len(pairs), self.table.shape[1] + 1))
        for columns, block, discrete in self.columns:
            for line, (partners, counts) in zip(sums, pairs, strict=True):
                line[columns] = differences.weighted_differences(
                    block, rows, partners, counts, discrete, self.compiled
                )
        sums[:, -1] = [counts.sum() for _, counts in pairs]
        return sums

    def _distances(self, rows: np.ndarray) -> np.ndarray:
        D = np.zeros((rows.size, self.table.shape[0]))
        manhattan = self.metric == "manhattan"
        for _, block, discrete in self.columns:
            if discrete or manhattan:
                # discrete columns differ by 0 or 1, which is its own square
                differences.add_distances(block, rows, D, discrete, self.compiled)
            else:
                squares = np.einsum("ij,ij->i", block, block)
                D += squares[rows, None] + squares - 2.0 * (block[rows] @ block.T)
        unit = self.columns.unit if manhattan else self.columns.unit**2
        # in whole steps: distances that differ by rounding alone are equal, and ties go by position
        D /= HALF_THE_DIGITS * unit
        return np.rint(D, out=D)

    def _class_pairs(self, D: np.ndarray, rows: np.ndarray, output: Output) -> list[Pairs]:
        """Hits count minus one, the misses of every other class together its prior."""
        class_weights = output.class_weights(self.table.weights)
        shares = class_weights / class_weights.sum()
        own = output.values[rows]
        partners = []
        counts = []
        for c in range(output.n_classes):
            members = np.flatnonzero(output.values == c)
            near, share = self._neighbours(D, rows, members)
            factor = np.where(own == c, -1.0, self._prior(shares, c, own))
            partners.append(near)
            counts.append(share * (factor * self.table.weights[rows])[:, None])
        return [(np.hstack(partners), np.hstack(counts))]

    def _prior(self, shares: np.ndarray, c: int, own: np.ndarray) -> np.ndarray:
        if self.priors == "uniform":
            return np.full(own.size, 1.0 / (shares.size - 1))
        prior = shares[c] / (1.0 - shares[own])
        return 1.0 / prior if self.priors == "inverse" else prior

    def _near_pairs(self, D: np.ndarray, rows: np.ndarray, output: Output) -> list[Pairs]:
        """The nearest of all samples, and again with the difference in y as a factor."""
        y = output.values
        near, share = self._neighbours(D, rows, np.arange(y.size))
        counts = share * self.table.weights[rows][:, None]
        change = np.abs(y[rows][:, None] - y[near]) / np.ptp(y)
        return [(near, counts), (near, counts * change)]

    def _neighbours(self, D, rows, members) -> Pairs:
        """The nearest members of every row and the share of each among k neighbours.

        A sample of weight w stands for w equal samples: it takes w places among the k, and where
        the row itself is a member, its own w - 1 copies come first (with no difference).
        """
        w = self.table.weights
        k = self.influence.size - 1
        needed = int(np.ceil(k / min(1.0, w[members].min())))  # light samples fill few places
        near = differences.nearest(D, members, min(needed, members.size), self.compiled)
        distances = np.take_along_axis(D, near, axis=1)
        places = np.where(np.isinf(distances), 0.0, w[near])  # a row is infinitely far from itself
        own_copies = np.maximum(w[rows] - 1.0, 0.0)
        before = np.where(np.isin(rows, members), own_copies, 0.0)[:, None]
        ends = np.hstack([before, before + np.cumsum(places, axis=1)])
        summed = np.interp(ends, np.arange(k + 1.0), self.influence)
        total = summed[:, -1:]
        share = np.diff(summed, axis=1)
        return near, np.divide(share, total, out=share, where=total > 0)

    def scores(self, sums: np.ndarray, m: float) -> np.ndarray:
        """The mean over outputs, from the sums over all chunks and the weight of the rows; for
        numbers from the sums of ``d diff_j`` and of ``d diff_y diff_j``."""
        if self.table.outputs[0].n_classes:
            return np.mean(sums[:, :-1], axis=0) / m
        found = []
        for near, changed in zip(sums[::2], sums[1::2], strict=True):
            different = changed[-1]
            same = m - different
            score = np.zeros(near.size - 1)
            # One of the two sides is empty where all neighbours agree in y, or none does.
            if different > 0:
                score += changed[:-1] / different
            if same > 0:
                score -= (near - changed)[:-1] / same
            found.append(score)
        return np.mean(found, axis=0)
