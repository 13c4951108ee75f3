"""Knockoffs: share of false columns and power, jointly and output by output, and on columns that
are not Gaussian.

python benchmarks/model_selection/knockoffs.py [runs]      (default: 100)
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from rowsparse import L2pSelector
from rowsparse.model_selection import KnockoffSelector

N, D, OUTPUTS, SIGNALS, TARGET = 300, 150, 5, 20, 0.1


def design(kind: str, rng: np.random.Generator) -> np.ndarray:
    noise = rng.standard_normal((N, D))
    if kind == "independent":
        return noise
    if kind == "correlated":
        X = noise.copy()
        for j in range(1, D):
            X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * noise[:, j]
        return X
    if kind == "heavy-tailed":
        return rng.standard_t(3, (N, D))
    if kind == "skewed":
        return np.exp(design("correlated", rng))
    return rng.binomial(2, rng.uniform(0.05, 0.5, D), (N, D)) + 0.01 * noise  # genotypes


def outputs(X: np.ndarray, strength: float, rng: np.random.Generator):
    truth = np.zeros(D, dtype=bool)
    truth[rng.choice(D, SIGNALS, replace=False)] = True
    W = np.zeros((D, OUTPUTS))
    W[truth] = strength * rng.standard_normal((SIGNALS, OUTPUTS))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return Z @ W + rng.standard_normal((N, OUTPUTS)), truth


def rates(support: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    return (support & ~truth).sum() / max(support.sum(), 1), (support & truth).sum() / truth.sum()


def main(runs: int) -> None:
    selector = L2pSelector(p=1, alpha=None)
    print("| columns | strength | joint FDP | power | union FDP | power | 10 draws FDP | power |")
    print("|---|---|---|---|---|---|---|---|")
    cases = [("independent", 0.2), ("independent", 0.15), ("independent", 0.1)]
    cases += [("correlated", 0.2), ("heavy-tailed", 0.2), ("skewed", 0.2), ("genotypes", 0.2)]
    for kind, strength in cases:
        found = []
        for run in range(runs):
            rng = np.random.default_rng(run)
            X = design(kind, rng)
            Y, truth = outputs(X, strength, rng)
            joint = KnockoffSelector(selector, fdr=TARGET, random_state=run).fit(X, Y)
            union = np.zeros(D, dtype=bool)
            for c in range(OUTPUTS):
                one = KnockoffSelector(selector, fdr=TARGET, random_state=run).fit(X, Y[:, c])
                union |= one.support_
            supports = [joint.support_, union]
            if (kind, strength) == cases[0]:
                several = KnockoffSelector(selector, fdr=TARGET, n_draws=10, random_state=run)
                supports.append(several.fit(X, Y).support_)
            found.append([rate for s in supports for rate in rates(s, truth)])
        mean = np.mean(found, axis=0)
        error = np.std(found, axis=0, ddof=1) / np.sqrt(runs)
        cells = [f"{m:.3f} ± {e:.3f}" for m, e in zip(mean, error, strict=True)]
        print(f"| {kind} | {strength} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
