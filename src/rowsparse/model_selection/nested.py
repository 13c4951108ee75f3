"""An outer cross-validation around a search."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ..warn import warn_user
from .following import Step, n_selected
from .intake import Metadata, Table
from .intervals import corrected_interval, score_limits
from .progress import finished
from .readout import Split, readout_for
from .search import splits_of
from .tuning_result import NestedScore


def nested_score(
    search: Any, X: Any, y: Any, cv: Any, sample_weight: Any, groups: Any
) -> NestedScore:
    """Search, select and refit on every outer training part, score on the test part."""
    # scoring a search does not fit it: what a check leaves behind is the copy's
    owner = clone(search)
    if isinstance(search.scoring, str) and search.scoring == "loss":
        raise ValueError(
            "Expected a score of predictions for nested_score, got scoring='loss'; set "
            "scoring=None for the search."
        )
    table = Table.of(owner, search.selector, X, y, search.imputer)
    metadata = Metadata.of(owner, table.shape[0], sample_weight, groups)
    splits = splits_of(search.cv if cv is None else cv, table, metadata)
    inner = _inner(search)
    tasks = [(table, inner, metadata, split) for split in splits]
    # a callback of a search counts its own paths, not outer folds
    found, interrupted = finished(_outer_fold, tasks, search.n_jobs, lambda: False)
    if not found:
        raise KeyboardInterrupt
    if interrupted and len(found) < len(tasks):
        warn_user(
            f"Interrupted: {len(found)} of {len(tasks)} outer folds are finished, and the score "
            "rests on these.",
        )
    scores = np.array([fold.score for fold in found])
    share = float(np.mean([split.test.size / split.train.size for split in splits]))
    return NestedScore(
        scores,
        np.array([fold.size for fold in found]),
        tuple(fold.params for fold in found),
        tuple(fold.support for fold in found),
        corrected_interval(scores, share, limits=_limits(search.scoring, table))[0],
    )


def _limits(scoring: Any, table: Table) -> tuple[float, float]:
    usual = "r2" if table.target.kind == "numbers" else "accuracy"
    return score_limits(usual if scoring is None else str(scoring))


def _inner(search: Any) -> Any:
    """The search inside the outer folds, which are the ones that run at the same time."""
    if np.iterable(search.cv):
        raise ValueError(
            "Expected cv as a number or a splitter for nested_score, got a list of splits, which "
            "means nothing inside other folds; set cv=5, say."
        )
    return clone(search).set_params(n_jobs=None)


class _Fold(NamedTuple):
    """What the search finds on one outer fold."""

    score: float
    support: np.ndarray
    params: dict[str, Any]
    size: int  # number of features


def _outer_fold(table: Table, search: Any, metadata: Metadata, split: Split) -> _Fold:
    selector = table.resolved(search.selector)
    inner = clone(search).set_params(selector=selector)
    groups = None if metadata.groups is None else np.asarray(metadata.groups)[split.train]
    weights = split.fit_params
    fitted = inner.fit(table.rows(split.train), table.y[split.train], **weights, groups=groups)
    support = np.flatnonzero(fitted.support_)
    readout = readout_for(search.estimator, search.scoring, table.target)
    # after the search, which fills the gaps of its own inner folds
    table = table.filled(split.train)
    score = readout.scores(table.X, table.y, table.target, split, [Step(support)])[0]
    return _Fold(score, support, fitted.best_params_, n_selected(fitted.best_selector_))
