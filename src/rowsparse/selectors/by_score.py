"""Any filter as a scikit-learn selector: ours, scikit-learn's and users' score functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from ..designs import in_blocks
from ..filters import BY_NAME, f_score, fisher_score, information_gain
from ..filters.base import ADDITIVE, Table, favour, table_of
from ..inputs import (
    check_class_weight,
    check_count,
    check_k,
    check_task,
    did_you_mean,
)
from ..warn import say_fewer_than, warn_user
from .base import DirectSelector
from .data import NOTHING_VARIES, Samples

SUPPLIED = ("task", "n_features_to_select", "feature_weights", "sample_weight")  # by the selector


class ScoreSelector(DirectSelector):
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

    _checks: ClassVar = {
        "n_features_to_select": check_count,
        "class_weight": check_class_weight,
        "task": check_task,
    }

    def __init__(
        self,
        score: Any = "relieff",
        n_features_to_select: int | float = 10,
        *,
        score_params: Mapping[str, Any] | None = None,
        feature_weights: Any = None,
        class_weight: Any = None,
        task: str = "auto",
    ) -> None:
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

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        function = ScoreFunction(vars(self)["score"], self.score_params)
        if in_blocks(X):
            function.refuse_blocks()
        samples = Samples.of(self, X, y, sample_weight)
        n_features = samples.factors.size
        k = check_k(self.n_features_to_select, samples.factors)
        table = table_of(samples.X, samples.target, samples.weights)
        # constant and excluded columns would get NaN from some filters, and places from others
        usable = np.flatnonzero(table.varying & np.isfinite(samples.factors))
        if usable.size == 0:
            raise ValueError(NOTHING_VARIES)
        supplied = {
            "task": "regression" if samples.target.kind == "numbers" else "classification",
            # mrmr and the like stop there: later steps would be computed for nothing
            "n_features_to_select": min(k, usable.size),
            "feature_weights": None if self.feature_weights is None else samples.factors[usable],
            "sample_weight": samples.weights,
        }
        if usable.size < n_features:
            table = table.take(usable)
        order, scores = function(table, samples.y, supplied)
        self.scores_ = np.zeros(n_features)
        self.scores_[usable] = scores
        # ranked last, in the order of columns
        rest = np.setdiff1d(np.arange(n_features), usable)
        self._set_ranking(np.concatenate([usable[order], rest]))
        self.support_ = self.ranking_ <= min(k, usable.size)
        self._set_classes(samples.target.classes)
        if usable.size < k:
            say_fewer_than(k, usable.size)


class ScoreFunction:
    """A score function, what it may be told, and what its answer means."""

    def __init__(self, score: Any, score_params: Any) -> None:
        if isinstance(score, str) and score not in BY_NAME:
            raise ValueError(
                f"Expected score to be one of {sorted(BY_NAME)} or a function of (X, y), "
                f"got score={score!r}.{did_you_mean(score, BY_NAME)}"
            )
        function = BY_NAME[score] if isinstance(score, str) else score
        if not callable(function):
            raise TypeError(
                f"Expected score as a name or a function of (X, y), got score={score!r}."
            )
        if score_params is not None and not isinstance(score_params, Mapping):
            raise TypeError(
                "Expected score_params as a mapping such as {'n_neighbors': 20}, "
                f"got score_params={score_params!r}."
            )
        self.function: Callable[..., Any] = function
        self.params = dict(score_params or {})
        self.takes = _parameters(function)
        # what ScoreSelector supplies must not be given twice
        own = [name for name in self.takes if name not in ("X", "y", *SUPPLIED)]
        wrong = [name for name in self.params if name not in own]
        if wrong and "**" not in self.takes:
            raise ValueError(
                f"Expected score_params among {own} for score={score!r}, got {wrong}; "
                "task, feature_weights and n_features_to_select are parameters of ScoreSelector."
            )

    def refuse_blocks(self) -> None:
        """Say which filters take X in blocks, where this one does not."""
        takes = self.function in (f_score, fisher_score)
        in_states = self.function is information_gain and self.params.get("n_bins") == "sigma"
        if not takes and not in_states:
            raise TypeError(
                f"Expected X in memory for the filter {self.function.__name__}, got X in blocks, "
                f"which is for {ADDITIVE}."
            )

    def __call__(
        self, table: Table, y: np.ndarray, supplied: dict[str, Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The order of all columns, best first, and a score for each of them."""
        # offered, not imposed: most functions of (X, y) take none of these
        given = {name: value for name, value in supplied.items() if value is not None}
        weights = given.get("feature_weights")
        if "sample_weight" in given and "sample_weight" not in self.takes:
            raise ValueError(
                "Expected a score function with a parameter sample_weight when fit is given "
                f"sample_weight, got {self.function!r}."
            )
        used = {name: value for name, value in given.items() if name in self.takes}
        if len(self.takes) < 2 and "**" not in self.takes:
            raise TypeError(
                f"Expected a score function of X and y, got {self.function!r}, which takes "
                f"{len(self.takes)} of them."
            )
        # Our filters take the checked table as it is: X is validated once.
        ours = self.function in BY_NAME.values()
        answer = self.function(table if ours else table.X, y, **used, **self.params)
        order, scores = _read(answer, table.shape[1])
        # a filter that knows of weights has used them on its way, others are ranked by them
        aware = "feature_weights" in self.takes
        return _ranked(order, scores, None if aware else weights), scores


