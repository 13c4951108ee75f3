"""What all selectors share: validated input, fitted attributes, predictions of those with a W.

Estimators with many parameters are dataclasses: a field is a parameter of the constructor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, ClassVar, ParamSpec, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..designs import ChunkedDesign, in_blocks, is_dask
from ..inputs import Check, check_parameters, explain_no_table, refuse_strange_table
from ..numerics.rows import row_norms
from ..results import Solution
from ..warn import warn_user
from .blocks import check_same_columns
from .data import FLOATS, Data, new_samples
from .wrong_tool import WrongToolWarning, weigh

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


class FeatureSelector(SelectorMixin, BaseEstimator):
    """What every selector of features is to scikit-learn and to the user, however it was fitted.

    Subclasses have their own ``fit``, which sets the attributes below.
    """

    _checks: ClassVar[Mapping[str, Check]]
    scores_: np.ndarray
    support_: np.ndarray
    ranking_: np.ndarray

    def transform(self, X: Any) -> Any:
        """The selected columns of X: of a Dask array as a Dask array, which nothing has computed
        yet, of a store of blocks as an array in memory."""
        if not in_blocks(X):
            try:
                return super().transform(X)
            except (TypeError, ValueError):
                refuse_strange_table(X)
                explain_no_table(X)
                raise
        support = self.get_support(indices=True)
        design = check_same_columns(self, X)
        # Dask's own indexing computes nothing yet
        return X[:, support] if is_dask(X) else design.take(support).astype(design.dtype)

    def to_frame(self, input_features: Any = None) -> Any:
        """One line per feature, best first, as a pandas (or else polars) data frame.

        Columns: name, rank, score, selected; where coefficients were fitted, one per class or
        output; where a path in alpha was followed, the alpha at which the feature entered (NaN if
        it never did). Names are those of ``input_features``, of the data frame that was fitted, or
        x0, x1, ….
        """
        check_is_fitted(self, "support_")
        columns = self._columns(input_features)
        if vars(self).get("_sklearn_output_config", {}).get("transform") != "polars":
            try:
                import pandas

                return pandas.DataFrame(columns)
            except ImportError:
                pass
        try:
            import polars
        except ImportError:
            raise ImportError(
                "to_frame needs pandas or polars; install one with: pip install pandas"
            ) from None
        return polars.DataFrame({name: list(values) for name, values in columns.items()})

    def _columns(self, input_features: Any) -> dict[str, np.ndarray]:
        fitted = vars(self)
        # stable: columns of one category share a rank and keep their order
        order = np.argsort(self.ranking_, kind="stable")
        d = order.size
        names = fitted.get("feature_names_in_") if input_features is None else list(input_features)
        if names is None:
            names = [f"x{j}" for j in range(d)]
        if len(names) != d:
            raise ValueError(
                f"Expected input_features with one name per column of X ({d}), got {len(names)}."
            )
        columns = {
            "name": np.array(names, dtype=object)[order],
            "rank": self.ranking_[order],
            "score": self.scores_[order],
            "selected": self.support_[order],
        }
        if "coef_" in fitted:  # a filter has none
            for output, row in zip(fitted["output_names_"], fitted["coef_"], strict=True):
                columns[f"coef_{output}"] = row[order]
        if "entered_alpha_" in fitted:  # a constraint has no alpha
            columns["entered_alpha"] = fitted["entered_alpha_"][order]
        return columns

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def _set_ranking(self, best_first: np.ndarray) -> None:
        self.ranking_ = np.empty(best_first.size, dtype=int)
        self.ranking_[best_first] = np.arange(1, best_first.size + 1)

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


def all_or_nothing(fit: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Decorate ``fit``: an estimator whose fit raises, or meets Ctrl-C, is as it was before."""

    @wraps(fit)
    def whole(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        estimator: Any = args[0]
        # shallow: fitted attributes are replaced one by one, never changed in place
        before = vars(estimator).copy()
        try:
            return fit(*args, **kwargs)
        except BaseException:
            estimator.__dict__ = before
            raise

    return whole


class DirectSelector(FeatureSelector, ABC):
    """A selector that looks at X and y itself, unlike one that fits another many times."""

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the features to select.

        Parameters
        ----------
        X : array, memory map, sparse matrix or data frame, (n_samples, n_features)
        y : labels, a 0/1 label-indicator matrix, or numbers (one or many outputs); classifiers
            (``ZeroNormSVC``, ``ProbitSelector``) take class labels of any type alone
        sample_weight : array of n_samples numbers >= 0; a weight of 2 is a row repeated
        """
        check_parameters(self)
        self._fit(X, y, sample_weight)
        return self

    @abstractmethod
    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Set the fitted attributes; the parameters have been checked."""


def _has_classes(selector: Any) -> bool:
    return vars(selector).get("target_kind_", "binary") != "numbers"


class JointSelector(DirectSelector):
    """A selector whose features are rows of a W fitted to all outputs jointly: also a model."""

    fit_intercept: bool
    standardize: bool
    feature_weights: Any
    class_weight: Any
    task: str

    def _set_rows(
        self,
        data: Data,
        solution: Solution,
        entering: np.ndarray,
        eligible: np.ndarray,
        k: int | None,
    ) -> None:
        """The fitted attributes of a solution: the k best of the eligible rows are selected, or
        without k the nonzero ones. ``entering``: how nearly the others entered."""
        # In float64 also where X is float32: rounded coefficients of nearly equal columns, which
        # are large and cancel, would have another objective than the one that was certified.
        W = solution.W / data.scales[:, None]
        if self.fit_intercept and solution.converged:
            # an output of one value is all intercept: what else is left of it is rounding
            W[:, data.target.constant_outputs] = 0.0
        self.coef_ = np.ascontiguousarray(W.T)
        self.intercept_ = solution.intercept - data.means @ W
        self.scores_ = row_norms(solution.W)
        always = data.factors == 0
        order = _best_first(self.scores_, entering)
        self._set_ranking(order)
        if k is None:
            self.support_ = (self.scores_ > 0) | always
        else:
            self.support_ = _exactly_k(order, always, eligible, k)
        if isinstance(data.X, ChunkedDesign):
            solution = replace(solution, n_passes=data.X.passes.count)
        self.solution_ = solution
        # scikit-learn's checks ask for one at the least, also where zero is the answer
        self.n_iter_ = max(solution.n_iter, 1)
        self.target_kind_ = data.target.kind
        self.output_names_ = data.target.output_names
        self._set_classes(data.target.classes)
        self._say_if_the_wrong_tool(data)

    def _say_if_the_wrong_tool(self, data: Data) -> None:
        """One note, by the rule of ``wrong_tool``, for the caller of the ``fit`` above ``_fit``."""
        self.notes_: tuple[str, ...] = ()
        if not self.solution_.converged:  # what is wrong has been said
            return
        if isinstance(data.X, ChunkedDesign):  # its rows are not drawn at random
            return
        evidence = weigh(data.X, data.target.Y, self.support_, np.isfinite(data.factors))
        if evidence is not None and evidence.is_wrong_tool:
            self.notes_ = (evidence.sentence(int(np.count_nonzero(self.support_))),)
            warn_user(self.notes_[0], WrongToolWarning)

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
            # indicators may be given as -1 and 1, or as true and false
            y = (np.asarray(y) > 0).astype(int)
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def _outputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "coef_")
        if in_blocks(X):
            return check_same_columns(self, X).matmul(self.coef_.T) + self.intercept_
        X = new_samples(self, X, FLOATS)
        # few of many columns: reading the others would be most of the time
        used = np.flatnonzero(self.coef_.any(axis=0))
        return safe_sparse_dot(X[:, used], self.coef_.T[used], dense_output=True) + self.intercept_


