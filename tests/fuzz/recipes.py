"""Random recipes of fits: plain JSON values, so that a failure can be written down and replayed.

A recipe names everything that decides a fit. ``tables.py`` makes the data of a recipe and
``estimators.py`` the estimator; both give the same for the same recipe, whatever is drawn here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Recipe = dict[str, Any]
Rng = np.random.Generator

COLUMNS = (
    "normal", "normal", "near", "near", "near", "equal", "low_rank", "binary", "counts",
    "heavy", "offset", "mixed_scales", "some_constant", "equal_rows", "one_large", "sparse",
)  # fmt: skip
STORAGES = (
    "C", "C", "F", "strided", "reversed", "readonly", "memmap", "csr", "csc", "coo",
    "unsorted", "duplicates", "explicit_zeros",
)  # fmt: skip
DTYPES = ("float64",) * 6 + ("float32", "float32", "float16", "longdouble", "int32")
FOR_NUMBERS = ("f", "information_gain", "relieff", "mrmr")
FILTERS = ("fisher", "f", "information_gain", "relieff", "mrmr", "svm_rfe", "arom", "fsv")
ESTIMATORS = {  # how often each is drawn
    "L2pSelector": 8, "LpInfSelector": 4, "TopKSelector": 5, "ZeroNormSVC": 5,
    "ProbitSelector": 3, "ZeroNormKernelSVC": 2, "ProbitKernelClassifier": 1, "ScoreSelector": 4,
}  # fmt: skip
LABELS_ONLY = ("ZeroNormSVC", "ProbitSelector", "ZeroNormKernelSVC", "ProbitKernelClassifier")
TWINS = ("storage", "repetition", "permutation", "scaling", "start")


def pick(rng: Rng, values: Any) -> Any:
    """One of the values, as itself rather than as NumPy's copy."""
    return values[int(rng.integers(len(values)))]


def often(rng: Rng, share: float) -> bool:
    return bool(rng.random() < share)


def power_of_ten(rng: Rng, low: float, high: float) -> float:
    return float(10 ** rng.uniform(low, high))


def draw(rng: Rng) -> Recipe:
    """A recipe: any estimator on any data."""
    names = list(ESTIMATORS)
    shares = np.array(list(ESTIMATORS.values()), dtype=float)
    name = names[int(rng.choice(len(names), p=shares / shares.sum()))]
    data = _data(rng)
    target = _target(rng, name, data["n"])
    recipe = {
        "estimator": name,
        "params": PARAMETERS[name](rng, data, target),
        "data": data,
        "target": target,
        "sample_weight": pick(rng, (None, None, None, "integers", "zeros", "spread")),
        "feature_weights": None,
        "twin": pick(rng, (None, None, None, *TWINS)),
    }
    if name not in ("ZeroNormKernelSVC", "ProbitKernelClassifier") and often(rng, 0.3):
        values = ("0", "0.5", "1", "1", "1", "2", "inf")
        recipe["feature_weights"] = [pick(rng, values) for _ in range(data["d"])]
    if target["kind"] in ("binary", "multiclass") and often(rng, 0.15):
        recipe["params"]["class_weight"] = "balanced"
    return recipe


def _data(rng: Rng) -> Recipe:
    n, d = _sizes(rng)
    scale = 0.0
    if often(rng, 0.15):
        scale = float(rng.uniform(-150, 150))
    return {
        "seed": int(rng.integers(2**31)),
        "n": n,
        "d": d,
        "columns": pick(rng, COLUMNS),
        "eps": float(10.0 ** -int(rng.integers(1, 9))),
        "scale": float(10**scale),
        "dtype": pick(rng, DTYPES),
        "storage": pick(rng, STORAGES),
    }


def _sizes(rng: Rng) -> tuple[int, int]:
    """Most are tiny: they fit in milliseconds, all their twins are made, and few columns are where
    ranks, ties and empty models are at stake. One in a hundred takes as long as fifty of them."""
    share = rng.random()
    if share < 0.70:
        return int(rng.integers(2, 13)), int(rng.integers(1, 9))
    if share < 0.80:
        return pick(rng, ((20, 15), (20, 8)))
    if share < 0.99:
        return int(rng.integers(5, 60)), int(2 ** rng.uniform(0, 7))
    return int(rng.integers(30, 90)), int(rng.integers(200, 800))


def _target(rng: Rng, estimator: str, n: int) -> Recipe:
    kinds = ("binary", "multiclass", "multilabel", "numbers", "numbers", "noise")
    kind = pick(rng, kinds[:2] if estimator in LABELS_ONLY else kinds)
    scale = float(rng.uniform(-150, 150)) if often(rng, 0.1) else 0.0
    return {
        "kind": kind,
        "n_outputs": int(rng.integers(1, 6)) if kind != "multiclass" else int(rng.integers(3, 6)),
        "n_relevant": int(rng.integers(1, 6)),
        "noise": pick(rng, (0.0, 0.1, 1.0)),
        "scale": float(10**scale),
        "labels": pick(rng, ("int", "str", "float")),
    }


def _k(rng: Rng, n_features: int) -> int:
    return int(rng.integers(1, min(n_features, 12) + 1))


