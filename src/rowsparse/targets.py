"""What y is, decided once: labels, indicators or numbers as the n x c matrix that losses see.

The rule, unless ``task`` says otherwise, is scikit-learn's ``type_of_target`` with one exception.
For scikit-learn a vector of whole numbers is class labels, also where it holds prices, ages or
scores. Here whole numbers are *numbers* if there are more than 20 different ones and they are
rarely repeated: fewer than 5 samples per value on average, or fewer than 2 if the values are the
codes of classes, 0 … c-1 or 1 … c without a gap. So 40 persons with 8 pictures each are classes
whatever their ids, 120 with 3 each are classes if they are numbered; the 214 different values in
the 442 samples of ``load_diabetes`` are numbers, as are 0 … n-1, each once. A UserWarning says so
whenever this exception decides.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import type_of_target

from .inputs import check_positive, check_task
from .warn import warn_user

# Samples per value below which more than 20 whole numbers are no classes: face databases have 10
# and more per person, 8 in a fold of five; diabetes progression has 2.1, house prices about 1.
MOST_FEW_CLASSES = 20
RARE = 5
RARE_CODES = 2
# Below it squares lose digits or vanish: it is as far above the smallest float with all its digits,
# 2e-308, as a double has digits.
SMALLEST_SQUARE = np.finfo(float).tiny / np.finfo(float).eps


@dataclass(frozen=True)
class Target:
    """Y (n x c, float64), what it was made of, the class labels and names where there are any."""

    Y: np.ndarray
    kind: str  # "binary", "multiclass", "multilabel" or "numbers"
    classes: np.ndarray | None = None
    names: tuple[str, ...] | None = None  # of the columns of a data frame

    @property
    def output_names(self) -> list[str]:
        """One name per column of Y: the class it stands for, its own name, or its position."""
        if self.kind == "binary" and self.classes is not None:
            return [str(self.classes[1])]
        if self.kind == "multiclass" and self.classes is not None:
            return [str(label) for label in self.classes]
        if self.names is not None and len(self.names) == self.Y.shape[1]:
            return list(self.names)
        return [str(k) for k in range(self.Y.shape[1])]

    @property
    def constant_outputs(self) -> np.ndarray:
        """Which columns of Y hold one value only."""
        return (self.Y == self.Y[0]).all(axis=0)

    @property
    def codes(self) -> np.ndarray:
        """The position of every sample's class in ``classes``."""
        if self.kind == "binary":
            return (self.Y[:, 0] > 0).astype(int)
        return self.Y.argmax(axis=1)


def as_target(y: Any, task: str, names: tuple[str, ...] | None = None) -> Target:
    """The matrix of labels, indicators or numbers."""
    y, kind = read_target(y, task)
    if kind == "labels":
        return labels_target(y)
    if kind == "indicator":
        return Target(np.where(y > 0, 1.0, -1.0), "multilabel", names=names)
    return _numbers(y, names)


def read_target(y: Any, task: str) -> tuple[np.ndarray, str]:
    """y as an array, and what it holds: "labels", "indicator" or "numbers"."""
    check_task("task", task)
    y = as_array(y)
    kind = _kind(y)
    if kind.startswith("unknown"):
        raise ValueError(
            "Unknown label type: expected y as labels, a label-indicator matrix or numbers, "
            f"got {kind} of dtype {y.dtype}."
        )
    if task == "regression" or (task == "auto" and _are_numbers(y, kind)):
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


