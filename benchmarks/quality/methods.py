"""Who takes part. A variant of ours is one line in OURS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from . import rivals
from .data import CLASSES, LABELS, NUMBERS

ALL = (CLASSES, LABELS, NUMBERS)
DEFAULT = "TopK"  # whose differences to every rival are on the page


@dataclass(frozen=True)
class Method:
    select: Callable[..., Iterator[tuple[int, np.ndarray]]]  # (X, y, task, ks) -> (k, columns)
    tasks: tuple[str, ...] = ALL
    shared: bool = True  # one run serves all k; otherwise it is called for every k alone
    ours: bool = False


def _each(make, tasks=ALL):
    """Ours, fitted for every k anew. `make(k, task)` returns a selector of rowsparse."""

    def select(X, y, task, ks):
        for k in ks:
            yield k, np.flatnonzero(make(k, task).fit(X, y).get_support())

    return Method(select, tasks, shared=False, ours=True)


def _ranked(make, tasks=ALL):
    """Ours, where the best k are a prefix of the best 50: one fit for all k."""

    def select(X, y, task, ks):
        order = np.argsort(make(max(ks), task).fit(X, y).ranking_, kind="stable")
        for k in ks:
            yield k, order[:k]

    return Method(select, tasks, ours=True)


def _of(name):
    """The class by name, imported when it is used: rivals run without rowsparse."""

    def build(*arguments, **params):
        import rowsparse

        return getattr(rowsparse, name)(*arguments, **params)

    return build


L2p, LpInf, TopK = _of("L2pSelector"), _of("LpInfSelector"), _of("TopKSelector")
ZeroNorm, Score = _of("ZeroNormSVC"), _of("ScoreSelector")

OURS = {
    "TopK": _each(lambda k, task: TopK(k)),
    "L2p": _each(lambda k, task: L2p(k)),
    "TopK ridge=0": _each(lambda k, task: TopK(k, ridge=0.0)),
    "L2p ridge=0": _each(lambda k, task: L2p(k, ridge=0.0)),
    "L2p p=1": _each(lambda k, task: L2p(k, p=1.0)),
    "MTFS": _each(lambda k, task: L2p(k, p=1.0, ridge=0.0)),
    "L2p r=1": _each(lambda k, task: L2p(k, r=1.0)),
    "TopK r=1": _each(lambda k, task: TopK(k, r=1.0)),
    "LpInf": _each(lambda k, task: LpInf(k)),
    "ZeroNormSVC": _each(lambda k, task: ZeroNorm(k), tasks=(CLASSES,)),
    "relieff": _ranked(lambda k, task: Score("relieff", k)),
    "mrmr": _ranked(lambda k, task: Score("mrmr", k)),
    "fisher": _ranked(lambda k, task: Score("fisher", k), tasks=(CLASSES, LABELS)),
}
#: Cheap ones first: this is the order in which they run.
RIVALS = {
    "SelectKBest": Method(rivals.select_k_best),
    "fastcan": Method(rivals.fastcan),
    "forest": Method(rivals.forest),
    "MultiTaskLasso": Method(rivals.multitask_lasso),
    "RFE": Method(rivals.rfe),
    "mrmr-selection": Method(rivals.mrmr),
    "logistic lasso": Method(rivals.logistic_lasso, tasks=(CLASSES, LABELS)),
}
METHODS = RIVALS | OURS