def _parameters(function: Callable[..., Any]) -> list[str]:
    """Names of the parameters; "**" where any name is taken."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some compiled functions have no signature
        return ["X", "y"]
    return ["**" if p.kind is p.VAR_KEYWORD else p.name for p in parameters]


def _read(answer: Any, d: int) -> tuple[np.ndarray | None, np.ndarray]:
    """Scores alone, (order, scores) or scikit-learn's (scores, p-values)."""
    order = None
    # an order holds whole numbers, scores do not: that is how the two are told apart
    if isinstance(answer, tuple) and len(answer) == 2:
        first = np.asarray(answer[0])
        if np.issubdtype(first.dtype, np.integer):
            order = _checked_order(first, d)
            answer = answer[1]
        else:
            answer = first
    try:
        scores = np.array(answer, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(
            f"Expected one number per column of X from the score function, got {answer!r:.60}."
        ) from None
    # of the chosen columns alone
    if order is not None and scores.shape == order.shape != (d,):
        every = np.full(d, np.nan)
        every[order] = scores
        scores = every
    if scores.shape != (d,):
        raise ValueError(
            f"Expected one score per column of X, shape ({d},), from the score function, "
            f"got shape {scores.shape}."
        )
    if order is None and np.isnan(scores).any():
        warn_user(
            f"The score of {np.isnan(scores).sum()} features is NaN; they are ranked last.",
        )
    return order, scores


def _checked_order(order: np.ndarray, d: int) -> np.ndarray:
    different = order.ndim == 1 and order.size == np.unique(order).size
    # a filter may have found nothing to put into an order
    inside = not order.size or (order.min() >= 0 and order.max() < d)
    if not (different and inside):
        raise ValueError(
            f"Expected an order of different column numbers from 0 to {d - 1} from the score "
            f"function, got {order!r:.80}."
        )
    return order


def _ranked(order: np.ndarray | None, scores: np.ndarray, factors: np.ndarray | None) -> np.ndarray:
    """All columns, best first: as ordered, then by score; always-in before all others."""
    values = np.where(np.isnan(scores), -np.inf, scores)
    if order is None:
        if factors is not None:
            values = favour(values, factors)
        best_first = np.argsort(-values, kind="stable")
    else:
        by_score = np.argsort(-values, kind="stable")
        # a filter that stops after k leaves the others to their scores
        best_first = np.concatenate([order, by_score[~np.isin(by_score, order)]])
        if factors is not None and not np.isin(factors, (0.0, 1.0)).all():
            raise ValueError(
                "Expected feature_weights of 0, 1 or inf for a score function that returns an "
                "order and has no parameter feature_weights, got other factors."
            )
    if factors is None:
        return best_first
    # stable: those always in move to the front in the order they had
    return best_first[np.argsort(factors[best_first] != 0, kind="stable")]
