"""A fitted selector, read: its features with all that is known about each, and its path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..model_selection import StabilitySelector
from ..results import Path, Solution
from ..selectors import GroupedSelector
from ..selectors.grouped import Features, features_of
from .facts import Feature, PathFacts, Trace
from .table import Groups, Table, class_names, stand_ins
from .words import listed, visible

MOST_FEATURES = 100  # of one page, best first; the JSON has as many, ``to_frame`` has all
MOST_TRACES = 40  # lines of a path that an eye still tells apart
NAMES = {
    "L2pSelector": "l2,p",
    "LpInfSelector": "l_{p,inf}",
    "TopKSelector": "exactly k (l2,0)",
    "ZeroNormSVC": "zero-norm SVM",
    "ProbitSelector": "zero-norm probit",
    "StabilitySelector": "stability selection",
}


@dataclass(frozen=True)
class Selection:
    """What a fitted selector found, with names."""

    selector: Any
    table: Table | None
    names: tuple[str, ...]  # of all columns
    named: bool  # whether the columns have names of their own
    outputs: tuple[str, ...]
    kind: str  # of the target: "numbers", "multilabel", "binary" …
    order: np.ndarray  # the selected columns, best first
    features_of_columns: Features
    probabilities: np.ndarray | None = None  # of all columns, on half-samples

    @classmethod
    def of(
        cls, selector: Any, table: Table | None, probabilities: np.ndarray | None = None
    ) -> Selection:
        check_is_fitted(selector, "support_")
        d = selector.support_.size
        inner = selector.selector if isinstance(selector, StabilitySelector) else selector
        features = features_of(inner, d, vars(selector).get("feature_names_in_"))
        if isinstance(selector, GroupedSelector):
            selector = selector.selector_  # fitted on the columns, of which the page speaks
        fitted = vars(selector)
        chosen = np.flatnonzero(selector.support_)
        best_first = np.argsort(selector.ranking_[chosen], kind="stable")
        names = _names(fitted, table, d)
        # who does not say what y was is a classifier, or took numbers
        kind = fitted.get("target_kind_", "binary" if "classes_" in fitted else "numbers")
        return cls(
            selector=selector,
            table=table,
            names=tuple(f"x{j}" for j in range(d)) if names is None else names,
            named=names is not None,
            outputs=_outputs(fitted, table),
            kind=kind,
            order=chosen[best_first],
            features_of_columns=features,
            probabilities=probabilities,
        )

    @property
    def n_features(self) -> int:
        return len(self.names)

    @property
    def ranks(self) -> np.ndarray:
        """Of the chosen columns; those of one category share theirs."""
        return self.features_of_columns.ranks(self.order)

    @property
    def n_chosen(self) -> int:
        """How many features are selected: the columns of a category are one."""
        return int(self.ranks.max(initial=0))

    @property
    def solution(self) -> Solution | None:
        """A filter solves no problem."""
        found = vars(self.selector).get("solution_")
        return found if isinstance(found, Solution) else None

    @property
    def method(self) -> str:
        known = type(self.selector).__name__
        if known in NAMES:
            return NAMES[known]
        score = self.selector.get_params(deep=False).get("score", known)
        return visible(score if isinstance(score, str) else vars(score).get("__name__", known))

    def features(self) -> tuple[Feature, ...]:
        """The selected columns, best first, at most ``MOST_FEATURES`` of them."""
        chosen = self.order[:MOST_FEATURES].tolist()
        distributions = self._distributions(chosen)
        nearby: list[Any] = [None] * len(chosen)
        if self.table is not None and chosen:
            nearby = stand_ins(self.table, chosen, self.names)
        facts = []
        ranks = self.ranks.tolist()
        for place, j in enumerate(chosen):
            coefficients = self._coefficients(j)
            facts.append(
                Feature(
                    rank=ranks[place],
                    name=self.names[j],
                    index=j,
                    score=float(self.selector.scores_[j]),
                    coefficients=coefficients,
                    entered_alpha=self._entered(j),
                    probability=self._probability(j),
                    stand_ins=nearby[place],
                    groups=distributions[place],
                    reason=self._reason(coefficients),
                )
            )
        return tuple(facts)

    def _coefficients(self, j: int) -> tuple[float, ...]:
        coef = vars(self.selector).get("coef_")
        return () if coef is None else tuple(float(value) for value in coef[:, j])

    def _entered(self, j: int) -> float | None:
        entered = vars(self.selector).get("entered_alpha_")
        return None if entered is None or np.isnan(entered[j]) else float(entered[j])

    def _probability(self, j: int) -> float | None:
        return None if self.probabilities is None else float(self.probabilities[j])

    def _reason(self, coefficients: Sequence[float]) -> str:
        """For which outputs a feature speaks; with one output its sign says all there is."""
        if not self.outputs or not coefficients or not np.any(coefficients):
            return ""
        if len(coefficients) == 1:
            direction = "higher" if coefficients[0] > 0 else "lower"
            if self.kind == "numbers":
                return f"a higher value goes with a {direction} y"
            return f"{direction} values speak for {self._called(0)}"
        top = int(np.argmax(np.abs(coefficients)))
        word = "for" if coefficients[top] > 0 else "against"
        return f"speaks most {word} {self._called(top)}"

    def _called(self, output: int) -> str:
        """The name of an output; a bare number says what it numbers."""
        name = visible(self.outputs[output])
        if not name.replace(".", "").isdigit():
            return name
        kinds = {"numbers": "output", "multilabel": "label"}
        return f"{kinds.get(self.kind, 'class')} {name}"

    def _distributions(self, chosen: Sequence[int]) -> list[tuple]:
        table = self.table
        if table is None or table.y is None or not len(chosen):
            return [() for _ in chosen]
        groups = Groups(table, self.kind, self.outputs, vars(self.selector).get("classes_"))
        columns = table.columns(chosen, groups.rows)
        n_groups = len(groups.names)
        found = []
        for j, values in zip(chosen, columns.T, strict=True):
            weights = np.array(self._coefficients(j))
            if weights.size != n_groups:  # one output for two classes, or none
                weights = np.zeros(n_groups)
            found.append(groups.of(values, weights))
        return found

    def answer(self) -> str:
        """The one sentence."""
        k = self.order.size
        of_all = f"of {self.n_features:,} columns"
        if not k:
            return f"None {of_all} was selected."
        best = listed([self.names[j] for j in self.order[:3]])
        if k == 1:
            return f"One {of_all} was selected: {best}."
        led = ", led by" if k > 3 else ":"
        if self.n_chosen < k:  # the columns of a category are one feature
            several = f"{self.n_chosen:,} features, which are {k:,} {of_all}"
            return f"{several}, were selected{led} {best}."
        return f"{k:,} {of_all} were selected{led} {best}."


def _names(fitted: dict[str, Any], table: Table | None, d: int) -> tuple[str, ...] | None:
    known = None if table is None else table.names
    if known is None:
        known = fitted.get("feature_names_in_")
    if known is not None and len(known) != d:
        raise ValueError(
            f"Expected data with the {d} columns that the selector was fitted on, got "
            f"{len(known)} names; pass the data of the fit."
        )
    if table is not None and table.shape[1] != d:
        raise ValueError(
            f"Expected data with the {d} columns that the selector was fitted on, got "
            f"{table.shape[1]}; pass the data of the fit."
        )
    return None if known is None else tuple(str(name) for name in known)


def _outputs(fitted: dict[str, Any], table: Table | None) -> tuple[str, ...]:
    """What each row of ``coef_`` speaks for; with two classes that is the second one."""
    if "coef_" not in fitted:
        return ()
    n = len(fitted["coef_"])
    classes = fitted.get("classes_")
    if classes is not None and not isinstance(classes, list):
        labels = class_names(table, classes)
        return tuple(labels[1:] if n == 1 else labels)
    names = None if table is None else table.target_names
    if names is None or len(names) != n:
        names = tuple(str(name) for name in fitted.get("output_names_", range(n)))
    return tuple(names)


def path_facts(path: Path, names: Sequence[str] | None) -> PathFacts:
    """The scores of the features that matter along a path, strongest first."""
    scores = np.array([np.linalg.norm(solution.W, axis=1) for solution in path.solutions])
    axis, places = _axis(path)
    entered = np.any(scores > 0, axis=0)
    height = scores.max(axis=0)
    strongest = np.argsort(-height, kind="stable")[:MOST_TRACES]
    traced = [int(j) for j in strongest if entered[j]]
    traces = []
    for j in traced:
        first = float(places[np.flatnonzero(scores[:, j] > 0)[0]])
        name = f"x{j}" if names is None else str(names[j])
        traces.append(Trace(name, tuple(float(v) for v in scores[:, j]), first))
    return PathFacts(
        axis=axis,
        places=tuple(float(place) for place in places),
        n_features=tuple(int(n) for n in path.n_rows),
        objectives=tuple(float(value) for value in path.objectives),
        traces=tuple(traces),
        n_never_drawn=int(np.sum(entered)) - len(traced),
    )


def _axis(path: Path) -> tuple[str, np.ndarray]:
    if path.powers is not None:
        return "p", path.powers
    if path.ks is not None and np.isnan(path.alphas).any():
        return "k", path.ks
    return "alpha", path.alphas
