"""Kong & Ding (2014), Table 2: the residue on the top 20 features of four data sets.

    python experiments/kong_ding.py                 # writes kong_ding.md beside this file
    python experiments/kong_ding.py GLIOMA          # one data set, prints only

For every p and start, alpha is lowered until at least 20 rows of W are nonzero and the 20 largest
are kept. The residue is R = min over B, b of |Y - X_20 B - 1b'|_F with Y the 0/1 indicator of the
classes (n x c; in ±1 coding R doubles) and X_20 the selected columns, standardised. The paper says
neither how it codes Y nor whether it has an intercept, so its R and ours are not on one scale:
compare within a line, not across lines. The data come from the folder ROWSPARSE_DATA (default:
../shared/data).
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import numpy as np
from kong_ding_algorithm1 import report as algorithm_1_report

from rowsparse import L2pSelector, LpInfSelector

HERE = Path(__file__).parent
DATA = Path(os.environ.get("ROWSPARSE_DATA", HERE.parents[1] / "shared" / "data"))
K = 20
POWERS = (0.1, 0.25, 0.5, 0.75)
STARTS = {"p = 1": "convex", "ridge": "ridge", "best of all": "best"}
PUBLISHED = {  # p = .1, .25, .5, .75, 1, l2,1: from the p = 1 solution, then from ridge
    "ALLAML": ((6.4217, 6.3647, 6.4314, 6.3892, 6.4487, 6.4257), (6.4141, 6.3841, 6.4054, 6.3672)),
    "GLIOMA": ((4.5208, 4.7877, 4.7935, 4.7832, 4.9421, 4.8324), (4.5145, 4.7182, 4.7877, 4.7968)),
    "LUNG": ((7.6889, 7.5701, 7.7916, 8.3251, 8.3572, 8.3612), (7.6762, 7.5534, 7.8216, 8.2851)),
    "CAR": ((8.3947, 8.3837, 8.3687, 8.8135, 8.9578, 8.9321), (8.3747, 8.3921, 8.3723, 8.7335)),
}


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(DATA / f"{name}.npz") as file:
        return np.asarray(file["X"], dtype=float), file["y"]


def residue(X: np.ndarray, y: np.ndarray, support: np.ndarray) -> float:
    """R of the selected columns, with an intercept."""
    Y = (y[:, None] == np.unique(y)).astype(float)
    Z = X[:, support]
    Z = np.c_[(Z - Z.mean(axis=0)) / Z.std(axis=0), np.ones(len(Z))]
    return float(np.linalg.norm(Y - Z @ np.linalg.lstsq(Z, Y, rcond=None)[0]))


def from_start(X: np.ndarray, y: np.ndarray, p: float, init: str, n_halvings: int = 10):
    """The selector with K rows or more at the largest alpha found; each fit from that start."""
    tenth = LpInfSelector(p=p, init="zero").fit(X, y)  # alpha None is a tenth of alpha_max
    top = 10 * tenth.alpha_
    low, high = np.log(1e-4 * top), np.log(top)
    best = None
    for _ in range(n_halvings):
        middle = (low + high) / 2
        selector = LpInfSelector(alpha=float(np.exp(middle)), p=p, init=init).fit(X, y)
        n_rows = int(np.count_nonzero(selector.scores_))
        if n_rows < K:
            high = middle
            continue
        low, best = middle, selector
        if n_rows == K:
            break
    return best


def top_features(selector) -> np.ndarray:
    return selector.ranking_ <= K


def measure(name: str) -> list[list[str]]:
    """The lines of the table for one data set."""
    X, y = load(name)
    X = X[:, X.std(axis=0) > 0]
    convex = residue(X, y, LpInfSelector(n_features_to_select=K, p=1.0).fit(X, y).support_)
    l21 = residue(X, y, L2pSelector(n_features_to_select=K, p=1.0).fit(X, y).support_)
    lines = []
    for label, init in STARTS.items():
        found = [residue(X, y, top_features(from_start(X, y, p, init))) for p in POWERS]
        lines.append([name, f"ours, {label}", *map(_number, found), _number(convex), _number(l21)])
    for label, values in zip(("p = 1", "ridge"), PUBLISHED[name], strict=True):
        cells = [_number(value) for value in values]
        lines.append([name, f"paper, {label}", *cells, *["-"] * (6 - len(cells))])
    return lines


def _number(value: float) -> str:
    return f"{value:.4f}"


def table(names) -> str:
    head = ["data", "start", *(f"p = {p:g}" for p in POWERS), "p = 1", "l2,1"]
    rows = [head, ["---"] * len(head), *(line for name in names for line in measure(name))]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main() -> None:
    warnings.simplefilter("ignore")
    names = sys.argv[1:] or list(PUBLISHED)
    residues = table(names)
    if sys.argv[1:]:
        print(residues)
        return
    page = (
        "# Kong & Ding (2014)\n\nWritten by `python experiments/kong_ding.py`; "
        f"its first lines say what is measured.\n\n## Residue R on the top {K} features\n\n"
        f"{residues}\n\n## Algorithm 1 as printed\n\n{algorithm_1_report()}\n"
    )
    (HERE / "kong_ding.md").write_text(page)
    print(page)


if __name__ == "__main__":
    main()
