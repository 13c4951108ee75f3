"""Figure 2: three losses on synthetic data with outliers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..frame import CellFile, figure, interval, markdown_table, paragraphs
from .synthetic import LAM, LOSSES, N_FOLDS, OUTLIERS, K

TEST_SHARE = 1 / (N_FOLDS - 1)
TEXT = f"""n = 2000, 1000 features of which 200 carry the signal, five outputs, p = 1, the top {K}
refitted under the same loss without penalty, RMSE on the test part of ten folds. The paper names
neither lambda (here {LAM:g}, that of its section 5.3) nor the kind of refit; its figure has bars
without numbers. "As given" scores against labels that have the outliers in the test part, too,
which no loss can predict and which drown the differences; "outliers left out" scores the others."""
MEASURES = ("rmse given", "rmse without outliers", "informative")


def section(cells: CellFile, folder: Path) -> str:
    """The table, and the figure's two panels."""
    saved = figure(
        folder / "figures" / "gsr_fs_synthetic.png", lambda a: draw(cells, a), 2, 1, 3.6, 2.8
    )
    rows = []
    for outliers in OUTLIERS:
        for r in LOSSES:
            values = [found(cells, outliers, r, name) for name in MEASURES]
            if values[0]:
                texts = [interval(v, TEST_SHARE, 3) for v in values[:2]]
                informative = f"{np.mean(values[2]):.1f}"
                rows.append((f"{outliers:.0%}", f"{r:g}", *texts, informative, len(values[0])))
    head = (
        "outliers", "r", "RMSE as given", "RMSE, outliers left out", "informative of 200", "folds",
    )  # fmt: skip
    return paragraphs(
        "## Section 5.1: Figure 2, synthetic data",
        TEXT,
        f"![RMSE of three losses at 0, 1 and 10 % outliers, as bars]({saved})",
        markdown_table(head, rows),
    )


def found(cells: CellFile, outliers: float, r: float, name: str) -> list[float]:
    return [cell[name] for cell in cells.where(part="synthetic", outliers=outliers, r=r)]


def draw(cells: CellFile, axes: Any) -> None:
    titles = ("labels as given", "outliers left out of the test part")
    for axis, name, title in zip(axes[0], MEASURES, titles, strict=False):
        for i, r in enumerate(LOSSES):
            values = [found(cells, outliers, r, name) for outliers in OUTLIERS]
            places = np.arange(len(OUTLIERS)) + 0.25 * (i - 1)
            means = [np.mean(v) if v else 0.0 for v in values]
            axis.bar(places, means, 0.22, label=f"r = {r:g}")
        axis.set_xticks(range(len(OUTLIERS)), [f"{outliers:.0%}" for outliers in OUTLIERS])
        axis.set_title(title, fontsize=9)
        axis.tick_params(labelsize=7)
        axis.set_ylabel("RMSE", fontsize=8)
        axis.set_xlabel("outliers", fontsize=8)
    axes[0][0].legend(fontsize=7)
