"""Draws docs/figures/lpinf.svg: what the l_{p,inf} prox does to a row, and where Algorithm 1 fails.

Run: python docs/figures/make_lpinf_figures.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from rowsparse.numerics.clip import clip_levels, clip_rows

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))
from experiments.lpinf.algorithm_1 import algorithm_1  # noqa: E402

BLUE, RED, GREY = "#30638e", "#c03221", "0.6"


def phi(b: np.ndarray, t: np.ndarray, rho: float, p: float) -> np.ndarray:
    return 0.5 * (np.maximum(b[:, None] - t, 0) ** 2).sum(axis=0) + rho * np.where(t > 0, t**p, 0)


def draw_row(axis: plt.Axes) -> None:
    b, rho = np.array([5.0, 4.0, 3.0, 2.0, 1.0]), 1.5
    place = np.arange(1, 6)
    axis.bar(place, b, width=0.75, color="0.88", label="before")
    powers = (1.0, 0.5, 0.25)
    for p, colour in zip(powers, plt.cm.viridis((0.75, 0.45, 0.1)), strict=True):
        u = clip_rows(b[None], rho, p)[0]
        axis.plot(place, u, marker="o", markersize=4, color=colour, label=f"p = {p:g}")
    axis.set(
        xlabel="entry of the row",
        ylabel="magnitude",
        xticks=place,
        title="(a) A row is clipped (ρ = 1.5)",
    )
    axis.legend(frameon=False)


def draw_phi(axis: plt.Axes, b: np.ndarray, rho: float, p: float, title: str) -> None:
    t = np.linspace(0, b.max(), 4001)
    axis.plot(t, phi(b, t, rho, p), color=GREY)
    printed = float(np.abs(algorithm_1(b, rho, p)).max())
    best = float(clip_levels(b[None], rho, p)[0])
    for at, colour, label in ((printed, RED, "Algorithm 1"), (best, BLUE, "global minimum")):
        height = float(phi(b, np.array([at]), rho, p)[0])
        axis.plot(at, height, "o", color=colour, label=f"{label}: {height:.2f}")
    for joint in np.unique(b)[:-1]:
        axis.axvline(joint, color="0.9", linewidth=1, zorder=0)
    axis.set(xlabel="level t", ylabel="φ(t)", title=title)
    axis.legend(frameon=False)


def main() -> None:
    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "rowsparse"})
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained")
    draw_row(axes[0])
    many = np.array([10.0] + [1.0] * 30)
    draw_phi(axes[1], many, 22.0, 0.5, "(b) b = (10, 1 × 30), ρ = 22, p = 0.5")
    axes[1].set(ylim=(61, 66), xlim=(0, 8.5))
    draw_phi(axes[2], np.array([3.0, 1.0]), 3.5, 0.25, "(c) b = (3, 1), ρ = 3.5, p = 0.25")
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "lpinf.svg", metadata={"Date": None})
    if "--png" in sys.argv:  # to look at
        figure.savefig("/tmp/lpinf.png", dpi=110)


if __name__ == "__main__":
    main()
