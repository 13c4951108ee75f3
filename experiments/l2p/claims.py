"""What the l2,p paper claims, judged by rules written here from the cells."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rowsparse.model_selection.intervals import corrected_interval

from ..frame import CellFile, Claim
from .measure import GAMMA, OTHER_GAMMAS
from .page import extremes, listed, paired_gain, shown
from .published import DATA, FOUR, KS, POWERS
from .read import (
    SELECTIONS,
    TEST_SHARE,
    attainable,
    average,
    complete,
    percentages,
    published_average,
    relative_falls,
    steps_to,
)  # fmt: skip

PAPER = "Wang & Chen 2013"
ROUNDING = 1e-3  # a relative rise of J below is the n × n system's rounding
STEPS, SETTLED = 20, 1e-3  # "within about 20 steps", read as a relative change below this


def claims(cells: CellFile) -> list[Claim]:
    """None before every data set has been measured."""
    if not complete(cells):
        return []
    return [
        *(averages(cells, selection) for selection in SELECTIONS),
        half_beats_one(cells),
        selection_bias(cells),
        which_lung(),
        twenty_steps(cells),
        descent(cells),
        sparser(cells),
        local_minimum(cells),
    ]


def averages(cells: CellFile, selection: str) -> Claim:
    """The paper names no gamma: judged at the best of ours for each k."""
    who = f"library, {selection}"
    theirs = [published_average(k, 0.5) for k in KS]
    ours = [average(cells, k, 0.5, who) for k in KS]
    lowest = [
        min(average(cells, k, 0.5, who, gamma, repeat=0) for gamma in (GAMMA, *OTHER_GAMMAS))
        for k in KS
    ]
    reached = sum(a <= b for a, b in zip(lowest, theirs, strict=True))
    return Claim(
        PAPER,
        f"average errors {listed(theirs)} % at p = .5 (top 20, 40, 60, 80), {selection}",
        verdict(reached, len(KS)),
        f"{listed(ours)} at gamma = {GAMMA:g}; {listed(lowest)} at the best gamma of each",
    )


def verdict(reached: int, of: int) -> str:
    if reached == of:
        return "yes"
    return "in part" if reached else "no"


def half_beats_one(cells: CellFile) -> Claim:
    gains = {
        (name, selection): paired_gain(cells, name, selection)
        for name in FOUR
        for selection in SELECTIONS
    }
    better = sum(corrected_interval(g, TEST_SHARE)[0].low > 0 for g in gains.values())
    shown_gains = "; ".join(f"{DATA[n][0]} {s} {shown(g)}" for (n, s), g in gains.items())
    return Claim(
        PAPER,
        "p = .5 selects better than p = 1",
        verdict(better, len(gains)),
        f"beyond chance in {better} of {len(gains)}; points saved: {shown_gains}",
    )


def selection_bias(cells: CellFile) -> Claim:
    lowest = extremes(cells)
    return Claim(
        PAPER,
        "GLIOMA: 0 to 4 % of 50 samples in four classes",
        "yes" if lowest["best_fold_wise"] <= 4 else "no",
        f"fold-wise at best {lowest['best_fold_wise']:.0f} % over every gamma, p and k; "
        f"{lowest['best_all']:.0f} % only where the test parts take part in the selection",
    )


def which_lung() -> Claim:
    values = percentages("LUNG")
    small, large = (sum(attainable(v, n) for v in values) for n in (181, 203))
    return Claim(
        PAPER,
        "LUNG is Gordon's set of 181 samples",
        "no",
        f"{small} of {len(values)} percentages are means of five folds of 181 samples, "
        f"{large} of five folds of 203: the five-class set of the same name",
    )


def twenty_steps(cells: CellFile) -> Claim:
    found = cells.where(part="convergence")
    steps = [steps_to(cell["values"], SETTLED) for cell in found]
    early = sum(step is not None and step <= STEPS for step in steps)
    known = [step for step in steps if step is not None]
    return Claim(
        PAPER,
        "accurate within about 20 steps for every p",
        verdict(early, len(found)),
        f"relative change of J below {SETTLED:g} after at most {STEPS} steps in {early} of "
        f"{len(found)} runs; median {np.median(known):.0f}, most {max(known)}",
    )


def descent(cells: CellFile) -> Claim:
    rises = [-relative_falls(cell["values"]).min() for cell in cells.where(part="convergence")]
    largest = max(0.0, float(max(rises)))
    return Claim(
        PAPER,
        "J never rises (their Theorem)",
        "yes" if largest < ROUNDING else "no",
        f"largest relative rise in {len(rises)} runs {largest:.0e}: the system is ill conditioned",
    )


def sparser(cells: CellFile) -> Claim:
    rows = {p: [] for p in POWERS}
    for name in FOUR:
        for p in POWERS:
            rows[p] += [c["rows"] for c in cells.where(part="convergence", data=name, p=p)]
    lists = "; ".join(f"p = {p:g}: {', '.join(map(str, rows[p]))}" for p in POWERS)
    falls = sum(
        a <= b for small, large in pairwise(POWERS)
        for a, b in zip(rows[small], rows[large], strict=True)
    )  # fmt: skip
    pairs = (len(POWERS) - 1) * len(rows[POWERS[0]])
    return Claim(
        PAPER,
        "the closer p is to 0, the sparser W",
        verdict(falls, pairs),
        f"rows above 1e-6 at gamma = 1 on {', '.join(DATA[n][0] for n in FOUR)}: {lists}",
    )


def local_minimum(cells: CellFile) -> Claim:
    """The paper says "local"; how far from the lowest known?"""
    lower, excess = 0, []
    found = [cell for cell in cells.where(part="convergence") if cell["p"] < 1]
    for cell in found:
        J = cell["values"][-1]
        best = min(J, cell["ours"]["BlockDescent"])
        lower += best < J * (1 - 1e-3)
        excess.append(100 * (J / best - 1))
    return Claim(
        PAPER,
        "for p < 1 the algorithm finds a local minimum only",
        "yes" if lower else "no",
        f"block descent ends lower in {lower} of {len(found)} runs with p < 1; J of the printed "
        f"algorithm is up to {max(excess):.0f} % above the lower of the two",
    )