def _row_parameters(rng: Rng, data: Recipe, target: Recipe) -> Recipe:
    params: Recipe = {
        "p": pick(rng, (0.0, 0.1, 0.5, 0.5, 0.75, 0.99, 1.0, 1.0)),
        "fit_intercept": often(rng, 0.8),
        "standardize": often(rng, 0.8),
    }
    if often(rng, 0.5):
        params["n_features_to_select"] = _k(rng, data["d"])
    if often(rng, 0.1 if "n_features_to_select" in params else 0.7):
        params["alpha"] = pick(rng, (0.0, power_of_ten(rng, -9, 1), power_of_ten(rng, -3, 0)))
    params["ridge"] = pick(rng, ("auto", "auto", 0.0, 0.0, 0.01, 1.0, power_of_ten(rng, -9, 2)))
    return params


def _l2p(rng: Rng, data: Recipe, target: Recipe) -> Recipe:
    params = _row_parameters(rng, data, target)
    params["r"] = pick(rng, (2.0, 2.0, 2.0, 1.0, 1.0, 0.5, 1.5, 1.05, 1.2, 0.1, 1.99))
    params["init"] = pick(rng, ("best", "best", "best", "zero", "irls", {"random": 1.0}))
    params["solver"] = pick(rng, (*("auto",) * 6, "BlockDescent", "BlockDescent", "IRLS"))
    if params["r"] == 2.0 and often(rng, 0.15):
        params["solver"] = "ProximalGradient"
    return params


def _lpinf(rng: Rng, data: Recipe, target: Recipe) -> Recipe:
    params = _row_parameters(rng, data, target)
    params["init"] = pick(rng, ("best", "best", "zero", "ridge", "convex", {"random": 1.0}))
    params["solver"] = pick(rng, ("auto", "auto", "auto", "BlockDescent", "ProximalGradient"))
    return params


def _top_k(rng: Rng, data: Recipe, target: Recipe) -> Recipe:
    r = pick(rng, (2.0, 2.0, 2.0, 1.0, 1.0, 0.5, 1.5))
    solvers = (*("auto",) * 6, "Splice", "Splice", "ALM", *(("SFS",) * 2 if r == 2.0 else ()))
    return {
        "n_features_to_select": _k(rng, data["d"]),
        "r": r,
        "ridge": pick(rng, ("auto", "auto", 0.0, 0.0, 0.01, 1.0, power_of_ten(rng, -9, 2))),
        "fit_intercept": often(rng, 0.8),
        "standardize": often(rng, 0.8),
        "n_init": pick(rng, (0, 1, 5, 5)),
        "polish": often(rng, 0.8),
        "random_state": int(rng.integers(1000)),
        "solver": pick(rng, solvers),
    }


def _margin(rng: Rng, data: Recipe, target: Recipe) -> Recipe:
    params: Recipe = {
        "norm": pick(rng, (0.0, 0.0, 0.5, 1.0, 1.0, 1.5, 2.0)),
        "standardize": often(rng, 0.8),
    }
    if often(rng, 0.4):
        params["n_features_to_select"] = _k(rng, data["d"])
    return params


def _zero_norm_svc(rng: Rng, data: Recipe, target: Recipe) -> Recipe:
    params = _margin(rng, data, target)
    params["C"] = pick(rng, (1.0, 1.0, power_of_ten(rng, -4, 4)))
    params["multi_class"] = pick(rng, ("joint", "joint", "ovr"))
    if often(rng, 0.15):
        params["norm"] = "inf"
        params.pop("n_features_to_select", None)
    return params


def _probit(rng: Rng, data: Recipe, target: Recipe) -> Recipe:
    return {**_margin(rng, data, target), "gamma": pick(rng, (1.0, power_of_ten(rng, -3, 2)))}


def _kernel(rng: Rng, data: Recipe, target: Recipe) -> Recipe:
    params: Recipe = {
        "kernel": pick(rng, ("rbf", "rbf", "linear", "poly", "sigmoid")),
        "norm": pick(rng, (0.0, 0.0, 0.5, 1.0, 2.0)),
        "gamma": pick(rng, ("scale", "scale", "auto", 0.1)),
    }
    if often(rng, 0.3):
        params["n_vectors_to_select"] = _k(rng, data["n"])
    return params


def _kernel_svc(rng: Rng, data: Recipe, target: Recipe) -> Recipe:
    return {**_kernel(rng, data, target), "C": pick(rng, (1.0, power_of_ten(rng, -3, 3)))}


def _kernel_probit(rng: Rng, data: Recipe, target: Recipe) -> Recipe:
    return {**_kernel(rng, data, target), "prior": pick(rng, (1.0, power_of_ten(rng, -3, 2)))}


def _score(rng: Rng, data: Recipe, target: Recipe) -> Recipe:
    numbers = target["kind"] in ("numbers", "noise")
    score = pick(rng, FOR_NUMBERS if numbers else FILTERS)
    return {"score": score, "n_features_to_select": _k(rng, data["d"])}


PARAMETERS = {
    "L2pSelector": _l2p,
    "LpInfSelector": _lpinf,
    "TopKSelector": _top_k,
    "ZeroNormSVC": _zero_norm_svc,
    "ProbitSelector": _probit,
    "ZeroNormKernelSVC": _kernel_svc,
    "ProbitKernelClassifier": _kernel_probit,
    "ScoreSelector": _score,
}
