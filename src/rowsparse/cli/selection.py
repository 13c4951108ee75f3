"""A fitted selector as a table for people, rows for a csv file, or a record for JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rowsparse.cli.terminal import PIPE_WIDTH, finite, plain, plain_table, terminal
from rowsparse.datasets import Dataset
from rowsparse.results import Solution
from rowsparse.selectors import GroupedSelector
from rowsparse.selectors.grouped import Features, features_of

MOST_ROWS_SHOWN = 50  # about what a tall window holds; the rest is for a file
MOST_OUTPUTS_SHOWN = 6  # columns of coefficients that a person still compares
NUMBERS = "target"  # the one output of a target of numbers


@dataclass(frozen=True)
class Feature:
    """A selected feature as the person at the terminal wants it: a name, not a position."""

    rank: int
    name: str
    index: int
    score: float
    coefficients: list[float]  # one per output; a filter has none


@dataclass(frozen=True)
class Selection:
    """What a fitted selector found."""

    dataset: Dataset
    method: str
    features: list[Feature]  # best first
    outputs: list[str]  # what the coefficients of a feature belong to
    settings: dict[str, Any]  # p, r, ridge, alpha, C, norm: those that the method has
    features_of_columns: Features  # the columns of a category are one
    solution: Solution | None  # a filter solves no problem
    seconds: float  # for the whole fit: path, starts and all

    @property
    def n_selected(self) -> int:
        """How many features; the columns of a category are one."""
        return max((feature.rank for feature in self.features), default=0)

    @property
    def titles(self) -> list[str]:
        """The columns of the coefficients."""
        if self.outputs == [NUMBERS]:
            return ["coef"]
        return [f"coef_{output}" for output in self.outputs]


def read_selection(dataset: Dataset, method: str, selector: Any, seconds: float) -> Selection:
    grouped = features_of(selector, dataset.n_features)
    if isinstance(selector, GroupedSelector):
        selector = selector.selector_
    fitted = vars(selector)
    coef = fitted.get("coef_", np.empty((0, dataset.n_features)))
    chosen = np.flatnonzero(selector.support_)
    best_first = chosen[np.argsort(selector.ranking_[chosen], kind="stable")]
    features = []
    ranks = grouped.ranks(best_first).tolist()
    for rank, j in zip(ranks, best_first.tolist(), strict=True):
        score = float(selector.scores_[j])
        features.append(Feature(rank, dataset.feature_names[j], j, score, coef[:, j].tolist()))
    outputs = output_names(dataset, fitted.get("classes_"), len(coef)) if len(coef) else []
    names = {"p": "p", "r": "r", "ridge": "ridge_", "alpha": "alpha_", "C": "C_", "norm": "norm"}
    settings = {key: fitted[name] for key, name in names.items() if name in fitted}
    solution = fitted.get("solution_")
    return Selection(dataset, method, features, outputs, settings, grouped, solution, seconds)


def output_names(dataset: Dataset, classes: Any, n_outputs: int) -> list[str]:
    """The label each coefficient speaks for; with two classes that is the second one."""
    names = dataset.target_names
    if dataset.y.ndim == 2:
        return list(names or (str(j) for j in range(n_outputs)))
    if classes is None:
        return [NUMBERS]
    # Names come in the order of the codes, and classes are sorted.
    labels = list(names) if names and len(names) == len(classes) else [str(c) for c in classes]
    return labels[1:] if n_outputs == 1 else labels


def show(selection: Selection) -> None:
    console = terminal()
    if selection.features:
        console.print(_table_that_fits(selection, console))
    elif selection.solution is not None and not selection.solution.converged:
        console.print("No feature was selected before the search was stopped.")
    else:
        console.print("No feature was selected: lower alpha, raise C, or ask for k features.")
    hidden = len(selection.features) - MOST_ROWS_SHOWN
    if hidden > 0:
        console.print(f"… and {hidden} more; --out FILE.csv writes all of them.")
    console.print(Text(plain(_summary(selection))))


def _table_that_fits(selection: Selection, console: Console) -> Table:
    """A column per output where there is room for them, else the largest coefficient alone."""
    outputs = selection.outputs
    shown = selection.features[:MOST_ROWS_SHOWN]
    if len(outputs) <= MOST_OUTPUTS_SHOWN:
        every = []
        for feature in shown:
            every.append([f"{value:.4g}" for value in feature.coefficients])
        table = _table(shown, selection.titles, every)
        # measured without a limit: within one a table is as wide as it may be
        unlimited = console.options.update(max_width=PIPE_WIDTH)
        if len(outputs) <= 1 or console.measure(table, options=unlimited).maximum <= console.width:
            return table
    largest = []
    for feature in shown:
        top = int(np.argmax(np.abs(feature.coefficients)))
        largest.append([f"{feature.coefficients[top]:.4g}", outputs[top]])
    return _table(shown, ["largest coef", "for"], largest)


def _table(features: list[Feature], titles: list[str], cells: list[list[str]]) -> Table:
    columns = ("rank", "name", "score", *titles)
    rows = []
    for feature, last in zip(features, cells, strict=True):
        rows.append([feature.rank, feature.name, f"{feature.score:.4g}", *last])
    return plain_table(columns, rows, words=("name", "for"))


def _summary(selection: Selection) -> str:
    """One line: how many features, and what is known about how well the problem was solved."""
    parts = [f"{selection.n_selected} of {selection.features_of_columns.count} features"]
    if selection.n_selected < len(selection.features):
        parts[0] += f" in {len(selection.features)} columns"
    for name in ("alpha", "ridge", "C"):
        if selection.settings.get(name):  # no ridge is not worth a word
            parts.append(f"{name} {selection.settings[name]:.4g}")
    seconds = f"{selection.seconds:.2g} s"
    solution = selection.solution
    if solution is None:
        return " · ".join([*parts, seconds])
    parts.append(f"objective {solution.objective:.6g}")
    if solution.violation is not None:
        parts.append(f"violation {solution.violation:.2g}")
    if solution.proof:  # in words, the gap included
        parts.append(solution.proof)
    elif solution.gap is not None:
        parts.append(f"gap {solution.gap:.2g}")
    return " · ".join([*parts, seconds, solution.status])


def as_rows(selection: Selection) -> tuple[list[str], list[list[Any]]]:
    """Header and rows of the csv file."""
    header = ["rank", "name", "score", *selection.titles]
    return header, [[f.rank, f.name, f.score, *f.coefficients] for f in selection.features]


def as_record(selection: Selection) -> dict[str, Any]:
    """Everything the table and its last line say, with all outputs, as plain data."""
    record = {
        "dataset": selection.dataset.name,
        "n_samples": selection.dataset.n_samples,
        "n_features": selection.dataset.n_features,
        "method": selection.method,
        **{name: finite(value) for name, value in selection.settings.items()},
        "seconds": selection.seconds,
    }
    solution = selection.solution
    if solution is not None:
        record |= {
            "objective": finite(solution.objective),
            "violation": finite(solution.violation),
            "gap": finite(solution.gap),
            "lower_bound": finite(solution.lower_bound),
            "proof": solution.proof,
            "n_iter": int(solution.n_iter),
            "status": solution.status,
            "start": solution.start,
        }
    features = [asdict(feature) for feature in selection.features]
    return {**record, "outputs": selection.outputs, "features": features}
