"""Cross-validation by passes over X: the folds of all paths are scored in one pass."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..designs.chunked import taken
from ..numerics.memory import CACHE_BYTES
from ..targets import Target
from .following import Walk, follow
from .grids import Combination
from .intake import Table
from .parts import Part, learn_together, refuse_nested_clusters, training_part
from .progress import finished
from .readout import FoldPath, RidgeReadout, Split, ridge_solve


@dataclass(frozen=True)
class Models:
    """Ridge on the columns of every step of a walk, fitted to the training part of a fold."""

    fold: int
    columns: np.ndarray  # that some step uses
    W: np.ndarray  # columns x steps x outputs, in the units of X
    offsets: np.ndarray  # steps x outputs

    def predict(self, block: Any, rows: np.ndarray) -> np.ndarray:
        """Of some rows of a block: rows x steps x outputs."""
        Z = np.tensordot(taken(block[rows], self.columns), self.W, axes=1)
        return np.asarray(Z + self.offsets)


def refuse_other_readouts(table: Table, readout: Any) -> None:
    """The estimator and the score must be those that a pass over blocks can compute."""
    if table.in_blocks and not isinstance(readout, RidgeReadout):
        raise ValueError(
            "Expected accuracy or R² of ridge on the selected columns for X in blocks, got another "
            "estimator or scoring; leave both out, or load X into memory."
        )


def parts_of_folds(
    table: Table, selector: Any, splits: list[Split], weight: Any
) -> list[Part] | None:
    """The training parts, and what one pass says about them; None where X is not read by passes."""
    if table.design is None:
        return None
    parts = [
        Part.of(selector, table, split.train, split.fit_params.get("sample_weight"))
        for split in splits
    ]
    learn_together(selector, table, parts, weight)
    return parts


def evaluate_by_passes(
    table: Table,
    combos: list[Combination],
    splits: list[Split],
    parts: list[Part],
    n_jobs: int | None,
    step: Callable[[], bool],
) -> list[FoldPath]:
    """Fold after fold, as ``evaluate_all`` does in memory."""
    refuse_nested_clusters(table, parts, n_jobs)
    tasks = []
    for split, part in zip(splits, parts, strict=True):
        tasks += [(combo, split, part, table) for combo in combos]
    walks, _ = finished(_walk, tasks, n_jobs, step)
    began = time.perf_counter()
    models = [
        _models(number // len(combos), table.target, task[1], task[2], walk)
        for number, (task, walk) in enumerate(zip(tasks, walks, strict=False))
        if isinstance(walk, Walk)
    ]
    scores = iter(_scored(table, splits, models))
    seconds = (time.perf_counter() - began) / max(len(models), 1)
    return [
        _fold_path(task[0], walk, scores, seconds) for task, walk in zip(tasks, walks, strict=False)
    ]


def _walk(combo: Combination, split: Split, part: Part, table: Table) -> Walk | str:
    """The path on one training part, or why there is none."""
    try:
        return follow(
            combo.selector,
            training_part(table, combo.selector, split.train, part),
            table.y[split.train],
            split.fit_params,
            alphas=combo.alphas,
            ks=combo.ks,
        )
    except (ValueError, TypeError, ArithmeticError, np.linalg.LinAlgError) as error:
        return f"{type(error).__name__}: {error}"


def _fold_path(combo: Combination, walk: Walk | str, scores: Any, seconds: float) -> FoldPath:
    n_steps = len(combo.candidates)
    if isinstance(walk, str):
        return FoldPath([float("nan")] * n_steps, [0] * n_steps, 0.0, 0.0, 0, walk)
    missing = n_steps - len(walk.steps)  # a time limit ends a path early
    found = next(scores) + [float("nan")] * missing
    sizes = [step.columns.size for step in walk.steps]
    sizes += [0] * missing
    return FoldPath(found, sizes, walk.seconds, seconds, walk.not_converged)


def _models(fold: int, target: Target, split: Split, part: Part, walk: Walk) -> Models:
    """The same model as ``RidgeReadout``'s, from products of the training part."""
    design = part.design
    Y = target.Y[split.train]
    weight = np.ones(len(Y))
    if split.train_weight is not None:
        weight = split.train_weight
    columns = _columns_of(walk)
    means = design.means(weight)
    squares = design.squares(weight, means)[columns]
    gram = design.gram(columns, columns, weight, means)
    means = means[columns]
    spread = np.sqrt(squares / weight.sum())
    # as StandardScaler: what is left of a constant column is rounding
    rounding = 10 * np.finfo(float).eps * np.abs(means)
    spread[spread <= rounding] = 1.0
    gram /= np.outer(spread, spread)
    offset = np.average(Y, axis=0, weights=weight)
    products = _products_with_outputs(part, columns, weight, Y, offset)
    products = products / spread[:, None]
    if target.kind == "multiclass":
        absent = (Y == -1).all(axis=0)
        # a class that this fold does not train on is never predicted
        offset = np.where(absent, -np.inf, offset)
    W = np.zeros((columns.size, len(walk.steps), Y.shape[1]))
    for number, step in enumerate(walk.steps):
        at = np.searchsorted(columns, step.columns)
        if at.size:
            own = gram[np.ix_(at, at)]
            W[at, number] = ridge_solve(own, products[at])
    W /= spread[:, None, None]
    offsets = offset - np.tensordot(means, W, axes=1)
    return Models(fold, columns, W, offsets)


