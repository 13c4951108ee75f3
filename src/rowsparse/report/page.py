"""Facts as an HTML page, Markdown or JSON, and single figures as SVG."""

from __future__ import annotations

import json
import os
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from ..archives import whole
from .facts import Facts, as_plain
from .figures import (
    BarFigure,
    LineFigure,
    bar_figure,
    box_figure,
    curve_figure,
    heat_levels,
    path_figure,
    score_widths,
)
from .theme import DARK, HEAT_STEPS, LIGHT, colours
from .words import count, number, percent, shortened, visible

FORMAT = 1  # of the JSON; a field that changes its meaning raises it
HERE = Path(__file__).parent / "templates"

Figure = LineFigure | BarFigure


@cache
def _environment() -> Any:
    try:
        from jinja2 import Environment, FileSystemLoader
    except ImportError:
        raise ImportError(
            "The HTML report needs Jinja2; install it with: pip install 'rowsparse[report]'. "
            "report_markdown and report_json need nothing.",
            name="jinja2",
        ) from None
    env = Environment(loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True)
    env.lstrip_blocks = True
    words = {
        "number": number, "visible": visible, "shortened": shortened, "percent": percent,
        "thousands": lambda n: f"{n:,}", "count": count,
    }  # fmt: skip
    env.filters.update(words)
    return env


def figures_of(facts: Facts) -> list[Figure]:
    """Every figure that there is something for."""
    selected = frozenset(feature.name for feature in facts.features)
    found: list[Figure | None] = [curve_figure(curve) for curve in facts.curves]
    if facts.stability is not None:
        found.append(bar_figure(facts.stability))
    if facts.path is not None:
        found.append(path_figure(facts.path, selected))
    return [figure for figure in found if figure is not None]


def _context(facts: Facts) -> dict[str, Any]:
    # in the order of the features: the template walks both together
    boxes = [box_figure(feature.groups) for feature in facts.features]
    return {
        "facts": facts,
        "figures": {figure.key: figure for figure in figures_of(facts)},
        "boxes": boxes,
        "widths": score_widths(facts.features),
        "heat": heat_levels(facts.features, HEAT_STEPS) if len(facts.outputs) > 1 else [],
        "light": colours(LIGHT),
        "dark": colours(DARK),
        # a page is read long after it was made
        "today": date.today().isoformat(),
    }


def as_html(facts: Facts) -> str:
    """One page with everything in it: no network, readable without script."""
    return str(_environment().get_template("page.html.j2").render(**_context(facts)))


def as_fragment(facts: Facts) -> str:
    """The same figures for a notebook's cell: no script, styles that stay inside."""
    return str(_environment().get_template("fragment.html.j2").render(**_context(facts)))


def as_svg(figure: Figure) -> str:
    """A figure as a file of its own, in the light theme."""
    env = _environment()
    style = env.get_template("figure.css").render()
    for name, value in colours(LIGHT).items():  # not every program that shows SVG knows variables
        style = style.replace(f"var(--{name})", value)
    template = env.get_template("figure.svg.j2")
    return str(template.render(figure=figure, style=style, paper=LIGHT["paper"]))


def as_json(facts: Facts) -> str:
    """The facts as they are; letters beyond ASCII spelt out, so that nothing can act."""
    plain = {"format": FORMAT, "kind": "rowsparse report", **as_plain(facts)}
    return json.dumps(plain, indent=1, allow_nan=False) + "\n"


def write(path: str | os.PathLike[str], text: str) -> None:
    """Whole or not at all."""
    with whole(path) as stream:
        stream.write(text.encode())
