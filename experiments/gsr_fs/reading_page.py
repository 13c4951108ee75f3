"""Which reading of the protocol of Table 2 comes nearest to the published accuracies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..frame import CellFile, markdown_table, paragraphs
from .accuracy_page import accuracies, listed
from .published import ACCURACY, DATA, METHODS
from .reading import CASES, COSTS, LAMBDAS, POWERS

NAMES = {1.0: "GSR p=1", 0.75: "GSR p=.75", 0.5: "GSR p=.5", 0.25: "GSR p=.25"}


def _any(r: float, cost: float) -> bool:
    return True


@dataclass(frozen=True)
class Reading:
    """A form of the data, which (r, C) are tried, and on which part the best is picked."""

    label: str
    form: str = "scaled"
    tried: Callable[[float, float], bool] = _any
    on_test: bool = False


AS_STORED = Reading("all three tuned, features as stored", form="as stored")
READINGS = (
    Reading("lambda, r and C tuned together"),
    Reading("r = 2, lambda and C tuned", tried=lambda r, cost: r == 2),
    Reading("r = 1, lambda and C tuned", tried=lambda r, cost: r == 1),
    Reading("r = .5, lambda and C tuned", tried=lambda r, cost: r == 0.5),
    Reading("C = 1, lambda and r tuned", tried=lambda r, cost: cost == 1),
    AS_STORED,
    Reading("lambda, r and C of the best test accuracy", on_test=True),
)
TRIED = "; ".join(
    f"{name} lambda {listed(LAMBDAS[name])} at every r and C {listed(COSTS[name])}"
    for name in POWERS
)
TEXT = f"""The first two splits of SEMEION, the first of ISOLET, top 50. Tried: {TRIED}.
A W of fewer than 50 rows is a candidate here. The last reading is no protocol: it says how much any
tuning could win. The published numbers are means of ten splits, whose deviation the paper gives as
about one point on SEMEION and half a point on ISOLET."""


CONCLUSION = """On SEMEION, whose pixels are 0 and 1, features as they are stored come nearest, with
every p within two points of the published number, although the paper says that it standardised
them. With standardised features r is what costs most: inner parts of this size do not tell the
losses apart, and a tuning that falls on r = .5 loses points that r = 2, the library's default,
keeps. On ISOLET no tuning reaches the published numbers."""


def section(cells: CellFile) -> str:
    """A table for each data set and which reading is nearest."""
    names = [name for name in POWERS if cells.where(part="reading", data=name)]
    names = [name for name in names if accuracies(cells, name, NAMES[1.0])]
    parts = [part for name in names for part in data_part(cells, name)]
    return paragraphs(
        "### Other readings of the protocol", TEXT, *parts, CONCLUSION if parts else ""
    )


def data_part(cells: CellFile, name: str) -> list[str]:
    """Accuracies of GSR-FS and their mean distance from the published ones."""
    published = [ACCURACY[name][METHODS.index(NAMES[p])][0] for p in POWERS[name]]
    n_splits = sum((data, form) == (name, "scaled") for data, form, _ in CASES)
    on_page = [np.mean(accuracies(cells, name, NAMES[p])[:n_splits]) for p in POWERS[name]]
    rows = [["published", *_texts(published), ""]]
    rows.append(["as above", *_texts(on_page), f"{gap(on_page, published):+.1f}"])
    gaps = {}
    for reading in READINGS:
        own = means(cells, name, reading)
        if own:
            gaps[reading] = gap(own, published)
            rows.append([reading.label, *_texts(own), f"{gaps[reading]:+.1f}"])
    head = ["reading", *(NAMES[p] for p in POWERS[name]), "mean difference"]
    nearest = min((one for one in gaps if not one.on_test), key=lambda one: abs(gaps[one]))
    text = (
        f"Nearest of those that look at no test part: {nearest.label}, {gaps[nearest]:+.1f} points."
    )
    return [f"#### {DATA[name][0]}", markdown_table(head, rows), text]


def means(cells: CellFile, name: str, reading: Reading) -> list[float]:
    """Over splits, for each p; empty where the form was not measured."""
    found = cells.where(part="reading", data=name, form=reading.form)
    scores = [[picked(c["rows"], p, reading, COSTS[name]) for p in POWERS[name]] for c in found]
    return np.mean(scores, axis=0).tolist() if scores else []


def picked(rows: list[list[Any]], p: float, reading: Reading, costs: Sequence[float]) -> float:
    """The test accuracy where the score that is tuned on is highest, the first of equal ones."""
    candidates = []
    for r, power, _, _, inner, test in rows:
        if power == p:
            scores = test if reading.on_test else inner
            both = zip(costs, scores, test, strict=True)
            candidates += [(score, hit) for cost, score, hit in both if reading.tried(r, cost)]
    return max(candidates, key=lambda candidate: candidate[0])[1]


def _texts(values: list[float]) -> list[str]:
    return [f"{value:.1f}" for value in values]


def gap(ours: Sequence[float], published: Sequence[float]) -> float:
    """In points, the mean over p."""
    return float(np.mean(np.subtract(ours, published)))
