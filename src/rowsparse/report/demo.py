"""A page made from a real comparison with stability: what ``make demo`` ends with."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from sklearn.datasets import load_wine

from ..model_selection import SelectorCV, StabilitySelector, compare
from ..selectors import L2pSelector, ScoreSelector, TopKSelector
from .page import as_html, write
from .reading import read
from .table import Table

KS = (1, 2, 3, 5, 8, 12)
ON_HALVES = 4  # columns that are chosen on every half-sample


def demo(path: str | os.PathLike[str]) -> Path:
    """Write the page about scikit-learn's wine data: how many of the 13 measurements tell the
    three cultivars apart, which ones, how surely, and against which rivals."""
    bunch = load_wine()
    table = Table(
        bunch.data,
        bunch.target,
        f"dense, {bunch.data.dtype}",
        names=tuple(map(str, bunch.feature_names)),
        target_names=("Cultivar 1", "Cultivar 2", "Cultivar 3"),
        name="wine",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what matters of them stands on the page
        results = _results(bunch.data, bunch.target)
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    write(target, as_html(read(results, table, "Which measurements tell the wines apart")))
    return target


def _results(X: Any, y: Any) -> list[Any]:
    selector = TopKSelector()
    search = SelectorCV(selector, ks=KS, rule="1se").fit(X, y)
    stable = StabilitySelector(selector, q=ON_HALVES, n_pairs=25, random_state=0).fit(X, y)
    rivals = {
        "TopKSelector": selector,
        "L2pSelector": L2pSelector(),
        "mRMR": ScoreSelector("mrmr"),
        "ReliefF": ScoreSelector("relieff"),
        "F test": ScoreSelector("f"),
    }
    return [search, stable, compare(rivals, X, y, ks=KS, cv=5)]
