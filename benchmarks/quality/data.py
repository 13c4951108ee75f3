"""The sets: kind, task, rows after the cut. Nothing is scaled here, the folds do that."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

BESIDE = Path(__file__).resolve().parents[2].parent / "shared" / "data"
FOLDER = Path(os.environ.get("ROWSPARSE_DATA", BESIDE))
ROWS = 1000  # larger sets are cut to so many rows: the whole run has to fit into an hour
RARE = 20  # labels with fewer positives are left out: some folds would not hold a single one
CLASSES, LABELS, NUMBERS = "classes", "labels", "numbers"


@dataclass(frozen=True)
class Data:
    name: str
    task: str
    X: np.ndarray  # float64, dense
    y: np.ndarray  # class codes, a 0/1 matrix, or numbers


@dataclass(frozen=True)
class Source:
    kind: str
    task: str
    read: Callable[[str], tuple[np.ndarray, np.ndarray]]


def load(name: str) -> Data:
    source = SETS[name]
    X, y = source.read(name)
    X, y = _cut(X, y, source.task)
    if source.task == LABELS:
        y = y[:, y.sum(axis=0) >= RARE]
    varies = X.max(axis=0) > X.min(axis=0)
    return Data(name, source.task, np.ascontiguousarray(X[:, varies]), y)


def halves() -> dict[str, list[str]]:
    """A chooses the defaults, B reports: sorted by kind, then name, and dealt out in turn."""
    names = sorted(SETS, key=lambda name: (SETS[name].kind, name.lower()))
    return {"A": names[0::2], "B": names[1::2]}


def _cut(X, y, task):
    if len(X) <= ROWS:
        return X, y
    strata = y if task == CLASSES else None
    rows, _ = train_test_split(np.arange(len(X)), train_size=ROWS, random_state=0, stratify=strata)
    rows.sort()
    return X[rows], y[rows]


def _dense(name):
    with np.load(FOLDER / f"{name}.npz") as file:
        return file["X"].astype(float), file["y"].astype(int)


def _labels(name):
    with np.load(FOLDER / f"{name}.npz") as file:
        return file["X"].astype(float), file["Y"].astype(int)


def _sparse(name):
    X = sp.load_npz(FOLDER / f"{name}.X.npz").astype(float)
    return X.toarray(), np.load(FOLDER / f"{name}.y.npy").astype(int)


def _counts(name):
    """Cells scaled to 10,000 counts each, then log(1 + x): row by row, so no fold sees another."""
    X, y = _sparse(name)
    return np.log1p(1e4 * X / X.sum(axis=1, keepdims=True)), y


def _diabetes(_):
    """Ten measurements with their squares and products."""
    X, y = load_diabetes(return_X_y=True)
    first, second = np.triu_indices(X.shape[1])
    return np.hstack([X, X[:, first] * X[:, second]]), y


def _correlated(_):
    """Neighbouring columns correlate by .9; twenty of them, spread out, carry the signal."""
    rng = np.random.default_rng(14)
    n, d, rho = 200, 1000, 0.9
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    w = np.zeros(d)
    w[rng.choice(d, 20, replace=False)] = rng.normal(size=20)
    signal = X @ w
    return X, signal + 0.5 * signal.std() * rng.normal(size=n)


#: In the order in which they run: small ones first.
SETS = {
    "Sonar": Source("other", CLASSES, _dense),
    "diabetes_products": Source("numbers", NUMBERS, _diabetes),
    "ml_emotions": Source("multi-label", LABELS, _labels),
    "colon_alon": Source("genes", CLASSES, _dense),
    "correlated": Source("numbers", NUMBERS, _correlated),
    "GLIOMA": Source("genes", CLASSES, _dense),
    "lymphoma_62": Source("genes", CLASSES, _dense),
    "ALLAML": Source("genes", CLASSES, _dense),
    "Prostate_GE": Source("genes", CLASSES, _dense),
    "sc_pbmc68k_reduced": Source("single cell", CLASSES, _dense),
    "SEMEION": Source("images", CLASSES, _dense),
    "USPS": Source("images", CLASSES, _dense),
    "MNIST_4v9": Source("images", CLASSES, _dense),
    "ml_yeast": Source("multi-label", LABELS, _labels),
    "ml_scene": Source("multi-label", LABELS, _labels),
    "madelon": Source("other", CLASSES, _dense),
    "LUNG": Source("genes", CLASSES, _dense),
    "warpPIE10P": Source("images", CLASSES, _dense),
    "TOX_171": Source("genes", CLASSES, _dense),
    "arcene": Source("other", CLASSES, _dense),
    "ISOLET1": Source("speech", CLASSES, _dense),
    "dexter_train": Source("text", CLASSES, _sparse),
    "ml_enron": Source("multi-label", LABELS, _labels),
    "CAR": Source("genes", CLASSES, _dense),
    "RELATHE": Source("text", CLASSES, _dense),
    "PCMAC": Source("text", CLASSES, _dense),
    "BASEHOCK": Source("text", CLASSES, _dense),
    "sc_pbmc3k_counts": Source("single cell", CLASSES, _counts),
}
