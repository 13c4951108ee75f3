"""Scores against the number of features: measured by ``compare``, kept in cells, read again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from rowsparse.model_selection import Comparison, compare

from .cells import CellFile
from .pages import (
    EVERYWHERE,
    PERCENT,
    figure,
    interval,
    legend_below,
    markdown_table,
    mean_and_spread,
)

Split = tuple[np.ndarray, np.ndarray]


def along(
    selector: Any,
    X: np.ndarray,
    y: np.ndarray,
    ks: Sequence[int],
    splits: Sequence[Split],
    estimators: Mapping[str, Any],
    scoring: str | None = None,
    columns: bool = False,
) -> dict[str, Any]:
    """Scores in percent per estimator, split and k of one method, selected on training parts.

    With ``columns`` also what was selected, per split and k. Only a whole cell is returned.
    """
    found = compare(
        {"it": selector}, X, y, ks=ks, cv=list(splits), estimators=estimators, scoring=scoring
    )
    if found.failures:
        raise RuntimeError(f"{len(found.failures)} failed: {sorted(found.failures.values())[0]}")
    if len(found.cells) < len(splits) * len(ks) * len(estimators):
        raise KeyboardInterrupt  # which compare answers with the splits that are finished
    scores = {}
    for name in estimators:
        by_k = np.array([found.scores("it", k, name) for k in ks])
        scores[name] = np.round(100 * by_k.T, 3).tolist()
    chosen = {"columns": _columns(found, len(splits), ks)} if columns else {}
    return {"scores": scores, **chosen}


def _columns(found: Comparison, n_splits: int, ks: Sequence[int]) -> list[list[list[int]]]:
    first = [cell for cell in found.cells if cell.estimator == found.estimators[0]]
    chosen = {(cell.fold, cell.k): cell.columns.tolist() for cell in first}
    return [[chosen[fold, k] for k in ks] for fold in range(n_splits)]


@dataclass(frozen=True, eq=False)
class Curves:
    """Per method an array (splits × ks) of scores in percent on the same splits.

    ``test_share`` is n_test / n_train, by which the intervals are corrected.
    """

    ks: Sequence[int]
    test_share: float
    scores: dict[str, np.ndarray]

    def mean(self, method: str) -> np.ndarray:
        """At every k; splits on which a method failed are left out."""
        return np.nanmean(self.scores[method], axis=0)

    def gains(self, ours: str, theirs: str) -> np.ndarray:
        """Per k the mean difference on the splits that both have."""
        n = min(len(self.scores[ours]), len(self.scores[theirs]))
        return np.nanmean(self.scores[ours][:n] - self.scores[theirs][:n], axis=0)

    def table(
        self,
        ks: Sequence[int] | None = None,
        deviations: bool = False,
        n_in_paper: int | None = None,
    ) -> str:
        """Mean with a 95 % interval, or with the deviation over splits; methods are rows."""
        of = f" of {n_in_paper}" if n_in_paper else ""
        shown = list(self.ks if ks is None else ks)
        rows = []
        for method, values in self.scores.items():
            columns = [_finite(values[:, list(self.ks).index(k)]) for k in shown]
            if deviations:
                texts = [mean_and_spread(column, 1) for column in columns]
            else:
                texts = [self._interval(column, PERCENT) for column in columns]
            rows.append([method, f"{len(values)}{of}", *texts])
        return markdown_table(["method", "splits", *(f"k = {k}" for k in shown)], rows)

    def mean_gain(self, ours: str, theirs: str) -> str:
        """Of the means over all k, in points: a 95 % interval, and the splits that ours wins."""
        n = min(len(self.scores[ours]), len(self.scores[theirs]))
        both = self.scores[ours][:n] - self.scores[theirs][:n]
        gains = _finite(both.mean(axis=1))
        return f"{self._interval(gains)}, {np.sum(gains > 0)} of {gains.size}"

    def _interval(self, values: np.ndarray, limits: tuple[float, float] = EVERYWHERE) -> str:
        return interval(values, self.test_share, 1, limits) if values.size else "–"

    def draw(self, axes: Any, title: str, ylabel: str, styles: Mapping[str, str]) -> None:
        """Lines of the methods that have a style."""
        for method, style in styles.items():
            if method in self.scores:
                line = self.mean(method)
                axes.plot(self.ks, line, style, label=method, markersize=3, linewidth=1)
        axes.set(title=title, xlabel="features", ylabel=ylabel)


def panels_figure(
    panels: Mapping[str, Curves], path: Path, rows: int, ylabel: str, styles: Mapping[str, str]
) -> str:
    """A panel for every title, row after row, one legend; the path for a link."""

    def draw(axes: Any) -> None:
        for axis, (title, panel) in zip(axes.ravel(), panels.items(), strict=False):
            panel.draw(axis, title, ylabel, styles)
        legend_below(axes)

    columns = -(-len(panels) // rows)
    return figure(path, draw, columns, rows, width=3.6 if columns > 3 else 4.2)


def mean_of(panels: Sequence[Curves]) -> Curves:
    """The mean over panels of the same splits, for methods that all of them have."""
    first = panels[0]
    methods = [name for name in first.scores if all(name in panel.scores for panel in panels)]
    scores = {name: np.mean([panel.scores[name] for panel in panels], axis=0) for name in methods}
    return Curves(first.ks, first.test_share, scores)


def gains_table(panels: Mapping[str, Curves], ours: str, rivals: Sequence[str]) -> str:
    """For every data set ``ours`` minus its rivals, in points."""
    rows = []
    for name, panel in panels.items():
        both = [rival if {ours, rival} <= panel.scores.keys() else None for rival in rivals]
        cells = [None if rival is None else panel.mean_gain(ours, rival) for rival in both]
        rows.append([name, *cells])
    return markdown_table(["data", *(f"minus {rival}" for rival in rivals)], rows)


def behind(panels: Mapping[str, Curves], ours: str, rivals: Sequence[str]) -> str:
    """A sentence that names every mean gain over all k of minus one point or less."""
    texts = []
    for name, panel in panels.items():
        known = [rival for rival in rivals if {ours, rival} <= panel.scores.keys()]
        gains = {rival: float(np.mean(panel.gains(ours, rival))) for rival in known}
        lower = [f"{rival} {gain:+.1f}" for rival, gain in gains.items() if gain <= -1]
        if lower:
            texts.append(f"on {name} ({', '.join(lower)})")
    return f"By a point or more *{ours}* is behind {'; '.join(texts) or 'nobody'}."


def _finite(values: np.ndarray) -> np.ndarray:
    return values[np.isfinite(values)]


def curves(
    cells: CellFile,
    ks: Sequence[int],
    test_share: float,
    estimator: str,
    methods: Iterable[str],
    **settings: Any,
) -> Curves:
    """Those of the cells with these settings, from block 0 to the first that a method lacks: what
    is compared split by split must be of the same splits."""
    scores = {}
    for method in methods:
        found = cells.where(method=method, **settings)
        blocks = {cell["block"]: cell["scores"][estimator] for cell in found}
        whole = takewhile(blocks.__contains__, count())
        rows = [row for block in whole for row in blocks[block]]
        if rows:
            scores[method] = np.array(rows, dtype=float)
    return Curves(ks, test_share, scores)
