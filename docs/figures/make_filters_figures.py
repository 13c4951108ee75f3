"""Draws docs/figures/filters.svg: which planted features each filter ranks where, and the times.

Run: python docs/figures/make_filters_figures.py
The times are read from benchmarks/filters/results_filters.jsonl.
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from rowsparse import ScoreSelector

HERE = Path(__file__).parent
RECORDS = HERE.parents[1] / "benchmarks" / "filters" / "results_filters.jsonl"
PLANTED = ["shift", "copy of shift", "weak shift", "two-sided", "XOR, one", "XOR, other"]
METHODS = {
    "F / Fisher": ScoreSelector("f", 6),
    "information gain": ScoreSelector("information_gain", 6),
    "ReliefF": ScoreSelector("relieff", 6),
    "mRMR (fcq)": ScoreSelector("mrmr", 6, score_params={"criterion": "fcq"}),
    "mRMR (mid)": ScoreSelector("mrmr", 6, score_params={"criterion": "mid"}),
    "SVM-RFE": ScoreSelector("svm_rfe", 6),
}
RACES = [
    ("ReliefF\nISOLET1", "ISOLET1", "relieff", ["skfeature", "skrebate"]),
    ("ReliefF\nALLAML", "ALLAML", "relieff", ["skfeature", "skrebate"]),
    ("mRMR, 50\nISOLET1", "ISOLET1", "mrmr fcq", ["mrmr-selection", "skfeature mrmr"]),
    ("mRMR, 50\nALLAML", "ALLAML", "mrmr fcq", ["mrmr-selection", "skfeature mrmr"]),
]
COLOURS = {
    "rowsparse": "#2a6f97",
    "skfeature": "#e9a03b",
    "skrebate": "#b5533c",
    "mrmr-selection": "#7a8b3c",
}


def planted(seed: int, n: int = 400, d: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Two classes; the first six columns matter in different ways, the others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.arange(n) % 2
    X[:, 0] += 1.6 * y
    X[:, 1] = X[:, 0] + 0.2 * rng.standard_normal(n)
    X[:, 2] += 0.5 * y
    X[:, 3] *= np.where(y == 1, 2.2, 0.6)  # same mean, other spread
    side = np.sign(X[:, 4]) * np.where(y == 1, 1.0, -1.0)
    X[:, 5] = side * (0.3 + np.abs(X[:, 5]))
    return X, y


def median_ranks(repeats: int = 20) -> np.ndarray:
    """Median rank of every planted feature by every method."""
    ranks = np.empty((repeats, len(METHODS), len(PLANTED)))
    for seed in range(repeats):
        X, y = planted(seed)
        places = np.random.default_rng(seed).permutation(X.shape[1])  # ties favour low indices
        for m, selector in enumerate(METHODS.values()):
            ranks[seed, m] = selector.fit(X[:, places], y).ranking_[np.argsort(places)][:6]
    return np.median(ranks, axis=0)


def draw_ranks(axis: plt.Axes) -> None:
    ranks = median_ranks()
    axis.imshow(np.minimum(ranks, 12), cmap="YlGnBu_r", vmin=1, vmax=14, aspect="auto")
    for m, row in enumerate(ranks):
        for j, rank in enumerate(row):
            colour = "white" if rank < 8 else "black"
            axis.text(j, m, f"{rank:.0f}", ha="center", va="center", color=colour)
    axis.set_xticks(range(len(PLANTED)), PLANTED, rotation=35, ha="right")
    axis.set_yticks(range(len(METHODS)), METHODS)
    axis.tick_params(length=0)
    axis.set_title("Rank among 30 features (24 are noise)")
    axis.spines[:].set_visible(False)


def draw_times(axis: plt.Axes) -> None:
    records = [json.loads(line) for line in RECORDS.read_text().splitlines()]
    known = {(r["case"], r["contestant"]): r for r in records}
    for place, (_, case, ours, rivals) in enumerate(RACES):
        for k, name in enumerate([ours, *rivals]):
            bar(axis, place + 0.27 * (k - 1), known[case, name], colour_of(name, ours))
    axis.set_yscale("log")
    axis.set_xticks(range(len(RACES)), [label for label, *_ in RACES])
    axis.set(ylabel="seconds (log)", title="Wall time")
    axis.set_ylim(top=2000)
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in COLOURS.values()]
    axis.legend(handles, COLOURS, frameon=False, loc="upper left", ncols=2, fontsize=8)
    axis.spines[["top", "right"]].set_visible(False)


def colour_of(name: str, ours: str) -> str:
    return COLOURS["rowsparse" if name == ours else name.removesuffix(" mrmr")]


def bar(axis: plt.Axes, x: float, record: dict, colour: str) -> None:
    stopped = "runs" not in record
    seconds = record["cap"] if stopped else min(run["wall"] for run in record["runs"])
    axis.bar(x, seconds, 0.25, color=colour, alpha=0.45 if stopped else 1.0)
    label = f">{seconds:.0f}" if stopped else f"{seconds:.2g}"
    axis.text(x, seconds * 1.1, label, ha="center", fontsize=7)


def main() -> None:
    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "rowsparse"})
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.9), layout="constrained")
    draw_ranks(axes[0])
    draw_times(axes[1])
    figure.savefig(HERE / "filters.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
