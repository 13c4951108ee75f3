"""Draws docs/figures/l2p.svg: what p does to a row, and to the number of features needed.

Run: python docs/figures/make_l2p_figures.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from rowsparse import L2pSelector
from rowsparse.numerics.rows import shrink

POWERS = (1.0, 0.75, 0.5, 0.25, 0.0)
COLOURS = dict(zip(POWERS, plt.cm.viridis(np.linspace(0.85, 0.05, len(POWERS))), strict=True))
N_ALPHAS = 25


def draw_shrinkage(axis: plt.Axes) -> None:
    z = np.linspace(0, 3, 1201)
    axis.plot(z, z, color="0.75", linewidth=1, linestyle=":")
    for p in POWERS:
        out = shrink(z, 1.0, p)
        jump = int(np.argmax(out > 0))
        # Two pieces, so that the jump is seen as a gap and not as a steep line.
        axis.plot(z[:jump], out[:jump], color=COLOURS[p])
        axis.plot(z[jump:], out[jump:], color=COLOURS[p], label=f"p = {p:g}")
    axis.set(
        xlabel="norm of the row before",
        ylabel="norm after",
        title="One row: how it is shrunk (ρ = 1)",
    )
    axis.legend(frameon=False)


def draw_fit_against_size(axis: plt.Axes) -> None:
    X, y = load_digits(return_X_y=True)
    for p in POWERS:
        sizes, unexplained = fit_along_alpha(X, y, p)
        axis.plot(
            sizes, unexplained, color=COLOURS[p], marker=".", markersize=4, label=f"p = {p:g}"
        )
    axis.set(
        xlabel="features selected",
        ylabel="share of the targets' variance left",
        title="Digits, 10 classes, 64 pixels: fit against size",
        xlim=(0, 50),
    )
    axis.legend(frameon=False)


def fit_along_alpha(X: np.ndarray, y: np.ndarray, p: float) -> tuple[list[int], list[float]]:
    """Number of features and residual variance along a falling alpha."""
    Y = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    total = np.mean((Y - Y.mean(axis=0)) ** 2)
    largest = 10 * L2pSelector(p=p).fit(X, y).alpha_  # alpha=None is a tenth of alpha_max
    sizes, unexplained = [0], [1.0]  # at alpha_max
    for alpha in largest * np.logspace(-0.1, -2.5, N_ALPHAS):
        selector = L2pSelector(alpha=alpha, p=p, init="convex").fit(X, y)
        residual = X @ selector.coef_.T + selector.intercept_ - Y
        sizes.append(int(selector.support_.sum()))
        unexplained.append(float(np.mean(residual**2) / total))
    return sizes, unexplained


def main() -> None:
    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "rowsparse"})
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    draw_shrinkage(axes[0])
    draw_fit_against_size(axes[1])
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    target = Path(__file__).with_name("l2p.svg")
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main()
