"""Where everything stands on a figure; the templates draw it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .facts import Curve, CurveFacts, Feature, Group, PathFacts, StabilityFacts
from .scales import Scale, Tick, scale_of, spread
from .words import count, number, shortened, visible

WIDTH = 560.0
HEIGHT = 330.0
LEFT, RIGHT, TOP, BOTTOM = 48.0, 128.0, 12.0, 44.0
MOST_LABELS = 9  # beside a figure, at the largest letters used
LABEL_LENGTH = 14  # letters that the right margin holds
LABEL_APART = 17.0
MOST_BARS = 30
BAR_APART = 22.0
STYLES = 6  # dashes and markers that are told apart


@dataclass(frozen=True)
class Line:
    name: str
    points: str  # of an SVG polyline
    marks: str  # the path of all markers
    band: str  # of an SVG polygon, or empty
    style: int  # 0 is the one the page is about
    label: str  # empty where there is no room
    label_x: float
    label_y: float
    end: tuple[float, float]
    note: str  # what a pointer is told


@dataclass(frozen=True)
class LineFigure:
    """Lines over a horizontal axis."""

    key: str
    title: str
    description: str
    x_title: str
    y_title: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]
    mark_x: float | None = None
    mark_label: str = ""
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    top: float = TOP
    bottom: float = HEIGHT - BOTTOM


@dataclass(frozen=True)
class Bar:
    name: str
    label: str
    y: float
    width: float
    value: str
    full: bool


@dataclass(frozen=True)
class BarFigure:
    """Horizontal bars with a threshold."""

    key: str
    title: str
    description: str
    bars: tuple[Bar, ...]
    threshold_x: float | None
    threshold: str
    ticks: tuple[Tick, ...]
    height: float
    width: float = WIDTH
    left: float = 132.0
    right: float = WIDTH - 40.0
    thick: float = 12.0


@dataclass(frozen=True)
class Box:
    name: str
    y: float
    whisker: tuple[float, float]
    box: tuple[float, float]
    middle: float


@dataclass(frozen=True)
class BoxFigure:
    """The distribution of one column in every group: the width of a table cell."""

    description: str
    boxes: tuple[Box, ...]
    height: float
    width: float = 190.0
    left: float = 66.0
    thick: float = 6.0


def path_figure(path: PathFacts, selected: frozenset[str]) -> LineFigure | None:
    """The score of every traced feature along the path; selected ones are drawn full."""
    if len(path.places) < 2 or not path.traces:
        return None
    x = scale_of(path.places, LEFT, WIDTH - RIGHT, reverse=path.axis != "k")
    top = max(max(trace.values) for trace in path.traces)
    y = Scale(0.0, top or 1.0, HEIGHT - BOTTOM, TOP)
    ends = [y(trace.values[-1]) for trace in path.traces]
    labelled = _labelled(ends, [t.values[-1] > 0 for t in path.traces])
    lines = []
    for i, trace in enumerate(path.traces):
        points = [(x(a), y(v)) for a, v in zip(path.places, trace.values, strict=True)]
        first = next(place for place, value in enumerate(trace.values) if value > 0)
        # from the last zero on: lines of all that enters later would lie on the axis
        points = points[max(0, first - 1) :]
        name = visible(trace.name)
        style = 0 if trace.name in selected or not selected else 1
        note = f"{name}: enters at {path.axis} = {number(trace.entered)}"
        lines.append(_line(name, points, style, labelled.get(i), note))
    return LineFigure(
        key="path",
        title="Score of each feature along the path",
        description=(
            f"{count(len(path.traces), 'line')}, one per feature: its score while {path.axis} "
            f"goes from {number(path.places[0])} to {number(path.places[-1])}. "
            f"The table below says where each enters."
        ),
        x_title={"alpha": "alpha (weaker penalty →)", "k": "features asked for"}.get(
            path.axis, path.axis
        ),
        y_title="score",
        x_ticks=tuple(x.ticks() if path.axis != "k" else x.at(path.places)),
        y_ticks=tuple(y.ticks(5)),
        lines=tuple(lines),
    )


def curve_figure(facts: CurveFacts) -> LineFigure | None:
    """Scores against k with their intervals; the first curve is the one the page is about."""
    points = [point for curve in facts.curves for point in curve.points]
    if not points:
        return None
    ks = sorted({point.k for point in points})
    x = scale_of(ks, LEFT + 8, WIDTH - RIGHT - 6, reverse=facts.axis == "alpha")
    low = min(point.low for point in points)
    high = max(point.high for point in points)
    pad = 0.04 * (high - low) or 0.01
    y = Scale(low - pad, high + pad, HEIGHT - BOTTOM, TOP)
    ends = [y(curve.points[-1].mean) for curve in facts.curves]
    labelled = _labelled(ends, [True] * len(ends))
    lines = [_curve(curve, i, x, y, labelled.get(i)) for i, curve in enumerate(facts.curves)]
    what = "of every method" if len(facts.curves) > 1 else "of the cross-validation"
    chosen = facts.chosen if facts.chosen in ks else None
    return LineFigure(
        key=facts.kind,
        title=f"{facts.score} against {facts.axis}",
        description=(
            f"Mean {facts.score} {what}, with its interval as a band. The table below has "
            "the same numbers."
        ),
        x_title={"k": "number of features", "alpha": "alpha (weaker penalty →)"}.get(
            facts.axis, facts.axis
        ),
        y_title=facts.score,
        x_ticks=tuple(x.ticks() if facts.axis == "alpha" else x.at(ks)),
        y_ticks=tuple(y.ticks(5)),
        lines=tuple(lines),
        mark_x=None if chosen is None else x(chosen),
        mark_label="" if chosen is None else f"chosen: {number(chosen)}",
    )


def _curve(curve: Curve, i: int, x: Scale, y: Scale, label_y: float | None) -> Line:
    points = [(x(point.k), y(point.mean)) for point in curve.points]
    upper = [(x(point.k), y(point.high)) for point in curve.points]
    lower = [(x(point.k), y(point.low)) for point in reversed(curve.points)]
    wide = len(points) > 1 and any(point.high > point.low for point in curve.points)
    name = visible(curve.name)
    best = max(curve.points, key=lambda point: point.mean)
    note = f"{name}: at best {number(best.mean)} with {number(best.k)}"
    # along the upper ends and back along the lower ones
    band = _pairs(upper + lower) if wide else ""
    return _line(name, points, min(i, STYLES), label_y, note, band)


def _line(
    name: str,
    points: list[tuple[float, float]],
    style: int,
    label_y: float | None,
    note: str,
    band: str = "",
) -> Line:
    # markers of more points would run into each other
    marked = points if len(points) <= 40 else []
    return Line(
        name=name,
        points=_pairs(points),
        marks="".join(marker(style, *point) for point in marked),
        band=band,
        style=style,
        label="" if label_y is None else shortened(name, LABEL_LENGTH),
        label_x=WIDTH - RIGHT + 14,
        label_y=0.0 if label_y is None else label_y,
        end=points[-1],
        note=note,
    )


def _pairs(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{a:g},{b:g}" for a, b in points)


def _labelled(ends: Sequence[float], wanted: Sequence[bool]) -> dict[int, float]:
    """Where the labels of the first lines stand, none on another."""
    chosen = [i for i in range(len(ends)) if wanted[i]][:MOST_LABELS]
    places = spread([ends[i] for i in chosen], LABEL_APART, TOP + 4, HEIGHT - BOTTOM)
    return dict(zip(chosen, places, strict=True))


def marker(style: int, x: float, y: float) -> str:
    """A shape per style as a piece of an SVG path, so that no line is known by colour alone."""
    shapes = (
        "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",  # circle
        "m-3-3h6v6h-6z",  # square
        "m0-4l4 7h-8z",  # triangle
        "m0-4.5l4.5 4.5l-4.5 4.5l-4.5-4.5z",  # diamond
        "m0 4l4-7h-8z",  # triangle on its tip
        "m-3.5-1h7v2h-7z",  # dash
        "m-1-3.5h2v7h-2z",  # stroke
    )
    return f"M{x:g} {y:g}{shapes[style]}"


def bar_figure(facts: StabilityFacts) -> BarFigure | None:
    """How often the features were chosen, most often first."""
    order = np.argsort(-np.asarray(facts.probabilities), kind="stable")[:MOST_BARS]
    shown = [int(j) for j in order if facts.probabilities[j] > 0]
    if not shown:
        return None
    x = Scale(0.0, 1.0, BarFigure.left, BarFigure.right)
    bars = []
    for place, j in enumerate(shown):
        name = visible(facts.names[j])
        bars.append(
            Bar(
                name=name,
                label=shortened(name, LABEL_LENGTH),
                y=TOP + 22 + place * BAR_APART,
                width=round(x(facts.probabilities[j]) - BarFigure.left, 1),
                value=f"{facts.probabilities[j]:.2f}",
                full=bool(facts.selected[j]),
            )
        )
    n_full = sum(bar.full for bar in bars)
    limit = facts.threshold
    return BarFigure(
        key="stability",
        title="How often each feature was chosen on half of the samples",
        description=(
            f"{count(len(bars), 'bar')}; {n_full} full ones reach the threshold"
            f"{'' if limit is None else f' of {number(limit)}'}, outlined ones do not."
        ),
        bars=tuple(bars),
        threshold_x=None if limit is None or limit > 1 else x(limit),
        threshold="" if limit is None else f"threshold {number(limit)}",
        ticks=tuple(x.at([0.0, 0.25, 0.5, 0.75, 1.0])),
        height=TOP + 22 + len(bars) * BAR_APART + 24,
    )


def box_figure(groups: Sequence[Group]) -> BoxFigure | None:
    """One row per group on a common axis."""
    if not groups:
        return None
    values = [q for group in groups for q in group.quantiles]
    x = Scale(min(values), max(values), BoxFigure.left, BoxFigure.width - 4)
    boxes = []
    said = []
    for i, group in enumerate(groups):
        low, lower, middle, upper, high = group.quantiles
        name = visible(group.name)
        boxes.append(
            Box(
                name=shortened(name, 10),
                y=7.0 + 13 * i,
                whisker=(x(low), x(high)),
                box=(x(lower), x(upper)),
                middle=x(middle),
            )
        )
        said.append(f"{name}: median {number(middle)}")
    return BoxFigure("; ".join(said), tuple(boxes), 13.0 * len(groups) + 1)


def score_widths(features: Sequence[Feature]) -> list[float]:
    """The score of each feature in per cent of the largest, for a bar."""
    top = max((f.score for f in features if np.isfinite(f.score)), default=0.0)
    if not top > 0:
        return [0.0] * len(features)
    shares = [f.score / top if np.isfinite(f.score) else 0.0 for f in features]
    return [round(100 * max(0.0, share), 1) for share in shares]


def heat_levels(features: Sequence[Feature], steps: int) -> list[list[int]]:
    """Each coefficient by the largest of its row, −steps … steps: units differ between rows."""
    levels = []
    for feature in features:
        row = np.asarray(feature.coefficients, dtype=float)
        top = np.abs(row).max(initial=0.0) or 1.0
        levels.append([int(v) for v in np.round(steps * row / top)])
    return levels
