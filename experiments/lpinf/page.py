"""The page from the cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..frame import (
    CellFile,
    Curves,
    behind,
    curves,
    gains_table,
    markdown_table,
    mean_of,
    panels_figure,
    paragraphs,
)
from .accuracy import (
    KS,
    METHODS,
    MULTI,
    N_FOLDS,
    NEIGHBOURS,
    PAPER_REPEATS,
    SINGLE,
    TEST_SHARE,
)
from .published import DIFFERENCES, POWERS, RESIDUES, STARTS
from .residues import CODINGS, K

STYLES = {
    "p = .25": "r-o", "p = .5": "m-s", "p = 1": "b-^", "l2,1": "k--", "F": "g:", "ReliefF": "C1:",
    "mRMR": "C9-.", "recommended": "k-",
}  # fmt: skip
SHOWN = {"figure 2": (5, 10, 20, 40, 80), "figure 3": (10, 30, 50)}
SHOWN_CODINGS = 6
SHAPES = {
    "ALLAML": "72×7129×2", "GLIOMA": "50×4434×4", "LUNG": "203×3312×5", "CAR": "174×9182×11",
    "ml_emotions": "593×72×6", "ml_yeast": "2417×103×14", "ml_scene": "2407×294×6",
}  # fmt: skip
Coding = tuple[str, str, bool]


def page(cells: CellFile, folder: Path) -> str:
    return paragraphs(
        "# Kong & Ding (2014), feature learning by the l_{p,inf} operator",
        "## Data",
        _data(),
        "## Table 2: the residue on the top 20 features",
        CODING_TEXT,
        _codings(cells),
        _nearest(cells),
        RESIDUE_TEXT,
        _residues(cells),
        "## Figure 2: kNN and SVM on the selected features",
        FIGURE_2_TEXT,
        *_accuracies(cells, folder, "figure 2", SINGLE, ("kNN", "SVM"), "accuracy (%)"),
        "## Figure 3: several labels per sample",
        FIGURE_3_TEXT,
        *_accuracies(cells, folder, "figure 3", MULTI, ("SVM",), "macro-F1 (%)"),
        "## Algorithm 1 as printed",
        _algorithm_1(cells),
    )


GAINS_TEXT = """Differences in points, the mean over all numbers of features (and both
classifiers), with 95 % intervals, and on how many of the splits they are positive:"""
CODING_TEXT = f"""R = min over B of ‖Y − B'X‖ on the {K} selected columns. The paper says neither
how Y is coded, nor whether X is scaled or an intercept fitted, nor what lambda is ("we adjust
the parameter lambda"). The methods of its Table 2 that depend on no start, p = 1 and l2,1, were
run in 32 codings: X standardised, centred, as stored or with samples of unit norm; Y as 0/1, as
±1, as 0/1 divided by the root of the class's size, or as one column of class numbers; with and
without an intercept. Off by: the root mean square of ln(R / published) over the eight numbers,
as a factor. LUNG_std, LUNG with standardised samples, is beside LUNG and does not count."""
NEAREST_TEXT = """**Nearest is Y as 0/1 on centred columns without an intercept**: {apart}
against the paper (p = 1 / l2,1)."""
RESIDUE_TEXT = f"""The means of Y cannot be fitted then, which adds a
constant, the root of the sum of n_c²/n: 6.27 on ALLAML, 3.65 on GLIOMA, 4.43 on CAR. That
explains why the paper's numbers differ so little from method to method. On LUNG the constant
alone is 10.05, above all that the paper prints (7.55 to 8.36), so there X cannot have been
centred; no coding of the 32 reproduces all four sets.

In each coding lambda was lowered until {K} rows were nonzero (ten halvings of its range), every
fit from the start named, and the {K} largest rows kept. *Our coding*: columns standardised,
intercept. *Exactly 20* is the library's own way, p = .5: the problem solved under the constraint
of {K} rows, without a ridge; *recommended* the same with the default ridge, which selects for
new samples and not for the residue on these."""
FIGURE_2_TEXT = f"""Five stratified folds, repeated as often as the column of splits says (the
paper: 5 folds, "the average accuracy over 5 runs", read as 25 splits); selection and scaling
inside the folds; kNN with {NEIGHBOURS} neighbours (the paper does not say), SVM linear, C = 1. The
paper's figure is a picture without numbers. p = .25, .5, 1: its loss, no ridge, from all starts;
*recommended* is `LpInfSelector()`: p = .5 and the default ridge. ALLAML has two classes, for which
p = 1 and l2,1 are one problem. In brackets: 95 % intervals, corrected for overlapping training
sets; where there are five splits they are wide."""
FIGURE_3_TEXT = """The paper's image sets are not to be had: emotions, yeast and scene stand in.
Five folds, repeated as often as the column of splits says (the paper: 5 × 5), macro-F1 of linear
SVMs, C = 1, one per label (LIBLINEAR with hinge loss for its speed; macro-F1 was within a point of
LIBSVM's on one fold of each set); filters by binary relevance, as in the paper. A label that no
sample is given counts as 0. Scene without p = .25, whose fits take long there."""


def _data() -> str:
    rows = [[name, SHAPES[name], DIFFERENCES[name]] for name in RESIDUES]
    rows += [[name, SHAPES[name], "not in the paper"] for name in MULTI]
    return markdown_table(["data", "samples×features×classes", "against the paper's"], rows)


def distances(cells: CellFile) -> dict[Coding, tuple[float, dict[str, tuple[float, float]]]]:
    """For every coding how far it is from the paper's numbers, and its residues by data set."""
    found: dict[Coding, dict[str, tuple[float, float]]] = {}
    for name in [*RESIDUES, "LUNG_std"]:
        for cell in cells.where(part="coding", data=name):
            for x_form, y_form, intercept, convex, l21 in cell["residues"]:
                coding = (x_form, y_form, intercept)
                found.setdefault(coding, {})[name] = (convex, l21)
    return {coding: (_off_by(values), values) for coding, values in found.items()}


def _off_by(values: dict[str, tuple[float, float]]) -> float:
    logs = [
        np.log(ours / theirs)
        for name, both in values.items()
        if name in RESIDUES
        for ours, theirs in zip(both, RESIDUES[name]["convex"], strict=True)
    ]
    return float(np.sqrt(np.mean(np.square(logs))))


def _codings(cells: CellFile) -> str:
    ranked = sorted(distances(cells).items(), key=lambda item: item[1][0])
    if not ranked:
        return ""
    names = [name for name in [*RESIDUES, "LUNG_std"] if name in ranked[0][1][1]]
    paper = [f"{a:.2f} / {b:.2f}" for a, b in (RESIDUES[n]["convex"] for n in RESIDUES)]
    published = dict(zip(RESIDUES, paper, strict=True)) | {"LUNG_std": paper[2]}
    rows = [["published", "", "", *(published[name] for name in names), ""]]
    kept = ranked[:SHOWN_CODINGS] + [r for r in ranked[SHOWN_CODINGS:] if r[0] == CODINGS["ours"]]
    for (x_form, y_form, intercept), (off, values) in kept:
        texts = ["{:.2f} / {:.2f}".format(*values[name]) for name in names]
        rows.append([x_form, y_form, "yes" if intercept else "no", *texts, f"×{np.exp(off):.2f}"])
    head = ["X", "Y", "intercept", *(f"{name}: p = 1 / l2,1" for name in names), "off by"]
    return markdown_table(head, rows)


def _nearest(cells: CellFile) -> str:
    """How far the nearest coding is from the paper, set by set."""
    measured_codings = distances(cells)
    if CODINGS["nearest"] not in measured_codings:
        return ""
    _, values = measured_codings[CODINGS["nearest"]]
    texts = []
    for name in [name for name in RESIDUES if name in values]:
        both = zip(values[name], RESIDUES[name]["convex"], strict=True)
        apart = " / ".join(f"{100 * (ours / theirs - 1):+.0f}" for ours, theirs in both)
        texts.append(f"{name} {apart} %")
    return NEAREST_TEXT.format(apart=", ".join(texts))


def residues(cells: CellFile, coding: str) -> dict[tuple[str, str, float], float]:
    """R by data set, start (in the paper's words) and p."""
    found = {}
    for label, start in STARTS.items():
        for cell in cells.where(part="residue", coding=coding, start=start):
            if cell["R"] is not None:
                found[cell["data"], label, cell["p"]] = cell["R"]
    return found


def _residues(cells: CellFile) -> str:
    head = ["data", "from", *(f"p = {p:g}" for p in POWERS)]
    head += ["p = 1", "l2,1", "exactly 20", "recommended"]
    rows = []
    for name, published in RESIDUES.items():
        for label in STARTS:
            values = [f"{value:.4f}" for value in published[label]]
            rows.append([name, f"{label}, published", *values, *_convex(published["convex"])])
            for coding, words in {"nearest": "nearest coding", "ours": "our coding"}.items():
                found = residues(cells, coding)
                values = [_number(found.get((name, label, p))) for p in POWERS]
                others = _others(cells, name, coding)
                rows.append([name, f"{label}, {words}", *values, *others])
    return markdown_table(head, rows)


def _convex(values: tuple[float, float]) -> list[str]:
    return [*(f"{value:.4f}" for value in values), "", ""]


def _others(cells: CellFile, name: str, coding: str) -> list[str]:
    cell = next(iter(cells.where(part="residue", data=name, coding=coding, start="none")), {})
    keys = ("p = 1", "l2,1", "exactly 20, p = .5", "recommended")
    return [_number(cell.get(key)) for key in keys]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def measured(cells: CellFile, part: str, name: str, estimator: str) -> Curves:
    """The lines of one panel."""
    return curves(cells, KS[part], TEST_SHARE, estimator, METHODS, part=part, data=name)


def _accuracies(cells, folder, part, names, estimators, ylabel) -> list[str]:
    panels = {}
    for estimator in estimators:
        for name in names:
            panel = measured(cells, part, name, estimator)
            if panel.scores:
                panels[f"{name}, {estimator}"] = panel
    if not panels:
        return []
    path = folder / "figures" / f"lpinf-{part[-1]}.png"
    file = panels_figure(panels, path, len(estimators), ylabel, STYLES)
    parts = [
        f"![{ylabel} against the number of features, a panel for each data set]({file})",
        GAINS_TEXT,
        *_gains(panels, names, estimators),
    ]
    for title, panel in panels.items():
        name = title.partition(",")[0]
        table = panel.table(SHOWN[part], n_in_paper=PAPER_REPEATS * N_FOLDS)
        parts += [f"### {title} ({SHAPES[name]}), {ylabel}", table]
    return parts


def _gains(panels: dict[str, Curves], names: Any, estimators: Any) -> list[str]:
    """The paper's method at p = .5, and the default, against all others."""
    own = {name: [panels.get(f"{name}, {one}") for one in estimators] for name in names}
    both = {name: mean_of(found) for name, found in own.items() if all(found)}
    parts = []
    for ours in ("p = .5", "recommended"):
        rivals = [method for method in (*METHODS[2:7], "p = .5") if method != ours]
        parts += [f"*{ours}*", gains_table(both, ours, rivals), behind(both, ours, rivals)]
    return parts


def _algorithm_1(cells: CellFile) -> str:
    cell = next(iter(cells.where(part="algorithm 1")), None)
    if cell is None:
        return ""
    head = ["what goes wrong", "b", "ρ", "p", "Algorithm 1", "its value", "exact", "its value"]
    rates = [
        [f"{p:g}", f"{broken:.1%}", f"{worse:.1%}", f"{largest:.0%}"]
        for p, broken, worse, largest in cell["rates"]
    ]
    return paragraphs(
        "The proximal step of one row, against the exact one of the library.",
        markdown_table(head, cell["examples"]),
        "On 5000 random rows of 2 to 11 entries, ρ from .01 to 10:",
        markdown_table(["p", "no number", "worse than optimal", "by up to"], rates),
    )