def refuse_strange_target(y: Any) -> None:
    """Refuse what NumPy or scikit-learn would answer with a riddle."""
    if sparse.issparse(y):
        raise TypeError("Expected y as a dense array, got a sparse matrix; pass y.toarray().")
    if type(y).__name__ == "LazyFrame":
        raise TypeError("Expected y as an array or a data frame, got a LazyFrame; use y.collect().")
    a_list = isinstance(y, list | tuple)
    if a_list and _are_label_lists(y):
        raise ValueError(
            "Expected one label per sample or a 0/1 indicator matrix in y, got lists of labels; "
            "use sklearn.preprocessing.MultiLabelBinarizer().fit_transform(y)."
        )
    array = np.asarray(y)
    if array.ndim == 0:
        raise ValueError(f"Expected y with one label or number per sample, got {y!r:.60}.")
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        raise ValueError("Expected a label or number for every sample in y, got masked entries.")
    # NumPy turns a list of words and None or NaN into words: look at what was given
    if _some_missing(y if a_list else array.ravel(), array.dtype.kind):
        raise ValueError(
            "Expected a label or number for every sample in y, got missing values (None, NaN "
            "or NA); remove those samples, or give them a label of their own."
        )
    if array.dtype.kind in "mM" or (array.size and isinstance(array.flat[0], date)):
        raise TypeError(
            "Expected labels or numbers in y, got dates or times; convert them first, for example "
            "to days since the first one."
        )


def _some_missing(values: Any, kind: str) -> bool:
    if kind == "f":
        return bool(np.isnan(values).any())
    return kind in "OU" and any(_is_missing(value) for value in values)


def _is_missing(value: Any) -> bool:
    if isinstance(value, float):
        return bool(np.isnan(value))
    return type(value).__name__ in ("NoneType", "NAType", "NaTType")


def _are_label_lists(y: Any) -> bool:
    """Lists of different lengths, or of words: no matrix of indicators is meant."""
    inner = [len(labels) for labels in y if isinstance(labels, list | tuple | set)]
    if len(inner) < len(y) or not inner:
        return False
    if min(inner) < max(inner):
        return True
    return any(isinstance(label, str) for labels in y for label in labels)


def as_array(y: Any) -> np.ndarray:
    """y as an array of one or two dimensions; a single column is a vector."""
    y = np.asarray(y)
    if y.ndim > 2 or y.ndim == 0:
        raise ValueError(f"Expected y with one or two dimensions, got {y.ndim}.")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.dtype == object:
        _check_one_type(y)
    return y


def _check_one_type(y: np.ndarray) -> None:
    kinds = set()
    for label in y.flat:
        if isinstance(label, str):  # NumPy's own too
            kinds.add("str")
        else:
            kinds.add("number" if isinstance(label, Real) else type(label).__name__)
    if len(kinds) > 1:
        names = sorted({type(label).__name__ for label in y.flat})
        raise ValueError(
            f"Expected class labels of one type, got a mix of {', '.join(names)} in y; "
            "convert them with y.astype(str)."
        )


def _kind(y: np.ndarray) -> str:
    """``type_of_target``, which is slow, unless a look at y tells."""
    first = y[:100]
    if y.ndim == 1 and y.dtype.kind in "biuU" and 1 < 2 * np.unique(y).size <= y.size:
        return "multiclass"  # or binary; with more classes than that sklearn warns
    if y.dtype.kind == "f" and np.isfinite(first).all() and np.any(first != np.floor(first)):
        return "continuous" if y.ndim == 1 else "continuous-multioutput"
    # about many classes _are_numbers decides; numbers too large for an integer are no classes
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.filterwarnings("ignore", message="The number of unique classes")
        return str(type_of_target(y, input_name="y"))


def _are_numbers(y: np.ndarray, kind: str) -> bool:
    """The rule of this module, for task="auto"."""
    if y.ndim == 2:
        return not _is_indicator(y, kind)
    if kind not in ("binary", "multiclass"):
        return True
    if y.dtype.kind not in "iuf" or kind == "binary":
        return False
    values = np.unique(y)
    # every double beyond 2**53 is a whole number, and says nothing by being one
    if y.dtype.kind == "f" and np.abs(values).max() > 2 / np.finfo(float).eps:
        return True
    if values.size <= MOST_FEW_CLASSES:
        return False
    # nobody measures 0, 1, 2, … without a gap: these may be repeated more rarely
    codes = values[0] in (0, 1) and values[-1] - values[0] == values.size - 1
    per_value = y.size / values.size
    if per_value >= (RARE_CODES if codes else RARE):
        return False
    warn_user(
        f"y holds {values.size} different whole numbers, each in {per_value:.1f} samples on "
        "average: they are read as numbers, not as classes; pass task='classification' or "
        "task='regression' to decide.",
    )
    return True


