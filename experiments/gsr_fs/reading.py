"""Table 2 read in other ways: what the paper may have tuned, scaled or seen. One split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.svm import SVC

from ..frame import Options, Task, load, standardised
from .accuracy import K, _inner, _parts, ranking

SPLIT = 0
LOSSES = (0.5, 1.0, 2.0)
LAMBDAS = (0.1, 1.0, 10.0, 100.0)  # the paper's without .001 and .01
COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)  # the paper's without .001
POWERS = {"SEMEION": (1.0, 0.75, 0.5, 0.25), "ISOLET": (1.0, 0.75)}  # more than 2 points below
FORMS = {"SEMEION": ("scaled", "as stored", "all samples select"), "ISOLET": ("scaled",)}


def plan(options: Options) -> Iterator[Task]:
    for name, forms in {} if options.quick else FORMS.items():
        for form in forms:
            settings = {"part": "reading", "data": name, "form": form}
            yield Task(settings, lambda n=name, f=form: measure(n, f))


def measure(name: str, form: str) -> dict[str, Any]:
    """Per (r, p, lambda): nonzero rows, and accuracy in percent at every C, inner and test."""
    table = load(name)
    train, test = _parts(name, SPLIT)
    y = table.y
    X = table.X
    if form != "as stored":
        scaled, scaled_test = standardised(X[train], X[test])
        X = np.empty_like(X)
        X[train], X[test] = scaled, scaled_test
    rows = []
    for p in POWERS[name]:
        for r in LOSSES:
            for lam in LAMBDAS:
                own = _scores(X, y, train, test, (r, p, lam), form == "all samples select")
                rows.append([r, p, lam, *own])
    return {"rows": rows}


def _scores(
    X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray,
    problem: tuple[float, float, float], sees_test: bool,
) -> tuple[int, list[float], list[float]]:  # fmt: skip
    """Nonzero rows; at every C the mean over inner parts, and the accuracy on the test part."""
    r, p, lam = problem
    samples = np.arange(len(X)) if sees_test else train
    order, n_rows = ranking(X[samples], y[samples], problem)
    inner = []
    for fit, held in _inner(y[train]):
        inside = train[fit]
        scaled_problem = (r, p, lam * len(fit) / len(train))
        chosen = order if sees_test else ranking(X[inside], y[inside], scaled_problem)[0]
        inner.append(_accuracies(X, y, inside, train[held], chosen[:K]))
    outer = _accuracies(X, y, train, test, order[:K])
    return n_rows, np.round(np.mean(inner, axis=0), 2).tolist(), np.round(outer, 2).tolist()


def _accuracies(
    X: np.ndarray, y: np.ndarray, fit: np.ndarray, held: np.ndarray, columns: Sequence[int]
) -> list[float]:
    """Of a linear SVM at every C."""
    A, B = X[np.ix_(fit, columns)], X[np.ix_(held, columns)]
    machines = [SVC(kernel="linear", C=cost).fit(A, y[fit]) for cost in COSTS]
    return [100 * float(machine.score(B, y[held])) for machine in machines]
