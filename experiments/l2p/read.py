"""What the cells say, as numbers: the page and the claims read them here."""

from __future__ import annotations

from itertools import product

import numpy as np

from ..frame import CellFile
from .measure import GAMMA, N_FOLDS
from .published import DATA, ERRORS, FOUR, KS, POWERS

TEST_SHARE = 1 / (N_FOLDS - 1)  # test to training samples
SELECTIONS = ("fold-wise", "all data")


def fold_errors(
    cells: CellFile, name: str, p: float, who: str = "library, fold-wise",
    gamma: float = GAMMA, repeat: int | None = None,
) -> np.ndarray:  # fmt: skip
    """Percent, folds × k; all repeats, or one of them."""
    wanted = {"part": "errors", "data": name, "p": p, "gamma": gamma}
    if repeat is not None:
        wanted["repeat"] = repeat
    folds = [fold for cell in cells.where(**wanted) for fold in cell[who]]
    return np.array(folds, dtype=float).reshape(-1, len(KS))


def default_errors(cells: CellFile, name: str) -> np.ndarray:
    """The same of the library's default."""
    folds = [fold for cell in cells.where(part="recommended", data=name) for fold in cell["folds"]]
    return np.array(folds, dtype=float).reshape(-1, len(KS))


def published(name: str, k: int, p: float) -> float:
    return ERRORS[k][DATA[name][0]][POWERS.index(p)]


def published_average(k: int, p: float) -> float:
    return float(np.mean([published(name, k, p) for name in FOUR]))


def average(
    cells: CellFile, k: int, p: float, who: str, gamma: float = GAMMA, repeat: int | None = None
) -> float:
    """Over the four sets, of the mean over folds; NaN where a set is missing."""
    errors = [fold_errors(cells, name, p, who, gamma, repeat) for name in FOUR]
    return _average([e[:, KS.index(k)] for e in errors])


def default_average(cells: CellFile, k: int) -> float:
    """The same of the library's default."""
    return _average([default_errors(cells, name)[:, KS.index(k)] for name in FOUR])


def _average(errors: list[np.ndarray]) -> float:
    return float(np.mean([e.mean() if e.size else np.nan for e in errors]))


def complete(cells: CellFile) -> bool:
    """Whether every data set and p has been measured at least once."""
    needed = [fold_errors(cells, name, p) for name in DATA for p in POWERS]
    needed += [default_errors(cells, name) for name in DATA]
    return all(errors.size for errors in needed)


def distance(cells: CellFile, name: str, gamma: float, selection: str) -> float:
    """Mean difference, without sign, from the sixteen published percentages of a set."""
    found = []
    for p in POWERS:
        errors = fold_errors(cells, name, p, f"library, {selection}", gamma, repeat=0)
        if errors.size == 0:
            return float("nan")
        means = errors.mean(axis=0)
        found += [abs(mean - published(name, k, p)) for k, mean in zip(KS, means, strict=True)]
    return float(np.mean(found))


def percentages(name: str) -> list[float]:
    """The sixteen that the paper prints for a set."""
    return [value for k in KS for value in ERRORS[k][DATA[name][0]]]


def attainable(percent: float, n: int) -> bool:
    """Whether five folds of n samples can have this mean error, to the two decimals printed.

    Folds differ in size by one sample: a errors in the smaller ones and b in the larger ones give
    20 (a / size + b / (size + 1)) percent.
    """
    size, larger = divmod(n, N_FOLDS)
    most_a, most_b = size * (N_FOLDS - larger), (size + 1) * larger
    share = 100 / N_FOLDS
    few = range(int(percent * (size + 1) / share) + 2)
    sums = (
        share * (a / size + b / (size + 1))
        for a, b in product(few, few)
        if a <= most_a and b <= most_b
    )
    return any(abs(percent - total) <= 0.0051 for total in sums)


def steps_to(values: list[float], change: float) -> int | None:
    """Steps of the printed algorithm until J falls by less than this part of it."""
    falls = relative_falls(values)
    small = np.flatnonzero(falls < change)
    return int(small[0]) + 2 if small.size else None


def relative_falls(values: list[float]) -> np.ndarray:
    """The paper's rho_k."""
    J = np.array(values)
    return (J[:-1] - J[1:]) / J[:-1]
