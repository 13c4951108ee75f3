"""From results to facts: whatever was passed is read once, here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..results import Path, Solution
from ..selectors.base import FeatureSelector
from . import reuse
from .facts import CurveFacts, Facts, PathFacts, StabilityFacts
from .proof import proof_of, verdict
from .selection import Selection, path_facts
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
    solution: Solution | None = None
    settings: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    figures: list[tuple[str, str]] = field(default_factory=list)

    def add(self, result: Any) -> None:
        """One more result."""
        if isinstance(result, FeatureSelector):
            self._add_selector(result)
        elif isinstance(result, Path):
            self.path = result
        elif isinstance(result, Solution):
            self.solution = result
        else:
            raise TypeError(f"Expected {WANTED}, got {type(result).__name__}.")

    def _add_selector(self, selector: Any) -> None:
        self.selection = Selection.of(selector, self.table)
        self.settings.extend(reuse.settings(selector))
        self.notes.extend(vars(selector).get("notes_", ()))
        if self.selection.solution is not None:
            self.solution = self.selection.solution

    def facts(self, title: str | None) -> Facts:
        """All of it, put together."""
        chosen = self.selection
        drawn = self._path_facts()
        data = None
        if self.table is not None:
            fitted = {} if chosen is None else vars(chosen.selector)
            kind = "" if chosen is None else chosen.kind
            outputs = () if chosen is None else chosen.outputs
            data = data_facts(self.table, kind, fitted.get("classes_"), outputs)
        return Facts(
            title=visible(title or self._title()),
            answer=" ".join(self._answers(drawn)),
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
            data=data,
            settings=tuple(self.settings),
            versions=reuse.versions(),
            seed="" if chosen is None else reuse.seed_of(chosen.selector),
            command="" if chosen is None else reuse.command(chosen.selector, self.table),
            code="" if chosen is None else self._code(chosen),
            notes=tuple(visible(note) for note in self.notes),
        )

    def _title(self) -> str:
        subject = "" if self.table is None else self.table.name
        return f"Selected features: {subject}" if subject else "Selected features"

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
            first, last = path.n_features[0], path.n_features[-1]
            ends = f"{path.axis} from {number(path.places[0])} to {number(path.places[-1])}"
            answers.insert(0, f"The path selects {first:,} to {last:,} features, {ends}.")
        return answers

    def _key_figures(self) -> list[tuple[str, str]]:
        figures = []
        if self.selection is not None:
            k = f"{self.selection.order.size:,}"
            figures.append((k, f"selected of {count(self.selection.n_features, 'column')}"))
        if self.table is not None:
            figures.append((f"{self.table.shape[0]:,}", "samples"))
        figures.extend(self.figures)
        if self.solution is not None:
            figures.append(verdict(self.solution))
        return figures

    def _code(self, chosen: Selection) -> str:
        names = [chosen.names[j] for j in chosen.order]
        return reuse.code(names, chosen.order.tolist(), chosen.named, chosen.kind)


def read(result: Any, data: Any = None, title: str | None = None) -> Facts:
    """The facts of one result, or of several that belong to the same data."""
    results = list(result) if isinstance(result, list | tuple) else [result]
    if not results:
        raise ValueError(f"Expected {WANTED}, got an empty list.")
    parts = Parts(Table.of(data))
    for one in results:
        parts.add(one)
    return parts.facts(title)
