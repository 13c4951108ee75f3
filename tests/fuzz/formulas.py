"""What each estimator says it minimises, written once more from the documentation, in float64.

Nothing here calls the library: ``coef_``, ``intercept_`` and the fitted ``alpha_``, ``ridge_``,
``C_`` are all that is taken from a fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_ndtr


@dataclass(frozen=True)
class Table:
    """The data as the formulas see them: dense, samples of weight zero left out."""

    X: np.ndarray
    Y: np.ndarray
    weights: np.ndarray  # as given, times those of the classes
    factors: np.ndarray
    scales: np.ndarray  # of the columns: what a row of coef_ is multiplied by
    varies: np.ndarray  # columns that surely hold more than one value

    @classmethod
    def of(cls, recipe: dict[str, Any], X: np.ndarray, y: np.ndarray, s: Any) -> Table:
        X = np.asarray(X, dtype=float)
        s = np.ones(len(X)) if s is None else s
        X, y, s = X[s > 0], y[s > 0], s[s > 0]
        Y = coded(recipe, y)
        if recipe["params"].get("class_weight") == "balanced":
            s = s * balanced(y, s)
        f = recipe["feature_weights"]
        factors = np.ones(X.shape[1]) if f is None else np.array(f, dtype=float)
        mean = np.average(X, axis=0, weights=s)
        spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=s))
        varies = spread > 1e-5 * np.abs(mean)
        standardised = recipe["params"].get("standardize", True)
        scales = np.where(spread > 0, spread, 1.0) if standardised else np.ones(X.shape[1])
        return cls(X, Y, s, factors, scales, varies)

    @property
    def always_in(self) -> np.ndarray:
        """Columns that may take a place among the k whatever is in them."""
        return (self.factors == 0) & (np.ptp(self.X, axis=0) > 0)


def coded(recipe: dict[str, Any], y: np.ndarray) -> np.ndarray:
    """±1 for classes (one column for two) and indicators, numbers as they are."""
    kind = recipe["target"]["kind"]
    if kind in ("numbers", "noise"):
        return np.asarray(y, dtype=float).reshape(len(y), -1)
    if kind == "multilabel" and y.ndim == 2 and y.shape[1] > 1:
        return np.where(y > 0, 1.0, -1.0)
    classes = np.unique(y)
    if classes.size == 2:
        return np.where(y.ravel() == classes[1], 1.0, -1.0)[:, None]
    return np.where(y.reshape(-1, 1) == classes, 1.0, -1.0)


def balanced(y: np.ndarray, s: np.ndarray) -> np.ndarray:
    classes, codes = np.unique(y, return_inverse=True)
    totals = np.bincount(codes.ravel(), s, classes.size)
    return (s.sum() / (classes.size * totals))[codes.ravel()]


@dataclass(frozen=True)
class Claim:
    """A fit's own problem: F of any coefficients, and how many rows may be nonzero."""

    table: Table
    kind: str
    params: dict[str, float]
    most_rows: int | None = None

    def objective(self, coef: np.ndarray, intercept: np.ndarray) -> float:
        """F, infinity where the constraint or an exclusion is broken."""
        t = self.table
        W = coef.T * t.scales[:, None]
        used = np.any(W != 0, axis=1)
        if np.isinf(t.factors[used]).any():
            return np.inf
        counted = used | t.always_in  # a place that is theirs, whether they use it or not
        if self.most_rows is not None and np.count_nonzero(counted) > self.most_rows:
            return np.inf
        Z = t.X @ coef.T + intercept
        return float(LOSSES[self.kind](self, Z) + PENALTIES[self.kind](self, W[used], used))

    def rounding(self, coef: np.ndarray, intercept: np.ndarray) -> float:
        """How much of F one rounding of each product in Z may change, to first order."""
        t = self.table
        size = np.abs(t.X) @ np.abs(coef.T) + np.abs(intercept) + np.abs(t.Y)
        delta = 50 * 2.2e-16 * size
        Z = t.X @ coef.T + intercept
        away = np.where(Z < t.Y, -1.0, 1.0)
        loss = LOSSES[self.kind]
        return abs(loss(self, Z + away * delta) - loss(self, Z)) + abs(
            loss(self, Z - away * delta) - loss(self, Z)
        )

    @property
    def convex(self) -> bool:
        if self.most_rows is not None:
            return False
        p = self.params
        return p.get("r", 2.0) >= 1 and p["p"] >= 1


