"""Markdown, figures and intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rowsparse.model_selection.intervals import Interval, corrected_interval

from .cells import CellFile


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table; numbers must be texts already, None is an empty cell."""
    lines = [list(head), ["---"] * len(head)]
    lines += [["" if cell is None else str(cell) for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def paragraphs(*parts: str) -> str:
    """Parts of a page, empty ones left out."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def mean_and_spread(values: Sequence[float], digits: int = 2) -> str:
    """As the papers give it: mean ± standard deviation over splits."""
    if len(values) == 0:
        return "–"
    deviation = np.std(values, ddof=1) if len(values) > 1 else float("nan")
    spread = f" ± {deviation:.{digits}f}" if np.isfinite(deviation) else ""
    return f"{np.mean(values):.{digits}f}{spread}"


EVERYWHERE = (-np.inf, np.inf)
PERCENT = (0.0, 100.0)  # what an accuracy can be; not a difference of two


def interval(
    values: Sequence[float],
    test_share: float,
    digits: int = 2,
    limits: tuple[float, float] = EVERYWHERE,
) -> str:
    """The mean with a 95 % interval corrected for overlapping training sets, within ``limits``."""
    scores = np.asarray(values, dtype=float)
    found: Interval = corrected_interval(scores, test_share, limits=limits)[0]
    if not np.isfinite(found.low):
        return f"{found.estimate:.{digits}f}"
    return f"{found.estimate:.{digits}f} [{found.low:.{digits}f}, {found.high:.{digits}f}]"


def provenance(cells: CellFile) -> str:
    """Sentences: how many cells, where, when and with what they were measured."""
    origins = [one for one in cells.origins() if "converted from" not in one]
    before = _converted([one for one in cells.origins() if "converted from" in one])
    if not origins:
        return before or "No cells yet."
    dates = sorted(one["date"] for one in origins)
    loads = [one["load"] for one in origins]
    cpu = sum(cell["cpu"] for cell in cells.cells.values())
    facts = [_most(origins, name) for name in ("machine", "versions", "commit", "threads")]
    machine, versions, commit, threads = facts
    return (
        f"{cpu / 60:.1f} CPU minutes for {len(origins)} cells, from {dates[0]} to {dates[-1]}; "
        f"commit {commit}; {machine}; {versions}; OMP_NUM_THREADS {threads}; load of the machine "
        f"{min(loads):g} to {max(loads):g}, so times are CPU seconds of the process."
    ) + before


def _converted(origins: list[dict[str, Any]]) -> str:
    """Cells that an earlier script measured, by the file they were in."""
    if not origins:
        return ""
    files = sorted({f"{o['converted from']} of commit {o['commit']}" for o in origins})
    dates = ", ".join(sorted({o["date"][:10] for o in origins}))
    return (
        f" {len(origins)} further cells were measured by earlier scripts, at the latest on {dates},"
        f" and are kept as they were: {', '.join(files)}."
    )


def _most(origins: list[dict[str, Any]], name: str) -> str:
    """The values of a fact, the commonest first."""
    return ", ".join(str(value) for value, _ in Counter(o[name] for o in origins).most_common())


def figure(
    path: Path, draw: Callable[[Any], None], columns: int = 1, rows: int = 1,
    width: float = 4.2, height: float = 3.2,
) -> str:  # fmt: skip
    """Draw on a grid of axes (an array of rows × columns), save, return the path's last parts."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    path.parent.mkdir(parents=True, exist_ok=True)
    size = (width * columns, height * rows)
    drawing, axes = plt.subplots(
        rows, columns, figsize=size, squeeze=False, dpi=100, layout="constrained"
    )
    draw(axes)
    drawing.canvas.draw()
    _save_small(np.asarray(drawing.canvas.buffer_rgba()), path)
    plt.close(drawing)
    return f"{path.parent.name}/{path.name}"


def legend_below(axes: Any, columns: int = 8) -> None:
    """One legend for all panels, under them, where it covers no line."""
    handles, labels = axes[0, 0].get_legend_handles_labels()
    axes[0, 0].figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, fontsize=8, frameon=False
    )


def _save_small(pixels: np.ndarray, path: Path) -> None:
    """With 128 colours, which is half of the size: figures are committed."""
    from PIL import Image

    few = Image.fromarray(pixels).convert("RGB").quantize(128, kmeans=1)
    few.save(path, optimize=True)
