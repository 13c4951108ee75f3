"""Draws docs/figures/topk.svg: objective against k for every method, squared loss.

Run: python docs/figures/make_topk_figures.py
Rivals run in the environment that benchmarks/topk/run.py builds; without it they are left out.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from rowsparse import L2pSelector, TopKSelector
from rowsparse.paths import selection_path
from rowsparse.solvers import ALM, SFS

HERE = Path(__file__).parent
BENCHMARK = HERE.parent.parent / "benchmarks"
PYTHON = BENCHMARK / ".envs" / "topk" / "bin" / "python"
KS = (1, 2, 3, 5, 7, 10, 15, 20)
RIVALS = ("fastcan", "abess", "abess path", "OMP", "skscope")


def digits():
    X, y = load_digits(return_X_y=True)
    X = X[:, X.std(axis=0) > 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    return X, Y - Y.mean(axis=0)


def left_over(X, Y, chosen) -> float:
    """Share of the targets' variance that least squares on the chosen columns leaves."""
    A = X[:, chosen]
    E = Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]
    return float(np.vdot(E, E) / np.vdot(Y, Y))


def ours(X, Y) -> dict[str, list[float]]:
    def fitted(make):
        return [left_over(X, Y, make(k).fit(X, Y).support_) for k in KS]

    top = {"r": 2.0, "task": "regression"}
    path = selection_path(TopKSelector(KS[-1], **top), X, Y, ks=KS)
    return {
        "TopKSelector": fitted(lambda k: TopKSelector(k, **top)),
        "TopKSelector, path over k": [left_over(X, Y, s.rows) for s in path.solutions],
        "forward (n_init=0, polish=False)": fitted(
            lambda k: TopKSelector(k, n_init=0, polish=False, **top)
        ),
        "ALM, one start": fitted(
            lambda k: TopKSelector(k, n_init=1, polish=False, solver=ALM(), **top)
        ),
        "SFS": fitted(lambda k: TopKSelector(k, polish=False, solver=SFS(), **top)),
        "l2,1 path, refitted": fitted(
            lambda k: L2pSelector(p=1.0, n_features_to_select=k, task="regression")
        ),
    }


def rivals(X, Y) -> dict[str, list[float]]:
    curves: dict[str, list[float]] = {}
    if not PYTHON.exists():
        return curves
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "X.npy"), X)
        np.save(Path(folder, "Y.npy"), Y)
        for name in RIVALS:
            curves[name] = []
            for k in KS:
                command = [PYTHON, BENCHMARK / "topk" / "worker.py", name, folder, str(k), "1"]
                done = subprocess.run(command, capture_output=True, text=True, timeout=120)
                facts = json.loads(done.stdout.strip().splitlines()[-1])
                curves[name].append(left_over(X, Y, facts["chosen"]))
    return curves


def draw(curves: dict[str, list[float]], target: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    lowest = np.min(list(curves.values()), axis=0)
    colours = plt.cm.tab20(np.linspace(0, 1, 20))
    for i, (name, values) in enumerate(curves.items()):
        thick = name == "TopKSelector"
        style = {
            "color": "black" if thick else colours[i],
            "linewidth": 2.2 if thick else 1.1,
            "marker": "o" if thick else ".",
            "markersize": 4,
            "zorder": 3 if thick else 2,
        }
        left.plot(KS, values, label=name, **style)
        right.plot(KS, 100 * (np.array(values) / lowest - 1), label=name, **style)
    left.set(
        xlabel="features k",
        ylabel="share of the targets' variance left",
        title="Digits, 10 classes, squared loss",
    )
    right.set(
        xlabel="features k", ylabel="% above the lowest", title="The same, distances enlarged"
    )
    right.set_yscale("symlog", linthresh=0.1)
    right.set_ylim(bottom=-0.02)
    right.set_yticks([0, 0.1, 1, 10], ["0", "0.1", "1", "10"])
    right.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(target, metadata={"Date": None} if target.suffix == ".svg" else None)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    X, Y = digits()
    curves = ours(X, Y) | rivals(X, Y)
    mpl.rcParams["svg.hashsalt"] = "rowsparse"
    draw(curves, HERE / "topk.svg")
    draw(curves, Path(tempfile.gettempdir()) / "topk.png")
