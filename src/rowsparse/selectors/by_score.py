"""Any filter as a scikit-learn selector."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.utils.validation import validate_data

from ..filters.base import varying_columns
from ..inputs import check_feature_weights, check_k, check_sample_weight, read_target
from .feature_selector import FeatureSelector
from .score_functions import ScoreFunction


class ScoreSelector(FeatureSelector):
    """Keep the k features that a filter scores highest.

    Parameters
    ----------
    score : str or callable
        The name of a filter of ``rowsparse.filters`` ("fisher", "f", "information_gain", "relieff",
        "mrmr", "svm_rfe", …), or a function of (X, y) that returns scores, or (order, scores) with
        the chosen columns as integers, or scikit-learn's (scores, p-values): ``chi2`` and
        ``mutual_info_classif`` work as they are.
    n_features_to_select : int
        Exactly so many are kept; ties go to the lower index. Constant columns are never kept.
    score_params : mapping, optional
        Further arguments of the filter, such as ``{"n_neighbors": 20}``.
    feature_weights : array or mapping from names, optional
        0 = always in (counts towards k), infinity = never; other factors lower a feature's score:
        a positive one is divided, a negative one multiplied by the factor. "mrmr" and "svm_rfe"
        apply it in every round and complement the features that are always in.
    task : {"auto", "classification", "regression"}
        How to read y; "auto" follows scikit-learn's ``type_of_target``, for which a vector of
        integers is class labels.

    Attributes
    ----------
    scores_ : array (n_features,), as the filter gave them; 0 for constant and excluded columns
    ranking_ : array (n_features,), 1 = best; ties broken by index
    support_ : boolean array (n_features,), the features ranked 1 to k
    n_features_in_, feature_names_in_, classes_ (where y has classes)

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from rowsparse import ScoreSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> ScoreSelector("mrmr", n_features_to_select=3).fit(X, y).get_feature_names_out().tolist()
    ['alcohol', 'flavanoids', 'hue']
    """

    def __init__(
        self,
        score="relieff",
        n_features_to_select=10,
        *,
        score_params=None,
        feature_weights=None,
        task="auto",
    ):
        self.score = score
        self.n_features_to_select = n_features_to_select
        self.score_params = score_params
        self.feature_weights = feature_weights
        self.task = task

    @property
    def score(self):
        """The parameter, kept apart from scikit-learn's method of that name: an attribute that
        looks like a method but is a string misleads pipelines and searches."""
        raise AttributeError(
            "ScoreSelector has no method score; its parameter of that name is in get_params()."
        )

    @score.setter
    def score(self, value):
        self.__dict__["score"] = value

    def get_params(self, deep=True):
        """The constructor arguments by name; ``deep`` has no effect, nothing is nested."""
        return {name: vars(self)[name] for name in self._get_param_names()}

    def fit(self, X, y, sample_weight=None):
        """Score the features and keep the best.

        Parameters
        ----------
        X : array, memory map, sparse matrix or data frame, (n_samples, n_features)
        y : labels, a 0/1 label-indicator matrix, or numbers (one or many outputs)
        sample_weight : array of n_samples numbers >= 0; a weight of 2 is a row repeated
        """
        function = ScoreFunction.of(vars(self)["score"], self.score_params)
        X, y, weights, factors = self._checked(X, y, sample_weight)
        k = check_k(self.n_features_to_select, factors)
        if k is None:
            raise TypeError("Expected n_features_to_select as an integer, got None.")
        target, kind = read_target(y, self.task)
        usable = np.flatnonzero(varying_columns(X) & np.isfinite(factors))
        if usable.size == 0:
            raise ValueError(
                "Expected some column of X that varies and may be selected, got only constant "
                "or excluded columns."
            )
        supplied = {
            "task": self.task,
            "n_features_to_select": min(k, usable.size),
            "feature_weights": None if self.feature_weights is None else factors[usable],
            "sample_weight": weights,
        }
        part = X if usable.size == X.shape[1] else X[:, usable]
        order, scores = function(part, target, supplied)
        self._set_fitted(usable, order, scores, k, X.shape[1])
        if kind == "labels":
            self.classes_ = np.unique(target)
        elif hasattr(self, "classes_"):  # of an earlier fit on labels
            del self.classes_
        return self

    def _checked(self, X, y, sample_weight):
        if y is None:
            raise ValueError("ScoreSelector requires y to be passed, but the target y is None.")
        kinds = [np.float64, np.float32]
        X, y = validate_data(
            self, X, y, accept_sparse="csc", dtype=kinds, multi_output=True, ensure_min_samples=2
        )
        weights = check_sample_weight(sample_weight, X.shape[0])
        names = getattr(self, "feature_names_in_", None)
        factors = check_feature_weights(self.feature_weights, X.shape[1], names)
        if weights is not None and not weights.all():
            X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        return X, y, weights, np.ones(X.shape[1]) if factors is None else factors

    def _set_fitted(self, usable, order, scores, k: int, n_features: int) -> None:
        self.scores_ = np.zeros(n_features)
        self.scores_[usable] = scores
        rest = np.setdiff1d(np.arange(n_features), usable)
        best_first = np.concatenate([usable[order], rest])
        self.ranking_ = np.empty(n_features, dtype=int)
        self.ranking_[best_first] = np.arange(1, n_features + 1)
        self.support_ = self.ranking_ <= min(k, usable.size)
        if usable.size < k:
            warnings.warn(
                f"Expected {k} features, got {usable.size}: the other columns of X are constant "
                "or excluded.",
                stacklevel=3,
            )
