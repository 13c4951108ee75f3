"""Theorem 3: the order of convergence, claimed and measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..frame import CellFile, figure, markdown_table, paragraphs
from .order import ABOVE, CASES, DATA, NOISE, STEPS

TEXT = f"""The theorem says: order at least min(2 - r, 2 - p), that is |W_k+1 - W*| <= const |W_k -
W*|^q. Measured on {DATA} (scaled, all samples, ±1 one-hot) from the iterates of the printed
algorithm, W* being step {STEPS}: q is the median of log(e_k+2 / e_k+1) / log(e_k+1 / e_k) over the
last ten steps whose error is above {NOISE:g} of |W*| and above {ABOVE:g} times what is left in the
second half; 1 is linear convergence, and then "error left" is the part of it that a step leaves.
"Vanishing rows" are those that are zero in the limit, for which alone the row weights grow without
bound: their fall is where a higher order can come from (the theorem's lemma bounds their norm by a
power 2 - p of the one before). At r = 2 the theorem claims nothing."""


def section(cells: CellFile, folder: Path) -> str:
    saved = figure(
        folder / "figures" / "gsr_fs_order.png", lambda a: draw(cells, a), 2, 1, 3.6, 2.8
    )
    rows = [row(cell) for cell in cases(cells)]
    head = (
        "r", "p", "lambda", "claimed order", "order", "order, vanishing rows",
        "error left by a step", "steps to 1e-6", "left in the second half", "nonzero rows",
    )  # fmt: skip
    return paragraphs(
        "## Theorem 3: the order of convergence",
        TEXT,
        f"![distance to the limit against the step: all rows, and those that vanish]({saved})",
        markdown_table(head, rows),
    )


def cases(cells: CellFile) -> list[dict[str, Any]]:
    """In the order of the plan."""
    found = [cells.where(part="order", r=r, p=p) for r, p in CASES]
    return [cell for some in found for cell in some]


def claimed(cell: dict[str, Any]) -> float:
    return min(2 - cell["r"], 2 - cell["p"])


def row(cell: dict[str, Any]) -> tuple[Any, ...]:
    orders = [text(cell["order"]), text(cell["order, vanishing rows"]), text(cell["ratio"], 3)]
    steps = cell["steps to 1e-6"]
    first = (f"{cell[name]:g}" for name in ("r", "p", "lam"))
    return (
        *first,
        f"{claimed(cell):g}",
        *orders,
        steps or "–",
        cell["least distance"],
        cell["nonzero rows"],
    )


def text(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def draw(cells: CellFile, axes: Any) -> None:
    curves = (("distances", "all rows"), ("vanishing", "rows that vanish"))
    for axis, (name, title) in zip(axes[0], curves, strict=True):
        for cell in cases(cells):
            values = np.maximum(np.array(cell[name]), 1e-14)
            label = f"r = {cell['r']:g}, p = {cell['p']:g}"
            axis.semilogy(cell["at"], values, lw=1, label=label)
        axis.set_title(title, fontsize=9)
        axis.set_xlabel("step", fontsize=8)
        axis.tick_params(labelsize=7)
    axes[0][0].set_ylabel("distance to the limit", fontsize=8)
    axes[0][0].legend(fontsize=6)
