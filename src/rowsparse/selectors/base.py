"""What all selectors share: validated input, fitted attributes, predictions of those with a W."""

from __future__ import annotations

import warnings
from abc import ABC
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ..designs import Design, Standardized, as_design
from ..inputs import (
    check_feature_weights,
    check_sample_weight,
    column_names,
    name_columns_without_numbers,
    refuse_strange_table,
)
from ..numerics.rows import row_norms
from ..problems.penalised import PenalisedProblem
from ..results import Solution
from ..targets import (
    Target,
    as_array,
    as_target,
    class_factors,
    refuse_strange_target,
)
from .frames import selection_frame
from .parameters import Check

FLOATS = [np.float64, np.float32]
SMALLEST_SQUARE = 1e-290  # of a column's entries; below, sums of squares lose digits or vanish


class FeatureSelector(SelectorMixin, BaseEstimator):
    """What every selector of features is to scikit-learn and to the user, however it was fitted.

    Needs ``support_``, ``scores_`` and ``ranking_`` of ``fit``.
    """

    _checks: ClassVar[Mapping[str, Check]]
    support_: np.ndarray

    def to_frame(self, input_features: Any = None) -> Any:
        """One line per feature, best first, as a pandas (or else polars) data frame.

        Columns: name, rank, score, selected; where coefficients were fitted, one per class or
        output; where a path in alpha was followed, the alpha at which the feature entered (NaN if
        it never did). Names are those of ``input_features``, of the data frame that was fitted, or
        x0, x1, ….
        """
        check_is_fitted(self, "support_")
        return selection_frame(self, input_features)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def _set_classes(self, classes: np.ndarray | None) -> None:
        if classes is not None:
            self.classes_ = classes
        else:  # an earlier fit on labels may have left some
            self.__dict__.pop("classes_", None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = False
        return tags


@dataclass(frozen=True)
class Samples:
    """X and y, weights of samples and features as ``fit`` was given them, all checked."""

    X: Any  # ndarray, memory map or CSC; samples of weight zero are left out
    y: np.ndarray
    target: Target
    weights: np.ndarray | None  # as given, times those of the classes
    factors: np.ndarray  # one per feature

    @classmethod
    def of(cls, selector: Any, X: Any, y: Any, sample_weight: Any, finite: bool = True) -> Samples:
        """Check all input of a fit; without ``finite`` NaN in X is for the caller to find."""
        names = column_names(y)
        X, y = validated(selector, X, y, finite)
        s = check_sample_weight(sample_weight, X.shape[0])
        factors = check_feature_weights(
            selector.feature_weights, X.shape[1], vars(selector).get("feature_names_in_")
        )
        if s is not None and not s.all():
            used = s > 0  # a weight of zero is a row that is not there
            X = X[used]
            y = y[used]
            s = s[used]
        y = as_array(y)
        target = as_target(y, selector.task, names)
        if selector.class_weight is not None:
            s = np.ones(X.shape[0]) if s is None else s
            s = s * class_factors(selector.class_weight, target, s)
        return cls(X, y, target, s, np.ones(X.shape[1]) if factors is None else factors)


@dataclass(frozen=True)
class Data:
    """The design as a penalty sees it: columns centred and scaled as the selector asks."""

    design: Design
    target: Target
    weights: np.ndarray | None  # of the samples, mean one
    mean_weight: float  # of the samples as they were given
    means: np.ndarray
    scales: np.ndarray
    factors: np.ndarray  # of the features; infinite for constant columns

    @property
    def given_weights(self) -> np.ndarray:
        """The weights of the samples as they were given, those of the classes included."""
        if self.weights is None:
            return np.ones(len(self.target.Y))
        return self.mean_weight * self.weights

    @classmethod
    def of(cls, selector: Any, X: Any, y: Any, sample_weight: Any) -> Data:
        """Check everything that ``fit`` was given and standardise the columns."""
        samples = Samples.of(selector, X, y, sample_weight, finite=False)
        design = as_design(samples.X)
        n, d = design.shape
        s = samples.weights
        mean_weight = 1.0 if s is None else float(s.mean())
        s = None if s is None else s / mean_weight
        weights = np.ones(n) if s is None else s
        constant = design.constant_columns()
        means = np.zeros(d)
        scales = np.ones(d)
        flat = constant
        squares = np.ones(d)
        if selector.fit_intercept or selector.standardize:
            centers = refuse_bad_numbers(selector, samples.X, design.means(weights))
            with np.errstate(over="ignore"):  # said in words in the next line
                squares = design.squares(weights, centers)
            refuse_bad_numbers(selector, samples.X, squares)
            spread = np.sqrt(squares / n)
            flat = spread <= 10 * np.finfo(design.dtype).eps * np.abs(centers)
            if selector.standardize:
                scales = np.where(constant | flat, 1.0, spread)
            if selector.fit_intercept:
                means = centers
        factors = np.where(constant | flat, np.inf, samples.factors)
        if np.isinf(factors).all():
            raise ValueError(_nothing_to_select(squares[~constant]))
        if means.any() or selector.standardize:
            known = (weights, squares) if selector.fit_intercept else None
            design = Standardized(design, means, scales, known)
        return cls(design, samples.target, s, mean_weight, means, scales, factors)


@contextmanager
def explaining_bad_numbers(selector: Any, X: Any, problem: PenalisedProblem) -> Iterator[None]:
    """Around a fit that may be the first to read all of X: NaN in it ends the fit, and its sums of
    squares, which the fit has needed, tell without another pass."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except (ValueError, np.linalg.LinAlgError):
        refuse_bad_squares(selector, X, problem)
        raise
    refuse_bad_squares(selector, X, problem)


def refuse_bad_squares(selector: Any, X: Any, problem: PenalisedProblem) -> None:
    """The same by the sums of squares of a problem's columns, which may be too small as well."""
    squares = refuse_bad_numbers(selector, X, problem.sample_curvatures)
    if not squares.any():
        raise ValueError(_nothing_to_select(squares))


def refuse_bad_numbers(selector: Any, X: Any, sums: np.ndarray) -> np.ndarray:
    """Raise if sums over the columns of X, which are needed anyway, show NaN or too large numbers.

    The one place where NaN in X is looked for.
    """
    if np.isfinite(sums).all():
        return sums
    # scikit-learn's words about NaN and infinity; else single entries are finite
    check_array(X, accept_sparse="csc", input_name="X", estimator=selector)
    raise ValueError(
        "Expected X whose sums of squares are finite, got too large numbers in column "
        f"{int(np.argmin(np.isfinite(sums)))}; rescale X, for example by "
        "sklearn.preprocessing.MaxAbsScaler."
    )


def _nothing_to_select(squares: np.ndarray) -> str:
    """Of the columns that hold more than one value: they may be too small to be seen."""
    if squares.size and squares.max() < SMALLEST_SQUARE:
        return (
            "Expected X whose sums of squares can be told from zero, got too small numbers in all "
            "columns; rescale X, for example by sklearn.preprocessing.MaxAbsScaler."
        )
    return (
        "Expected some column of X that varies and may be selected, got only constant "
        "or excluded columns."
    )


def validated(selector: Any, X: Any, y: Any, finite: bool = True, **options: Any) -> Any:
    """X and y as scikit-learn reads them, NaN in X refused if ``finite``."""
    if y is None:
        raise ValueError(
            f"{type(selector).__name__} requires y to be passed, but the target y is None."
        )
    refuse_strange_table(X)
    refuse_strange_target(y)
    options = {"accept_sparse": "csc", "dtype": FLOATS, **options}
    try:
        return validate_data(
            selector,
            X,
            y,
            multi_output=True,
            ensure_min_samples=2,
            ensure_all_finite=finite,
            **options,
        )
    except (TypeError, ValueError):
        name_columns_without_numbers(X)
        raise


def _has_classes(selector: Any) -> bool:
    return vars(selector).get("target_kind_", "binary") != "numbers"


class JointSelector(FeatureSelector, ABC):
    """A selector whose features are rows of a W fitted to all outputs jointly: also a model."""

    fit_intercept: bool
    standardize: bool
    feature_weights: Any
    class_weight: Any
    task: str

    def _set_rows(self, data: Data, solution: Solution, order: np.ndarray, support: Any) -> None:
        """The fitted attributes that a W, a ranking (best first) and a support give."""
        dtype = data.design.dtype
        W = solution.W / data.scales[:, None]
        self.coef_ = W.T.astype(dtype)
        self.intercept_ = (solution.intercept - data.means @ W).astype(dtype)
        self.scores_ = row_norms(solution.W)
        self.ranking_ = np.empty(order.size, dtype=int)
        self.ranking_[order] = np.arange(1, order.size + 1)
        self.support_ = support
        self.solution_ = solution
        self.n_iter_ = max(solution.n_iter, 1)
        self.target_kind_ = data.target.kind
        self.output_names_ = data.target.output_names
        self._set_classes(data.target.classes)

    @available_if(_has_classes)
    def decision_function(self, X: Any) -> np.ndarray:
        """``X coef_' + intercept_``: one number per sample for two classes (positive for
        ``classes_[1]``), else one per class or label. Not for a y of numbers."""
        Z = self._outputs(X)
        return Z.ravel() if Z.shape[1] == 1 else Z

    def predict(self, X: Any) -> np.ndarray:
        """The class of every sample, its labels as zeros and ones, or its numbers."""
        Z = self._outputs(X)
        if self.target_kind_ == "multilabel":
            return (Z > 0).astype(int)
        if self.target_kind_ == "numbers":
            return Z.ravel() if Z.shape[1] == 1 else Z
        return decided(self.classes_, Z)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy for classes, subset accuracy for several labels, R² for numbers."""
        predicted = self.predict(X)
        if self.target_kind_ == "numbers":
            return float(r2_score(y, predicted, sample_weight=sample_weight))
        if self.target_kind_ == "multilabel":
            y = (np.asarray(y) > 0).astype(int)
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def _outputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        return safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_


def decided(classes: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Labels from a decision function."""
    if Z.ndim == 1 or Z.shape[1] == 1:
        return classes[(Z.ravel() > 0).astype(int)]
    return classes[Z.argmax(axis=1)]


def best_first(scores: np.ndarray, entering: np.ndarray) -> np.ndarray:
    """Rows from the best to the last: nonzero ones by their score, the others by how nearly they
    entered; ties go to the lower index."""
    nearly = np.where(scores > 0, 0.0, entering)
    return np.lexsort((np.arange(scores.size), -nearly, -scores))


def exactly_k(order: np.ndarray, always: np.ndarray, eligible: np.ndarray, k: int) -> np.ndarray:
    """The support of k features: those always in, then the best of the others that may be."""
    candidates = order[eligible[order]]
    forced = always[candidates]
    chosen = np.concatenate([candidates[forced], candidates[~forced]])[:k]
    support = np.zeros(order.size, dtype=bool)
    support[chosen] = True
    return support


def say_how_it_ended(solution: Solution, stacklevel: int = 3) -> None:
    """One warning if the tolerance was not met."""
    if solution.converged:
        return
    far = "" if solution.criterion is None else f": criterion {solution.criterion:.2g}"
    warnings.warn(
        f"The solver stopped {solution.status} after {solution.n_iter} iterations and "
        f"{solution.seconds:.3g} s{far}, wanted {solution.tol:.2g}. {solution.advice}",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )
