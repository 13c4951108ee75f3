"""Any filter as a scikit-learn selector."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..filters.base import table_of
from ..inputs import check_k, say_fewer_than
from .base import FeatureSelector, Samples
from .parameters import check_parameters, class_weight, count, task
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
    n_features_to_select : int or float
        Exactly so many, or this fraction of all, are kept; ties go to the lower index. Constant
        columns are never kept.
    score_params : mapping, optional
        Further arguments of the filter, such as ``{"n_neighbors": 20}``.
    feature_weights : array, Series or mapping from names, optional
        0 = always in (counts towards k), infinity = never; other factors lower a feature's score:
        a positive one is divided, a negative one multiplied by the factor. "mrmr" and "svm_rfe"
        apply it in every round and complement the features that are always in.
    class_weight : None, "balanced" or mapping from class to weight
        A factor on the weights of a class's samples; for filters that take sample weights.
    task : {"auto", "classification", "regression"}
        How to read y, as in ``L2pSelector``.

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

    _checks: ClassVar = {"n_features_to_select": count, "class_weight": class_weight, "task": task}

    def __init__(
        self,
        score="relieff",
        n_features_to_select=10,
        *,
        score_params=None,
        feature_weights=None,
        class_weight=None,
        task="auto",
    ):
        self.score = score
        self.n_features_to_select = n_features_to_select
        self.score_params = score_params
        self.feature_weights = feature_weights
        self.class_weight = class_weight
        self.task = task

    @property
    def score(self) -> Any:
        """The parameter, kept apart from scikit-learn's method of that name: an attribute that
        looks like a method but is a string misleads pipelines and searches."""
        raise AttributeError(
            "ScoreSelector has no method score; its parameter of that name is in get_params()."
        )

    @score.setter
    def score(self, value: Any) -> None:
        self.__dict__["score"] = value

    def get_params(self, deep: bool = True) -> dict[str, Any]:
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
        check_parameters(self)
        samples = Samples.of(self, X, y, sample_weight)
        k = check_k(self.n_features_to_select, samples.factors)
        table = table_of(samples.X, samples.target, samples.weights)
        usable = np.flatnonzero(table.varying & np.isfinite(samples.factors))
        if usable.size == 0:
            raise ValueError(
                "Expected some column of X that varies and may be selected, got only constant "
                "or excluded columns."
            )
        numbers = samples.target.kind == "numbers"
        supplied = {
            "task": "regression" if numbers else "classification",
            "n_features_to_select": min(k, usable.size),
            "feature_weights": None if self.feature_weights is None else samples.factors[usable],
            "sample_weight": samples.weights,
        }
        if usable.size < samples.factors.size:
            table = table.take(usable)
        order, scores = function(table, samples.y, supplied)
        self._set_fitted(usable, order, scores, k, samples.factors.size)
        self._set_classes(samples.target.classes)
        return self

    def _set_fitted(
        self, usable: np.ndarray, order: np.ndarray, scores: np.ndarray, k: int, n_features: int
    ) -> None:
        self.scores_ = np.zeros(n_features)
        self.scores_[usable] = scores
        rest = np.setdiff1d(np.arange(n_features), usable)
        best_first = np.concatenate([usable[order], rest])
        self.ranking_ = np.empty(n_features, dtype=int)
        self.ranking_[best_first] = np.arange(1, n_features + 1)
        self.support_ = self.ranking_ <= min(k, usable.size)
        if usable.size < k:
            say_fewer_than(k, usable.size, stacklevel=3)
