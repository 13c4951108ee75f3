"""How many, how sure, compared with what: results of ``model_selection``, read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model_selection import Comparison, NestedScore, Stability, StabilitySelector, Tuning
from .facts import Curve, CurveFacts, Point, StabilityFacts
from .words import count, listed, number, visible

K, ALPHA = "n_features_to_select", "alpha"
MOST_CURVES = 7  # as many dashes and markers are told apart
MOST_STABLE = 200  # columns that are listed; all others were chosen more rarely
MOST_GROUPS = 5
MOST_SENTENCES = 8


def tuning_facts(tuning: Tuning, score: str) -> CurveFacts:
    """One curve per combination of the other parameters, the chosen one first."""
    axis = K if all(K in params for params in tuning.params) else ALPHA
    combos = _combinations(tuning, axis)
    best = np.nan_to_num(tuning.means, nan=-np.inf)  # where every fold failed

    def chosen_then_best(name: str) -> tuple[bool, float]:
        members = combos[name]
        return tuning.best_index not in members, -best[members].max()

    order = sorted(combos, key=chosen_then_best)
    curves = []
    for name in order[:MOST_CURVES]:
        shown = name if len(combos) > 1 else "mean"
        curves.append(Curve(shown, _tuning_points(tuning, combos[name], axis)))
    sentences = _tuning_sentences(tuning, score)
    hidden = len(order) - MOST_CURVES
    if hidden > 0:
        sentences.append(f"{hidden} weaker combinations are not drawn.")
    chosen = tuning.best_params.get(axis)
    return CurveFacts(
        kind="tuning",
        axis="k" if axis == K else "alpha",
        score=score,
        curves=tuple(curve for curve in curves if curve.points),  # folds may have failed
        chosen=None if chosen is None else float(chosen),
        sentences=tuple(sentences),
    )


def _combinations(tuning: Tuning, axis: str) -> dict[str, list[int]]:
    """The candidates that differ along the axis alone, under a name for all that they share."""
    combos: dict[str, list[int]] = {}
    for i, params in enumerate(tuning.params):
        if params.get(axis) is None:  # it has no place on the axis
            continue
        others = {name: value for name, value in params.items() if name not in (K, ALPHA)}
        shared = ", ".join(f"{name} = {_short(value)}" for name, value in others.items())
        combos.setdefault(shared, []).append(i)
    return combos


def _tuning_points(tuning: Tuning, members: Sequence[int], axis: str) -> tuple[Point, ...]:
    points = []
    for i in sorted(members, key=lambda i: tuning.params[i][axis]):
        mean = float(tuning.means[i])
        if not np.isfinite(mean):
            continue
        error = float(np.nan_to_num(tuning.errors[i]))  # of a single fold there is none
        points.append(
            Point(
                k=float(tuning.params[i][axis]),
                mean=mean,
                low=mean - error,
                high=mean + error,
                n_features=float(tuning.sizes[i]),
                seconds=float(tuning.seconds[i]),
            )
        )
    # paths are read from strong to weak penalties
    return tuple(points if axis == K else points[::-1])


def chosen_words(tuning: Tuning) -> str:
    """The parameters that were chosen."""
    varied = []
    for name in tuning.best_params:
        # by their text: values need not be hashable
        tried = {repr(params.get(name)) for params in tuning.params}
        if len(tried) > 1:
            varied.append(name)
    known = {name: tuning.best_params[name] for name in varied or tuning.best_params}
    shown = []
    for name, value in known.items():
        if name == K and value is not None:
            shown.append(count(int(value), "column"))
        elif value is not None:
            shown.append(f"{name}\N{NO-BREAK SPACE}= {_short(value)}")
    return ", ".join(shown)


def _short(value: Any) -> str:
    if isinstance(value, float | int | np.number) and not isinstance(value, bool):
        return number(float(value))
    return visible(value)


def _tuning_sentences(tuning: Tuning, score: str) -> list[str]:
    i = tuning.best_index
    folds = tuning.scores.shape[1]
    return [
        f"The rule “{tuning.rule}” took {chosen_words(tuning)} among "
        f"{count(len(tuning.params), 'candidate')}: mean {score} {number(tuning.means[i])} ± "
        f"{number(tuning.errors[i], 2)} (standard error over {count(folds, 'fold')}), "
        f"{number(tuning.sizes[i])} features on average.",
        "Selection and scaling were done inside the folds. The score of the candidate that "
        "looked best is still somewhat too good: nested_score says what to expect.",
    ]


def nested_words(nested: NestedScore) -> tuple[str, str]:
    """A key figure: the score of the whole procedure and what it is."""
    low = number(nested.interval.low)
    high = number(nested.interval.high)
    return number(nested.mean), f"nested score, interval {low} to {high}"


def comparison_facts(found: Comparison, k: int) -> CurveFacts:
    """One curve per method and estimator, those that are best at k first."""
    lines: dict[str, list[Point]] = {}
    for line in found.summary():
        if not np.isfinite(line["score"]):
            continue
        several = len(found.estimators) > 1
        name = f"{line['method']} + {line['estimator']}" if several else line["method"]
        low, high = line["low"], line["high"]
        known = np.isfinite(low) and np.isfinite(high)
        lines.setdefault(name, []).append(
            Point(
                k=float(line["k"]),
                mean=line["score"],
                low=low if known else line["score"],
                high=high if known else line["score"],
                seconds=line["seconds"],
                stability=line["stability"],
            )
        )
    curves = [Curve(name, tuple(points)) for name, points in lines.items()]

    def best_first(curve: Curve) -> float:
        return -max((point.mean for point in curve.points if point.k == k), default=-np.inf)

    curves.sort(key=best_first)
    failures = tuple(f"{visible(name)}: {visible(why)}" for name, why in found.failures.items())
    return CurveFacts(
        kind="comparison",
        axis="k",
        score=_score_name(found.scoring),
        curves=tuple(curves),
        chosen=None,
        sentences=tuple(_comparison_sentences(found)),
        failures=failures,
    )


def _score_name(scoring: str) -> str:
    return "score" if scoring in ("", "default", "None") else visible(scoring)


def _comparison_sentences(found: Comparison) -> list[str]:
    sentences = []
    for estimator in found.estimators:
        for k in found.ks:
            sentence = best_at(found, k, estimator)
            if sentence:
                sentences.append(sentence)
    hidden = len(sentences) - MOST_SENTENCES
    if hidden > 0:
        sentences = [*sentences[:MOST_SENTENCES], f"{hidden} more cases are in the table."]
    n_folds = len({(cell.repeat, cell.fold) for cell in found.cells})
    sentences.append(
        f"{count(n_folds, 'fold')}; selection inside each. Intervals are 95 %, corrected for "
        "training sets that overlap."
    )
    if not found.finished:
        missing = f"{len(found.cells):,} of {found.n_cells:,}"
        sentences.append(f"Not finished: {missing} cells are there.")
    return sentences


def best_at(found: Comparison, k: int, estimator: str) -> str:
    """Who is first, and whom the folds cannot tell from the first."""
    means = {method: found.interval(method, k, estimator).estimate for method in found.methods}
    known = {method: mean for method, mean in means.items() if np.isfinite(mean)}
    if len(known) < 2:
        return ""
    best = max(known, key=lambda method: known[method])
    tied = []
    for one in found.differences(k=k, estimator=estimator):
        pair = {one.first, one.second}
        if best in pair and not one.separable:
            tied += [method for method in pair - {best} if method in known]
    readout = "" if len(found.estimators) == 1 else f" and {visible(estimator)}"
    words = f"With {count(k, 'column')}{readout} {visible(best)} is first at {number(known[best])}"
    if not tied:
        return f"{words}, and the folds tell it from all others."
    if len(tied) == len(known) - 1:
        return f"{words}, but the folds tell it from none of the others."
    return f"{words}; the folds cannot tell it from {listed(tied, 5)}."


def stability_facts(
    stability: Stability, names: Sequence[str], selector: Any = None, X: Any = None
) -> StabilityFacts:
    """The columns chosen most often, with what is promised about the false ones among them."""
    probabilities = stability.probabilities
    order = np.argsort(-probabilities, kind="stable")[:MOST_STABLE]
    often = [int(j) for j in order if probabilities[j] > 0]
    stable = set(stability.support.tolist())
    sentences = [stability.explanation()]
    sentences.append(
        f"On each of {count(len(stability.selections), 'half-sample')} "
        f"{count(stability.q, 'column')} were chosen; the bound is the one called "
        f"“{stability.bound}”."
    )
    index = stability.nogueira
    if np.isfinite(index.estimate):
        sentences.append(
            f"Stability index (Nogueira): {number(index.estimate)}, interval {number(index.low)} "
            f"to {number(index.high)}; 1 is the same columns always, 0 is chance."
        )
    if isinstance(selector, StabilitySelector) and X is not None:
        sentences += _sharing(selector, X, names)
    return StabilityFacts(
        names=tuple(str(names[j]) for j in often),
        probabilities=tuple(float(probabilities[j]) for j in often),
        selected=tuple(j in stable for j in often),
        threshold=float(stability.threshold),
        sentences=tuple(visible(sentence) for sentence in sentences),
    )


def _sharing(selector: StabilitySelector, X: Any, names: Sequence[str]) -> list[str]:
    """Columns that carry the same signal share their selections between them."""
    groups = selector.interchangeable(X)[:MOST_GROUPS]
    return [
        f"{listed([names[j] for j in group.columns], 5)} are correlated by 0.9 or more: at least "
        f"one of them was chosen on {group.probability:.0%} of the half-samples."
        for group in groups
    ]
