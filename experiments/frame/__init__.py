"""What the experiments share: data, splits, a file of finished cells, pages, the command line."""

from .cells import CellFile
from .claims import Claim, counted, verdict
from .curves import Curves, along, curves
from .data import Table, load, random_splits, standardised
from .pages import (
    figure,
    interval,
    legend_below,
    markdown_table,
    mean_and_spread,
    paragraphs,
    provenance,
)
from .run import Options, Study, Task, main, whole_page

__all__ = [
    "CellFile",
    "Claim",
    "Curves",
    "Options",
    "Study",
    "Table",
    "Task",
    "along",
    "counted",
    "curves",
    "figure",
    "interval",
    "legend_below",
    "load",
    "main",
    "markdown_table",
    "mean_and_spread",
    "paragraphs",
    "provenance",
    "random_splits",
    "standardised",
    "verdict",
    "whole_page",
]
