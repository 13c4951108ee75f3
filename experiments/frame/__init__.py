"""What the experiments share: data, splits, a file of finished cells, pages, the command line."""

from .cells import CellFile
from .claims import Claim, counted, verdict
from .curves import Curves, along, behind, curves, gains_table, mean_of, panels_figure
from .data import Table, load, random_splits, standardised
from .pages import (
    EVERYWHERE,
    PERCENT,
    figure,
    interval,
    legend_below,
    markdown_table,
    mean_and_spread,
    paragraphs,
)
from .run import Options, Study, Task, main, whole_page

__all__ = [
    "EVERYWHERE",
    "PERCENT",
    "CellFile",
    "Claim",
    "Curves",
    "Options",
    "Study",
    "Table",
    "Task",
    "along",
    "behind",
    "counted",
    "curves",
    "figure",
    "gains_table",
    "interval",
    "legend_below",
    "load",
    "main",
    "markdown_table",
    "mean_and_spread",
    "mean_of",
    "panels_figure",
    "paragraphs",
    "random_splits",
    "standardised",
    "verdict",
    "whole_page",
]