def _is_indicator(y: np.ndarray, kind: str) -> bool:
    if kind != "multilabel-indicator":
        return False
    values = set(np.unique(y).tolist())
    return values <= {0, 1} or values <= {-1, 1}


def labels_target(y: np.ndarray) -> Target:
    """Class labels: one ±1 column for two classes (+1 is the second), ±1 one-hot for more.

    Two classes coded in two ±1 columns select the same rows: that problem at alpha equals this
    one at ``alpha * 2**((p - r) / 2)``.
    """
    classes, codes = np.unique(y, return_inverse=True)
    if classes.size < 2:
        raise ValueError(
            f"Expected at least two classes in y, got 1 class ({classes.tolist()[0]!r}); "
            "a constant target has nothing to select features for."
        )
    if classes.size == 2:
        return Target(2.0 * codes.reshape(-1, 1) - 1.0, "binary", classes)
    Y = np.full((codes.size, classes.size), -1.0)
    Y[np.arange(codes.size), codes.ravel()] = 1.0
    return Target(Y, "multiclass", classes)


def _numbers(y: np.ndarray, names: tuple[str, ...] | None) -> Target:
    """Numbers stay numbers; one output is one column."""
    try:
        Y = np.array(y, dtype=float, order="F")  # products with X read it by columns
    except (TypeError, ValueError):
        what = "numbers in y for task='regression'"
        instead = "leave task out where they are classes"
        if y.ndim == 2 and y.shape[1] > 1:
            what = "numbers or 0/1 labels in a y of several columns"
            instead = "code every label as 0 and 1"
        raise ValueError(
            f"Expected {what}, got words or other things (dtype {y.dtype}); {instead}."
        ) from None
    # mostly the first hundred differ already
    if np.all(Y[:100] == Y[0]) and np.all(Y == Y[0]):
        raise ValueError(
            "Expected y with more than one value, got a constant target; "
            "there is nothing to select features for."
        )
    _refuse_extreme(Y)
    return Target(Y.reshape(-1, 1) if Y.ndim == 1 else Y, "numbers", names=names)


def _refuse_extreme(Y: np.ndarray) -> None:
    """Refuse numbers whose squares, which every loss takes, overflow or lose their digits."""
    with np.errstate(over="ignore"):  # said in words
        total = float(np.sum(np.square(Y)))
        largest = float(np.max(np.ptp(Y, axis=0)))
    if not np.isfinite(total):
        raise ValueError(
            "Expected y whose sum of squares is finite, got numbers up to "
            f"{np.abs(Y).max():.2g}; rescale y."
        )
    if largest**2 < SMALLEST_SQUARE:
        raise ValueError(
            "Expected y whose squares can be told from zero, got numbers that differ by at most "
            f"{largest:.2g}; rescale y."
        )


def class_factors(class_weight: Any, target: Target, weights: np.ndarray) -> np.ndarray:
    """One factor per sample; "balanced" gives all classes the same total weight."""
    if class_weight is None:
        return np.ones(len(target.Y))  # also where there are no classes
    classes = target.classes
    if classes is None:
        raise ValueError(
            f"Expected class labels in y for class_weight={class_weight!r}, got "
            f"{target.kind}; use sample_weight."
        )
    if not isinstance(class_weight, Mapping):  # "balanced"
        totals = np.bincount(target.codes, weights, classes.size)
        factors = weights.sum() / (classes.size * totals)
        return factors[target.codes]
    known = {label: i for i, label in enumerate(classes.tolist())}
    factors = np.ones(classes.size)
    for label, weight in class_weight.items():
        if label in known:  # as in scikit-learn, classes that this y lacks do no harm
            factors[known[label]] = check_positive(f"class_weight[{label!r}]", weight)
    return factors[target.codes]