def decided(classes: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Labels from a decision function."""
    if Z.ndim == 1 or Z.shape[1] == 1:
        return classes[(Z.ravel() > 0).astype(int)]
    return classes[Z.argmax(axis=1)]


def _best_first(scores: np.ndarray, entering: np.ndarray) -> np.ndarray:
    """Rows from the best to the last: nonzero ones by their score, the others by how nearly they
    entered; ties go to the lower index."""
    nearly = np.where(scores > 0, 0.0, entering)
    return np.lexsort((np.arange(scores.size), -nearly, -scores))


def _exactly_k(order: np.ndarray, always: np.ndarray, eligible: np.ndarray, k: int) -> np.ndarray:
    """The support of k features: those always in, then the best of the others that may be."""
    # a column that never may enter does not fill the support up either
    candidates = order[eligible[order]]
    forced = always[candidates]
    chosen = np.concatenate([candidates[forced], candidates[~forced]])[:k]
    support = np.zeros(order.size, dtype=bool)
    support[chosen] = True
    return support


def _refuse_not_finite(solution: Solution) -> None:
    """Raise where numbers have overflowed on the way: nothing of such a fit means anything."""
    if not (np.isfinite(solution.objective) and np.isfinite(solution.W).all()):
        raise ValueError(
            "Expected X and y whose products are finite, got numbers that overflowed in "
            f"{solution.solver}; rescale X and y, or use standardize=True."
        )


def say_how_it_ended(solution: Solution) -> None:
    """One warning if the tolerance was not met, for the caller of the ``fit`` above ``_fit``; a
    refusal where numbers overflowed."""
    _refuse_not_finite(solution)
    if solution.converged:
        return
    far = "" if solution.criterion is None else f": criterion {solution.criterion:.2g}"
    warn_user(
        f"The solver stopped {solution.status} after {solution.n_iter} iterations and "
        f"{solution.seconds:.3g} s{far}, wanted {solution.tol:.2g}. {solution.advice}",
        ConvergenceWarning,
    )
