"""The page of the GSR-FS paper, from the cells alone."""

from __future__ import annotations

from pathlib import Path

from ..frame import CellFile, paragraphs
from . import accuracy_page, order_page, reading_page, synthetic_page, times_page

INTRODUCTION = """# Peng & Fan (2017), GSR-FS: accuracy, time and order of convergence

The problem is `|XW - Y|_2,r^r + lambda |W|_2,p^p` on ±1 one-hot targets, features scaled to mean
zero and deviation one on the training part, no intercept; in the library `L2pSelector.gsr(r, p,
alpha=lambda / (r n))`."""


def page(cells: CellFile, folder: Path) -> str:
    """The whole page; figures are saved beside it."""
    return paragraphs(
        INTRODUCTION,
        accuracy_page.table_2(cells),
        reading_page.section(cells),
        accuracy_page.figure_3(cells, folder),
        synthetic_page.section(cells, folder),
        times_page.section(cells),
        order_page.section(cells, folder),
    )
