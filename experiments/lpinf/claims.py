"""What the paper claims and what was seen, counted from the cells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from ..frame import CellFile, Claim, counted, verdict
from .accuracy import MULTI, SINGLE
from .page import measured, residues
from .published import POWERS, RESIDUES

PAPER = "Kong & Ding 2014"
OURS = ("p = .25", "p = .5", "p = 1")
SMALL = ("p = .25", "p = .5")
WORDS = {"nearest": "the nearest", "ours": "our"}
FILTERS = ("F", "ReliefF", "mRMR")


def claims(cells: CellFile) -> list[Claim]:
    return [
        _smaller_residues(cells),
        _ridge_start(cells),
        _against_l21(cells),
        _accuracy(
            cells, "figure 2", "l_{p,inf} is more accurate than F, ReliefF and mRMR", OURS, FILTERS
        ),
        _accuracy(cells, "figure 2", "small p is more accurate than p = 1", SMALL, ("p = 1",)),
        _accuracy(cells, "figure 2", "small p is more accurate than l2,1", SMALL, ("l2,1",)),
        _accuracy(
            cells, "figure 3", "l_{p,inf} is much better than F, ReliefF and mRMR (several labels)",
            OURS, FILTERS,
        ),
        _accuracy(
            cells, "figure 3", "small p is better than p = 1 (several labels)", SMALL, ("p = 1",)
        ),
        _accuracy(
            cells, "figure 2", "(ours) the default is more accurate than p = .5 without a ridge",
            ("recommended",), ("p = .5",),
        ),
        _algorithm_1(cells),
    ]  # fmt: skip


def _convex(cells: CellFile) -> dict[str, tuple[float, float]]:
    """Residues of p = 1 and l2,1 in the coding nearest to the paper's."""
    found = cells.where(part="residue", coding="nearest", start="none")
    return {cell["data"]: (cell["p = 1"], cell["l2,1"]) for cell in found}


def _smaller_residues(cells: CellFile) -> Claim:
    convex = _convex(cells)
    texts, lower, asked = [], 0, 0
    for coding in ("nearest", "ours"):
        at_1 = {c["data"]: c["p = 1"] for c in cells.where(part="residue", coding=coding)
                if "p = 1" in c}  # fmt: skip
        found = residues(cells, coding)
        below = [value < at_1[name] for (name, _, _), value in found.items() if name in at_1]
        texts.append(f"{sum(below)} of {len(below)} in {WORDS[coding]} coding")
        lower, asked = lower + sum(below), asked + len(below)
    text = f"R at p < 1 below R at p = 1: {', '.join(texts)} ({len(convex)} sets, both starts)"
    claim = "p < 1 gives smaller residues than p = 1"
    return Claim(PAPER, claim, verdict(lower, asked), text)


def _ridge_start(cells: CellFile) -> Claim:
    published = [
        ridge < convex
        for table in RESIDUES.values()
        for convex, ridge in zip(table["p = 1"], table["ridge"], strict=True)
    ]
    texts, lower, asked = [], 0, 0
    for coding in ("nearest", "ours"):
        found = residues(cells, coding)
        pairs = [
            (found[name, "ridge", p], found[name, "p = 1", p])
            for name in RESIDUES
            for p in POWERS
            if {(name, "ridge", p), (name, "p = 1", p)} <= found.keys()
        ]
        better = sum(ridge < convex for ridge, convex in pairs)
        texts.append(f"{better} of {len(pairs)} in {WORDS[coding]} coding")
        lower, asked = lower + better, asked + len(pairs)
    text = (
        f"R from ridge below R from p = 1: {', '.join(texts)}; in the paper's own table "
        f"{sum(published)} of {len(published)}"
    )
    claim = "the ridge start is slightly better than the p = 1 start"
    return Claim(PAPER, claim, verdict(lower, asked), text)


def _against_l21(cells: CellFile) -> Claim:
    convex = _convex(cells)
    found = residues(cells, "nearest")
    below = [value < convex[name][1] for (name, _, _), value in found.items() if name in convex]
    at_1 = sum(ours < theirs for ours, theirs in convex.values())
    text = (
        f"nearest coding: p < 1 below l2,1 in {sum(below)} of {len(below)}, p = 1 in {at_1} of "
        f"{len(convex)} (in the paper's own table p = 1 in 1 of 4)"
    )
    claim = "residues of l_{p,inf} are generally smaller than those of l2,1"
    return Claim(PAPER, claim, verdict(sum(below) + at_1, len(below) + len(convex)), text)


def _accuracy(
    cells: CellFile, part: str, claim: str, ours: Sequence[str], theirs: Sequence[str]
) -> Claim:
    """Counted over data sets, classifiers, numbers of features and pairs of methods."""
    names, estimators = (SINGLE, ("kNN", "SVM")) if part == "figure 2" else (MULTI, ("SVM",))
    gains: dict[str, list[float]] = {name: [] for name in names}
    for name, estimator in product(names, estimators):
        panel = measured(cells, part, name, estimator)
        for one, other in product(ours, theirs):
            if {one, other} <= panel.scores.keys():
                gains[name] += panel.gains(one, other).tolist()
    return counted(PAPER, claim, gains)


def _algorithm_1(cells: CellFile) -> Claim:
    claim = "Algorithm 1 gives the optimal solution of the proximal problem"
    cell = next(iter(cells.where(part="algorithm 1")), None)
    if cell is None:
        return Claim(PAPER, claim, "not tested", "")
    rates = [rate for rate in cell["rates"] if rate[0] < 1]
    broken = [100 * rate[1] for rate in rates]
    worse = [100 * rate[2] for rate in rates]
    text = (
        f"no number on {min(broken):.0f} to {max(broken):.0f} %, a worse point on {min(worse):.1f} "
        f"to {max(worse):.1f} % of random rows, p from .1 to .75; the printed example holds"
    )
    return Claim(PAPER, claim, "no", text)
