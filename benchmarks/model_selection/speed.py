"""Seconds of CPU: tuning against MultiTaskLassoCV, tall tables with and without one pass for all
folds, half-samples, the overhead of compare.

python benchmarks/model_selection/speed.py [tune grid tall stability compare]      (default: all)
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import MultiTaskLassoCV
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from rowsparse import L2pSelector, ScoreSelector, TopKSelector, ZeroNormSVC
from rowsparse.model_selection import SelectorCV, StabilitySelector, compare, tuning
from rowsparse.model_selection import stability as stability_module
from rowsparse.model_selection.following import follow
from rowsparse.solvers import BlockDescent
from rowsparse.targets import as_target

DATA = Path(os.environ.get("ROWSPARSE_DATA", "../shared/data"))


def allaml() -> tuple[np.ndarray, np.ndarray]:
    with np.load(DATA / "ALLAML.npz") as archive:
        return np.asarray(archive["X"], dtype=float), archive["y"]


def timed(call: Callable[[], Any], rounds: int = 2) -> tuple[float, Any]:
    best = np.inf
    for _ in range(rounds):
        began = time.process_time()
        result = call()
        best = min(best, time.process_time() - began)
    return best, result


def lasso_gap(X: np.ndarray, Y: np.ndarray, W: np.ndarray, alpha: float) -> float:
    """Of a row-sparse W without intercept on centred data, as a share of the objective."""
    n = len(X)
    R = Y - X @ W
    primal = 0.5 * np.sum(R**2) / n + alpha * np.linalg.norm(W, axis=1).sum()
    scale = min(1.0, alpha * n / np.linalg.norm(X.T @ R, axis=1).max())
    dual = (np.sum(Y**2) - np.sum((Y - scale * R) ** 2)) / (2 * n)
    return float((primal - dual) / primal)


def tune() -> None:
    print("| data | MultiTaskLassoCV | SelectorCV | ratio | steps apart | gap, theirs | ours |")
    print("|---|---|---|---|---|---|---|")
    for name, (X, y) in {"ALLAML": allaml(), "digits": load_digits(return_X_y=True)}.items():
        X = X[:, X.std(axis=0) > 0]
        Z = np.asfortranarray(StandardScaler().fit_transform(X))
        Y = as_target(y, "auto").Y
        cv = list(StratifiedKFold(5).split(Z, y))
        problem = L2pSelector(p=1).problem_and_solver(Z, y)[0]
        alphas = np.geomspace(problem.alpha_max(), problem.alpha_max() / 100, 50)
        rival = MultiTaskLassoCV(alphas=alphas, cv=cv, tol=1e-4, max_iter=10_000)
        theirs, fitted = timed(lambda m=rival, a=Z, b=Y: m.fit(a, b))
        B, C = Z - Z.mean(axis=0), Y - Y.mean(axis=0)
        gap = lasso_gap(B, C, fitted.coef_.T, fitted.alpha_)
        for tol in (1e-3, 1e-4, 1e-6):
            solver = BlockDescent(tol=tol)
            selector = L2pSelector(p=1, standardize=False, solver=solver)
            search = SelectorCV(selector, grid={"alpha": alphas}, scoring="loss", cv=cv)
            ours, found = timed(lambda s=search, a=Z, b=y: s.fit(a, b))
            chosen = found.best_params_["alpha"]
            apart = abs(np.log(chosen / fitted.alpha_)) / np.log(alphas[0] / alphas[1])
            W = L2pSelector(p=1, standardize=False, solver=solver, alpha=fitted.alpha_).fit(Z, y)
            mine = lasso_gap(B, C, W.coef_.T, fitted.alpha_)
            print(
                f"| {name}, our tol {tol:g} | {theirs:.2f} | {ours:.2f} | {ours / theirs:.2f} | "
                f"{apart:.0f} | {gap:.1e} | {mine:.1e} |",
                flush=True,
            )


def grid() -> None:
    X, y = allaml()
    wanted = {"alpha": 6, "r": [0.5, 1, 2], "p": [0.25, 0.5, 0.75, 1]}
    search = SelectorCV(L2pSelector(), grid=wanted)
    seconds, found = timed(lambda: search.fit(X, y), 1)
    print(f"6 alphas × 3 r × 4 p × 5 folds on ALLAML: {seconds:.1f} s, {found.best_params_}")


def each_by_itself(table: Any, *_: Any) -> Any:
    """In place of ``by_passes``: every fold and half forms its own products of columns."""
    return table


def tall() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 200))
    W = np.zeros((200, 3))
    W[:10] = 0.1 * rng.standard_normal((10, 3))
    Y = X @ W + rng.standard_normal((20_000, 3))
    forward = TopKSelector(10, n_init=0, polish=False)
    combinations = {"alpha": 6, "p": [0.25, 0.5, 0.75, 1], "ridge": [0, 0.01, 0.1]}
    halves = {"random_state": 0, "n_pairs": 20}
    print("| 20,000 × 200 | each by itself | one pass | ratio | difference |")
    print("|---|---|---|---|---|")
    for estimator in (
        SelectorCV(L2pSelector(p=1)),
        SelectorCV(L2pSelector()),
        SelectorCV(L2pSelector(), grid=combinations),
        SelectorCV(TopKSelector(), ks=[1, 2, 5, 10, 20]),
        SelectorCV(forward, ks=[1, 2, 5, 10, 20]),
        StabilitySelector(forward, **halves),
        StabilitySelector(TopKSelector(10), **halves),
        StabilitySelector(L2pSelector(10, p=1), **halves),
    ):
        clone(estimator).fit(X[:1000], Y[:1000])  # what is compiled is not measured
        with (
            mock.patch.multiple(tuning, by_passes=each_by_itself),
            mock.patch.multiple(stability_module, by_passes=each_by_itself),
        ):
            clone(estimator).fit(X[:1000], Y[:1000])
            alone, expected = timed(lambda e=estimator: clone(e).fit(X, Y), 1)
        together, found = timed(lambda e=estimator: clone(e).fit(X, Y), 1)
        apart = np.abs(_answers(found) - _answers(expected)).max()
        title = " ".join(repr(estimator).split())
        print(
            f"| {title} | {alone:.2f} | {together:.2f} | {together / alone:.2f} | {apart:.0e} |",
            flush=True,
        )


def _answers(fitted: Any) -> np.ndarray:
    if isinstance(fitted, SelectorCV):
        return np.asarray(fitted.cv_results_["mean_test_score"])
    return np.asarray(fitted.selection_probabilities_)


def stability() -> None:
    X, y = allaml()
    print("| selector, 100 half-samples of ALLAML, k = 20 | seconds | stable at .75 |")
    print("|---|---|---|")
    for name, selector in {
        "TopKSelector(20, n_init=0, polish=False)": TopKSelector(20, n_init=0, polish=False),
        "TopKSelector(20)": TopKSelector(20),
        "L2pSelector(20, p=1)": L2pSelector(20, p=1),
        "ScoreSelector('f', 20)": ScoreSelector("f", 20),
    }.items():
        chosen = StabilitySelector(selector, random_state=0)
        seconds, found = timed(lambda s=chosen: s.fit(X, y), 1)
        print(f"| {name} | {seconds:.2f} | {found.support_.sum()} |", flush=True)


def overhead() -> None:
    X, y = allaml()
    ks = [5, 10, 20, 50]
    methods = {
        "top-k": TopKSelector(n_init=0, polish=False),
        "l2,1": L2pSelector(p=1),
        "zero norm": ZeroNormSVC(),
        "F": ScoreSelector("f"),
        "mRMR": ScoreSelector("mrmr"),
        "ReliefF": ScoreSelector("relieff"),
    }

    def paths() -> None:
        for train, _ in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            for selector in methods.values():
                follow(selector, X[train], y[train], {}, ks=ks)

    paths()
    alone = timed(paths)[0]
    whole = timed(lambda: compare(methods, X, y, ks=ks))[0]
    print(f"6 methods × 4 k × 5 folds on ALLAML: paths {alone:.2f} s, compare {whole:.2f} s, "
          f"ratio {whole / alone:.2f}")  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parts = {
        "tune": tune,
        "grid": grid,
        "tall": tall,
        "stability": stability,
        "compare": overhead,
    }
    for part in sys.argv[1:] or parts:
        parts[part]()
        print()
