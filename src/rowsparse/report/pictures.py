"""The figures of a page drawn by matplotlib, as files."""

from __future__ import annotations

from pathlib import Path

from .displays import (
    AccuracyDisplay,
    CoefficientDisplay,
    Display,
    PathDisplay,
    StabilityDisplay,
    _pyplot,
)
from .facts import Facts

DOTS_PER_INCH = 150


def save_pictures(facts: Facts, folder: Path, format: str) -> list[Path]:
    """Every figure that there is something for."""
    shown = {key: display.plot() for key, display in _displays(facts).items()}
    files = []
    for key, display in shown.items():
        files.append(folder / f"{key}.{format}")
        display.figure_.savefig(files[-1], dpi=DOTS_PER_INCH)
        _pyplot().close(display.figure_)  # pyplot would keep it for ever
    return files


def _displays(facts: Facts) -> dict[str, Display]:
    found: dict[str, Display] = {curve.kind: AccuracyDisplay(curve) for curve in facts.curves}
    if facts.stability is not None:
        found["stability"] = StabilityDisplay(facts.stability)
    if facts.path is not None and facts.path.traces:
        found["path"] = PathDisplay(facts.path, frozenset(f.name for f in facts.features))
    if facts.features and facts.outputs:
        found["coefficients"] = CoefficientDisplay(facts.features, facts.outputs)
    return found
