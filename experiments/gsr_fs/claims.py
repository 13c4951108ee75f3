"""What the GSR-FS paper claims, judged by rules written here from the cells."""

from __future__ import annotations

import numpy as np

from ..frame import CellFile, Claim
from ..frame import verdict as counted_verdict
from . import order_page, reading_page, times_page
from .accuracy import COST_ORDER, K
from .accuracy_page import CLOSE, GSR, RIVALS, accuracies, mean_of
from .published import ACCURACY, DATA, METHODS, TIMED
from .synthetic import LOSSES, OUTLIERS
from .synthetic_page import found

PAPER = "Peng & Fan 2017"
SAME_DATA = ("ISOLET", "SEMEION", "ORL_32x32", "MNIST_4v9")
TOLERANCE = 0.05  # of an order of convergence


def claims(cells: CellFile) -> list[Claim]:
    """Those for which there are cells."""
    judged: list[Claim] = []
    if compared(cells):
        judged += [table_2(cells), beats_rivals(cells), small_p(cells), over_filters(cells)]
    if all(found(cells, outliers, 2.0, "rmse given") for outliers in OUTLIERS):
        judged += [clean_losses(cells), robust_losses(cells)]
    if timed(cells, "RK1U", "RFS", "GSR p=.5"):
        judged += [published_times(cells), faster_than(cells, "RK1U"), faster_than(cells, "RFS")]
    if any(order_page.claimed(cell) > 0 for cell in order_page.cases(cells)):
        judged.append(order(cells))
    return judged


def compared(cells: CellFile) -> list[str]:
    """Data sets on which every method has an accuracy."""
    names = [name for name in COST_ORDER if accuracies(cells, name, METHODS[-1])]
    return [name for name in names if accuracies(cells, name, METHODS[0])]


def timed(cells: CellFile, *methods: str) -> list[str]:
    """Data sets on which all of these methods have a time."""
    return [n for n in COST_ORDER if all(times_page.times(cells, n, m) for m in methods)]


def verdict(seen: int, of: int) -> str:
    if seen == of:
        return "yes"
    return "in part" if seen else "no"


def table_2(cells: CellFile) -> Claim:
    near = {}
    for name in [name for name in SAME_DATA if name in compared(cells)]:
        near[name] = close([mean_of(cells, name, method) for method in GSR], name)
    counts = ", ".join(f"{DATA[name][0]} {count}" for name, count in near.items())
    read = reading_page.means(cells, "SEMEION", reading_page.AS_STORED)
    stored = f"; SEMEION with its pixels as stored {close(read, 'SEMEION')}, on two splits"
    return Claim(
        PAPER,
        f"accuracies of GSR-FS at the top {K} (Table 2)",
        verdict(sum(near.values()), len(GSR) * len(near)),
        f"columns of {len(GSR)} within {CLOSE:g} points of the published or above: {counts}"
        + (stored if read else ""),
    )


def close(ours: list[float], name: str) -> int:
    """How many accuracies of GSR-FS are not clearly below the published ones."""
    published = [ACCURACY[name][METHODS.index(method)][0] for method in GSR]
    return sum(mine - theirs >= -CLOSE for mine, theirs in zip(ours, published, strict=False))


def beats_rivals(cells: CellFile) -> Claim:
    """Each data set and p against each rival."""
    won = total = 0
    for name in compared(cells):
        for method in GSR:
            ours = mean_of(cells, name, method)
            won += sum(ours >= mean_of(cells, name, rival) for rival in RIVALS)
            total += len(RIVALS)
    best = sum(
        max(mean_of(cells, name, m) for m in GSR) >= max(mean_of(cells, name, m) for m in RIVALS)
        for name in compared(cells)
    )
    return Claim(
        PAPER,
        "GSR-FS is at least as good as every rival on most sets",
        counted_verdict(won, total),
        f"at least as good in {won} of {total} comparisons; the best of the four p is at least as "
        f"good as the best rival on {best} of {len(compared(cells))} sets",
    )


def small_p(cells: CellFile) -> Claim:
    pairs = {
        name: (mean_of(cells, name, "GSR p=.5"), mean_of(cells, name, "GSR p=1"))
        for name in compared(cells)
    }
    better = sum(half > one for half, one in pairs.values())
    shown = ", ".join(f"{DATA[n][0]} {half - one:+.1f}" for n, (half, one) in pairs.items())
    return Claim(
        PAPER,
        "p = .5 selects better than p = 1",
        verdict(better, len(pairs)),
        f"points gained at the top {K}: {shown}",
    )


