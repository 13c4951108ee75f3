r"""FSV: feature selection concave (Bradley & Mangasarian 1998), by successive linear programs.

min over w, b of  (1 - lam) * (mean slack of the one class + mean slack of the other)
                  + lam * sum_j (1 - exp(-alpha |w_j|))
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ..inputs import check_number
from .base import check_count, check_table
from .margins import one_vs_rest, standardised

FLATTEST = 1e-5  # smallest slope of a tangent


def fsv(X, y, *, lam=0.05, alpha=5.0, max_iter=50, sample_weight=None) -> np.ndarray:
    """Scores ``|w_j|`` of the classifier that FSV ends with; most of them are zero.

    The concave sum is replaced by its tangent at the last w, the linear program is solved (HiGHS),
    and so on until the objective falls no more, which happens after few programs. With
    ``w = p - q``, p and q >= 0, a program has one constraint per sample.

    Parameters
    ----------
    X : array, sparse matrix or data frame, (n_samples, n_features); scaled to unit variance
    y : class labels, or a 0/1 label-indicator matrix
        More than two classes: one-vs-rest, scores are averaged.
    lam : float in [0, 1)
        Weight of the features against the errors; larger keeps fewer.
    alpha : float > 0
        How sharply the exponential approximates the step function.
    max_iter : int
        Linear programs at most.
    sample_weight : array, optional; a weight of 2 is a row that is there twice
    """
    check_number("lam", lam, 0.0, 1.0)
    if lam == 1.0:
        raise ValueError("Expected lam below 1, got lam=1: the errors would not count.")
    check_number("alpha", alpha, 0.0, np.inf, low_open=True)
    check_count("max_iter", max_iter, 1, None)
    table = check_table(X, y, "classification", sample_weight)
    columns = np.flatnonzero(table.varying)
    block = standardised(table, columns)
    scores = np.zeros(table.shape[1])
    machines = [
        _Machine(block, signs, table.weights, lam, alpha)
        for output in table.outputs
        for signs in one_vs_rest(output)
    ]
    scores[columns] = np.mean([np.abs(machine.solved(max_iter)) for machine in machines], axis=0)
    return scores


class _Machine:
    """One two-class problem: the fixed parts of its linear programs."""

    def __init__(self, X: np.ndarray, y: np.ndarray, weights, lam: float, alpha: float):
        self.lam, self.alpha = lam, alpha
        n, self.d = X.shape
        of_class = np.where(y > 0, weights[y > 0].sum(), weights[y < 0].sum())
        self.slack_costs = (1 - lam) * weights / of_class
        signed = y[:, None] * X
        self.matrix = sparse.csc_array(np.hstack([-signed, signed, -y[:, None], -np.eye(n)]))
        self.bounds = np.tile([0.0, np.inf], (2 * self.d + 1 + n, 1))
        self.bounds[2 * self.d] = -np.inf, np.inf

    def solved(self, max_iter: int) -> np.ndarray:
        """w after the successive programs."""
        w, reached = np.zeros(self.d), np.inf
        for _ in range(max_iter):
            slopes = np.maximum(np.exp(-self.alpha * np.abs(w)), FLATTEST)
            new, errors = self._program(slopes)
            value = errors + self.lam * float(np.sum(1 - np.exp(-self.alpha * np.abs(new))))
            if value >= reached - 1e-9 * abs(value):
                break
            w, reached = new, value
        return w

    def _program(self, slopes: np.ndarray) -> tuple[np.ndarray, float]:
        """In units of lam * alpha, so that no cost is below what HiGHS takes for zero."""
        unit = self.lam * self.alpha or 1.0
        feature_costs = self.lam * self.alpha / unit * slopes
        costs = np.concatenate([feature_costs, feature_costs, [0.0], self.slack_costs / unit])
        n = self.slack_costs.size
        for method in ("highs", "highs-ipm"):
            found = linprog(
                costs, A_ub=self.matrix, b_ub=-np.ones(n), bounds=self.bounds, method=method
            )
            if found.x is not None:
                break
        else:
            raise RuntimeError(f"HiGHS did not solve a linear program of FSV: {found.message}")
        errors = float(self.slack_costs @ found.x[2 * self.d + 1 :])
        return found.x[: self.d] - found.x[self.d : 2 * self.d], errors