def _residual_loss(claim: Claim, Z: np.ndarray) -> float:
    t = claim.table
    r = claim.params["r"]
    norms = np.sqrt(np.sum((Z - t.Y) ** 2, axis=1))
    return np.sum(t.weights / t.weights.mean() * norms**r) / (r * len(Z))


def _hinge(claim: Claim, Z: np.ndarray) -> float:
    t = claim.table
    return claim.params["C"] * np.sum(t.weights[:, None] * np.maximum(0, 1 - t.Y * Z))


def _probit(claim: Claim, Z: np.ndarray) -> float:
    t = claim.table
    return -claim.params["C"] * np.sum(t.weights[:, None] * log_ndtr(t.Y * Z))


def _powers(sizes: np.ndarray, p: float) -> np.ndarray:
    return (sizes > 0).astype(float) if p == 0 else sizes**p


def _l2p(claim: Claim, W: np.ndarray, used: np.ndarray) -> float:
    return _rows(claim, np.linalg.norm(W, axis=1), W, used)


def _lpinf(claim: Claim, W: np.ndarray, used: np.ndarray) -> float:
    return _rows(claim, np.abs(W).max(axis=1, initial=0.0), W, used)


def _rows(claim: Claim, sizes: np.ndarray, W: np.ndarray, used: np.ndarray) -> float:
    p = claim.params
    f = claim.table.factors[used]
    ridge = p["ridge"] / 2 * np.sum(W**2)
    return p["alpha"] * np.sum(f * _powers(sizes, p["p"])) + ridge


def _margin_norm(claim: Claim, W: np.ndarray, used: np.ndarray) -> float:
    p = claim.params["p"]
    f = claim.table.factors[used, None]
    joint = claim.params["joint"]
    if np.isinf(p):
        largest = (f * np.abs(W)).max(axis=0, initial=0.0)
        return largest.max(initial=0.0) if joint else largest.sum()
    sizes = np.linalg.norm(W, axis=1, keepdims=True) if joint else np.abs(W)
    return (1.0 if p == 0 else 2 / p) * np.sum(f * _powers(sizes, p))


LOSSES = {"l2p": _residual_loss, "lpinf": _residual_loss, "hinge": _hinge, "probit": _probit}
PENALTIES = {"l2p": _l2p, "lpinf": _lpinf, "hinge": _margin_norm, "probit": _margin_norm}


def claim_of(recipe: dict[str, Any], fit: Any, table: Table) -> Claim | None:
    """The problem that a fitted estimator says it has solved; None for filters and kernels."""
    name = recipe["estimator"]
    params = recipe["params"]
    k = params.get("n_features_to_select")
    if name == "TopKSelector":
        own = {"r": params["r"], "p": 1.0, "alpha": 0.0, "ridge": fit.ridge_}
        return Claim(table, "l2p", own, k)
    if name in ("L2pSelector", "LpInfSelector"):
        kind = "l2p" if name == "L2pSelector" else "lpinf"
        own = {"r": params.get("r", 2.0), "p": params["p"]}
        own |= {"alpha": fit.alpha_, "ridge": fit.ridge_}
        # also where alpha is given: it is solved "under the constraint of at most so many rows"
        return Claim(table, kind, own, k)
    if name in ("ZeroNormSVC", "ProbitSelector"):
        kind = "hinge" if name == "ZeroNormSVC" else "probit"
        joint = params.get("multi_class", "joint") == "joint"
        own = {"p": float(params["norm"]), "C": fit.C_, "joint": joint}
        return Claim(table, kind, own, k)
    return None
