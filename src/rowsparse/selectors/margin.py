"""What the classifiers of a margin loss share: checks of their parameters, weights, decisions."""

from __future__ import annotations

import warnings
from abc import abstractmethod

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ..inputs import check_k, check_number
from ..numerics.rows import row_norms
from ..problems.margin import MarginProblem
from ..results import Solution
from ..solvers.margin.reweighting import Reweighted
from ..solvers.margin.svm import solve_margin
from ..targets import Target
from .base import JointSelector
from .data import Data


class MarginClassifier(ClassifierMixin, JointSelector):
    """A linear classifier that keeps few features; subclasses give problem and solver."""

    fit_intercept = True
    task = "classification"
    norm: float
    tol: float
    max_iter: int
    class_weight: object
    n_features_to_select: int | None

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
        self._check()
        y = as_labels(y)
        data = self._data(X, y, sample_weight)
        check_labels(data.target)
        k = check_k(self.n_features_to_select, data.factors)
        if k is not None:
            k = at_most_usable(
                k, data.factors, "features", "the other columns of X are constant or excluded"
            )
        weights = absolute_weights(data.weights, sample_weight)
        weights = weights * class_weights(self.class_weight, data.target, weights)
        problem = self._margin_problem(data, weights)
        solution, self.C_ = self._solved(problem, k)
        say_how_it_ended(solution)
        self._set_rows(data, solution, _support(problem, solution, k))
        if not self.scores_.any():
            self.intercept_ = majority(data.target, weights).astype(self.intercept_.dtype)
            warnings.warn(self._nothing_left(), UserWarning, stacklevel=2)
        return self

    def _solved(self, problem: MarginProblem, k: int | None) -> tuple[Solution, float]:
        return solve_margin(problem, self._margin_solver(k))

    def _check(self) -> None:
        """Refuse parameters that are out of range; classes with more parameters check them too."""
        check_norm(self.norm)
        check_run(self.tol, self.max_iter)

    @abstractmethod
    def _nothing_left(self) -> str:
        """The sentence about a solution without features."""

    def decision_function(self, X):
        """``X coef_' + intercept_``: one number per sample for two classes (positive for
        ``classes_[1]``), else one per class."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        Z = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        return Z.ravel() if Z.shape[1] == 1 else Z

    def predict(self, X):
        """The class of every sample."""
        Z = self.decision_function(X)
        return decided(self.classes_, Z)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def check_norm(norm, largest: bool = False) -> None:
    """A norm from 0 to 2, or inf where that can be solved."""
    if largest and isinstance(norm, float) and norm == np.inf:
        return
    try:
        check_number("norm", norm, 0.0, 2.0)
    except (TypeError, ValueError) as error:
        if not largest:
            raise
        raise type(error)(f"{str(error)[:-1]}; infinity (norm=float('inf')) works too.") from None


def check_run(tol, max_iter) -> None:
    """Tolerance and number of iterations."""
    check_number("tol", tol, 0.0, np.inf, low_open=True)
    if not isinstance(max_iter, int | np.integer) or isinstance(max_iter, bool) or max_iter < 1:
        raise ValueError(f"Expected max_iter to be an integer >= 1, got max_iter={max_iter!r}.")


def as_labels(y):
    """A column of labels as a vector, with scikit-learn's warning about it."""
    if y is None:
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


def absolute_weights(relative: np.ndarray | None, sample_weight) -> np.ndarray | float:
    """The weights as they were given: the loss is a sum, so their scale counts, as C does."""
    if relative is None:
        return 1.0
    given = np.asarray(sample_weight, dtype=float)
    return relative * (given[given > 0].mean() if given.ndim else float(given))


def class_weights(class_weight, target: Target, weights) -> np.ndarray:
    """One factor per sample; "balanced" gives all classes the same total weight."""
    classes, codes = target.classes, class_codes(target)
    assert classes is not None
    weights = np.broadcast_to(weights, codes.shape)
    if class_weight is None:
        return np.ones(codes.size)
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(codes, weights, classes.size)
        return (weights.sum() / (classes.size * totals))[codes]
    if not hasattr(class_weight, "items"):
        raise ValueError(
            "Expected class_weight to be None, 'balanced' or a mapping from class to weight, "
            f"got class_weight={class_weight!r}."
        )
    known = {label: i for i, label in enumerate(classes.tolist())}
    factors = np.ones(classes.size)
    for label, weight in class_weight.items():
        if label in known:  # as in scikit-learn, classes that this y lacks do no harm
            factors[known[label]] = check_number(
                f"class_weight[{label!r}]", weight, 0.0, np.inf, True
            )
    return factors[codes]


def class_codes(target: Target) -> np.ndarray:
    """The position of every sample's class in ``classes``."""
    if target.kind == "binary":
        return (target.Y[:, 0] > 0).astype(int)
    return target.Y.argmax(axis=1)


def majority(target: Target, weights) -> np.ndarray:
    """An intercept that orders the classes by weight: what is left when no feature is."""
    positive = target.Y > 0
    weights = np.broadcast_to(weights, len(positive))
    return 2 * (weights @ positive) / weights.sum() - 1.0


def decided(classes: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Labels from a decision function."""
    return classes[(Z > 0).astype(int) if Z.ndim == 1 else Z.argmax(axis=1)]


def say_how_it_ended(solution: Solution) -> None:
    """One warning if the tolerance was not met."""
    if not solution.converged:
        warnings.warn(
            f"The reweighting stopped {solution.status} after {solution.n_iter} iterations "
            f"and {solution.seconds:.3g} s: one more step would change the largest coefficient by "
            f"{solution.criterion:.2g} of it, wanted {solution.tol:.2g}. Raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=3,
        )


def at_most_usable(k: int, factors: np.ndarray, things: str, reason: str) -> int:
    """k, or all candidates with a warning if there are fewer."""
    n_usable = int(np.count_nonzero(np.isfinite(factors)))
    if k > n_usable:
        message = f"Expected {k} {things}, got {n_usable}: {reason}."
        warnings.warn(message, UserWarning, stacklevel=3)
    return min(k, n_usable)


def _support(problem: MarginProblem, solution: Solution, k: int | None) -> np.ndarray:
    """The nonzero rows; with k the k largest, those always in first, ties by index."""
    scores = row_norms(solution.W)
    always = problem.free
    if k is None:
        return (scores > 0) | always
    d = scores.size
    order = np.lexsort((np.arange(d), -scores, ~always, np.isinf(problem.factors)))
    support = np.zeros(d, dtype=bool)
    support[order[:k]] = True
    return support
