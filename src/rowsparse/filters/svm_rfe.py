r"""SVM-RFE: fit a linear SVM, drop the features of smallest squared weight, repeat.

Each fit is the standard SVM with an unpenalised bias, on standardised columns. Where X is sparse or
has more columns than rows the SVM sees the n x n matrix of inner products of the remaining columns;
the weights are recovered from its dual coefficients, and X is neither centred nor made dense.
"""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from ..inputs import check_feature_weights, check_memory, check_number, is_integer
from ..numerics.svm.machine import Machine
from ..numerics.svm.solve import MOVES
from ..numerics.threads import one_blas_thread
from ..warn import say_fewer_than
from .base import FIRST_FEWER, Output, Table, check_how_many, check_table, favour, logger


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
    k = check_how_many(n_features_to_select, table)
    check_number("C", C, 0.0, np.inf, low_open=True)
    _check_step(step)
    factors = check_feature_weights(feature_weights, d, None)
    if factors is None:
        factors = np.ones(d)
    machine = _Machine(table, float(C))
    active = np.flatnonzero(table.varying & np.isfinite(factors))
    if active.size < k:
        say_fewer_than(k, active.size)
    scores = np.zeros(d)
    rounds = 0
    while True:
        squares = machine.squared_weights(active)
        share = squares / (squares.sum() or 1.0)
        scores[active] = rounds + (1 - 1e-9) * share  # a whole share is still less than a round
        order = active[np.argsort(-favour(squares, factors[active]), kind="stable")]
        if active.size <= k:
            return order, scores
        n_dropped = int(step) if step >= 1 else max(1, int(step * active.size))
        active = np.sort(order[: max(k, active.size - n_dropped)])
        rounds += 1
        logger.debug("svm_rfe: round %d leaves %d features", rounds, active.size)


def _check_step(step) -> None:
    if not ((is_integer(step) and step >= 1) or (isinstance(step, float) and 0 < step < 1)):
        raise ValueError(
            f"Expected step as a fraction between 0 and 1 or an integer >= 1, got step={step!r}."
        )


class _Machine:
    """The SVM of some columns, and the squared weights it gives them."""

    def __init__(self, table: Table, C: float):
        self.table = table
        self.C = C
        self.design = table.standardized()
        n, d = table.shape
        self.by_samples = sparse.issparse(table.X) or d > n
        needed = 8.0 * n * (2 * n if self.by_samples else d)  # libsvm copies what it is given
        check_memory(needed, table.X, "svm_rfe", FIRST_FEWER)
        self.overlapping: set[int] = set()  # outputs that take libsvm more than MOVES

    def squared_weights(self, columns: np.ndarray) -> np.ndarray:
        """Mean over outputs of the sum over pairs of classes."""
        if self.by_samples:
            used = np.zeros(self.table.shape[1])
            used[columns] = 1.0
            seen = self.design.outer(used)  # inner products: X is not made dense
        else:
            seen = self.design.take(columns)
        each = [self._of(number, columns, seen) for number in range(len(self.table.outputs))]
        return np.mean(each, axis=0)

    def _of(self, number: int, columns: np.ndarray, seen: np.ndarray) -> np.ndarray:
        output = self.table.outputs[number]
        if number not in self.overlapping:
            machine = self._fitted(output, seen)
            if self.by_samples:
                vectors = _dual_vectors(machine, output)
                return np.sum(self.design.rmatmul(vectors)[columns] ** 2, axis=1)
            if machine.fit_status_ == 0:
                return np.sum(machine.coef_**2, axis=0)
            # With fewer columns the classes overlap even more: not to be tried again.
            self.overlapping.add(number)
            logger.info("svm_rfe: classes overlap; an interior point replaces libsvm")
        return self._by_interior_point(output, seen)

    def _fitted(self, output: Output, seen: np.ndarray):
        from sklearn.svm import SVC, SVR

        weights = self.table.weights
        y = output.values
        kernel = "precomputed" if self.by_samples else "linear"
        # libsvm's own tolerance of 1e-3 leaves the weights too rough to be ranked.
        if output.n_classes:
            most = -1 if self.by_samples else MOVES
            machine = SVC(kernel=kernel, C=self.C, tol=1e-5, max_iter=most)
        else:
            machine = SVR(kernel=kernel, C=self.C, tol=1e-5)
            # of unit variance: C and epsilon are in the units of y
            y = y - np.average(y, weights=weights)
            y /= np.sqrt(weights @ y**2 / weights.sum())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # that MOVES were too few
            return machine.fit(seen, y, sample_weight=weights)

    def _by_interior_point(self, output: Output, seen: np.ndarray) -> np.ndarray:
        """libsvm's moves grow without bound where classes overlap; these steps do not."""
        squares = np.zeros(seen.shape[1])
        for pair in combinations(range(output.n_classes), 2):
            rows = np.isin(output.values, pair)
            B = seen[rows]
            signs = np.where(output.values[rows] == pair[0], 1.0, -1.0)
            costs = self.C * self.table.weights[rows]
            is_gram = len(B) <= B.shape[1]
            with one_blas_thread():  # threads would cost more than they give
                K = B @ B.T if is_gram else B
                machine = Machine(K, is_gram, np.ones((len(B), 1)), signs, costs)
                multipliers = machine.interior_point().a
            squares += (B.T @ (signs * multipliers)) ** 2
        return squares


def _dual_vectors(machine, output: Output) -> np.ndarray:
    """One column of dual coefficients (n) per pair of classes.

    libsvm keeps, for the support vectors of class i, their coefficients against the other classes
    in n_classes - 1 rows; those of two classes, or of a regression, are one row.
    """
    y = output.values
    whole = np.zeros((len(machine.dual_coef_), len(y)))
    whole[:, machine.support_] = machine.dual_coef_
    if len(whole) == 1:
        return whole.T
    vectors = []
    for i, j in combinations(range(output.n_classes), 2):
        of_j = np.where(y == j, whole[i], 0.0)
        vectors.append(np.where(y == i, whole[j - 1], of_j))
    return np.column_stack(vectors)
