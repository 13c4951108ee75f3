"""A fitted selector as a table for people, rows for a csv file, or a record for JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from rowsparse import L2pSelector
from rowsparse.cli.base import plain_table, terminal
from rowsparse.datasets import Dataset

MOST_ROWS_SHOWN = 50
MOST_OUTPUTS_SHOWN = 6


@dataclass(frozen=True)
class Selection:
    """A fitted selector as the person at the terminal wants it: names, not positions."""

    dataset: Dataset
    selector: L2pSelector
    features: np.ndarray  # positions of the selected features, best first
    outputs: list[str]  # what the coefficients of a feature belong to

    def name(self, feature: int) -> str:
        return self.dataset.feature_names[feature]

    def score(self, feature: int) -> float:
        return float(self.selector.scores_[feature])

    def coefficients(self, feature: int) -> list[float]:
        return [float(value) for value in self.selector.coef_[:, feature]]


def read_selection(dataset: Dataset, selector: L2pSelector) -> Selection:
    chosen = np.flatnonzero(selector.support_)
    best_first = chosen[np.argsort(selector.ranking_[chosen], kind="stable")]
    outputs = output_names(dataset, getattr(selector, "classes_", None), len(selector.coef_))
    return Selection(dataset, selector, best_first, outputs)


def output_names(dataset: Dataset, classes: Any, n_outputs: int) -> list[str]:
    """The label each coefficient speaks for; with two classes that is the second one."""
    names = dataset.target_names
    if dataset.y.ndim == 2:
        return list(names or (str(j) for j in range(n_outputs)))
    if classes is None:
        return ["target"]
    labels = [names[c] if names and len(names) == len(classes) else str(c) for c in classes]
    return labels[1:] if n_outputs == 1 else labels


def show(selection: Selection) -> None:
    console = terminal()
    if len(selection.features):
        console.print(_table(selection))
    else:
        console.print("No feature was selected: alpha is too large for this data.")
    hidden = len(selection.features) - MOST_ROWS_SHOWN
    if hidden > 0:
        console.print(f"… and {hidden} more; --out FILE.csv writes all of them.")
    console.print(Text(_summary(selection)))


def _table(selection: Selection) -> Table:
    wide = len(selection.outputs) > MOST_OUTPUTS_SHOWN
    titles = ["coefficient", "of"] if wide else selection.outputs
    numbers = ["rank", "score", *(["coefficient"] if wide else titles)]
    table = plain_table("rank", "name", "score", *titles, numbers=numbers)
    for rank, feature in enumerate(selection.features[:MOST_ROWS_SHOWN], start=1):
        values = selection.coefficients(feature)
        if wide:  # too many to show: the largest stands for them
            top = int(np.argmax(np.abs(values)))
            cells = [f"{values[top]:.4g}", selection.outputs[top]]
        else:
            cells = [f"{value:.4g}" for value in values]
        score = f"{selection.score(feature):.4g}"
        table.add_row(*map(Text, (str(rank), selection.name(feature), score, *cells)))
    return table


def _summary(selection: Selection) -> str:
    solution = selection.selector.solution_
    gap = [] if solution.gap is None else [f"gap {solution.gap:.2g}"]
    parts = [
        f"{len(selection.features)} of {selection.dataset.n_features} features",
        f"alpha {selection.selector.alpha_:.4g}",
        f"objective {solution.objective:.6g}",
        f"violation {solution.violation:.2g}",
        *gap,
        f"{solution.seconds:.2g} s",
        solution.status.value,
    ]
    return " · ".join(parts)


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
    selector, solution = selection.selector, selection.selector.solution_
    return {
        "dataset": selection.dataset.name,
        "n_samples": selection.dataset.n_samples,
        "n_features": selection.dataset.n_features,
        "method": method,
        "p": float(selector.p),
        "r": float(selector.r),
        "alpha": _finite(selector.alpha_),
        "objective": _finite(solution.objective),
        "violation": _finite(solution.violation),
        "gap": _finite(solution.gap),
        "seconds": float(solution.seconds),
        "n_iter": int(solution.n_iter),
        "status": solution.status.value,
        "start": solution.start,
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


def _finite(value: float | None) -> float | None:
    """JSON knows no infinity and no NaN."""
    return float(value) if value is not None and np.isfinite(value) else None
