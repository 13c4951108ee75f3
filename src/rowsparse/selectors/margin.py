"""What the classifiers of a margin loss share: the fit, labels, what is left without features."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import column_or_1d

from ..inputs import check_k
from ..losses import ProbitLoss
from ..numerics.rows import row_norms
from ..problems.margin import MarginProblem
from ..results import Solution
from ..solvers.margin.reweighting import Reweighted
from ..solvers.margin.svm import solve_margin
from ..targets import Target
from .base import Data, JointSelector, best_first, exactly_k, say_how_it_ended
from .parameters import (
    check_parameters,
    class_weight,
    count,
    integer,
    number,
    optional,
    true_or_false,
)

COMMON_CHECKS = {
    "norm": number(0.0, 2.0),
    "tol": number(0.0, low_open=True),
    "max_iter": integer(1),
    "class_weight": class_weight,
}
LINEAR_CHECKS = {
    **COMMON_CHECKS,
    "n_features_to_select": optional(count),
    "standardize": true_or_false,
}


class MarginClassifier(ClassifierMixin, JointSelector):
    """A linear classifier that keeps few features; subclasses give problem and solver."""

    fit_intercept = True
    task = "classification"
    norm: float
    tol: float
    max_iter: int
    n_features_to_select: int | float | None

    @abstractmethod
    def _margin_problem(self, data: Data, weights: np.ndarray) -> MarginProblem:
        """The problem on checked data, given a weight for every sample."""

    @abstractmethod
    def _margin_solver(self, keep: int | None) -> Reweighted:
        """The solver of this classifier."""

    def fit(self, X, y, sample_weight=None):
        """Fit the classifier; the features that it uses are the selected ones.

        Parameters
        ----------
        X : array, memory map, sparse matrix or data frame, (n_samples, n_features)
        y : class labels of any type, two classes or more
        sample_weight : array of n_samples numbers >= 0; a weight of 2 is a row repeated
        """
        check_parameters(self)
        data = Data.of(self, X, as_labels(y), sample_weight)
        check_labels(data.target)
        k = None
        if self.n_features_to_select is not None:
            k = check_k(self.n_features_to_select, data.factors)
            k = at_most_usable(
                k, data.factors, "features", "the other columns of X are constant or excluded"
            )
        weights = data.given_weights  # the loss is a sum, so their scale counts, as C does
        problem = self._margin_problem(data, weights)
        solution, self.C_ = self._solved(problem, k)
        say_how_it_ended(solution)
        self._set_fitted(data, problem, solution, k)
        if not self.scores_.any():
            self.intercept_ = majority(data.target, weights).astype(self.intercept_.dtype)
            warnings.warn(self._nothing_left(), UserWarning, stacklevel=2)
        return self

    def _solved(self, problem: MarginProblem, k: int | None) -> tuple[Solution, float]:
        return solve_margin(problem, self._margin_solver(k))

    def _set_fitted(
        self, data: Data, problem: MarginProblem, solution: Solution, k: int | None
    ) -> None:
        scores = row_norms(solution.W)
        order = best_first(scores, entering(problem, solution))
        if k is None:
            support = (scores > 0) | problem.free
        else:
            support = exactly_k(order, problem.free, np.isfinite(problem.factors), k)
        self._set_rows(data, solution, order, support)

    @abstractmethod
    def _nothing_left(self) -> str:
        """The sentence about a solution without features."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def entering(problem: MarginProblem, solution: Solution) -> np.ndarray:
    """How much every column has to do with the samples of low margin, per factor of its penalty:
    the gradient of the probit loss, which unlike the hinge's is not decided by rounding where
    samples lie on the margin."""
    Z = problem.design.matmul(solution.W) + solution.intercept
    slopes = ProbitLoss(problem.weights).gradient(Z, problem.Y)
    sizes = row_norms(problem.design.rmatmul(slopes))
    return np.divide(sizes, problem.factors, out=np.zeros_like(sizes), where=problem.factors > 0)


def as_labels(y: Any) -> Any:
    """A column of labels as a vector, with scikit-learn's warning about it."""
    if y is None or isinstance(y, list | tuple):
        return y
    array = np.asarray(y)
    return column_or_1d(array, warn=True) if array.ndim == 2 and array.shape[1] == 1 else y


def check_labels(target: Target) -> None:
    """One class per sample."""
    if target.kind not in ("binary", "multiclass"):
        raise ValueError(
            f"Expected y as one class label per sample, got {target.kind} of shape "
            f"{target.Y.shape}; fit one classifier per label (sklearn.multioutput), or use "
            "L2pSelector."
        )


def majority(target: Target, weights: np.ndarray) -> np.ndarray:
    """An intercept that orders the classes by weight: what is left when no feature is."""
    positive = target.Y > 0
    return 2 * (weights @ positive) / weights.sum() - 1.0


def at_most_usable(k: int, factors: np.ndarray, things: str, reason: str) -> int:
    """k, or all candidates with a warning if there are fewer."""
    n_usable = int(np.count_nonzero(np.isfinite(factors)))
    if k > n_usable:
        message = f"Expected {k} {things}, got {n_usable}: {reason}."
        warnings.warn(message, UserWarning, stacklevel=3)
    return min(k, n_usable)
