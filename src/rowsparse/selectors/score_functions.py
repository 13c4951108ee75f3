"""Score functions of all kinds, ours, scikit-learn's and users', behind one call."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping

import numpy as np

from ..filters import BY_NAME
from ..filters.base import Table, favour
from ..inputs import did_you_mean

SUPPLIED = ("task", "n_features_to_select", "feature_weights", "sample_weight")  # by the selector


class ScoreFunction:
    """A score function, what it may be told, and what its answer means."""

    def __init__(self, function: Callable, params: dict):
        self.function, self.params = function, params
        self.takes = _parameters(function)

    @classmethod
    def of(cls, score, score_params) -> ScoreFunction:
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
        made = cls(function, dict(score_params or {}))
        made._check_params(score)
        return made

    def _check_params(self, score) -> None:
        own = [name for name in self.takes if name not in ("X", "y", *SUPPLIED)]
        wrong = [name for name in self.params if name not in own]
        if wrong and "**" not in self.takes:
            raise ValueError(
                f"Expected score_params among {own} for score={score!r}, got {wrong}; "
                "task, feature_weights and n_features_to_select are parameters of ScoreSelector."
            )

    def __call__(self, table: Table, y, supplied: dict) -> tuple[np.ndarray, np.ndarray]:
        """The order of all columns, best first, and a score for each of them."""
        given = {name: value for name, value in supplied.items() if value is not None}
        weights = given.get("feature_weights")
        if "sample_weight" in given and "sample_weight" not in self.takes:
            raise ValueError(
                "Expected a score function with a parameter sample_weight when fit is given "
                f"sample_weight, got {self.function!r}."
            )
        used = {name: value for name, value in given.items() if name in self.takes}
        # Our filters take the checked table as it is: X is validated once.
        ours = self.function in BY_NAME.values()
        answer = self.function(table if ours else table.X, y, **used, **self.params)
        order, scores = _read(answer, table.shape[1])
        aware = "feature_weights" in self.takes
        return _ranked(order, scores, None if aware else weights), scores


def _parameters(function: Callable) -> list[str]:
    """Names of the parameters; "**" where any name is taken."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some compiled functions have no signature
        return ["X", "y"]
    return ["**" if p.kind is p.VAR_KEYWORD else p.name for p in parameters]


def _read(answer, d: int) -> tuple[np.ndarray | None, np.ndarray]:
    """Scores alone, (order, scores) or scikit-learn's (scores, p-values)."""
    order = None
    if isinstance(answer, tuple) and len(answer) == 2:
        first = np.asarray(answer[0])
        if np.issubdtype(first.dtype, np.integer):
            order, answer = _checked_order(first, d), answer[1]
        else:
            answer = first
    scores = np.array(answer, dtype=float)
    if order is not None and scores.shape == order.shape != (d,):
        scores, chosen = np.full(d, np.nan), scores
        scores[order] = chosen
    if scores.shape != (d,):
        raise ValueError(
            f"Expected one score per column of X, shape ({d},), from the score function, "
            f"got shape {scores.shape}."
        )
    if order is None and np.isnan(scores).any():
        warnings.warn(
            f"The score of {np.isnan(scores).sum()} features is NaN; they are ranked last.",
            stacklevel=5,
        )
    return order, scores


def _checked_order(order: np.ndarray, d: int) -> np.ndarray:
    inside = order.ndim == 1 and order.size == np.unique(order).size
    if not inside or (order.size and not (order.min() >= 0 and order.max() < d)):
        raise ValueError(
            f"Expected an order of different column numbers from 0 to {d - 1} from the score "
            f"function, got {order!r:.80}."
        )
    return order


def _ranked(order, scores: np.ndarray, factors: np.ndarray | None) -> np.ndarray:
    """All columns, best first: as ordered, then by score; always-in before all others."""
    values = np.where(np.isnan(scores), -np.inf, scores)
    if factors is not None and order is None:
        values = favour(values, factors)
    best_first = np.argsort(-values, kind="stable")
    if order is not None:
        best_first = np.concatenate([order, best_first[~np.isin(best_first, order)]])
    if factors is not None:
        if order is not None and not np.isin(factors, (0.0, 1.0)).all():
            raise ValueError(
                "Expected feature_weights of 0, 1 or inf for a score function that returns an "
                "order and has no parameter feature_weights, got other factors."
            )
        best_first = best_first[np.argsort(factors[best_first] != 0, kind="stable")]
    return best_first
