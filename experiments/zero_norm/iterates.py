"""The talk's statements about its iteration: AROM, and norms from 0 to 2 and infinity."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from rowsparse import ZeroNormSVC

from ..frame import Options, Task, load, standardised
from . import printed
from .published import SECONDS

VANISHED = 1e-100  # weights of which nothing is left: where C is small no feature is
ROUNDS = 10  # beyond, so few features are left that rounding decides when one is called zero
COSTS = (0.1, 1.0, 10.0)  # AROM's C; the talk's is twice that
NORMS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, np.inf)
CHECKED = (0.5, 1.0, 1.5, 2.0, np.inf)
STEPS = 30
N_FOLDS = 5


def plan(options: Options) -> Iterator[Task]:
    names = ["Sonar"] if options.quick else list(SECONDS)
    for part, measure in {"equivalence": equivalence, "norms": norms, "descent": descent}.items():
        for name in names:
            yield Task({"part": part, "data": name}, lambda m=measure, n=name: m(n))


def two_classes(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Standardised columns, signs: the largest class against all others."""
    table = load(name)
    largest = np.argmax(np.bincount(table.y))
    return standardised(table.X, table.X)[0], np.where(table.y == largest, 1.0, -1.0)


def equivalence(name: str) -> dict[str, Any]:
    """How far the weights of the talk's iteration and of AROM are apart, round by round."""
    X, signs = two_classes(name)
    found = {}
    for C in COSTS:
        pairs = zip(
            islice(printed.arom_iterates(X, signs, C), ROUNDS),
            islice(printed.reweighted(X, signs, 2 * C), ROUNDS),
            strict=True,
        )
        apart, left = [], []
        for theirs, ours in pairs:
            w, v = np.abs(theirs[:-1]), np.abs(ours[:-1])
            largest = w.max() if w.max() > VANISHED else 1.0
            apart.append(float(f"{np.abs(w - v).max() / largest:.1e}"))
            left.append([int(np.sum(u > 1e-6 * largest)) for u in (w, v)])
        library = ZeroNormSVC(C=2 * C, standardize=False).fit(X, signs)
        found[f"{C:g}"] = {
            "apart": apart,
            "left": left,
            "library left": int(np.count_nonzero(library.support_)),
        }
    return found


def norms(name: str) -> dict[str, Any]:
    """Accuracy and number of features of the machine itself at every norm, 5 folds, C = 1."""
    table = load(name)
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    rows = []
    for p in NORMS:
        hits, sizes = [], []
        for train, test in splitter.split(table.X, table.y):
            machine = ZeroNormSVC(norm=p).fit(table.X[train], table.y[train])
            hits.append(round(100 * machine.score(table.X[test], table.y[test]), 3))
            sizes.append(int(np.count_nonzero(machine.support_)))
        rows.append([f"{p:g}", hits, sizes])
    return {"rows": rows}


def descent(name: str, C: float = 2.0) -> dict[str, Any]:
    """Whether the printed iteration lowers its norm's problem, and where the library ends."""
    X, signs = two_classes(name)
    rows = []
    for p in CHECKED:
        wbs = islice(printed.reweighted(X, signs, C, p), STEPS)
        values = [printed.value(X, signs, wb, C, p) for wb in wbs]
        slack = 1e-6 * values[0]
        rises = int(np.sum(np.diff(values) > slack))
        ours = ZeroNormSVC(C=C / 2 if np.isinf(p) else C, norm=p, standardize=False)
        ours.fit(X, signs)
        wb = np.append(ours.coef_[0], ours.intercept_)
        end = printed.value(X, signs, wb, C, p)
        rows.append([f"{p:g}", rises, *(float(f"{v:.7g}") for v in (values[0], values[-1], end))])
    return {"rows": rows}
