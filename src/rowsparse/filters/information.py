r"""Information gain: how much knowing the (binned) feature lowers the entropy of the target.

IG_j = H(y) - H(y | bin of x_j) = sum_{b,c} p_bc log(p_bc / (p_b p_c))       in nats
"""

from __future__ import annotations

import numpy as np

from ..numerics import tables
from .base import check_table
from .bins import as_labels, check_bins, coded_blocks


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
    """
    check_bins(n_bins)
    table = check_table(X, y, task, sample_weight)
    labels = [as_labels(output, n_bins, table) for output in table.outputs]
    compiled = table.shape[0] * table.shape[1] * len(labels) >= tables.COMPILED_FROM
    scores = np.zeros(table.shape[1])
    for columns, coded in coded_blocks(table, n_bins, labels):
        for codes, output in zip(coded, labels, strict=True):
            n_codes = int(codes.max()) + 1
            scores[columns] += tables.mutual_information(
                codes, output.values, table.weights, n_codes, output.n_classes, compiled
            )
    return np.where(table.varying, scores / len(labels), 0.0)
