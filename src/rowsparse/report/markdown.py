"""The facts as Markdown: for a repository, an issue, a chat."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .facts import CurveFacts, Facts, Feature, PathFacts
from .words import number, shortened, visible

ACTIVE = "\\`*_{}[]()#+!|<>~&$"  # letters that mean something in Markdown or HTML
MOST_OUTPUTS = 12  # columns of a table that a person still reads; the JSON has all


def as_markdown(facts: Facts) -> str:
    """The same sections as the page; figures are tables here."""
    blocks = [f"# {escaped(facts.title)}", escaped(facts.answer)]
    figures = []
    for value, what in facts.key_figures:
        figures.append(f"**{escaped(value)}** {escaped(what)}")
    blocks.append(" · ".join(figures))
    blocks += [f"> **Please note.** {escaped(note)}" for note in facts.notes]
    if facts.features:
        blocks += ["## Selected features", _features(facts)]
    for curve in facts.curves:
        blocks += _curve(curve)
    if facts.stability is not None:
        blocks += ["## How sure the selection is", *map(escaped, facts.stability.sentences)]
        blocks.append(_stability(facts))
    if facts.path is not None:
        blocks += ["## The path", _path(facts.path)]
    if facts.proof:
        blocks += ["## What is proved", table(("", ""), facts.proof)]
    blocks += _data(facts)
    blocks += _reuse(facts)
    return "\n\n".join(block for block in blocks if block) + "\n"


def escaped(text: object) -> str:
    """Text that is only text: nothing in it is read as Markdown or HTML.

    >>> escaped("<script>|a_b")
    '\\\\<script\\\\>\\\\|a\\\\_b'
    """
    # names come from files that others made
    letters = [f"\\{letter}" if letter in ACTIVE else letter for letter in visible(text)]
    return "".join(letters)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table whose cells are plain text."""
    lines = [_row(head), "|" + " --- |" * len(head)]
    lines += [_row(row) for row in rows]
    return "\n".join(lines)


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(escaped(cell) for cell in cells) + " |"


def _features(facts: Facts) -> str:
    outputs = facts.outputs[:MOST_OUTPUTS]
    first = facts.features[0]  # what is known of one is known of all
    head = ["rank", "column", "score"]
    head += [f"coef {visible(output)}" for output in outputs]
    if first.probability is not None:
        head.append("chosen on halves")
    if first.stand_ins is not None:
        head.append("moves with")
    rows = [_feature(feature, len(outputs), first) for feature in facts.features]
    text = table(head, rows)
    hidden = facts.n_selected - len(facts.features)
    return f"{text}\n\n… and {hidden:,} more." if hidden > 0 else text


def _feature(feature: Feature, n_outputs: int, first: Feature) -> list[str]:
    cells = [str(feature.rank), shortened(visible(feature.name), 60), number(feature.score)]
    cells += [number(value) for value in feature.coefficients[:n_outputs]]
    if first.probability is not None:
        cells.append(number(feature.probability))
    if feature.stand_ins is not None:
        # the correlation tells whether it could take the place
        near = [f"{visible(s.name)} ({s.correlation:.2f})" for s in feature.stand_ins]
        cells.append(", ".join(near) or "–")
    return cells


def _path(path: PathFacts) -> str:
    head = ("column", f"enters at {path.axis}", "score at the end")
    rows = []
    for trace in path.traces:
        rows.append((trace.name, number(trace.entered), number(trace.values[-1])))
    return table(head, rows)


def _curve(facts: CurveFacts) -> list[str]:
    compared = facts.kind == "comparison"
    blocks = ["## Compared with other methods" if compared else "## How many features"]
    blocks += map(escaped, facts.sentences)
    rows = []
    for curve in facts.curves:
        for point in curve.points:
            interval = f"{point.low:.3f} – {point.high:.3f}"
            rows.append((curve.name, number(point.k), f"{point.mean:.3f}", interval))
    blocks.append(table(("method", facts.axis, facts.score, "interval"), rows))
    blocks += [f"- {escaped(failure)}" for failure in facts.failures]
    return blocks


def _stability(facts: Facts) -> str:
    known = facts.stability
    assert known is not None
    shares = np.asarray(known.probabilities)
    most_often = np.argsort(-shares, kind="stable")[:30]
    rows = []
    for j in most_often[shares[most_often] > 0].tolist():
        stable = "yes" if known.selected[j] else "no"
        rows.append((known.names[j], f"{shares[j]:.2f}", stable))
    return table(("column", "chosen on halves", "stable"), rows)


def _data(facts: Facts) -> list[str]:
    data = facts.data
    if data is None:
        return []
    rows = [
        ("name", data.name),
        ("file", data.source),
        ("size", f"{data.n_samples:,} samples × {data.n_features:,} columns"),
        ("storage", data.storage),
        ("target", data.target),
        ("samples of each", ", ".join(f"{name}: {n:,}" for name, n in data.classes)),
    ]
    shown = table(("", ""), [row for row in rows if row[1]])
    return ["## The data as seen", *map(escaped, data.sentences), shown]


def _reuse(facts: Facts) -> list[str]:
    blocks = ["## Use and repeat"]
    if facts.code:
        blocks.append(f"```python\n{facts.code}\n```")
    if facts.command:
        blocks.append(f"```sh\n{facts.command}\n```")
    if facts.settings:
        blocks.append(table(("setting", "value"), facts.settings))
    blocks.append(table(("package", "version"), facts.versions))
    if facts.seed:
        blocks.append(f"Seed: {escaped(facts.seed)}.")
    return blocks
