"""Random small top-k problems with a ridge, against all their supports.

    python tests/reference/enumerated.py 2000      # cases 0 ... 1999

prints every case whose lower bound is above the optimum or whose proof is wrong, and a summary.
"""

import sys
import warnings
from itertools import combinations

import numpy as np

from rowsparse import TopKSelector
from rowsparse.solvers import Splice

PROOF_SECONDS = 0.2


def random_case(seed):
    """Data, parameters of a TopKSelector and arguments of its fit; None if k does not fit."""
    rng = np.random.default_rng(seed)
    r = float(rng.choice([1.0, 2.0]))
    n, c = int(rng.integers(5, 30)), int(rng.integers(1, 4))
    d = int(rng.integers(3, 15 if r == 2 else 10))  # a fit takes longer for r = 1
    X = rng.standard_normal((n, d))
    if rng.random() < 0.3:
        X[:, 1] = X[:, 0]
    if rng.random() < 0.3:
        X[:, -1] = 1.5
    Y = X[:, :2] @ rng.standard_normal((2, c)) + rng.standard_normal((n, c))
    weights = np.ones(d)
    weights[rng.integers(d, size=2)] = rng.choice([0.0, 1.0, np.inf], 2)
    k = int(rng.integers(1, min(4, d) + 1))
    if not np.sum(weights == 0) < k <= np.sum(np.isfinite(weights)):
        return None
    parameters = {
        "n_features_to_select": k,
        "r": r,
        "ridge": float(10 ** rng.uniform(-2, 1)),
        "fit_intercept": bool(rng.random() < 0.7),
        "feature_weights": weights,
        "task": "regression",
        "solver": Splice(proof_seconds=PROOF_SECONDS),
    }
    sample_weight = rng.uniform(0.2, 2.0, n) if rng.random() < 0.4 else None
    return X, Y, parameters, sample_weight


def lowest_of_all_supports(problem):
    open_ = np.flatnonzero(
        problem.may_enter & ~problem.penalty.free(problem.n_rows)[: problem.may_enter.size]
    )
    k = min(problem.limit, open_.size)
    return min(
        problem.objective(problem.refitted(np.array(support, dtype=int)))
        for support in combinations(open_, k)
    )


def compared(seed):
    """The solution of a case and the lowest objective there is; None if k does not fit."""
    case = random_case(seed)
    if case is None:
        return None
    X, Y, parameters, sample_weight = case
    selector = TopKSelector(**parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = selector.fit(X, Y, sample_weight=sample_weight).solution_
    best = lowest_of_all_supports(selector.problem_and_solver(X, Y, sample_weight)[0])
    return found, best


def main(cases):
    say = sys.stdout.write
    compared_, optimal, proved, wrong = 0, 0, 0, 0
    for seed in range(cases):
        pair = compared(seed)
        if pair is None:
            continue
        found, best = pair
        says_so = found.proof.startswith("proved")
        compared_ += 1
        optimal += found.objective <= best * (1 + 1e-6)
        proved += says_so
        if found.lower_bound > best * (1 + 1e-7) or (says_so and found.objective > best * 1.00001):
            wrong += 1
            say(f"case {seed}: bound {found.lower_bound}, optimum {best}: {found.proof}\n")
    say(f"{compared_} cases: {wrong} wrong, {optimal} at the optimum, {proved} proved\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
