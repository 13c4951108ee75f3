"""Cross-validation of paths: every combination on every fold, one path each."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from ..warn import warn_user
from .following import follow
from .grids import Combination
from .intake import Metadata, Table
from .parts import Part, training_part
from .progress import finished
from .readout import FoldPath, LossReadout, Readout, RidgeReadout, Split
from .rules import below
from .search_blocks import evaluate_by_passes


def splits_of(cv: Any, table: Table, metadata: Metadata) -> list[Split]:
    """The folds: stratified for class labels, samples of weight zero left out."""
    splitter = check_cv(cv, table.y, classifier=table.target.classes is not None)
    n = table.shape[0]
    pairs = list(splitter.split(np.zeros((n, 1)), table.y, metadata.groups))
    if table.in_blocks:  # masks know no order
        pairs = [(np.sort(train), np.sort(test)) for train, test in pairs]
    if not pairs:
        raise ValueError(f"Expected cv to give at least one split, got none from {cv!r}.")
    return [_split(metadata, np.asarray(train), np.asarray(test)) for train, test in pairs]


def _split(metadata: Metadata, train: np.ndarray, test: np.ndarray) -> Split:
    # a sample of weight zero is not there: it must not make a fold look large enough
    for weight in (metadata.selector, metadata.model):
        if weight is not None:
            train = train[weight[train] > 0]
    if metadata.score is not None:
        test = test[metadata.score[test] > 0]
    if not train.size or not test.size:
        raise ValueError("Expected samples in both parts of every fold, got none in one of them.")
    given = {} if metadata.selector is None else {"sample_weight": metadata.selector[train]}
    model = None if metadata.model is None else metadata.model[train]
    score = None if metadata.score is None else metadata.score[test]
    return Split(train, test, given, model, score)


def evaluate(
    table: Table, readout: Readout, combination: Combination, split: Split, part: Part | None
) -> FoldPath:
    """Follow one path on one fold and score every step. A fit that fails has no scores."""
    n_steps = len(combination.candidates)
    y = table.y[split.train]
    try:
        table = table.filled(split.train)
        walk = follow(
            combination.selector,
            training_part(table, combination.selector, split.train, part),
            y,
            split.fit_params,
            alphas=combination.alphas,
            ks=combination.ks,
        )
        began = time.perf_counter()
        # the loss is the candidate's own: a grid may hold several r
        if isinstance(readout, LossReadout):
            readout = LossReadout(combination.selector)
        scores = readout.scores(table.X, table.y, table.target, split, walk.steps)
    # what data and settings cause; an error of ours is not made a missing score
    except (ValueError, TypeError, ArithmeticError, np.linalg.LinAlgError) as error:
        nothing = [float("nan")] * n_steps
        return FoldPath(nothing, [0] * n_steps, 0.0, 0.0, 0, f"{type(error).__name__}: {error}")
    missing = n_steps - len(scores)  # a time limit ends a path early
    sizes = [step.size for step in walk.steps] + [0] * missing
    return FoldPath(
        scores + [float("nan")] * missing,
        sizes,
        walk.seconds,
        time.perf_counter() - began,
        walk.not_converged,
    )


@dataclass(frozen=True)
class Evaluation:
    """All candidates on all folds that were finished."""

    params: list[dict[str, Any]]
    scores: np.ndarray  # candidates x folds; NaN where a fit failed or was not reached
    sizes: np.ndarray
    fit_seconds: np.ndarray
    score_seconds: np.ndarray
    not_converged: int
    failures: tuple[str, ...]
    n_paths: int
    n_finished: int

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C or a callback ended it early."""
        return self.n_finished < self.n_paths


