r"""ReliefF and RReliefF: does a feature differ between near samples of different classes?

    W_j = 1/m sum_i w_i ( sum_{c != y_i} P(c) / (1 - P(y_i)) mean_{k nearest of class c} diff_j
                          - mean_{k nearest of class y_i} diff_j )

Distances are sums of the same differences. They are computed for a chunk of rows at a time, so that
memory is one dense copy of X plus chunk x n numbers; all outputs of y share them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from ..inputs import check_number
from ..numerics import differences
from ..numerics.threads import one_blas_thread
from .base import Output, Table, check_choice, check_count, check_table, logger
from .columns import Columns, discrete_columns

CHUNK_BYTES = 4 << 20  # of distances held at a time, per thread
LEAST_ROWS = 16
RESOLUTION = 1e-9  # of a range: distances closer than this tie; rounding must not choose neighbours


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
    """
    check_choice("metric", metric, ("manhattan", "euclidean"))
    check_choice("scaling", scaling, ("range", "none"))
    check_choice("priors", priors, ("empirical", "uniform", "inverse"))
    table = check_table(X, y, task, sample_weight)
    n = table.shape[0]
    k = check_count("n_neighbors", n_neighbors, 1, None)
    influence = _influence(k, sigma)
    if n_samples is not None:
        n_samples = check_count("n_samples", n_samples, 1, n, " (the rows of X)")
    rows = _sampled_rows(n, n_samples, random_state)
    columns = Columns(table, discrete_columns(table, discrete_features), scaling)
    compiled = differences.worth_compiling(rows.size * n * table.shape[1])
    worker = _Worker(table, columns, influence, metric, priors, compiled)
    size = max(LEAST_ROWS, CHUNK_BYTES // (8 * n))
    chunks = [rows[start : start + size] for start in range(0, rows.size, size)]
    logger.info("relieff: %d rows in %d chunks", rows.size, len(chunks))
    with one_blas_thread():  # chunks are what runs in parallel
        parts = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(worker)(c) for c in chunks)
    return worker.scores(np.sum(parts, axis=0), table.weights[rows].sum())


def _influence(k: int, sigma) -> np.ndarray:
    """Summed influence of the first 0, 1, …, k neighbours."""
    if sigma is None:
        return np.arange(k + 1.0)
    sigma = check_number("sigma", sigma, 0.0, np.inf, low_open=True)
    return np.concatenate([[0.0], np.cumsum(np.exp(-((np.arange(1, k + 1) / sigma) ** 2)))])


def _sampled_rows(n: int, n_samples: int | None, random_state) -> np.ndarray:
    if n_samples is None:
        return np.arange(n)
    return np.sort(check_random_state(random_state).permutation(n)[:n_samples])


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
        """Per output two sums over pairs (weight a, weight b) for every column; in the last place
        the sum of the weights b."""
        D = self._distances(rows)
        D[np.arange(rows.size), rows] = np.inf  # nobody is its own neighbour
        pairs = [pair for output in self.table.outputs for pair in self._pairs(D, rows, output)]
        out = np.zeros((len(pairs), self.table.shape[1] + 1))
        for columns, block, discrete in self.columns:
            for line, (partners, weights) in zip(out, pairs, strict=True):
                line[columns] = differences.weighted_differences(
                    block, rows, partners, weights, discrete, self.compiled
                )
        out[:, -1] = [weights.sum() for _, weights in pairs]
        return out

    def _distances(self, rows: np.ndarray) -> np.ndarray:
        D = np.zeros((rows.size, self.table.shape[0]))
        unit = RESOLUTION * self.columns.unit ** (1 if self.metric == "manhattan" else 2)
        for _, block, discrete in self.columns:
            if discrete or self.metric == "manhattan":
                differences.add_distances(block, rows, D, discrete, self.compiled)
            else:
                squares = np.einsum("ij,ij->i", block, block)
                D += squares[rows, None] + squares - 2.0 * (block[rows] @ block.T)
        D /= unit
        return np.rint(D, out=D)

    def _pairs(self, D: np.ndarray, rows: np.ndarray, output: Output):
        if output.n_classes:
            return self._class_pairs(D, rows, output)
        return self._near_pairs(D, rows, output)

    def _class_pairs(self, D: np.ndarray, rows: np.ndarray, output: Output):
        shares = output.class_weights(self.table.weights) / self.table.weights.sum()
        own = output.values[rows]
        partners, weights = [], []
        for c in range(output.n_classes):
            members = np.flatnonzero(output.values == c)
            near, share = self._neighbours(D, rows, members, own == c)
            factor = np.where(own == c, -1.0, self._prior(shares, c, own))
            partners.append(near)
            weights.append(share * (factor * self.table.weights[rows])[:, None])
        return [(np.hstack(partners), np.hstack(weights))]

    def _prior(self, shares: np.ndarray, c: int, own: np.ndarray) -> np.ndarray:
        if self.priors == "uniform":
            return np.full(own.size, 1.0 / (shares.size - 1))
        prior = shares[c] / (1.0 - shares[own])
        return 1.0 / prior if self.priors == "inverse" else prior

    def _near_pairs(self, D: np.ndarray, rows: np.ndarray, output: Output):
        everyone = np.arange(self.table.shape[0])
        near, share = self._neighbours(D, rows, everyone, np.ones(rows.size, dtype=bool))
        a = share * self.table.weights[rows][:, None]
        change = np.abs(output.values[rows][:, None] - output.values[near])
        return [(near, a), (near, a * change / np.ptp(output.values))]

    def _neighbours(self, D, rows, members, inside) -> tuple[np.ndarray, np.ndarray]:
        """The nearest members of every row and the share of each among k neighbours.

        A sample of weight w stands for w equal samples: it takes w places among the k, and where
        the row itself is a member, its own w - 1 copies come first (with no difference).
        """
        w, k = self.table.weights, self.influence.size - 1
        needed = int(np.ceil(k / min(1.0, w[members].min())))
        near = differences.nearest(D, members, min(needed, members.size), self.compiled)
        places = np.where(np.isinf(np.take_along_axis(D, near, axis=1)), 0.0, w[near])
        copies = np.where(inside, np.maximum(w[rows] - 1.0, 0.0), 0.0)[:, None]
        last = copies + np.cumsum(places, axis=1)
        summed = np.interp(np.hstack([copies, last]), np.arange(k + 1.0), self.influence)
        total = summed[:, -1:]
        share = np.diff(summed, axis=1)
        return near, np.divide(share, total, out=share, where=total > 0)

    def scores(self, sums: np.ndarray, m: float) -> np.ndarray:
        """The mean over outputs, from the sums over all chunks and the weight of the rows."""
        out, line = [], 0
        for output in self.table.outputs:
            if output.n_classes:
                out.append(sums[line, :-1] / m)
                line += 1
            else:
                out.append(_regression_scores(sums[line : line + 2], m))
                line += 2
        return np.mean(out, axis=0)


def _regression_scores(sums: np.ndarray, m: float) -> np.ndarray:
    """RReliefF from the sums of ``d diff_j`` (a) and ``d diff_y diff_j`` (b)."""
    (a, b), different = sums[:, :-1], sums[1, -1]
    same = m - different
    score = b / different if different > 0 else np.zeros_like(b)
    return score - ((a - b) / same if same > 0 else 0.0)
