r"""Fisher score and F statistic: how much of a feature's variance the target explains.

With T the sum of squares of a feature about its mean and E the part that the target explains,

    labels    E = sum_c n_c (mean_c - mean)**2
    numbers   E = (sum_i (x_i - mean)(y_i - ymean))**2 / sum_i (y_i - ymean)**2
    Fisher    E / (T - E)
    F         E / (T - E) * (n - g) / (g - 1)        g classes; g = 2 for numbers
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..designs.moments import dense_parts
from ..numerics.threads import one_blas_thread
from .base import Output, Table, blocks, check_table


def fisher_score(X, y, *, task="auto", sample_weight=None) -> np.ndarray:
    """Between-class over within-class variance of every feature (Duda & Hart 1973).

    ``sum_c n_c (mean_jc - mean_j)**2 / sum_c n_c var_jc``. For numbers in y: explained over
    residual variance of the simple regression, r**2 / (1 - r**2). Sparse X stays sparse.

    Parameters
    ----------
    X : array, sparse matrix or data frame, (n_samples, n_features)
    y : labels, a 0/1 label-indicator matrix (mean over labels), or numbers
    task : {"auto", "classification", "regression"}
    sample_weight : array, optional; a weight of 2 is a row that is there twice

    Returns
    -------
    scores : array (n_features,), larger is better; 0 for a constant column. A perfect feature,
        whose ratio is infinite, gets a finite score of about 4.5e15.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse.filters import fisher_score
    >>> scores = fisher_score(X, y)
    >>> scores.argsort()[::-1][:3].tolist()
    [6, 12, 11]
    """
    table = check_table(X, y, task, sample_weight, blocks=True)
    return np.mean([ratio for ratio, _ in _ratios(table)], axis=0)


def f_score(X, y, *, task="auto", sample_weight=None) -> np.ndarray:
    """F statistic of every feature, as scikit-learn's ``f_classif`` and ``f_regression``.

    ``(n - g) / (g - 1)`` times the Fisher score, for g classes (g = 2 for numbers): the same
    order within one output, but labels and outputs are averaged in this scale.

    Parameters
    ----------
    X, y, task, sample_weight : as in `fisher_score`

    Returns
    -------
    scores : array (n_features,), larger is better

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse.filters import f_score
    >>> scores = f_score(X, y)
    >>> scores.argsort()[::-1][:3].tolist()
    [6, 12, 11]
    """
    return f_of_table(check_table(X, y, task, sample_weight, blocks=True))


def f_of_table(table: Table) -> np.ndarray:
    """The F statistic of checked input, averaged over outputs."""
    n = table.weights.sum()
    statistics = []
    for ratio, g in _ratios(table):
        # weights may add up to less than the number of groups
        degrees = max(n - g, 0.0) / (g - 1)
        statistics.append(ratio * degrees)
    return np.mean(statistics, axis=0)


def _ratios(table: Table) -> list[tuple[np.ndarray, int]]:
    """For every output: explained over residual sum of squares, and the number of groups."""
    coded = [_coded(output, table.weights) for output in table.outputs]
    with one_blas_thread():  # small products: threads would cost more than they give
        products, total = _centred_products(table, np.hstack(coded))
    starts = np.cumsum([block.shape[1] for block in coded])[:-1]
    ratios = []
    for output, part in zip(table.outputs, np.split(products, starts, axis=1), strict=True):
        explained = np.sum(part**2, axis=1)
        # Nothing is explained better than rounding lets us see: the ratio stays finite.
        residual = np.maximum(total - explained, np.finfo(float).eps * total)
        ratio = np.divide(explained, residual, out=np.zeros_like(total), where=table.varying)
        ratios.append((ratio, output.n_classes or 2))
    return ratios


def _coded(output: Output, weights: np.ndarray) -> np.ndarray:
    """Columns whose squared products with a centred feature add up to E."""
    if output.n_classes:
        indicator = np.eye(output.n_classes)[output.values]
        coded = indicator / np.sqrt(output.class_weights(weights))
    else:
        centred = output.values - np.average(output.values, weights=weights)
        coded = (centred / np.sqrt(weights @ centred**2))[:, None]
    return weights[:, None] * coded


def _centred_products(table: Table, coded: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Products of the centred columns with the coded target, and their weighted squares."""
    w = table.weights
    d = table.shape[1]
    if table.in_blocks:
        means = table.X.means(w)
        products = table.X.total(_products_of_block, (means,), (coded,))
        return products, table.X.squares(w, means)
    if sparse.issparse(table.X):  # in units of the spread, which cancel in the ratio
        return table.standardized().rmatmul(coded), np.full(d, w.sum())
    products = np.empty((d, coded.shape[1]))
    total = np.empty(d)
    for columns, block in blocks(table.X):
        block -= w @ block / w.sum()
        products[columns] = block.T @ coded
        total[columns] = w @ np.square(block, out=block)
    return products, total


def _products_of_block(block, means: np.ndarray, coded: np.ndarray) -> np.ndarray:
    """Of the rows of one block, whose columns are centred at the means of all."""
    products = np.zeros((block.shape[1], coded.shape[1]))
    for rows, part in dense_parts(block, block.shape[1]):
        products += (part - means).T @ coded[rows]
    return products
