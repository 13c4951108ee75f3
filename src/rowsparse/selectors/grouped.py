"""Columns that are one feature to the user, such as those of a category, selected together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from ..inputs import check_count, check_feature_weights, did_you_mean, is_integer, optional
from ..results import Status
from .base import DirectSelector
from .penalised import RowSelector


@dataclass(frozen=True)
class Features:
    """Which feature every column belongs to, and what the features are called."""

    of_column: np.ndarray
    names: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many features there are."""
        return len(self.names)

    def touched(self, columns: np.ndarray) -> np.ndarray:
        """The features with one of these columns, given as indices or as a mask."""
        return np.unique(self.of_column[columns])

    def columns(self, features: np.ndarray) -> np.ndarray:
        """All columns of these features, as a mask."""
        return np.isin(self.of_column, features)

    def ranks(self, columns: np.ndarray) -> np.ndarray:
        """1, 2, … for the features of these columns, in the order in which they come."""
        _, first, feature = np.unique(
            self.of_column[columns], return_index=True, return_inverse=True
        )
        return np.argsort(np.argsort(first))[feature] + 1

    def best(self, ranking: np.ndarray) -> np.ndarray:
        """For every feature the rank of its best column."""
        ranks = np.full(self.count, ranking.size + 1)
        np.minimum.at(ranks, self.of_column, ranking)
        return ranks


def features_of(selector: Any, n_columns: int, names: Any = None) -> Features:
    """The features of a selector; without groups every column is one."""
    groups = selector.groups if isinstance(selector, GroupedSelector) else None
    labels = [f"x{j}" for j in range(n_columns)] if names is None else list(map(str, names))
    first = np.arange(n_columns)
    taken: dict[int, str] = {}
    for group, columns in (groups or {}).items():
        places = [_place(column, group, n_columns, names) for column in columns]
        for place in places:
            if taken.setdefault(place, group) != group:
                raise ValueError(
                    f"Expected groups of different columns, got column {place} in "
                    f"{taken[place]!r} and in {group!r}."
                )
        if len(places) > 1:  # one column alone keeps its name, which says more
            first[places] = min(places)
            labels[min(places)] = str(group)
    kept, of_column = np.unique(first, return_inverse=True)
    return Features(of_column, tuple(labels[j] for j in kept))


def _place(column: Any, group: str, n_columns: int, names: Any) -> int:
    if is_integer(column) and 0 <= column < n_columns:
        return int(column)
    known = [] if names is None else list(names)
    if column in known:
        return known.index(column)
    raise ValueError(
        f"Expected groups of columns of X (n_features = {n_columns}), by name or number, got "
        f"{column!r} in {group!r}.{did_you_mean(str(column), [str(name) for name in known])}"
    )


def _check_groups(name: str, value: Any) -> None:
    listed = isinstance(value, Mapping) and all(
        isinstance(columns, Sequence | np.ndarray) and not isinstance(columns, str)
        for columns in value.values()
    )
    if not listed:
        raise TypeError(
            f"Expected {name} as a mapping from name to columns, such as "
            f"{{'town': [3, 4, 5]}}, got {value!r}."
        )


def _check_selector(name: str, value: Any) -> None:
    if not isinstance(value, DirectSelector) or isinstance(value, GroupedSelector):
        raise TypeError(
            f"Expected {name} to be a selector that looks at X itself, such as TopKSelector(10), "
            f"got {value!r}."
        )


