"""Colours of pages and figures in two themes."""

from __future__ import annotations

HEAT_STEPS = 5
HEAT_STRONGEST = 0.42  # of the accent in the background: text on it keeps a contrast above 4.5

LIGHT = {
    "paper": "#ffffff",
    "surface": "#f5f7f9",
    "ink": "#1a1f26",
    "muted": "#55606d",
    "line": "#d9dfe5",
    "grid": "#e8ecf0",
    "accent": "#0b5c8a",
    "warm": "#9c4a10",
}
DARK = {
    "paper": "#13171c",
    "surface": "#1a2027",
    "ink": "#e7ebef",
    "muted": "#a3adb8",
    "line": "#37414c",
    "grid": "#272f38",
    "accent": "#74bdf0",
    "warm": "#f0ab72",
}


def mixed(colour: str, background: str, share: float) -> str:
    """So much of a colour in a background.

    >>> mixed("#000000", "#ffffff", 0.5)
    '#808080'
    """
    pairs = zip(_channels(colour), _channels(background), strict=True)
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


def colours(theme: dict[str, str]) -> dict[str, str]:
    """The theme with the steps of its heat maps: p1 … for positive, n1 … for negative values."""
    steps = {}
    for letter, name in (("p", "accent"), ("n", "warm")):
        for step in range(1, HEAT_STEPS + 1):
            share = HEAT_STRONGEST * step / HEAT_STEPS
            steps[f"{letter}{step}"] = mixed(theme[name], theme["paper"], share)
    return {**theme, **steps}


def _channels(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
