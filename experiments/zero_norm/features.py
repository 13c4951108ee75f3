"""Accuracy of a linear SVM on the chosen features, against their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.svm import SVC

from rowsparse import ZeroNormSVC
from rowsparse.filters import arom, fsv

from ..frame import Options, Task, load, standardised

Choices = dict[int, np.ndarray]

KS = {
    "colon_alon": (2, 5, 10, 20, 50, 100),
    "lymphoma_62": (2, 5, 10, 20, 50, 100),
    "Sonar": (2, 5, 10, 20, 30, 40),
    "BCW_original": (1, 2, 3, 4, 6, 8),
}
SAMPLES = {"colon_alon": 62, "lymphoma_62": 62, "Sonar": 208, "BCW_original": 683}
REPEATS = {"lymphoma_62": 5}  # of 5 folds; FSV takes a minute per fold there
MANY_REPEATS = 20  # for the others: with five, methods trade places from seed to seed
N_FOLDS = 5
TEST_SHARE = 1 / (N_FOLDS - 1)
ZERO_NORM_CS = (0.3, 1.0, 3.0, 10.0)
AROM_CS = (1.0, 10.0, 100.0)
LAMS = (0.3, 0.1, 0.05, 0.02, 0.01, 0.003)  # of FSV, from few features to many


def plan(options: Options) -> Iterator[Task]:
    """Repeat after repeat; then the first once more, for its cells are old (see the page)."""
    for name in ["Sonar"] if options.quick else KS:
        own = REPEATS.get(name, MANY_REPEATS)
        for repeat in range(options.splits or (1 if options.quick else own)):
            for method in METHODS:
                settings = {"part": "features", "data": name, "method": method, "block": repeat}
                yield Task(settings, lambda n=name, m=method, r=repeat: measure(n, m, r))
        for method in () if options.quick else METHODS:
            settings = {"part": "again", "data": name, "method": method, "block": 0}
            yield Task(settings, lambda n=name, m=method: measure(n, m, 0))


def measure(name: str, method: str, repeat: int) -> dict[str, Any]:
    """Five folds of one method: scaling, selection and the SVM (C = 1) inside."""
    table = load(name)
    ks = KS[name]
    splitter = RepeatedStratifiedKFold(n_splits=N_FOLDS, n_repeats=repeat + 1, random_state=0)
    scores, sizes = [], []
    for train, test in list(splitter.split(table.X, table.y))[-N_FOLDS:]:
        A, B = standardised(table.X[train], table.X[test])
        S = np.empty((len(table.X), A.shape[1]))
        S[train], S[test] = A, B
        chosen = METHODS[method](A, table.y[train], ks)
        scores.append([100 * accuracy(S, table.y, train, test, chosen[k]) for k in ks])
        sizes.append([chosen[k].size for k in ks])
    mean = np.mean(sizes, axis=0).tolist()
    return {"scores": {"SVM": np.round(scores, 3).tolist()}, "sizes": mean}


def accuracy(X, y, train, test, chosen: np.ndarray) -> float:
    """Of a linear SVM on the chosen features; NaN if there are none."""
    if not chosen.size:
        return np.nan
    machine = SVC(kernel="linear", C=1.0).fit(X[np.ix_(train, chosen)], y[train])
    return float(machine.score(X[np.ix_(test, chosen)], y[test]))


def svm_choices(X: np.ndarray, y: np.ndarray, ks: Sequence[int]) -> Choices:
    machine = SVC(kernel="linear", C=1.0).fit(X, y)
    weights = np.sqrt((np.asarray(machine.coef_) ** 2).sum(axis=0))
    order = np.argsort(-weights, kind="stable")
    return {k: order[:k] for k in ks}


def arom_choices(X: np.ndarray, y: np.ndarray, ks: Sequence[int], C: float) -> Choices:
    _, scores = arom(X, y, min(ks), C=C)
    order = np.argsort(-scores, kind="stable")
    return {k: order[:k] for k in ks}


def zero_norm_choices(X: np.ndarray, y: np.ndarray, ks: Sequence[int], C: float) -> Choices:
    fits = {k: ZeroNormSVC(k, C=C).fit(X, y) for k in ks}
    return {k: np.flatnonzero(fit.support_) for k, fit in fits.items()}


def choices_by_cv(choices: Callable, Cs: Sequence[float], X, y, ks) -> Choices:
    """For every k the features at the C whose choice did best in 5 folds of the training data."""
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    hits = np.zeros((len(Cs), len(ks)))
    for row, C in zip(hits, Cs, strict=True):
        for train, test in folds:
            chosen = choices(X[train], y[train], ks, C)
            row += [accuracy(X, y, train, test, chosen[k]) for k in ks]
    best = [Cs[i] for i in hits.argmax(axis=0)]
    return {k: choices(X, y, [k], C)[k] for k, C in zip(ks, best, strict=True)}


def fsv_choices(X: np.ndarray, y: np.ndarray, ks: Sequence[int]) -> Choices:
    """The k largest coefficients at the largest lam that leaves k; fewer if no lam does."""
    chosen: Choices = {}
    wanted = list(ks)
    for lam in LAMS:
        scores = fsv(X, y, lam=lam)
        order = np.argsort(-scores, kind="stable")[: np.count_nonzero(scores)]
        for k in [k for k in wanted if k <= order.size or lam == LAMS[-1]]:
            chosen[k] = order[:k]
            wanted.remove(k)
        if not wanted:
            break
    return chosen


METHODS: dict[str, Callable[..., Choices]] = {
    "SVM ranking": svm_choices,
    "AROM C=1": partial(arom_choices, C=1.0),
    "AROM C=100": partial(arom_choices, C=100.0),
    "AROM, C by CV": partial(choices_by_cv, arom_choices, AROM_CS),
    "FSV": fsv_choices,
    "zero norm C=1": partial(zero_norm_choices, C=1.0),
    "zero norm C=10": partial(zero_norm_choices, C=10.0),
    "zero norm, C by CV": partial(choices_by_cv, zero_norm_choices, ZERO_NORM_CS),
}
