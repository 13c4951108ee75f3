"""Pure noise: 72 × 7,129 standard normal numbers and random labels. Nothing may look good.

python benchmarks/model_selection/noise.py [seeds]      (default: 20)
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from rowsparse import L2pSelector, ScoreSelector, TopKSelector
from rowsparse.model_selection import SelectorCV, StabilitySelector, compare

N, D, KS = 72, 7129, (5, 20)


def main(seeds: int) -> None:
    forward = TopKSelector(n_init=0, polish=False)
    methods = {"top-k": forward, "l2,1": L2pSelector(p=1), "F": ScoreSelector("f")}
    means, covered, nested, covered_nested, stable = [], [], [], [], []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((N, D))
        y = rng.permutation(np.arange(N) % 2)
        compared = compare(methods, X, y, ks=KS, random_state=seed)
        lines = list(compared.summary())
        means += [line["score"] for line in lines]
        covered += [line["low"] <= 0.5 <= line["high"] for line in lines]
        search = SelectorCV(ScoreSelector("f"), ks=[1, 5, 20, 50])
        score = search.nested_score(X, y)
        nested.append(score.mean)
        covered_nested.append(score.interval.low <= 0.5 <= score.interval.high)
        chosen = StabilitySelector(forward, pfer=1.0, threshold=0.75, random_state=seed)
        stable.append(chosen.fit(X, y).support_.sum())
        print(
            f"seed {seed}: compared {np.mean(means[-len(lines) :]):.3f}, nested {nested[-1]:.3f}, "
            f"stable columns {stable[-1]}",
            flush=True,
        )
    print(
        f"\ncompared: mean accuracy {np.mean(means):.3f}, {np.mean(covered):.0%} of "
        f"{len(covered)} intervals hold .5\nnested: mean {np.mean(nested):.3f}, "
        f"{np.mean(covered_nested):.0%} of {seeds} intervals hold .5\n"
        f"stable columns at pfer = 1 (q = {chosen.q_}): mean {np.mean(stable):.2f}, "
        f"largest {max(stable)}"
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