class GroupedSelector(DirectSelector):
    """Select columns that belong together, such as those of a one-hot category, together.

    A group is one feature. It is selected when one of its columns is, then with all of them, and
    it ranks where its best column ranks. For k features the selector is asked for k columns, and
    for more as long as these belong to fewer than k features.

    Parameters
    ----------
    selector : a selector of this package, such as ``TopKSelector(10)``
    groups : mapping from name to columns, by index or by name
        Columns of no group are a feature each.
    n_features_to_select : int or float, optional
        How many features; None is the number, or the alpha, of the selector.

    Attributes
    ----------
    selector_ : the fitted selector, with the number, ``support_`` and ``ranking_`` of features
        Coefficients, objective and certificate are those of its fit: other columns of a group
        that was selected may have coefficients of zero.
    support_ : boolean array (n_features,), all columns of the selected features
    ranking_ : array (n_features,), 1 = best; the columns of a feature share its rank
    scores_ : array (n_features,), of the columns
    n_selected_ : how many features were selected
    n_features_in_, feature_names_in_, classes_ (where y has classes)

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from rowsparse import GroupedSelector, TopKSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> colours = {"colour": ["color_intensity", "hue"]}
    >>> selector = GroupedSelector(TopKSelector(3), colours).fit(X, y)
    >>> selector.n_selected_, selector.get_feature_names_out().tolist()
    (3, ['flavanoids', 'color_intensity', 'hue', 'proline'])
    """

    _checks: ClassVar = {
        "selector": _check_selector,
        "groups": optional(_check_groups),
        "n_features_to_select": optional(check_count),
    }

    def __init__(
        self, selector: Any, groups: Any = None, n_features_to_select: int | float | None = None
    ) -> None:
        self.selector = selector
        self.groups = groups
        self.n_features_to_select = n_features_to_select

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        k = self.n_features_to_select
        if k is None:
            k = self.selector.n_features_to_select
        fitted = self._with(k).fit(X, y, sample_weight)
        features = features_of(self, fitted.n_features_in_, vars(fitted).get("feature_names_in_"))
        if k is not None:
            share = 1.0 if is_integer(k) else features.count  # k may be a fraction
            number = min(max(int(share * k), 1), features.count)
            fitted = self._to_k(fitted, features, number, (X, y, sample_weight))
        self._set(fitted, features)

    def _with(self, k: Any, **params: Any) -> Any:
        """An unfitted copy of the selector for k columns, or for its own alpha."""
        copy = clone(self.selector).set_params(**params)
        if k is not None:
            copy.set_params(n_features_to_select=k)
            if isinstance(copy, RowSelector):  # at a given alpha fewer than k may be nonzero
                copy.set_params(alpha=None)
        return copy

    def _to_k(self, fitted: Any, features: Features, k: int, given: tuple[Any, ...]) -> Any:
        """A fit whose columns belong to k features; to fewer where no more can be selected."""
        # k columns belong to k features at the most: a start that never is too many by itself
        wanted = int(np.count_nonzero(fitted.support_))
        while not _interrupted(fitted):
            touched = features.touched(fitted.support_)
            if touched.size > k:
                return self._on(self._best(fitted, features, k), fitted, features, given)
            usable = wanted < features.of_column.size
            if touched.size == k or not usable or np.count_nonzero(fitted.support_) < wanted:
                break
            # one column more per feature that is missing: never beyond k while supports are nested
            wanted = min(wanted + k - touched.size, features.of_column.size)
            fitted = self._with(wanted).fit(*given)
        return fitted

    def _best(self, fitted: Any, features: Features, k: int) -> np.ndarray:
        """The k best of the features that were selected, those always in before the others."""
        touched = features.touched(fitted.support_)
        always = np.isin(touched, features.touched(self._weights(fitted) == 0))
        ranks = features.best(fitted.ranking_)[touched]
        order = np.lexsort((ranks, ~always))  # the last key leads
        return touched[order[:k]]

    def _weights(self, fitted: Any) -> np.ndarray:
        d = fitted.n_features_in_
        names = vars(fitted).get("feature_names_in_")
        weights = check_feature_weights(self.selector.feature_weights, d, names)
        return np.ones(d) if weights is None else weights.copy()

    def _on(self, kept: np.ndarray, fitted: Any, features: Features, given: tuple[Any, ...]) -> Any:
        """A fit on the columns of these features alone, so that no other has a coefficient."""
        inside = features.columns(kept)
        weights = self._weights(fitted)
        # excluded, not dropped: coefficients stay those of all columns of X
        weights[~inside] = np.inf
        # as many columns as it had there: a category must not gain some by the refit
        k = np.count_nonzero(fitted.support_ & inside)
        return self._with(k, feature_weights=weights).fit(*given)

    def _set(self, fitted: Any, features: Features) -> None:
        # one column of a group has brought all of them
        chosen = features.touched(fitted.support_)
        best_first = np.argsort(features.best(fitted.ranking_), kind="stable")
        ranks = np.empty(features.count, dtype=int)
        ranks[best_first] = np.arange(1, features.count + 1)
        fitted.support_ = features.columns(chosen)
        fitted.ranking_ = ranks[features.of_column]
        self.selector_ = fitted
        self.n_selected_ = int(chosen.size)
        if fitted.n_features_to_select is not None:
            # the fitted copy answers for features: its number of columns would look like a mistake
            fitted.set_params(n_features_to_select=self.n_selected_)
        shared = ("support_", "ranking_", "scores_", "n_features_in_", "feature_names_in_")
        for name in (*shared, "classes_", "n_iter_", "solution_"):
            self.__dict__.pop(name, None)  # of an earlier fit
            if name in vars(fitted):
                self.__dict__[name] = vars(fitted)[name]

    def _columns(self, input_features: Any) -> dict[str, np.ndarray]:
        return dict(self.selector_._columns(input_features))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.selector)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.target_tags = inner.target_tags
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        return tags


def _interrupted(fitted: Any) -> bool:
    solution = vars(fitted).get("solution_")
    return solution is not None and solution.status == Status.INTERRUPTED