def over_filters(cells: CellFile) -> Claim:
    best = {
        name: max(mean_of(cells, name, m) for m in GSR)
        - max(mean_of(cells, name, m) for m in ("ReliefF", "mRMR"))
        for name in compared(cells)
    }
    shown = ", ".join(f"{DATA[name][0]} {gain:+.1f}" for name, gain in best.items())
    return Claim(
        PAPER,
        "sparse regularisation is better than ReliefF and mRMR",
        verdict(sum(gain > 0 for gain in best.values()), len(best)),
        f"points between the best GSR-FS and the better filter: {shown}",
    )


def clean_losses(cells: CellFile) -> Claim:
    means = {r: np.mean(found(cells, 0.0, r, "rmse given")) for r in LOSSES}
    lowest = min(means, key=means.__getitem__)
    return Claim(
        PAPER,
        "without outliers the squared loss fits best (Figure 2)",
        "yes" if lowest == 2 else "no",
        "RMSE: " + ", ".join(f"r = {r:g} {mean:.4f}" for r, mean in means.items()),
    )


def robust_losses(cells: CellFile) -> Claim:
    better, shown = 0, []
    for outliers in OUTLIERS[1:]:
        for name in ("rmse given", "rmse without outliers"):
            means = {r: np.mean(found(cells, outliers, r, name)) for r in LOSSES}
            better += max(means[0.5], means[1.0]) < means[2.0]
            values = ", ".join(f"{mean:.3f}" for mean in means.values())
            shown.append(f"{outliers:.0%} {name.removeprefix('rmse ')}: {values}")
    return Claim(
        PAPER,
        "with 1 % and 10 % outliers r = .5 and 1 fit better than r = 2 (Figure 2)",
        verdict(better, len(shown)),
        f"RMSE at r = .5, 1, 2; {'; '.join(shown)}",
    )


def published_times(cells: CellFile) -> Claim:
    """Of reweighting to the paper's rule, and of the default solver, which stops later."""
    factors, default = {}, []
    for method in TIMED:
        for name in timed(cells, method):
            cell = times_page.times(cells, name, method)
            published = times_page.published(name, method)
            factors[name, method] = published / max(cell["ours"], 1e-3)
            if cell.get("status default solver") == "converged":
                default.append(cell["default solver"] < published)
    (name, method), least = min(factors.items(), key=lambda item: item[1])
    beaten = sum(factor > 1 for factor in factors.values())
    return Claim(
        PAPER,
        "every time of Table 3 (ours is to be below)",
        verdict(beaten, len(factors)),
        f"below in {beaten} of {len(factors)} measured cells, on another machine; median factor "
        f"{np.median(list(factors.values())):.0f}, least {least:.2g} ({DATA[name][0]}, {method}); "
        f"the default solver in {sum(default)} of {len(default)} that it solved to its certificate",
    )


def faster_than(cells: CellFile, rival: str) -> Claim:
    """The paper's algorithm as printed against the rival as printed, both here."""
    factors, shown = [], []
    for name in timed(cells, "GSR p=.5", rival):
        mine, theirs = (times_page.times(cells, name, m) for m in ("GSR p=.5", rival))
        factor = times_page.printed_seconds(theirs) / times_page.printed_seconds(mine)
        factors.append(factor)
        bound = "≥ " if not theirs["steps complete"] else ""
        shown.append(f"{DATA[name][0]} {bound}{times_page.ratio(factor)}")
    return Claim(
        PAPER,
        f"GSR-FS (p = .5, as printed) is faster than {rival}",
        verdict(sum(factor > 1 for factor in factors), len(factors)),
        f"time of {rival} to that of GSR-FS, both as printed: {', '.join(shown)}",
    )


def order(cells: CellFile) -> Claim:
    known = [cell for cell in order_page.cases(cells) if cell["order"] is not None]
    judged = [cell for cell in known if order_page.claimed(cell) > 0]
    reached = sum(cell["order"] >= order_page.claimed(cell) - TOLERANCE for cell in judged)
    shown = "; ".join(
        f"r = {c['r']:g}, p = {c['p']:g}: {c['order']:.2f} ({order_page.claimed(c):g})"
        for c in judged
    )
    return Claim(
        PAPER,
        "convergence of order at least min(2 - r, 2 - p) (Theorem 3)",
        verdict(reached, len(judged)),
        f"order of all rows (claimed): {shown}",
    )
