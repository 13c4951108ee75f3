r"""SVM-RFE: fit a linear SVM, drop the features of smallest squared weight, repeat.

Each fit is the standard SVM with an unpenalised bias, on standardised columns. Where X is sparse or
has more columns than rows the SVM sees the n x n matrix of inner products of the remaining columns;
the weights are recovered from its dual coefficients, and X is neither centred nor made dense.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse

from ..designs import Design, Standardized, as_design
from ..inputs import check_feature_weights, check_number
from .base import Output, Table, check_count, check_table, favour, logger

TOLERANCE = 1e-5  # of libsvm: weights must be exact enough to be ranked


def svm_rfe(
    X,
    y,
    n_features_to_select,
    *,
    step=0.1,
    C=1.0,
    task="auto",
    sample_weight=None,
    feature_weights=None,
) -> tuple[np.ndarray, np.ndarray]:
    """Recursive feature elimination with a linear SVM (Guyon, Weston, Barnhill & Vapnik 2002).

    Parameters
    ----------
    X : array, sparse matrix or data frame, (n_samples, n_features)
    y : labels, a 0/1 label-indicator matrix, or numbers
        More than two classes: one SVM per pair of classes, squared weights added. Several labels
        or outputs: squared weights averaged in every round. Numbers: epsilon-SVR on standardised y.
    n_features_to_select : int
    step : float in (0, 1) or int >= 1
        Fraction of the remaining features (at least one), or number, dropped per round.
    C : float > 0
    task : {"auto", "classification", "regression"}
    sample_weight : array, optional; a weight of 2 is a row that is there twice
    feature_weights : array, optional
        0: never dropped; infinity: dropped before the first round; otherwise the squared weight
        is divided by it.

    Returns
    -------
    order : array (n_features_to_select,), best first by squared weight in the last fit
    scores : array (n_features,): the rounds a feature survived plus its share of the squared
        weights in its last fit; 0 for constant and excluded columns
    """
    table = check_table(X, y, task, sample_weight)
    d = table.shape[1]
    k = check_count("n_features_to_select", n_features_to_select, 1, d, " (the columns of X)")
    check_number("C", C, 0.0, np.inf, low_open=True)
    _check_step(step)
    factors = check_feature_weights(feature_weights, d, None)
    factors = np.ones(d) if factors is None else factors
    machine = _Machine(table, float(C))
    active = np.flatnonzero(table.varying & np.isfinite(factors))
    scores, rounds = np.zeros(d), 0
    if active.size < k:
        warnings.warn(
            f"Expected {k} features, got {active.size}: the other columns of X are constant or "
            "excluded.",
            stacklevel=2,
        )
    while True:
        squares = machine.squared_weights(active)
        total = squares.sum()
        share = squares / total if total > 0 else np.zeros(active.size)
        scores[active] = rounds + (1 - 1e-9) * share  # a whole share is still less than a round
        order = active[np.argsort(-favour(squares, factors[active]), kind="stable")]
        if active.size <= k:
            return order, scores
        active = np.sort(order[: max(k, active.size - _n_dropped(step, active.size))])
        rounds += 1
        logger.debug("svm_rfe: round %d leaves %d features", rounds, active.size)


def _check_step(step) -> None:
    whole = isinstance(step, int | np.integer) and not isinstance(step, bool)
    if not ((whole and step >= 1) or (isinstance(step, float) and 0 < step < 1)):
        raise ValueError(
            f"Expected step as a fraction between 0 and 1 or an integer >= 1, got step={step!r}."
        )


def _n_dropped(step, n_active: int) -> int:
    return int(step) if step >= 1 else max(1, int(step * n_active))


class _Machine:
    """The SVM of some columns, and the squared weights it gives them."""

    def __init__(self, table: Table, C: float):
        w, n = table.weights, table.weights.sum()
        design = as_design(table.X.astype(float) if sparse.issparse(table.X) else table.X)
        means = _means(table)
        scales = np.sqrt(design.squares(w, means) / n)
        self.design = Standardized(design, means, np.where(table.varying, scales, 1.0))
        self.table, self.C = table, C
        self.by_samples = sparse.issparse(table.X) or table.shape[1] > table.shape[0]

    def squared_weights(self, columns: np.ndarray) -> np.ndarray:
        """Mean over outputs of the sum over pairs of classes."""
        block = kernel = None
        if self.by_samples:
            kernel = _gram(self.design, columns)
        else:
            block = self.design.take(columns)
        per_output = [self._output(output, columns, block, kernel) for output in self.table.outputs]
        return np.mean(per_output, axis=0)

    def _output(self, output: Output, columns, block, kernel) -> np.ndarray:
        machine, y = self._machine(output, "linear" if kernel is None else "precomputed")
        weights = self.table.weights if self.table.weighted else None
        machine.fit(block if kernel is None else kernel, y, sample_weight=weights)
        if kernel is None:
            return np.sum(machine.coef_**2, axis=0)
        vectors = _dual_vectors(machine, len(y), output.n_classes)
        return np.sum(self.design.rmatmul(vectors)[columns] ** 2, axis=1)

    def _machine(self, output: Output, kernel: str):
        from sklearn.svm import SVC, SVR

        if output.n_classes:
            return SVC(kernel=kernel, C=self.C, tol=TOLERANCE), output.values
        w = self.table.weights
        y = output.values - np.average(output.values, weights=w)
        return SVR(kernel=kernel, C=self.C, tol=TOLERANCE), y / np.sqrt(w @ y**2 / w.sum())


def _means(table: Table) -> np.ndarray:
    w = table.weights
    if sparse.issparse(table.X):
        return as_design(table.X.astype(float)).means(w)
    return np.average(table.X, axis=0, weights=w)


def _gram(design: Design, columns: np.ndarray) -> np.ndarray:
    """Inner products of the samples over some columns (n x n)."""
    used = np.zeros(design.shape[1])
    used[columns] = 1.0
    return design.outer(used)


def _dual_vectors(machine, n: int, n_classes: int) -> np.ndarray:
    """One column of dual coefficients (n) per pair of classes; libsvm keeps, for the support
    vectors of class i, their coefficients against the other classes in n_classes - 1 rows."""
    if n_classes <= 2:
        single = np.zeros((n, 1))
        single[machine.support_, 0] = machine.dual_coef_[0]
        return single
    ends = np.cumsum(machine.n_support_)
    parts = [slice(end - size, end) for end, size in zip(ends, machine.n_support_, strict=True)]
    vectors = []
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            vector = np.zeros(n)
            vector[machine.support_[parts[i]]] = machine.dual_coef_[j - 1, parts[i]]
            vector[machine.support_[parts[j]]] = machine.dual_coef_[i, parts[j]]
            vectors.append(vector)
    return np.column_stack(vectors)
