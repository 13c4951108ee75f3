"""What the paper claims and what was seen, counted from the cells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from ..frame import CellFile, Claim, counted, verdict
from .accuracy import KS, SETS
from .page import ESTIMATORS, finals, fits_below, measured
from .published import KS as TABLE_KS
from .published import OBJECTIVES

PAPER = "Cai, Nie & Huang 2013"
FEW = 5  # "particularly the one with less than 5 features"


def claims(cells: CellFile) -> list[Claim]:
    return [
        _accuracy(
            cells, "with fewer than 5 features l2,0-ALM is more accurate than MTFS and RFS",
            "l2,0-ALM", ("MTFS", "RFS"), [k for k in KS if k < FEW],
        ),
        _accuracy(
            cells, "l2,0-ALM is more accurate than Fisher and IG", "l2,0-ALM", ("Fisher", "IG"), KS
        ),
        _accuracy(
            cells, "(ours) the default is more accurate than l2,0-ALM", "recommended",
            ("l2,0-ALM",), KS,
        ),
        _accuracy(
            cells, "(ours) the paper's problem solved better is more accurate than l2,0-ALM",
            "its problem, our search", ("l2,0-ALM",), KS,
        ),
        _accuracy(
            cells, "(ours) the default is more accurate than MTFS, RFS and SFS", "recommended",
            ("MTFS", "RFS", "SFS"), KS,
        ),
        _hanging(cells),
        _stable(cells),
        _spread_falls(cells),
        _better_optimum(cells),
    ]  # fmt: skip


def _accuracy(
    cells: CellFile, claim: str, ours: str, theirs: Sequence[str], ks: Sequence[int]
) -> Claim:
    """Counted over data sets, classifiers, rivals and numbers of features."""
    gains: dict[str, list[float]] = {name: [] for name in SETS}
    for name, estimator, other in product(SETS, ESTIMATORS, theirs):
        panel = measured(cells, name, estimator)
        if {ours, other} <= panel.scores.keys():
            gains[name] += [panel.gains(ours, other)[KS.index(k)] for k in ks]
    return counted(PAPER, claim, gains)


def _hanging(cells: CellFile) -> Claim:
    """Columns that SFS shares with the solution it starts from."""
    claim = "SFS depends on its start: it hangs on the MTFS solution"
    shares, same, asked = [], 0, 0
    for name in SETS:
        own = []
        for cell in cells.where(part="accuracy", data=name, method="SFS"):
            starts = cells.where(part="accuracy", data=name, method="MTFS", block=cell["block"])
            for start in starts:
                pairs = zip(cell["columns"], start["columns"], strict=True)
                for found, begun in pairs:
                    own += [
                        len(set(a) & set(b)) / len(b) for a, b in zip(found, begun, strict=True)
                    ]
        if own:
            shares.append(f"{name} {100 * np.mean(own):.0f} %")
        same, asked = same + sum(share == 1 for share in own), asked + len(own)
    text = (
        f"{same} of {asked} selections of SFS are those of MTFS; columns in common: "
        f"{', '.join(shares)}"
    )
    return Claim(PAPER, claim, verdict(same, asked), text)


def _stable(cells: CellFile) -> Claim:
    """Stable: a spread of at most a tenth of the mean, as on LUNG and CAR in the paper."""
    claim = "the ALM converges to a stable value from random starts"
    texts, stable, asked = [], 0, 0
    for name in OBJECTIVES:
        ratios = []
        for k in TABLE_KS:
            ends = finals(cells, name, k)
            if len(ends):
                ratios.append(float(np.std(ends) / np.mean(ends)))
        if ratios:
            texts.append(f"{name} {100 * min(ratios):.0f} to {100 * max(ratios):.0f} %")
        stable, asked = stable + sum(ratio <= 0.1 for ratio in ratios), asked + len(ratios)
    printed = [deviation / mean for table in OBJECTIVES.values() for mean, deviation in table]
    text = (
        f"deviation over mean of the final objective: {', '.join(texts)}; in the paper's own table "
        f"{100 * min(printed):.0f} to {100 * max(printed):.0f} %; a tenth counts as stable"
    )
    return Claim(PAPER, claim, verdict(stable, asked), text)


def _spread_falls(cells: CellFile) -> Claim:
    claim = "the more features, the smaller the deviation"
    falls, texts = 0, []
    for name in OBJECTIVES:
        ends = [finals(cells, name, k) for k in TABLE_KS]
        if all(len(one) for one in ends):
            first, last = np.std(ends[0]), np.std(ends[-1])
            falls += first > last
            texts.append(f"{name} {first:.2f} to {last:.2f}")
    text = f"from k = 1 to k = 10: {', '.join(texts)}"
    return Claim(PAPER, claim, verdict(falls, len(texts)), text)


def _better_optimum(cells: CellFile) -> Claim:
    claim = "(ours) one fit of TopKSelector.paper is below the best of the ALM's random starts"
    lower = fits_below(cells)
    factors = [
        cell["J"] / finals(cells, name, k).mean()
        for name, k in product(OBJECTIVES, TABLE_KS)
        for cell in cells.where(part="ours", data=name, k=k)
        if len(finals(cells, name, k))
    ]
    if not lower:
        return Claim(PAPER, claim, "not tested", "")
    text = (
        f"in {sum(lower)} of {len(lower)} cells of Table 2; it is {min(factors):.3f} to "
        f"{max(factors):.2f} of the ALM's mean"
    )
    return Claim(PAPER, claim, verdict(sum(lower), len(lower)), text)
