"""What a selector selects along its path: one walk per training set serves every candidate."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..inputs import is_integer
from ..problems.base import without_proofs
from ..results import Solution, Status
from ..selectors import GroupedSelector, ScoreSelector, TopKSelector
from ..selectors.paths import selection_path
from ..selectors.penalised import RowSelector
from ..selectors.wrong_tool import WrongToolWarning

K_PARAMETERS = ("n_features_to_select", "k")  # ours and RFE's; SelectKBest's


@dataclass(frozen=True)
class Step:
    """What is selected at one value of alpha or k."""

    columns: np.ndarray  # ascending
    solution: Solution | None = None  # in the standardised scale, where there is one
    n_features: int | None = None  # where several columns are one

    @property
    def size(self) -> int:
        """How many features are selected."""
        return self.columns.size if self.n_features is None else self.n_features


@dataclass(frozen=True)
class Walk:
    """The steps of one selector on one training set."""

    steps: list[Step]
    seconds: float
    not_converged: int = 0
    notes: tuple[str, ...] = field(default=())  # other warnings, each once


def k_parameter(selector: Any) -> str | None:
    """The name of the parameter that says how many features; None where there is none."""
    known = selector.get_params(deep=False)
    return next((name for name in K_PARAMETERS if name in known), None)


def with_k(selector: Any, k: int) -> Any:
    """An unfitted copy that selects exactly k features, whatever its alpha was."""
    name = k_parameter(selector)
    if name is None:
        raise TypeError(
            f"Expected a selector with a number of features ({' or '.join(K_PARAMETERS)}), got "
            f"{type(selector).__name__}; use another selector, or a grid of its own parameters."
        )
    copy = clone(selector).set_params(**{name: k})
    if isinstance(copy, RowSelector):
        copy.set_params(alpha=None)
    return copy


def follow(
    selector: Any,
    X: Any,
    y: Any,
    fit_params: dict[str, Any],
    *,
    alphas: np.ndarray | None = None,
    ks: Sequence[int] | None = None,
) -> Walk:
    """The columns selected at every alpha, at every k, or by the selector as it is.

    Convergence warnings are counted and other warnings are kept for the caller to say once.
    """
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught, without_proofs():
        warnings.simplefilter("always")
        # which fit within a resampling is the wrong tool is for the final fit to say
        warnings.simplefilter("ignore", WrongToolWarning)
        steps = _steps(selector, X, y, fit_params, alphas, ks)
    failed = [w for w in caught if issubclass(w.category, ConvergenceWarning)]
    # a set: many fits say the same sentence
    others = {str(w.message) for w in caught if w not in failed}
    unfinished = sum(s.solution is not None and not s.solution.converged for s in steps)
    # a fit says that it stopped by a warning, a step of a path by its status: the same fits
    seconds = time.perf_counter() - began
    return Walk(steps, seconds, max(len(failed), unfinished), tuple(sorted(others)))


def _steps(
    selector: Any,
    X: Any,
    y: Any,
    fit_params: dict[str, Any],
    alphas: np.ndarray | None,
    ks: Sequence[int] | None,
) -> list[Step]:
    weight = fit_params.get("sample_weight")
    if alphas is not None:
        path = selection_path(selector, X, y, alphas=alphas, sample_weight=weight)
        refuse_interrupted(path.solutions)
        return [_of_solution(selector, X, solution) for solution in path.solutions]
    if ks is None:
        return [_of_fit(clone(selector), X, y, fit_params)]
    if isinstance(selector, RowSelector | TopKSelector):
        return _along_k(selector, X, y, fit_params, ks)
    if isinstance(selector, ScoreSelector):
        # a filter's order does not depend on k: the largest holds all others
        fitted = with_k(selector, max(ks)).fit(X, y, **fit_params)
        return [Step(np.flatnonzero(fitted.support_ & (fitted.ranking_ <= k))) for k in ks]
    return [_of_fit(with_k(selector, k), X, y, fit_params) for k in ks]


def _along_k(
    selector: RowSelector | TopKSelector, X: Any, y: Any, fit_params: dict[str, Any], ks: Any
) -> list[Step]:
    """One path; a k that it does not fill is fitted alone, where the ranking fills it up."""
    largest = with_k(selector, max(ks))
    weight = fit_params.get("sample_weight")
    path = selection_path(largest, X, y, ks=ks, sample_weight=weight)
    refuse_interrupted(path.solutions)
    found = dict(zip(ks, path.solutions, strict=False))  # a time limit ends it early
    steps = []
    for k in ks:
        step = _of_solution(selector, X, found[k]) if k in found else None
        if step is None or step.columns.size != k:
            step = _of_fit(with_k(selector, k), X, y, fit_params)
        steps.append(step)
    return steps


def _of_solution(selector: Any, X: Any, solution: Solution) -> Step:
    chosen = np.zeros(len(solution.W), dtype=bool)
    chosen[solution.rows] = True
    weights = selector.feature_weights
    if weights is not None:  # those always in are selected, even with a row of zeros
        chosen |= _always(weights, X)
    return Step(np.flatnonzero(chosen), solution)


def _always(weights: Any, X: Any) -> np.ndarray:
    if isinstance(weights, dict):
        # names are looked up in a frame alone: the selector has checked that
        return np.array([weights.get(name, 1.0) == 0 for name in X.columns])
    return np.asarray(weights, dtype=float) == 0


def _of_fit(selector: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> Step:
    fitted = selector.fit(X, y, **fit_params)
    solution = vars(fitted).get("solution_")
    if solution is not None:
        refuse_interrupted([solution])
    if not isinstance(fitted, RowSelector | TopKSelector):
        # the W of another problem predicts no Y, and would be scored as if it did
        solution = None
    return Step(np.flatnonzero(fitted.get_support()), solution, n_selected(fitted))


def n_selected(fitted: Any) -> int:
    """How many features a selector selects, whose columns may be more."""
    if isinstance(fitted, GroupedSelector):
        return fitted.n_selected_
    return int(np.count_nonzero(fitted.get_support()))


def refuse_interrupted(solutions: Sequence[Solution]) -> None:
    """A solver answers Ctrl-C with its best point so far; of many fits the rest must end too."""
    if any(solution.status == Status.INTERRUPTED for solution in solutions):
        raise KeyboardInterrupt


def checked_ks(ks: Any, n_features: int) -> list[int]:
    """Different numbers of features in increasing order."""
    values = list(ks) if np.iterable(ks) else [ks]
    if not values or not all(is_integer(k) and 1 <= k <= n_features for k in values):
        raise ValueError(
            f"Expected ks as whole numbers from 1 to {n_features} (the columns of X), got {ks!r}."
        )
    return sorted({int(k) for k in values})
