"""Draws docs/figures/zero-norm.svg: accuracy against the number of features, and against the
number of support vectors.

Run: python docs/figures/make_zero_norm_figures.py    (left: experiments/cells)
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from rowsparse import ZeroNormKernelSVC

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))
from experiments.frame import CellFile  # noqa: E402
from experiments.zero_norm.page import measured, sizes  # noqa: E402

CELLS = HERE.parents[1] / "experiments" / "cells" / "zero_norm.jsonl"
SETS = {"colon_alon": "Colon, 62 × 2000", "lymphoma_62": "Lymphoma, 62 × 4026"}
STYLES = {
    "zero norm C=1": ("zero norm", "#d1495b", "o-"),
    "AROM C=100": ("AROM, C = 100", "#30638e", "s--"),
    "AROM C=1": ("AROM, C = 1", "#6fb1d6", "v--"),
    "FSV": ("FSV", "#7a9e3a", "^:"),
    "SVM ranking": ("SVM ranking", "0.55", "d-."),
}


def draw_accuracy(axis: plt.Axes, cells: CellFile, name: str, title: str) -> None:
    panel = measured(cells, name)
    for method, (label, colour, style) in STYLES.items():
        wanted = np.array(panel.ks)
        reached = sizes(cells, name, method) > wanted - 0.5  # FSV ends early
        accuracies = panel.mean(method)[reached]
        axis.plot(wanted[reached], accuracies, style, color=colour, label=label, markersize=4)
    axis.set(xscale="log", xlabel="features", ylabel="accuracy, 5-fold, repeated (%)", title=title)
    axis.set_xticks([2, 5, 10, 20, 50, 100], [2, 5, 10, 20, 50, 100])
    axis.minorticks_off()


def draw_vectors(axis: plt.Axes) -> None:
    X, y = make_moons(200, noise=0.2, random_state=0)
    ours = ZeroNormKernelSVC(5.0, gamma=1.0).fit(X, y)
    theirs = SVC(C=5.0, gamma=1.0).fit(X, y)
    a, b = np.meshgrid(np.linspace(-1.6, 2.6, 200), np.linspace(-1.2, 1.7, 200))
    grid = np.c_[a.ravel(), b.ravel()]
    axis.scatter(*X.T, c=np.array(["#7fb2d8", "#e8a87c"])[y], s=8)
    for machine, colour, style in ((theirs, "0.45", "--"), (ours, "#d1495b", "-")):
        Z = machine.decision_function(grid).reshape(a.shape)
        axis.contour(a, b, Z, [0.0], colors=colour, linestyles=style)
    axis.scatter(*X[theirs.support_].T, s=38, facecolors="none", edgecolors="0.45", linewidths=0.8)
    axis.scatter(*ours.support_vectors_.T, s=80, facecolors="none", edgecolors="#d1495b")
    axis.set(
        title=f"Kernel: {ours.support_.size} vectors (red), SVC {theirs.support_.size} (grey)",
        xticks=[],
        yticks=[],
    )


def main() -> None:
    warnings.simplefilter("ignore")
    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "rowsparse"})
    cells = CellFile(CELLS)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    for axis, (name, title) in zip(axes, SETS.items(), strict=False):
        draw_accuracy(axis, cells, name, title)
    axes[1].legend(frameon=False)
    draw_vectors(axes[2])
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "zero-norm.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
