"""Figures for notebooks and papers on matplotlib, by scikit-learn's Display convention.

``X.from_estimator(fitted, ax=None)`` makes and draws one, ``.plot(ax=None)`` draws it again,
``figure_`` and ``ax_`` are what was drawn on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from ..results import Path
from ..selectors.paths import selection_path
from .facts import CurveFacts, Feature, PathFacts, StabilityFacts
from .figures import MOST_BARS, MOST_LABELS
from .reading import read
from .theme import LIGHT
from .words import shortened, visible

MARKERS = "os^Dv_|"
DASHES: tuple[Any, ...] = ("-", (0, (6, 3)), (0, (2, 3)), "-.", ":", (0, (9, 2)))
LONGEST_NAME = 24


class Display(ABC):
    """What all of them share: axes, and how names are written."""

    ax_: Any
    figure_: Any

    @abstractmethod
    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure."""

    def _axes(self, ax: Any, size: tuple[float, float]) -> Any:
        if ax is None:
            _, ax = _pyplot().subplots(figsize=size, layout="constrained")
        self.ax_ = ax
        self.figure_ = ax.figure
        ax.spines[["top", "right"]].set_visible(False)
        return ax


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot
    except ImportError:
        raise ImportError(
            "Figures need matplotlib; install it with: pip install 'rowsparse[plot]'."
        ) from None
    return matplotlib.pyplot


def _written(name: str) -> str:
    """A dollar sign would start a formula."""
    return shortened(visible(name), LONGEST_NAME).replace("$", r"\$")


