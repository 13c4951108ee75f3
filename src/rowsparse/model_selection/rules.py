"""Which candidate of a search to take: the best, or a smaller one that is as good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..inputs import is_integer, is_real

Rule = str | float | Callable[[dict[str, Any]], int]


def check_rule(name: str, value: Any) -> None:
    """ "best", "1se", a tolerance or a function."""
    if callable(value):
        return
    # a word first: compared with a number it would be an error of Python's
    named = isinstance(value, str) and value in ("best", "1se")
    tolerance = is_real(value) and 0 <= value < np.inf
    if not named and not tolerance:
        raise ValueError(
            f"Expected {name} to be 'best', '1se', a tolerance >= 0 in units of the score or a "
            f"function of cv_results_, got {name}={value!r}."
        )


def standard_errors(scores: np.ndarray) -> np.ndarray:
    """Of the mean over folds (columns): s / sqrt(folds)."""
    known = np.isfinite(scores).sum(axis=1)
    errors = np.full(len(scores), np.nan)
    # one fold says nothing of how folds differ
    enough = known > 1
    spread = np.nanstd(scores[enough], axis=1, ddof=1)
    errors[enough] = spread / np.sqrt(known[enough])
    return errors


def best_of(means: np.ndarray, sizes: np.ndarray) -> int:
    """The highest mean score; of equal ones the fewest features; of these the first."""
    return smallest_within(means, sizes, means[np.isfinite(means)].max())


def smallest_within(means: np.ndarray, sizes: np.ndarray, least: float) -> int:
    """The fewest features on average with at least this score; of these the highest score."""
    usable = np.isfinite(means) & ~below(means, least)
    # the last key sorts first; candidates alike in both stay in the order of the grid
    order = np.lexsort((np.arange(means.size), -means, sizes))
    first = np.argmax(usable[order])
    return int(order[first])


def below(means: Any, least: Any) -> Any:
    """Below by more than rounding: folds with as many hits in all may differ in the last bit."""
    return means < least - 1e-12 * np.abs(least)


def chosen(rule: Rule, results: dict[str, Any], scores: np.ndarray) -> int:
    """The index of the candidate that a rule takes; no rule by name takes more features on
    average than the best."""
    means = results["mean_test_score"]
    sizes = results["mean_n_features"]
    best = best_of(means, sizes)
    if callable(rule):
        index = rule(results)
        if not is_integer(index) or not 0 <= index < means.size:
            raise ValueError(
                f"Expected rule to return an index from 0 to {means.size - 1}, got {index!r}."
            )
        return int(index)
    if rule == "best":
        return best
    margin = standard_errors(scores)[best] if rule == "1se" else float(rule)
    # of one fold there is no standard error: nothing is then as good as the best
    if not np.isfinite(margin):
        margin = 0.0
    return smallest_within(means, sizes, means[best] - margin)
