r"""FSV: feature selection concave (Bradley & Mangasarian 1998), by successive linear programs.

min over w, b of  (1 - lam) * (mean slack of the one class + mean slack of the other)
                  + lam * sum_j (1 - exp(-alpha |w_j|))
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ..inputs import check_integer, check_memory, check_number
from .base import FIRST_FEWER, check_classes


def fsv(X, y, *, lam=0.05, alpha=5.0, max_iter=50, task="auto", sample_weight=None) -> np.ndarray:
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
    task : {"auto", "classification"}; numbers in y are refused
    sample_weight : array, optional; a weight of 2 is a row that is there twice
    """
    check_number("lam", lam, 0.0, 1.0)
    if lam == 1.0:
        raise ValueError("Expected lam below 1, got lam=1: the errors would not count.")
    check_number("alpha", alpha, 0.0, np.inf, low_open=True)
    check_integer("max_iter", max_iter, 1)
    table = check_classes(X, y, task, sample_weight, "fsv")
    columns = np.flatnonzero(table.varying)
    needed = 60.0 * len(table.weights) * columns.size  # twice in the program, twice in HiGHS
    check_memory(needed, table.X, "fsv", FIRST_FEWER)
    block = table.standardized().take(columns)
    found = []
    for output in table.outputs:
        for signs in output.signs():
            programs = _Programs(block, signs, table.weights, lam, alpha)
            found.append(np.abs(programs.solved(max_iter)))
    scores = np.zeros(table.shape[1])
    scores[columns] = np.mean(found, axis=0)
    return scores


class _Programs:
    """The linear programs of one two-class problem, in p, q, b and the slacks."""

    def __init__(self, X: np.ndarray, y: np.ndarray, weights, lam: float, alpha: float):
        n, d = X.shape
        self.d = d
        self.lam = lam
        self.alpha = alpha
        # means over the classes: a small one counts as much as a large one
        of_class = np.where(y > 0, weights[y > 0].sum(), weights[y < 0].sum())
        self.slack_costs = (1 - lam) * weights / of_class
        signed = sparse.csc_array(y[:, None] * X)
        signs = sparse.csc_array(y[:, None])
        # y_i (x_i'(p - q) + b) + slack_i >= 1, as HiGHS wants it: the negative is at most -1
        self.matrix = sparse.hstack([-signed, signed, -signs, -sparse.eye_array(n)], "csc")
        self.bounds = np.tile([0.0, np.inf], (2 * d + 1 + n, 1))
        self.bounds[2 * d] = -np.inf, np.inf  # b alone may be negative

    def solved(self, max_iter: int) -> np.ndarray:
        """w after the successive programs."""
        w = np.zeros(self.d)
        reached = np.inf
        for _ in range(max_iter):
            # HiGHS takes a cost near zero for none, and w_j would be free: no slope below 1e-5.
            slopes = np.maximum(np.exp(-self.alpha * np.abs(w)), 1e-5)
            new, errors = self._program(slopes)
            steps = 1 - np.exp(-self.alpha * np.abs(new))
            value = errors + self.lam * float(np.sum(steps))
            if value >= reached - 1e-9 * abs(value):  # programs are solved to about so many digits
                break
            w = new
            reached = value
        return w

    def _program(self, slopes: np.ndarray) -> tuple[np.ndarray, float]:
        """In units of lam * alpha, so that no cost is below what HiGHS takes for zero."""
        unit = self.lam * self.alpha or 1.0
        feature_costs = self.lam * self.alpha / unit * slopes
        costs = np.concatenate([feature_costs, feature_costs, [0.0], self.slack_costs / unit])
        limits = -np.ones(self.slack_costs.size)
        for method in ("highs", "highs-ipm"):  # the one may fail where the other does not
            found = linprog(costs, self.matrix, limits, bounds=self.bounds, method=method)
            if found.x is not None:
                parts = np.split(found.x, [self.d, 2 * self.d, 2 * self.d + 1])
                positive, negative, _, slacks = parts
                return positive - negative, float(self.slack_costs @ slacks)
        raise RuntimeError(f"HiGHS did not solve a linear program of FSV: {found.message}")
