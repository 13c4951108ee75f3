"""Checks of what users pass in: one clear sentence each (expected, got, what to do)."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real

import numpy as np
from sklearn.utils.multiclass import type_of_target

from .targets import Target, indicator_target, labels_target, numbers_target


def check_number(name: str, value, low: float, high: float, low_open: bool = False) -> float:
    """A real number in a range."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    inside = real and (low < value if low_open else low <= value) and value <= high
    if inside and np.isfinite(value):
        return float(value)
    span = f"to be a finite number {'>' if low_open else '>='} {low:g}"
    if np.isfinite(high):
        span = f"in {'(' if low_open else '['}{low:g}, {high:g}]"
    raise _error(real, f"Expected {name} {span}, got {name}={value!r}.")


def _error(right_type: bool, message: str) -> Exception:
    return ValueError(message) if right_type else TypeError(message)


def check_k(
    k, factors: np.ndarray, name: str = "n_features_to_select", of: str = "the columns of X"
) -> int | None:
    """How many of the candidates to select: None or an integer from 1 to their number."""
    n_features, n_always = factors.size, int(np.count_nonzero(factors == 0))
    if k is None:
        return None
    if not isinstance(k, Integral) or isinstance(k, bool):
        raise TypeError(
            f"Expected {name} to be an integer or None, got {k!r}; "
            f"pass a number from 1 to {n_features}."
        )
    k = int(k)
    if not 1 <= k <= n_features:
        raise ValueError(f"Expected {name} from 1 to {n_features} ({of}), got {k}.")
    if k < n_always:
        raise ValueError(
            f"Expected {name} of at least {n_always}, the number of features that "
            f"feature_weights keeps always in, got {k}."
        )
    return k


def check_sample_weight(sample_weight, n: int) -> np.ndarray | None:
    """Weights >= 0, one per sample, not all zero; scaled to mean one over those that count."""
    if sample_weight is None:
        return None
    s = np.asarray(sample_weight, dtype=float)
    if s.ndim == 0:
        s = np.full(n, float(s))
    if s.shape != (n,):
        raise ValueError(
            f"Expected sample_weight with one number per sample, shape ({n},), got shape {s.shape}."
        )
    if not np.isfinite(s).all():
        raise ValueError("Expected finite sample_weight, got NaN or infinity in it.")
    if (s < 0).any():
        raise ValueError(
            f"Expected sample_weight >= 0, got negative values (smallest {s.min():g})."
        )
    if not s.any():
        raise ValueError("Expected some positive sample_weight, got zero for every sample.")
    return s


def check_feature_weights(feature_weights, n_features: int, names) -> np.ndarray | None:
    """One factor >= 0 per feature (0: always in, infinity: never), from an array or by name."""
    if feature_weights is None:
        return None
    if isinstance(feature_weights, Mapping):
        feature_weights = _weights_by_name(feature_weights, n_features, names)
    try:
        weights = np.asarray(feature_weights, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(
            f"Expected feature_weights as numbers, got {feature_weights!r:.60}."
        ) from None
    if weights.shape != (n_features,):
        raise ValueError(
            f"Expected feature_weights with one number per column of X, shape ({n_features},), "
            f"got shape {weights.shape}."
        )
    if np.isnan(weights).any() or (weights < 0).any():
        raise ValueError(
            "Expected feature_weights >= 0 (0 = always in, inf = never), "
            "got negative values or NaN in it."
        )
    if np.isinf(weights).all():
        raise ValueError(
            "Expected feature_weights that leave some column of X, got inf (never) for all of them."
        )
    return weights


def _weights_by_name(mapping: Mapping, n_features: int, names) -> np.ndarray:
    if names is None:
        raise ValueError(
            "Expected X with column names when feature_weights is a mapping, got an array; "
            "pass a DataFrame, or feature_weights as an array."
        )
    position = {name: j for j, name in enumerate(names)}
    unknown = [name for name in mapping if name not in position]
    if unknown:
        raise ValueError(
            f"Expected feature_weights for columns of X, got unknown names {unknown[:5]!r}."
        )
    weights = np.ones(n_features)
    for name, weight in mapping.items():
        weights[position[name]] = weight
    return weights


def as_target(y, task: str) -> Target:
    """Labels, an indicator matrix or numbers: ``type_of_target`` decides unless task says so."""
    y, kind = read_target(y, task)
    if kind == "labels":
        return labels_target(y)
    return indicator_target(y) if kind == "indicator" else _numbers(y)


def read_target(y, task: str) -> tuple[np.ndarray, str]:
    """y as an array, and what it holds: "labels", "indicator" or "numbers"."""
    if task not in ("auto", "classification", "regression"):
        raise ValueError(
            f"Expected task to be 'auto', 'classification' or 'regression', got task={task!r}."
        )
    y = np.asarray(y)
    if y.ndim > 2 or y.ndim == 0:
        raise ValueError(f"Expected y with one or two dimensions, got {y.ndim}.")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.dtype == object and y.ndim == 1:
        _check_one_type(y)
    kind = _kind(y)
    if kind.startswith("unknown"):
        raise ValueError(
            "Unknown label type: expected y as labels, a label-indicator matrix or numbers, "
            f"got {kind} of dtype {y.dtype}."
        )
    if task == "regression" or (task == "auto" and not _is_labels(y, kind)):
        return y, "numbers"
    if y.ndim == 2:
        if not _is_indicator(y, kind):
            raise ValueError(
                "Expected y as a vector of labels or a 0/1 indicator matrix for "
                f"task='classification', got {kind} of shape {y.shape}."
            )
        return y, "indicator"
    if kind.startswith("continuous"):
        raise ValueError(
            "Expected class labels for task='classification', got continuous numbers in y."
        )
    return y, "labels"


def _kind(y: np.ndarray) -> str:
    """``type_of_target``, which is slow, unless a look at y tells."""
    first = y[:100]
    if y.ndim == 1 and y.dtype.kind in "biuU" and 1 < 2 * np.unique(y).size <= y.size:
        return "multiclass"  # or binary; with more classes than that sklearn warns
    if y.dtype.kind == "f" and np.isfinite(first).all() and np.any(first != np.floor(first)):
        return "continuous" if y.ndim == 1 else "continuous-multioutput"
    return type_of_target(y, input_name="y")


def _check_one_type(y: np.ndarray) -> None:
    kinds = {
        str if isinstance(label, str) else Real if isinstance(label, Real) else type(label)
        for label in y
    }
    if len(kinds) > 1:
        names = sorted({type(label).__name__ for label in y})
        raise ValueError(
            f"Expected class labels of one type, got a mix of {', '.join(names)} in y; "
            "convert them with y.astype(str)."
        )


def _is_labels(y: np.ndarray, kind: str) -> bool:
    return kind in ("binary", "multiclass") if y.ndim == 1 else _is_indicator(y, kind)


def _is_indicator(y: np.ndarray, kind: str) -> bool:
    if kind != "multilabel-indicator":
        return False
    return set(np.unique(y).tolist()) <= {0, 1} or set(np.unique(y).tolist()) <= {-1, 1}


def _numbers(y: np.ndarray) -> Target:
    try:
        target = numbers_target(y)
    except (TypeError, ValueError):
        raise ValueError(
            f"Expected numbers in y for task='regression', got dtype {y.dtype}."
        ) from None
    if all(np.all(Y == Y[0]) for Y in (target.Y[:100], target.Y)):  # mostly the first will do
        raise ValueError(
            "Expected y with more than one value, got a constant target; "
            "there is nothing to select features for."
        )
    return target