def evaluate_all(
    table: Table,
    readout: Readout,
    combos: list[Combination],
    splits: list[Split],
    n_jobs: int | None,
    step: Callable[[], bool],
    parts: list[Part] | None = None,
) -> Evaluation:
    """Fold after fold, so that what is finished when it is interrupted can be compared. ``parts``
    are the training parts where X is read by passes."""
    tasks = [
        (table, readout, combo, split, None if parts is None else parts[fold])
        for fold, split in enumerate(splits)
        for combo in combos
    ]
    if parts is not None and isinstance(readout, RidgeReadout):
        found = evaluate_by_passes(table, combos, splits, parts, n_jobs, step)
    else:
        found, _ = finished(evaluate, tasks, n_jobs, step)
    if not found:
        raise KeyboardInterrupt
    counts = [len(combo.candidates) for combo in combos]
    starts = np.concatenate([[0], np.cumsum(counts)])
    shape = (int(starts[-1]), len(splits))
    scores, fits, times = (np.full(shape, np.nan) for _ in range(3))
    sizes = np.zeros(shape, dtype=int)
    for i, path in enumerate(found):
        fold, which = divmod(i, len(combos))
        rows = slice(starts[which], starts[which + 1])
        scores[rows, fold] = path.scores
        sizes[rows, fold] = path.sizes
        # one path serves all its candidates: each is charged its share
        fits[rows, fold] = path.fit_seconds / counts[which]
        times[rows, fold] = path.score_seconds / counts[which]
    return Evaluation(
        params=[candidate for combo in combos for candidate in combo.candidates],
        scores=scores,
        sizes=sizes,
        fit_seconds=fits,
        score_seconds=times,
        not_converged=sum(path.not_converged for path in found),
        failures=tuple(sorted({path.failure for path in found if path.failure})),
        n_paths=len(tasks),
        n_finished=len(found),
    )


def say_what_went_wrong(evaluation: Evaluation) -> None:
    """One warning each for an interruption, for failures, and for fits that did not converge."""
    if np.isnan(evaluation.scores).all():
        raise ValueError(
            f"Expected some fit of the cross-validation to succeed, got none; the first said: "
            f"{(evaluation.failures or ('the score is NaN',))[0]}"
        )
    said = []
    if evaluation.interrupted:
        said.append(
            f"Interrupted: {evaluation.n_finished} of {evaluation.n_paths} paths are finished, and "
            "the choice rests on these."
        )
    if evaluation.failures:
        said.append(
            f"{np.isnan(evaluation.scores).any(axis=1).sum()} of {len(evaluation.params)} "
            f"candidates have folds without a score; the first failure: {evaluation.failures[0]}"
        )
    if evaluation.not_converged:
        said.append(
            f"{evaluation.not_converged} fits inside the folds did not converge; raise the "
            "solver's max_iter, or its tol if this accuracy is enough."
        )
    for sentence in said:
        warn_user(sentence)


def results_table(evaluation: Evaluation) -> dict[str, Any]:
    """``cv_results_`` as scikit-learn's searches write it, with the numbers of features."""
    names = sorted({name for params in evaluation.params for name in params})
    table: dict[str, Any] = {}
    for key, seconds in (("fit", evaluation.fit_seconds), ("score", evaluation.score_seconds)):
        table[f"mean_{key}_time"] = _mean(seconds)
        table[f"std_{key}_time"] = _mean((seconds - _mean(seconds)[:, None]) ** 2) ** 0.5
    for name in names:
        # masked where a candidate of another grid has no such parameter
        column = np.ma.MaskedArray(np.empty(len(evaluation.params), dtype=object), mask=True)
        for i, params in enumerate(evaluation.params):
            if name in params:
                column[i] = params[name]
        table[f"param_{name}"] = column
    table["params"] = evaluation.params
    for fold in range(evaluation.scores.shape[1]):
        table[f"split{fold}_test_score"] = evaluation.scores[:, fold]
    means = _fair_means(evaluation.scores)
    table["mean_test_score"] = means
    table["std_test_score"] = _mean((evaluation.scores - means[:, None]) ** 2) ** 0.5
    # a candidate without a mean is behind all others
    known = np.where(np.isfinite(means), means, -np.inf)
    table["rank_test_score"] = 1 + np.array([np.sum(below(mean, known)) for mean in known])
    for fold in range(evaluation.sizes.shape[1]):
        table[f"split{fold}_n_features"] = evaluation.sizes[:, fold]
    sizes = np.where(np.isfinite(evaluation.scores), evaluation.sizes, np.nan)
    table["mean_n_features"] = _mean(sizes)
    return table


def _mean(values: np.ndarray) -> np.ndarray:
    """Over the folds that are known; NaN where none is."""
    known = np.isfinite(values)
    total = np.where(known, values, 0.0).sum(axis=1)
    counts = known.sum(axis=1)
    return np.divide(total, counts, out=np.full(len(values), np.nan), where=counts > 0)


def _fair_means(scores: np.ndarray) -> np.ndarray:
    """Candidates with fewer folds than others have no mean: they cannot be compared."""
    known = np.isfinite(scores).sum(axis=1)
    return np.where(known == known.max(), _mean(scores), np.nan)
