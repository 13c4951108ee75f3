"""From values to places on a figure: linear and logarithmic scales with round ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .words import number

LOGARITHMIC_FROM = 8.0  # ratio of the ends from which equal steps would crowd the small values
CLOSEST_TICKS = 34.0  # units between labels of three figures at the largest letters used


@dataclass(frozen=True)
class Tick:
    at: float
    label: str


@dataclass(frozen=True)
class Scale:
    """A map from [low, high] to [start, end]; ``logarithmic`` needs low > 0."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low = self.low
        high = self.high
        if self.logarithmic:
            value = math.log(max(value, low * 1e-3))
            low = math.log(low)
            high = math.log(high)
        share = (value - low) / (high - low) if high != low else 0.5
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, most: int = 6) -> list[Tick]:
        """Round values inside."""
        values = _decades(self) if self.logarithmic else round_values(self.low, self.high, most)
        return self.at(values)

    def at(self, values: Sequence[float]) -> list[Tick]:
        """Ticks at given values, without those whose labels would run into each other."""
        shown: list[Tick] = []
        for value in values:
            place = self(value)
            if not shown or abs(place - shown[-1].at) >= CLOSEST_TICKS:
                shown.append(Tick(place, number(value, 4)))
        return shown


def round_values(low: float, high: float, most: int = 6) -> list[float]:
    """Multiples of 1, 2, 2.5 or 5 times a power of ten.

    >>> round_values(0.71, 0.98, 6)
    [0.75, 0.8, 0.85, 0.9, 0.95]
    """
    if not high > low:
        return [low]
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    round_steps = [m * power for m in (1, 2, 2.5, 5, 10)]
    # a thousandth short is only rounding, and the next step would be twice as long
    step = next(one for one in round_steps if one >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    # twelve digits: 3 * 0.1 is to be 0.3
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def _decades(scale: Scale) -> list[float]:
    """Powers of ten, with 2 and 5 between them on short scales."""
    low, high = sorted((scale.low, scale.high))
    lowest = math.floor(math.log10(low))
    highest = math.ceil(math.log10(high))
    short = math.log10(high / low) <= 3
    steps = (1.0, 2.0, 5.0) if short else (1.0,)
    values = []
    for power in range(lowest, highest + 1):
        values += [float(f"{step}e{power}") for step in steps]  # as written, not as multiplied
    inside = [value for value in values if low * 0.999 <= value <= high * 1.001]
    return inside if scale.low < scale.high else inside[::-1]


def scale_of(values: Sequence[float], start: float, end: float, reverse: bool = False) -> Scale:
    """Logarithmic where the values are positive and far apart."""
    finite = [float(v) for v in values if np.isfinite(v)]
    low = min(finite, default=0.0)
    high = max(finite, default=1.0)
    logarithmic = low > 0 and high / low >= LOGARITHMIC_FROM
    if reverse:
        low, high = high, low
    return Scale(low, high, start, end, logarithmic)


def spread(wanted: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """Places near the wanted ones, at least so far apart, between low and high where they fit.

    >>> spread([10, 11, 50], 10, 0, 100)
    [10.0, 20.0, 50.0]
    """
    order = np.argsort(wanted, kind="stable")
    places = np.zeros(len(wanted))
    # from the lowest up, each clear of the one below; then from the top down into the range
    edge = low
    for i in order:
        edge = max(edge, wanted[i])
        places[i] = edge
        edge += apart
    limit = high
    for i in order[::-1]:
        places[i] = min(places[i], limit)
        limit = places[i] - apart
    return [round(float(p), 1) for p in places]
