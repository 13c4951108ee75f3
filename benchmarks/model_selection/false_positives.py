"""StabilitySelector: false columns against the number asked for, and the power beside it.

Counted are all false columns, and those of them that stand next to a true one: among correlated
columns they carry its signal.

python benchmarks/model_selection/false_positives.py [simulations] [F | top-k | l2,1]
                                                          (default: 200 F)
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace

import numpy as np

from rowsparse import L2pSelector, ScoreSelector, TopKSelector
from rowsparse.model_selection import StabilitySelector
from rowsparse.model_selection.error_bounds import BOUNDS

N, D, OUTPUTS, SIGNALS, Q, PFER = 100, 200, 3, 8, 12, 1.0
DESIGNS = ("independent", "correlated", "heavy-tailed")
SELECTORS = {
    "F": ScoreSelector("f"),
    "top-k": TopKSelector(n_init=0, polish=False),
    "l2,1": L2pSelector(p=1),
}


def design(kind: str, rng: np.random.Generator) -> np.ndarray:
    if kind == "heavy-tailed":
        return rng.standard_t(3, (N, D))
    noise = rng.standard_normal((N, D))
    if kind == "independent":
        return noise
    X = noise.copy()
    for j in range(1, D):
        X[:, j] = 0.7 * X[:, j - 1] + np.sqrt(1 - 0.49) * noise[:, j]
    return X


def simulated(kind: str, seed: int, selector: str) -> dict[str, tuple[int, int, int, float]]:
    rng = np.random.default_rng(seed)
    X = design(kind, rng)
    truth = np.zeros(D, dtype=bool)
    truth[rng.choice(D, SIGNALS, replace=False)] = True
    W = np.zeros((D, OUTPUTS))
    W[truth] = 0.4 * rng.standard_normal((SIGNALS, OUTPUTS))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = Z @ W + rng.standard_normal((N, OUTPUTS))
    beside = (np.roll(truth, 1) | np.roll(truth, -1)) & ~truth
    fitted = StabilitySelector(SELECTORS[selector], q=Q, threshold=0.9, random_state=seed)
    stability = fitted.fit(X, Y).stability_
    found = {}
    for bound in BOUNDS:
        chosen = replace(stability, bound=bound).at(pfer=PFER)
        hits = int(truth[chosen.support].sum())
        neighbours = int(beside[chosen.support].sum())
        found[bound] = (chosen.support.size - hits, neighbours, hits, chosen.threshold)
    return found


def main(simulations: int, selector: str) -> None:
    """The designs in turn, so that the table so far, which is printed again and again, is fair."""
    runs: dict[str, list[dict[str, tuple[int, int, int, float]]]] = {kind: [] for kind in DESIGNS}
    for seed in range(simulations):
        for kind in DESIGNS:
            runs[kind].append(simulated(kind, seed, selector))
        if (seed + 1) % 25 == 0:
            table(runs)


def table(runs: dict[str, list[dict[str, tuple[int, int, int, float]]]]) -> None:
    print(f"\nafter {len(runs[DESIGNS[0]])} simulations of each\n")
    print(
        "| columns | bound | threshold | false (asked: at most 1) | next to a true one "
        "| true of 8 |"
    )
    print("|---|---|---|---|---|---|")
    for kind in DESIGNS:
        for bound in BOUNDS:
            false, beside, hits, thresholds = np.array([run[bound] for run in runs[kind]]).T
            error = false.std(ddof=1) / np.sqrt(false.size)
            print(
                f"| {kind} | {bound} | {thresholds[0]:.2f} | {false.mean():.3f} ± {error:.3f} | "
                f"{beside.mean():.3f} | {hits.mean():.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    arguments = [*sys.argv[1:], *("200", "F")[len(sys.argv) - 1 :]]
    main(int(arguments[0]), arguments[1])
