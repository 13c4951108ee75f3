"""The data of a recipe: X in any storage, y, weights; the same for the same recipe."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
from scipy import sparse

SPARSE = ("csr", "csc", "coo", "unsorted", "duplicates", "explicit_zeros")


def table(data: dict[str, Any]) -> np.ndarray:
    """X as plain numbers of the recipe's dtype."""
    rng = np.random.default_rng(data["seed"])
    X = KINDS[data["columns"]](rng, data["n"], data["d"], data["eps"])
    if data["dtype"] == "int32":
        return np.clip(np.round(3 * X), -(2**30), 2**30).astype(np.int32)
    if data["storage"] in SPARSE:
        X = np.where(rng.random(X.shape) < 0.5, X, 0.0)
    if data["dtype"] == "float16" and data["storage"] in SPARSE:  # SciPy has no such matrices
        return np.clip(X, -6e4, 6e4).astype(np.float32)
    if data["dtype"] == "float16":
        return np.clip(X, -6e4, 6e4).astype(np.float16)
    if data["dtype"] == "float32":
        scale = np.clip(data["scale"], 1e-12, 1e12)
        return np.clip(X * scale, -1e30, 1e30).astype(np.float32)
    return (X * data["scale"]).astype(data["dtype"])


def _near(rng: Any, n: int, d: int, eps: float) -> np.ndarray:
    return rng.standard_normal((n, 1)) + eps * rng.standard_normal((n, d))


def _equal(rng: Any, n: int, d: int, eps: float) -> np.ndarray:
    few = rng.standard_normal((n, max(d // 3, 1)))
    return few[:, rng.integers(few.shape[1], size=d)]


def _low_rank(rng: Any, n: int, d: int, eps: float) -> np.ndarray:
    rank = max(min(n, d) // 3, 1)
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))


def _some_constant(rng: Any, n: int, d: int, eps: float) -> np.ndarray:
    X = rng.standard_normal((n, d))
    X[:, rng.random(d) < 0.4] = rng.standard_normal()
    return X


def _equal_rows(rng: Any, n: int, d: int, eps: float) -> np.ndarray:
    few = rng.standard_normal((max(n // 3, 2), d))
    return few[rng.integers(len(few), size=n)]


def _one_large(rng: Any, n: int, d: int, eps: float) -> np.ndarray:
    X = rng.standard_normal((n, d))
    X[rng.integers(n), rng.integers(d)] = 100 / eps
    return X


KINDS = {
    "normal": lambda rng, n, d, eps: rng.standard_normal((n, d)),
    "near": _near,
    "equal": _equal,
    "low_rank": _low_rank,
    "binary": lambda rng, n, d, eps: (rng.random((n, d)) < 0.3).astype(float),
    "counts": lambda rng, n, d, eps: rng.poisson(1.0, (n, d)).astype(float),
    "heavy": lambda rng, n, d, eps: rng.standard_cauchy((n, d)),
    "offset": lambda rng, n, d, eps: 1 / eps + rng.standard_normal((n, d)),
    "mixed_scales": lambda rng, n, d, eps: (
        rng.standard_normal((n, d)) * 10 ** rng.uniform(-6, 6, d)
    ),
    "some_constant": _some_constant,
    "equal_rows": _equal_rows,
    "one_large": _one_large,
    "sparse": lambda rng, n, d, eps: rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.1),
}


def stored(X: np.ndarray, storage: str) -> Any:
    """X as a user may keep it."""
    if storage in SPARSE:
        return _sparse(X, storage)
    if storage == "F":
        return np.asfortranarray(X)
    if storage == "strided":
        wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), dtype=X.dtype)
        wide[::2, ::3] = X
        return wide[::2, ::3]
    if storage == "reversed":
        return X[::-1, ::-1].copy()[::-1, ::-1]
    if storage == "readonly":
        X = X.copy()
        X.setflags(write=False)
        return X
    if storage == "memmap" and X.size:
        with tempfile.TemporaryFile() as file:  # the map keeps it open
            X.tofile(file)
            file.flush()
            return np.memmap(file, dtype=X.dtype, mode="r", shape=X.shape)
    return np.ascontiguousarray(X)


def _sparse(X: np.ndarray, storage: str) -> Any:
    if storage in ("csr", "csc", "coo"):
        return getattr(sparse, f"{storage}_matrix")(X)
    rows, columns = np.nonzero(X)
    if storage == "explicit_zeros":
        zeros = np.argwhere(X == 0)[::5]
        rows, columns = np.append(rows, zeros[:, 0]), np.append(columns, zeros[:, 1])
    values = X[rows, columns]
    if storage == "duplicates" and X.dtype.kind == "f":  # halves add up to the digit
        rows, columns = np.tile(rows, 2), np.tile(columns, 2)
        values = np.tile(values / 2, 2).astype(X.dtype)
    upwards = 1 if storage == "explicit_zeros" else -1
    order = np.lexsort((upwards * rows, columns))
    pointers = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=X.shape[1]))])
    return sparse.csc_matrix((values[order], rows[order], pointers), shape=X.shape)


def target(recipe: dict[str, Any], X: np.ndarray) -> np.ndarray:
    """y: labels, indicators or numbers that depend on some of the columns."""
    how = recipe["target"]
    rng = np.random.default_rng(recipe["data"]["seed"] + 1)
    n = len(X)
    c = how["n_outputs"]
    relevant = rng.permutation(X.shape[1])[: how["n_relevant"]]
    Z = _unit(np.asarray(X, dtype=float)[:, relevant]) @ rng.standard_normal((relevant.size, c))
    Z = Z + how["noise"] * rng.standard_normal((n, c))
    if how["kind"] == "noise":
        Z = rng.standard_normal((n, c))
    if how["kind"] == "multilabel":
        return _two_values((Z > np.median(Z, axis=0)).astype(int))
    if how["kind"] in ("numbers", "noise"):
        if np.array_equal(Z, np.round(Z)):  # where no column says anything; whole ones are classes
            Z[0] += 0.5
        return (Z if c > 1 else Z[:, 0]) * how["scale"]
    codes = Z.argmax(axis=1) if how["kind"] == "multiclass" else (Z[:, 0] > 0).astype(int)
    codes = _two_values(codes[:, None])[:, 0]
    words = {"int": codes, "float": codes.astype(float) + 0.0}
    return words.get(how["labels"], np.array(["a", "b", "c", "d", "e"])[codes])


def _unit(X: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        centred = X - X.mean(axis=0)
        largest = np.abs(centred).max(axis=0)
        return np.nan_to_num(centred / np.where(largest > 0, largest, 1.0))


def _two_values(codes: np.ndarray) -> np.ndarray:
    """At least two values in every column, however X turned out."""
    codes = codes.copy()
    for column in codes.T:
        if np.unique(column).size < 2:
            column[0] = 1 - column[0] if column[0] < 2 else 0
    return codes


def sample_weights(recipe: dict[str, Any]) -> np.ndarray | None:
    n = recipe["data"]["n"]
    rng = np.random.default_rng(recipe["data"]["seed"] + 2)
    match recipe["sample_weight"]:
        case None:
            return None
        case "integers":
            return rng.integers(1, 4, n).astype(float)
        case "zeros":
            return (rng.random(n) < 0.8).astype(float) + (np.arange(n) < 2)
        case "spread":
            return 10 ** rng.uniform(-3, 3, n)
    raise ValueError(f"Expected a known kind of weights, got {recipe['sample_weight']!r}.")
