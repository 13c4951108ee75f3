"""A fitted selector as a table for people, rows for a csv file, or a record for JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rowsparse.cli.base import PIPE_WIDTH, plain_table, terminal
from rowsparse.datasets import Dataset

MOST_ROWS_SHOWN = 50
MOST_OUTPUTS_SHOWN = 6


@dataclass(frozen=True)
class Selection:
    """A fitted selector as the person at the terminal wants it: names, not positions."""

    dataset: Dataset
    selector: Any
    features: np.ndarray  # positions of the selected features, best first
    outputs: list[str]  # what the coefficients of a feature belong to
    seconds: float  # for the whole fit: path, starts and all

    def name(self, feature: int) -> str:
        return self.dataset.feature_names[feature]

    def score(self, feature: int) -> float:
        return float(self.selector.scores_[feature])

    def coefficients(self, feature: int) -> list[float]:
        if not self.outputs:
            return []
        return [float(value) for value in self.selector.coef_[:, feature]]


def read_selection(dataset: Dataset, selector: Any, seconds: float) -> Selection:
    chosen = np.flatnonzero(selector.support_)
    best_first = chosen[np.argsort(selector.ranking_[chosen], kind="stable")]
    outputs: list[str] = []
    if hasattr(selector, "coef_"):  # a filter scores features and has no coefficients
        outputs = output_names(dataset, getattr(selector, "classes_", None), len(selector.coef_))
    return Selection(dataset, selector, best_first, outputs, seconds)


def output_names(dataset: Dataset, classes: Any, n_outputs: int) -> list[str]:
    """The label each coefficient speaks for; with two classes that is the second one."""
    names = dataset.target_names
    if dataset.y.ndim == 2:
        return list(names or (str(j) for j in range(n_outputs)))
    if classes is None:
        return ["target"]
    # Names come in the order of the codes, and classes are sorted.
    labels = list(names) if names and len(names) == len(classes) else [str(c) for c in classes]
    return labels[1:] if n_outputs == 1 else labels


def show(selection: Selection) -> None:
    console = terminal()
    if len(selection.features):
        console.print(_table_that_fits(selection, console))
    else:
        console.print("No feature was selected: lower alpha, raise C, or ask for k features.")
    hidden = len(selection.features) - MOST_ROWS_SHOWN
    if hidden > 0:
        console.print(f"… and {hidden} more; --out FILE.csv writes all of them.")
    console.print(Text(_summary(selection)))


def _table_that_fits(selection: Selection, console: Console) -> Table:
    """A column per output where there is room for them, else the largest coefficient alone."""
    if len(selection.outputs) <= MOST_OUTPUTS_SHOWN:
        titles = [f"coef_{output}" for output in selection.outputs]
        table = _table(selection, titles, titles, _all_coefficients)
        unlimited = console.options.update(max_width=PIPE_WIDTH)
        if console.measure(table, options=unlimited).maximum <= console.width:
            return table
    return _table(selection, ["largest coef", "for"], ["largest coef"], _largest_coefficient)


def _table(
    selection: Selection,
    titles: list[str],
    numbers: list[str],
    cells: Callable[[Selection, int], list[str]],
) -> Table:
    table = plain_table("rank", "name", "score", *titles, numbers=["rank", "score", *numbers])
    for rank, feature in enumerate(selection.features[:MOST_ROWS_SHOWN], start=1):
        score = f"{selection.score(feature):.4g}"
        row = (str(rank), selection.name(feature), score, *cells(selection, feature))
        table.add_row(*map(Text, row))
    return table


def _all_coefficients(selection: Selection, feature: int) -> list[str]:
    return [f"{value:.4g}" for value in selection.coefficients(feature)]


def _largest_coefficient(selection: Selection, feature: int) -> list[str]:
    values = selection.coefficients(feature)
    top = int(np.argmax(np.abs(values)))
    return [f"{values[top]:.4g}", selection.outputs[top]]


def _summary(selection: Selection) -> str:
    selector = selection.selector
    solution = getattr(selector, "solution_", None)
    parts = [f"{len(selection.features)} of {selection.dataset.n_features} features"]
    parts += [
        f"{label} {getattr(selector, name):.4g}"
        for label, name in (("alpha", "alpha_"), ("C", "C_"))
        if hasattr(selector, name)
    ]
    parts += [] if solution is None else _certificate(solution)
    parts += [f"{selection.seconds:.2g} s"]
    parts += [] if solution is None else [solution.status]
    return " · ".join(parts)


def _certificate(solution: Any) -> list[str]:
    """What is known about how well the problem was solved."""
    parts = [f"objective {solution.objective:.6g}"]
    parts += [] if solution.violation is None else [f"violation {solution.violation:.2g}"]
    if solution.proof:
        return [*parts, solution.proof]
    return [*parts, *([] if solution.gap is None else [f"gap {solution.gap:.2g}"])]


def as_rows(selection: Selection) -> tuple[list[str], list[list[Any]]]:
    """Header and rows of the csv file."""
    header = ["rank", "name", "score", *(f"coef_{output}" for output in selection.outputs)]
    rows = [
        [rank, selection.name(j), selection.score(j), *selection.coefficients(j)]
        for rank, j in enumerate(selection.features, start=1)
    ]
    return header, rows


def as_record(selection: Selection, method: str) -> dict[str, Any]:
    """Everything the table and its last line say, with all outputs, as plain data."""
    selector = selection.selector
    solution = getattr(selector, "solution_", None)
    return {
        "dataset": selection.dataset.name,
        "n_samples": selection.dataset.n_samples,
        "n_features": selection.dataset.n_features,
        "method": method,
        **_numbers(selector, {"p": "p", "r": "r", "alpha": "alpha_", "C": "C_", "norm": "norm"}),
        "seconds": selection.seconds,
        **({} if solution is None else _solution_record(solution)),
        "outputs": selection.outputs,
        "features": [
            {
                "rank": rank,
                "name": selection.name(j),
                "index": int(j),
                "score": selection.score(j),
                "coefficients": selection.coefficients(j),
            }
            for rank, j in enumerate(selection.features, start=1)
        ],
    }


def _numbers(source: Any, names: dict[str, str]) -> dict[str, float | None]:
    return {
        key: _finite(getattr(source, name)) for key, name in names.items() if hasattr(source, name)
    }


def _solution_record(solution: Any) -> dict[str, Any]:
    certificate = {name: name for name in ("objective", "violation", "gap")}
    return {
        **_numbers(solution, certificate),
        "n_iter": int(solution.n_iter),
        "status": solution.status,
        "start": solution.start,
    }


def _finite(value: float | None) -> float | None:
    """JSON knows no infinity and no NaN."""
    return float(value) if value is not None and np.isfinite(value) else None
