"""What must hold after any fit. A check yields (what, detail) for everything that does not."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from .formulas import Claim, Table

Finding = tuple[str, str]
REL = 1e-6
NOTHING = 1e-8  # of the objective without features: the tolerance of the solvers
ENUMERATED = 30  # sets of k columns that are all tried: what is proved meets the optimum (r = 2)
LOUD = (RuntimeWarning, DeprecationWarning, FutureWarning)


def loud(caught: list[warnings.WarningMessage]) -> Iterator[Finding]:
    """Warnings of NumPy and SciPy: about our arithmetic, of no use to a user."""
    for one in caught:
        if issubclass(one.category, LOUD):
            where = f"{one.filename.rpartition('/')[2]}:{one.lineno}"
            yield "warning", f"{one.category.__name__} {where} {str(one.message)[:80]}"


def finite(fit: Any) -> Iterator[Finding]:
    """Fitted numbers are numbers."""
    names = ("coef_", "intercept_", "scores_", "dual_coef_", "alpha_", "ridge_", "C_", "gamma_")
    for name in names:
        value = vars(fit).get(name)
        if value is not None and not np.isfinite(value).all():
            yield "not finite", name
    solution = vars(fit).get("solution_")
    if solution is not None and not np.isfinite(solution.objective):
        yield "not finite", f"objective, {solution.status}"


def support(fit: Any, recipe: dict[str, Any], table: Table) -> Iterator[Finding]:
    """Exactly k features, nonzero rows among them, excluded ones not, a ranking of all."""
    d = table.factors.size
    chosen = fit.support_
    if "coef_" in vars(fit) and np.any(fit.coef_[:, ~chosen] != 0):
        yield "support", "a coefficient outside of support_"
    never = np.isinf(table.factors) | (np.ptp(table.X, axis=0) == 0)
    if chosen[never].any():
        yield "support", "an excluded or constant column is selected"
    if not np.array_equal(np.sort(fit.ranking_), np.arange(1, d + 1)):
        yield "support", "ranking_ is no permutation"
    k = recipe["params"].get("n_features_to_select")
    found = int(chosen.sum())
    surely = int(np.count_nonzero(table.varies & ~never))
    if k is not None and not min(k, surely) <= found <= k:
        yield "support", f"{found} selected, {k} asked for, {surely} usable"


def claims(fit: Any, claim: Claim, null: float) -> Iterator[Finding]:
    """The objective is that of the coefficients, and not above that of no feature at all."""
    s = fit.solution_
    if not np.any(fit.coef_):  # a classifier without features then votes
        return
    own = claim.objective(fit.coef_, fit.intercept_)
    noise = claim.rounding(fit.coef_, fit.intercept_)
    noise += 1e-14 * abs(null)
    if not abs(own - s.objective) <= REL * abs(s.objective) + noise:
        yield "objective", f"claimed {s.objective!r}, is {own!r} (rounding {noise:.1g})"
    sought = claim.kind in ("l2p", "lpinf") or claim.convex  # reweighting follows its own way
    if sought and s.converged and s.objective > null * (1 + 1e-6) + noise:
        yield "worse than nothing", f"{s.objective!r} against {null!r} without features"


def bounds(fit: Any, claim: Claim, points: list[tuple[str, float]]) -> Iterator[Finding]:
    """No point is below what is proved; where convex, "converged" is near the best one."""
    s = fit.solution_
    name, best = min(points, key=lambda point: point[1])
    noise = claim.rounding(fit.coef_, fit.intercept_)
    lower = [("lower_bound", s.lower_bound)]
    if s.gap is not None:
        lower.append(("gap", s.objective - s.gap))
        if s.gap < 0:
            yield "gap", f"negative: {s.gap!r}"
    for what, bound in lower:
        if bound is not None and bound > best * (1 + 1e-9) + noise:
            yield "false bound", f"{what} {bound!r} above {best!r} ({name})"
    if claim.convex and s.converged:
        # "converged" says that the violation is at most 1e-8 in units of the data, and below that
        # part of the objective without features it promises nothing; the gap says what is missing
        noise += NOTHING * abs(points[0][1])
        if s.objective > best * (1 + 1e-3) + noise:
            yield "not optimal", f"converged at {s.objective!r}, {name} has {best!r}"
        if s.gap is not None and s.gap > 1e-2 * abs(s.objective) + noise:
            yield "wide gap", f"converged at {s.objective!r} with a gap of {s.gap!r}"


def points(recipe: dict[str, Any], fit: Any, claim: Claim) -> list[tuple[str, float]]:
    """F without features, and at points that the solver has not seen."""
    t = claim.table
    rng = np.random.default_rng(0)
    zero = np.zeros_like(fit.coef_, dtype=float)
    with_intercept = recipe["params"].get("fit_intercept", True)
    center = np.average(t.Y, axis=0, weights=t.weights)
    starts = [np.zeros(t.Y.shape[1])]
    if with_intercept:
        starts += [center, *t.Y[rng.integers(len(t.Y), size=5)]]
        if claim.kind in ("hinge", "probit"):
            starts += [np.sign(center), *(center + 0.0 * t.Y[:1])]
    free = (t.factors == 0) & t.varies
    null = min(claim.objective(zero, b) for b in starts)
    found = [("no feature", null)]
    own = np.any(fit.coef_ != 0, axis=0)
    allowed = np.flatnonzero(np.isfinite(t.factors) & t.varies)
    k = allowed.size if claim.most_rows is None else claim.most_rows
    sets = [("its own columns", np.flatnonzero(own)), ("always in", np.flatnonzero(free))]
    if claim.most_rows is not None and comb(allowed.size, k) <= ENUMERATED:
        sets += [("all sets", np.array(columns)) for columns in combinations(allowed, k)]
    for i in range(4):
        size = min(k, int(rng.integers(1, 6)) if i else k)
        sets.append((f"random columns {i}", rng.permutation(allowed)[:size]))
    for name, columns in sets:
        for ridge in (0.0, 1e-3, 1.0) if name != "all sets" else (claim.params.get("ridge", 0.0),):
            coef, b = _ridge_fit(t, columns, ridge, with_intercept)
            for shrink in (1.0, 0.9):
                found.append((name, claim.objective(shrink * coef, b)))
    for size in (1e-6, 1e-3, 0.1, 1.0):
        coef = fit.coef_ * (1 + size * rng.standard_normal(fit.coef_.shape))
        found.append((f"near it, {size:g}", claim.objective(coef, fit.intercept_)))
        found.append(
            (f"shorter, {size:g}", claim.objective(fit.coef_ / (1 + size), fit.intercept_))
        )
    return [(name, value) for name, value in found if not np.isnan(value)]


def _ridge_fit(
    t: Table, columns: np.ndarray, ridge: float, with_intercept: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted ridge regression of Y on some columns, on their standardised scale."""
    mean = np.average(t.X, axis=0, weights=t.weights)[columns]
    Y_mean = np.average(t.Y, axis=0, weights=t.weights)
    if not with_intercept:
        mean, Y_mean = 0 * mean, 0 * Y_mean
    spread = t.scales[columns]
    A = (t.X[:, columns] - mean) / spread
    root = np.sqrt(t.weights / t.weights.mean() / len(A))[:, None]
    rows = np.vstack([root * A, np.sqrt(ridge) * np.eye(columns.size)])
    right = np.vstack([root * (t.Y - Y_mean), np.zeros((columns.size, t.Y.shape[1]))])
    W = np.linalg.lstsq(rows, right, rcond=1e-12)[0] / spread[:, None]
    coef = np.zeros((t.Y.shape[1], t.X.shape[1]))
    coef[:, columns] = W.T
    return coef, Y_mean - mean @ W