def _columns_of(walk: Walk) -> np.ndarray:
    """That some step uses."""
    none = np.zeros(0, dtype=int)  # of a path whose time was over at once
    used = np.concatenate([none, *(step.columns for step in walk.steps)])
    return np.unique(used).astype(int)


def _products_with_outputs(
    part: Part, columns: np.ndarray, weight: np.ndarray, Y: np.ndarray, offset: np.ndarray
) -> np.ndarray:
    """Of the columns with the centred outputs, from the first pass where it was under the same
    weights, else by another."""
    design = part.design
    known = design.moments(part.weights, part.Y)
    unit = weight[0] / part.weights[0]
    # class weights of the selector are not the model's
    same = np.array_equal(part.Y, Y) and np.allclose(weight, unit * part.weights)
    if known is not None and same:
        outputs = slice(design.shape[1], None)
        return np.asarray(unit * known.products[columns, outputs])
    centred = Y - offset
    return design.rmatmul_of(columns, weight[:, None] * centred)


def _scored(table: Table, splits: list[Split], models: list[Models]) -> list[list[float]]:
    """The scores of every step of every walk, by one pass over X."""
    if not models:
        return []
    n = table.shape[0]
    weights = np.zeros((n, len(splits)))  # zero for samples outside of a fold's test part
    for fold, split in enumerate(splits):
        weights[split.test, fold] = 1.0 if split.test_weight is None else split.test_weight
    Y = table.target.Y
    sums = table.design.total(_sums_of_block, (models, table.target.kind), (weights, Y))
    scores = []
    for model, of_model in zip(models, sums, strict=True):
        weight = weights[:, model.fold]
        if table.target.kind == "numbers":
            apart = Y - np.average(Y, axis=0, weights=weight)
            found = _r2(of_model, weight @ apart**2)
        else:
            found = of_model / weight.sum()
        scores.append(found.tolist())
    return scores


def _r2(errors: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Steps x outputs to one number per step, as scikit-learn's ``r2_score``."""
    varies = total > 0
    share = np.ones_like(errors)
    np.divide(errors, total, out=share, where=varies)
    perfect = np.where(errors == 0, 1.0, 0.0)  # of an output that does not vary
    of_outputs = np.where(varies, 1.0 - share, perfect)
    return np.asarray(of_outputs.mean(axis=1))


def _sums_of_block(
    block: Any, models: list[Models], kind: str, weights: np.ndarray, Y: np.ndarray
) -> np.ndarray:
    """Per model: the weight of hits of every step, or squared errors per step and output."""
    found = np.empty(len(models), dtype=object)
    for number, model in enumerate(models):
        shape = model.offsets.shape
        total = np.zeros(shape if kind == "numbers" else shape[0])
        tested = np.flatnonzero(weights[:, model.fold])
        # of fifty steps and twenty classes, predictions for all rows would outweigh the block
        at_once = max(1, CACHE_BYTES // (8 * model.offsets.size))
        for start in range(0, tested.size, at_once):
            rows = tested[start : start + at_once]
            Z = model.predict(block, rows)
            total += _sums(Z, Y[rows], weights[rows, model.fold], kind)
        found[number] = total
    return found


def _sums(Z: np.ndarray, Y: np.ndarray, weight: np.ndarray, kind: str) -> np.ndarray:
    if kind == "numbers":
        errors = Z - Y[:, None]
        return np.tensordot(weight, errors**2, axes=1)
    truth = Y > 0
    if kind == "multiclass":
        predicted = Z.argmax(axis=2)
        hit = np.take_along_axis(truth, predicted, axis=1)
    else:
        # of several labels all must be right
        agrees = (Z > 0) == truth[:, None]
        hit = agrees.all(axis=2)
    return np.asarray(weight @ hit)
