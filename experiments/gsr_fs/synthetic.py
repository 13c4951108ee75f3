"""Section 5.1: three losses on synthetic data with outliers (Figure 2)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from rowsparse import L2pSelector
from rowsparse.solvers import IRLS

from ..frame import Options, Task

LOSSES = (0.5, 1.0, 2.0)
OUTLIERS = (0.0, 0.01, 0.1)
N, D1, D2, C = 2000, 100, 700, 5  # the paper's
K = 200
LAM = 1.0  # that of its section 5.3; this section names none
N_FOLDS = 10
PER_FOLD = len(LOSSES) * len(OUTLIERS)  # tasks


def plan(options: Options) -> Iterator[Task]:
    """Fold after fold, all losses and rates of outliers in each."""
    n_folds = 1 if options.quick else min(options.splits or N_FOLDS, N_FOLDS)
    for fold in range(n_folds):
        for outliers in OUTLIERS:
            for r in LOSSES:
                settings = {"part": "synthetic", "outliers": outliers, "r": r, "fold": fold}
                yield Task(settings, lambda o=outliers, r=r, f=fold: measure(o, r, f))


@lru_cache(maxsize=3)
def data(outliers: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, the labels as given, the labels before outliers had their sign reversed.

    N(0, v) is read as variance v.
    """
    rng = np.random.default_rng(seed)
    X1, X2 = rng.standard_normal((2, N, D1))
    X3 = (X1 + X2) / 2 + rng.normal(0, np.sqrt(0.1), (N, D1))
    X4 = rng.uniform(-1, 1, (N, D2))
    X = np.hstack([X1, X2, X3, X4])
    W = np.zeros((X.shape[1], C))
    W[: 2 * D1] = rng.uniform(0, 1, (2 * D1, C))
    clean = X @ W + rng.normal(0, np.sqrt(0.5), (N, C))
    given = clean.copy()
    reversed_rows = rng.permutation(N)[: round(outliers * N)]
    given[reversed_rows] *= -1
    return X, given, clean


def measure(outliers: float, r: float, fold: int) -> dict[str, Any]:
    """RMSE on one fold of a refit, under the same loss, on the top K features."""
    X, given, clean = data(outliers)
    splitter = KFold(N_FOLDS, shuffle=True, random_state=0)
    train, test = list(splitter.split(X))[fold]
    whole = _fit(X[train], given[train], r, LAM)
    top = np.sort(np.argsort(whole.ranking_)[:K])
    refit = _fit(X[np.ix_(train, top)], given[train], r, 0.0)
    Z = X[np.ix_(test, top)] @ np.atleast_2d(refit.coef_).T + refit.intercept_
    same_sign = np.isclose(given[test], clean[test]).all(axis=1)
    return {
        "rmse given": _rmse(Z - given[test]),  # the labels of the test part have outliers, too
        "rmse without outliers": _rmse((Z - given[test])[same_sign]),
        "informative": int(np.count_nonzero(top < 2 * D1)),
    }


def _fit(X: np.ndarray, Y: np.ndarray, r: float, lam: float) -> L2pSelector:
    solver = IRLS(tol=1e-4, max_iter=50)
    selector = L2pSelector.gsr(
        alpha=lam / (r * len(X)), r=r, p=1.0, standardize=False, init="zero", solver=solver
    )
    return selector.fit(X, Y)


def _rmse(E: np.ndarray) -> float:
    return round(float(np.sqrt(np.mean(E**2))), 5)
