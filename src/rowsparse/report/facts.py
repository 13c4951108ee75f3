"""What a report says, as plain values: every format is written from these and from nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass
from typing import Any


@dataclass(frozen=True)
class Group:
    """Five quantiles (5, 25, 50, 75, 95 %) of one column among the samples of one group."""

    name: str
    quantiles: tuple[float, ...]
    n_samples: int


@dataclass(frozen=True)
class StandIn:
    """Another column that moves with a selected one."""

    name: str
    correlation: float


@dataclass(frozen=True)
class Feature:
    """One selected column."""

    rank: int
    name: str
    index: int
    score: float
    coefficients: tuple[float, ...] = ()
    entered_alpha: float | None = None
    probability: float | None = None
    stand_ins: tuple[StandIn, ...] | None = None  # None: nobody looked
    groups: tuple[Group, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Trace:
    """The score of one feature along a path."""

    name: str
    values: tuple[float, ...]
    entered: float | None  # the first place of the axis at which it is in


@dataclass(frozen=True)
class PathFacts:
    """How the selection grows along alpha, p or k."""

    axis: str
    places: tuple[float, ...]
    n_features: tuple[int, ...]
    objectives: tuple[float, ...]
    traces: tuple[Trace, ...]
    n_never_drawn: int  # features of the path beyond those traced


@dataclass(frozen=True)
class Point:
    """A score with the interval that goes with it; without one low = high = mean."""

    k: float
    mean: float
    low: float
    high: float
    n_features: float | None = None
    seconds: float | None = None
    stability: float | None = None


@dataclass(frozen=True)
class Curve:
    """The scores of one method."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class CurveFacts:
    """Scores against the number of features, of one method or of several."""

    kind: str  # "comparison" or "tuning"
    axis: str
    score: str
    curves: tuple[Curve, ...]
    chosen: float | None
    sentences: tuple[str, ...]
    failures: tuple[str, ...] = ()


@dataclass(frozen=True)
class StabilityFacts:
    """How often each feature was chosen on half of the samples."""

    names: tuple[str, ...]
    probabilities: tuple[float, ...]
    selected: tuple[bool, ...]
    threshold: float | None
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class DataFacts:
    """The data as the fit saw it."""

    name: str
    source: str
    n_samples: int | None
    n_features: int
    storage: str
    target: str
    classes: tuple[tuple[str, int], ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """All of it; a part that the result cannot tell is None or empty."""

    title: str
    answer: str
    method: str
    key_figures: tuple[tuple[str, str], ...]  # (figure, what it is)
    outputs: tuple[str, ...]  # what the coefficients of a feature belong to
    features: tuple[Feature, ...]
    n_selected: int
    n_features: int
    path: PathFacts | None = None
    curves: tuple[CurveFacts, ...] = ()
    stability: StabilityFacts | None = None
    proof: tuple[tuple[str, str], ...] = ()
    data: DataFacts | None = None
    settings: tuple[tuple[str, str], ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    seed: str = ""
    command: str = ""
    code: str = ""
    notes: tuple[str, ...] = ()


def as_plain(value: Any) -> Any:
    """Dictionaries, lists, numbers and texts; JSON knows no infinity and no NaN."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: as_plain(vars(value)[f.name]) for f in fields(value)}
    if isinstance(value, tuple | list):
        return [as_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
