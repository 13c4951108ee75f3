"""From results to facts: whatever was passed is read once, here."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..model_selection import (
    Comparison,
    NestedScore,
    SelectorCV,
    Stability,
    StabilitySelector,
    Tuning,
)
from ..results import Path, Solution
from ..selectors.base import FeatureSelector
from ..targets import as_target
from . import reuse
from .facts import CurveFacts, DataFacts, Facts, PathFacts, StabilityFacts
from .proof import proof_of, verdict
from .selection import Selection, path_facts
from .sure import (
    best_at,
    chosen_words,
    comparison_facts,
    nested_words,
    stability_facts,
    tuning_facts,
)
from .table import Table, data_facts
from .words import count, number, visible

WANTED = (
    "a fitted selector, a SelectorCV, a StabilitySelector, a Comparison, a Path or a Solution, "
    "or a list of them"
)


@dataclass
class Parts:
    """What has been read so far."""

    table: Table | None
    selection: Selection | None = None
    path: Path | None = None
    curves: list[CurveFacts] = field(default_factory=list)
    stability: StabilityFacts | None = None
    comparison: Comparison | None = None
    probabilities: np.ndarray | None = None  # of all columns, on half-samples
    solution: Solution | None = None
    seed: str = ""
    settings: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    figures: list[tuple[str, str]] = field(default_factory=list)

    def add(self, result: Any) -> None:
        """One more result."""
        for kind, reader in self._readers().items():
            if isinstance(result, kind):
                reader(result)
                return
        raise TypeError(f"Expected {WANTED}, got {type(result).__name__}.")

    def _readers(self) -> dict[type, Callable[[Any], None]]:
        """Who reads what; the special kinds of selectors come before selectors."""
        return {
            SelectorCV: self._add_search,
            StabilitySelector: self._add_stable,
            FeatureSelector: self._add_selector,
            Tuning: self._add_tuning,
            NestedScore: self._add_nested,
            Stability: self._add_stability,
            Comparison: self._add_comparison,
            Path: self._add_path,
            Solution: self._add_solution,
        }

    def _add_selector(self, selector: Any) -> None:
        self.selection = Selection.of(selector, self.table, self.probabilities)
        selector = self.selection.selector
        self._add_settings(selector)
        self.notes.extend(vars(selector).get("notes_", ()))
        if self.selection.solution is not None:
            self.solution = self.selection.solution

    def _add_settings(self, estimator: Any) -> None:
        self.settings.extend(reuse.settings(estimator))
        self.seed = reuse.seed_of(estimator)

    def _add_search(self, search: Any) -> None:
        check_is_fitted(search, "result_")
        # a selector of others has no coefficients: the columns it chose are in the search
        if isinstance(search.best_selector_, FeatureSelector):
            self._add_selector(search.best_selector_)
        else:
            self._add_selector(search)
        for name, text in reuse.settings(search):
            self.settings.append((f"search: {name}", text))
        if search.path_ is not None:
            self.path = search.path_
        kind = "" if self.selection is None else self.selection.kind
        # what scikit-learn's estimators score by, if not told otherwise
        usual = {"numbers": "R²", "multilabel": "score"}.get(kind, "accuracy")
        self._add_tuning(search.result_, usual)

    def _add_tuning(self, tuning: Tuning, usual: str = "score") -> None:
        score = usual if tuning.scoring == "default" else tuning.scoring
        self.curves.append(tuning_facts(tuning, score))
        self.answers.append(f"Cross-validation took {chosen_words(tuning)}.")

    def _add_nested(self, nested: NestedScore) -> None:
        self.figures.append(nested_words(nested))

    def _add_stable(self, selector: Any) -> None:
        check_is_fitted(selector, "stability_")
        if self.selection is None:
            self.selection = Selection.of(selector, self.table)
            self._add_settings(selector)
        else:  # the page is about what was passed first
            for name, text in reuse.settings(selector):
                self.settings.append((f"stability: {name}", text))
        self._add_stability(selector.stability_, selector)

    def _add_stability(self, stability: Stability, selector: Any = None) -> None:
        if selector is not None:
            self.probabilities = selector.selection_probabilities_
        elif self.selection is None or stability.n_features == self.selection.n_features:
            self.probabilities = stability.probabilities  # else they are of groups of columns
        if self.selection is not None:
            self.selection = replace(self.selection, probabilities=self.probabilities)
        names = self._names(stability.n_features, stability.names)
        X = None if self.table is None else self.table.X
        self.stability = stability_facts(stability, names, selector, X)
        stable = stability.support.size
        share = f"{stability.threshold:.0%} of {len(stability.selections)} half-samples"
        verb = "was" if stable == 1 else "were"
        self.answers.append(f"{count(stable, 'column')} {verb} chosen on at least {share}.")
        self.figures.append(
            (f"{stable:,}", f"stable, at most {number(stability.pfer)} false expected")
        )

    def _names(self, d: int, known: Sequence[str]) -> Sequence[str]:
        chosen = self.selection
        if chosen is not None and chosen.named and chosen.n_features == d:
            return chosen.names
        if self.table is not None and self.table.names and len(self.table.names) == d:
            return self.table.names
        return known or [f"x{j}" for j in range(d)]

    def _add_comparison(self, comparison: Comparison) -> None:
        self.comparison = comparison

    def _add_path(self, path: Path) -> None:
        self.path = path

    def _add_solution(self, solution: Solution) -> None:
        self.solution = solution

    def _read_comparison(self) -> None:
        """At the number of features that the page is about, or else the largest."""
        if self.comparison is None:
            return
        ks = self.comparison.ks
        wanted = max(ks) if self.selection is None else self.selection.n_chosen
        k = min(ks, key=lambda one: abs(one - wanted))  # it may not have been compared
        self.curves.append(comparison_facts(self.comparison, k))
        self.answers.append(best_at(self.comparison, k, self.comparison.estimators[0]))

    def facts(self, title: str | None) -> Facts:
        """All of it, put together."""
        self._read_comparison()
        chosen = self.selection
        drawn = self._path_facts()
        return Facts(
            title=visible(title or self._title()),
            answer=" ".join(filter(None, self._answers(drawn))),
            method="" if chosen is None else chosen.method,
            key_figures=tuple(self._key_figures()),
            outputs=() if chosen is None else chosen.outputs,
            features=() if chosen is None else chosen.features(),
            n_selected=0 if chosen is None else int(chosen.order.size),
            n_features=0 if chosen is None else chosen.n_features,
            path=drawn,
            curves=tuple(self.curves),
            stability=self.stability,
            proof=() if self.solution is None else proof_of(self.solution),
            data=self._data_facts(),
            settings=tuple(self.settings),
            versions=reuse.versions(),
            seed=self.seed,
            command="" if chosen is None else reuse.command(chosen.selector, self.table),
            code="" if chosen is None else self._code(chosen),
            notes=tuple(visible(note) for note in self.notes),
        )

    def _data_facts(self) -> DataFacts | None:
        """The data as the selector read it, or as one would."""
        if self.table is None:
            return None
        if self.selection is not None:
            chosen = self.selection
            classes = vars(chosen.selector).get("classes_")
            return data_facts(self.table, chosen.kind, classes, chosen.outputs)
        if self.table.y is None:
            return data_facts(self.table, "", None, ())
        with warnings.catch_warnings():  # what y is taken for is said on the page
            warnings.simplefilter("ignore")
            target = as_target(self.table.y, "auto")
        names = self.table.target_names or target.output_names
        return data_facts(self.table, target.kind, target.classes, names)

    def _title(self) -> str:
        subject = "" if self.table is None else self.table.name
        return f"Feature selection: {subject}" if subject else "Feature selection"

    def _path_facts(self) -> PathFacts | None:
        if self.path is None or not self.path.solutions:
            return None
        names = None if self.selection is None else self.selection.names
        if names is None and self.table is not None:
            names = self.table.names
        return path_facts(self.path, names)

    def _answers(self, path: PathFacts | None) -> list[str]:
        answers = list(self.answers)
        if self.selection is not None:
            answers.insert(0, self.selection.answer())
        elif self.solution is not None:
            rows = self.solution.rows.size
            answers.insert(0, f"{rows:,} of {len(self.solution.W):,} rows are not zero.")
        elif path is not None:
            first = path.n_features[0]
            last = path.n_features[-1]
            ends = f"{path.axis} from {number(path.places[0])} to {number(path.places[-1])}"
            answers.insert(0, f"The path selects {first:,} to {last:,} features, {ends}.")
        return answers

    def _key_figures(self) -> list[tuple[str, str]]:
        figures = []
        if self.selection is not None:
            k = self.selection.n_chosen
            columns = self.selection.order.size
            of = count(self.selection.n_features, "column")
            what = f"selected of {of}"
            if k < columns:  # the columns of a category are one feature
                what = f"features, in {columns:,} of {of}"
            figures.append((f"{k:,}", what))
        if self.table is not None:
            figures.append((f"{self.table.shape[0]:,}", "samples"))
        figures.extend(self.figures)
        if self.solution is not None:
            figures.append(verdict(self.solution))
        return figures

    def _code(self, chosen: Selection) -> str:
        columns = chosen.order.tolist()
        names = [chosen.names[j] for j in columns]
        # columns that words were coded as are not in the file, and a line of pandas finds none
        coded = self.table is not None and not self.table.coded.isdisjoint(columns)
        return reuse.code(names, columns, chosen.named, chosen.kind, coded)


def read(result: Any, data: Any = None, title: str | None = None) -> Facts:
    """The facts of one result, or of several that belong to the same data."""
    results = list(result) if isinstance(result, list | tuple) else [result]
    if not results:
        raise ValueError(f"Expected {WANTED}, got an empty list.")
    parts = Parts(Table.of(data))
    for one in results:
        parts.add(one)
    return parts.facts(title)