class PathDisplay(Display):
    """The score of each feature along a path in alpha, p or k.

    Parameters
    ----------
    path : rowsparse.report.facts.PathFacts
    selected : names drawn full, others are dashed; empty for all

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import L2pSelector
    >>> from rowsparse.report import PathDisplay
    >>> display = PathDisplay.from_estimator(L2pSelector(), X, y, n_alphas=5)
    >>> display.ax_.get_xlabel()
    'alpha'
    """

    def __init__(self, path: PathFacts, selected: frozenset[str] = frozenset()) -> None:
        self.path = path
        self.selected = selected

    @classmethod
    def from_path(cls, path: Path, feature_names: Any = None, *, ax: Any = None) -> Self:
        """From what ``selection_path`` or ``power_path`` returned."""
        data = None
        if feature_names is not None:
            names = [str(name) for name in feature_names]
            # a path knows no names, and what is read beside it is a table
            data = _Named(np.zeros((1, len(names))), None, names)
        facts = read(path, data)
        if facts.path is None:
            raise ValueError("Expected a path with at least one solution, got an empty one.")
        return cls(facts.path).plot(ax)

    @classmethod
    def from_estimator(cls, selector: Any, X: Any, y: Any, *, ax: Any = None, **grid: Any) -> Self:
        """Follow the path of a selector; ``grid`` is for ``selection_path`` (alphas, ks, …)."""
        path = selection_path(selector, X, y, **grid)
        names = X.columns if "columns" in dir(X) else None
        return cls.from_path(path, names, ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure."""
        ax = self._axes(ax, (6.4, 4.0))
        path = self.path
        for i, trace in enumerate(path.traces):
            full = not self.selected or trace.name in self.selected
            # a legend of all would be longer than the figure
            label = _written(trace.name) if i < MOST_LABELS else None
            ax.plot(
                path.places,
                trace.values,
                color=f"C{i % 10}" if full else LIGHT["muted"],
                linestyle=DASHES[(i // 10) % len(DASHES)] if full else "--",
                linewidth=1.6 if full else 0.9,
                label=label,
            )
        if path.axis != "k":  # penalties are weakened from left to right, as k grows
            ax.invert_xaxis()
        if path.axis == "alpha" and min(path.places) > 0:
            ax.set_xscale("log")
        ax.set_xlabel({"k": "number of features"}.get(path.axis, path.axis))
        ax.set_ylabel("score (row norm)")
        if path.traces:
            ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
        return self


class CoefficientDisplay(Display):
    """Coefficients of the selected features: bars, or a heat map where there are several outputs.

    Parameters
    ----------
    features : tuple of rowsparse.report.facts.Feature
    outputs : names of the outputs

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import TopKSelector
    >>> from rowsparse.report import CoefficientDisplay
    >>> display = CoefficientDisplay.from_estimator(TopKSelector(3).fit(X, y))
    >>> len(display.features)
    3
    """

    def __init__(self, features: tuple[Feature, ...], outputs: tuple[str, ...]) -> None:
        self.features = features
        self.outputs = outputs

    @classmethod
    def from_estimator(cls, selector: Any, *, data: Any = None, ax: Any = None) -> Self:
        """From a fitted selector that has coefficients."""
        facts = read(selector, data)
        if not facts.outputs:
            raise ValueError(
                f"Expected a selector with coefficients, got {type(selector).__name__}, which has "
                "scores alone; see to_frame()."
            )
        return cls(facts.features, facts.outputs).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure."""
        k = len(self.features)
        ax = self._axes(ax, (6.4, 1.2 + 0.26 * k))
        names = [_written(feature.name) for feature in self.features]
        values = np.array([f.coefficients for f in self.features]).reshape(k, len(self.outputs))
        if len(self.outputs) == 1:
            ax.barh(range(k), values[:, 0], color=LIGHT["accent"], height=0.6)
            ax.axvline(0, color=LIGHT["muted"], linewidth=0.8)
            ax.set_xlabel(f"coefficient ({_written(self.outputs[0])})")
            ax.invert_yaxis()
        else:
            # by its row, since columns have units of their own
            largest = np.abs(values).max(axis=1, keepdims=True)
            shares = values / np.where(largest > 0, largest, 1.0)
            image = ax.imshow(shares, cmap="PuOr_r", vmin=-1, vmax=1, aspect="auto")
            ax.set_xticks(range(len(self.outputs)))
            turned = 90 if len(self.outputs) > 8 else 0
            ax.set_xticklabels([_written(name) for name in self.outputs], rotation=turned)
            ax.figure.colorbar(image, ax=ax, label="coefficient / largest of its row")
        ax.set_yticks(range(k), names)
        return self


class AccuracyDisplay(Display):
    """Scores against the number of features or alpha, with intervals: tuning or comparison.

    Parameters
    ----------
    curves : rowsparse.report.facts.CurveFacts

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import TopKSelector
    >>> from rowsparse.model_selection import SelectorCV
    >>> from rowsparse.report import AccuracyDisplay
    >>> search = SelectorCV(TopKSelector(), ks=[1, 3, 5], cv=3).fit(X, y)
    >>> AccuracyDisplay.from_estimator(search).ax_.get_xlabel()
    'number of features'
    """

    def __init__(self, curves: CurveFacts) -> None:
        self.curves = curves

    @classmethod
    def from_estimator(cls, result: Any, *, ax: Any = None) -> Self:
        """From a fitted ``SelectorCV``, or what ``compare`` returned."""
        facts = read(result)
        if not facts.curves:
            raise TypeError(
                f"Expected a fitted SelectorCV or a Comparison, got {type(result).__name__}."
            )
        return cls(facts.curves[0]).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure."""
        ax = self._axes(ax, (6.4, 4.0))
        for i, curve in enumerate(self.curves.curves):
            ks = [point.k for point in curve.points]
            style = min(i, len(MARKERS) - 1)  # no line is known by its colour alone
            (line,) = ax.plot(
                ks,
                [point.mean for point in curve.points],
                marker=MARKERS[style],
                linestyle=DASHES[style % len(DASHES)],
                markersize=5,
                label=_written(curve.name),
            )
            low = [point.low for point in curve.points]
            high = [point.high for point in curve.points]
            ax.fill_between(ks, low, high, color=line.get_color(), alpha=0.12, linewidth=0)
        if self.curves.chosen is not None:
            ax.axvline(self.curves.chosen, color=LIGHT["warm"], linestyle="--", linewidth=1)
        if self.curves.axis == "alpha":
            ax.set_xscale("log")
            ax.invert_xaxis()
        ax.set_xlabel({"k": "number of features"}.get(self.curves.axis, self.curves.axis))
        ax.set_ylabel(self.curves.score)
        if len(self.curves.curves) > 1:
            ax.legend(frameon=False, fontsize="small")
        return self


class StabilityDisplay(Display):
    """How often each feature was chosen on half of the samples, with the threshold.

    Parameters
    ----------
    stability : rowsparse.report.facts.StabilityFacts

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import TopKSelector
    >>> from rowsparse.model_selection import StabilitySelector
    >>> from rowsparse.report import StabilityDisplay
    >>> stable = StabilitySelector(TopKSelector(3), n_pairs=5, random_state=0).fit(X, y)
    >>> StabilityDisplay.from_estimator(stable).ax_.get_xlabel()
    'chosen on this share of half-samples'
    """

    def __init__(self, stability: StabilityFacts) -> None:
        self.stability = stability

    @classmethod
    def from_estimator(cls, selector: Any, *, data: Any = None, ax: Any = None) -> Self:
        """From a fitted ``StabilitySelector``."""
        facts = read(selector, data)
        if facts.stability is None:
            raise TypeError(f"Expected a StabilitySelector, got {type(selector).__name__}.")
        return cls(facts.stability).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure."""
        known = self.stability
        values = np.asarray(known.probabilities)
        order = [j for j in np.argsort(-values, kind="stable")[:MOST_BARS] if values[j] > 0]
        ax = self._axes(ax, (6.4, 1.2 + 0.24 * max(1, len(order))))
        full = [LIGHT["accent"] if known.selected[j] else "none" for j in order]
        places = range(len(order))
        ax.barh(places, values[order], color=full, edgecolor=LIGHT["accent"], height=0.6)
        ax.set_yticks(places, [_written(known.names[j]) for j in order])
        ax.invert_yaxis()
        ax.set_xlim(0, 1)
        if known.threshold is not None:
            ax.axvline(known.threshold, color=LIGHT["warm"], linestyle="--", linewidth=1.2)
        ax.set_xlabel("chosen on this share of half-samples")
        return self


class _Named:
    """Names beside a table that nobody looks into."""

    def __init__(self, X: np.ndarray, y: Any, feature_names: list[str]) -> None:
        self.X = X
        self.y = y
        self.feature_names = feature_names
