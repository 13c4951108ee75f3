"""Checks of what users pass in: one clear sentence each (expected, got, what to do).

A parameter's check is a function of its name and value. An estimator declares ``_checks``, one for
each of its parameters, and walks them before ``fit`` reads the data; what needs the data (k <= d,
the shape of ``init``, weights, X that is no table of numbers) is checked when it is there.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from .numerics.rounding import largest_with

Check = Callable[[str, Any], object]
TASKS = ("auto", "classification", "regression")
LARGEST_WEIGHT = largest_with(3)  # of a sample
MOST_BYTES = 4e9  # of working memory, where X itself is smaller: half of a small machine's


def check_parameters(estimator: Any) -> None:
    """Raise about the first parameter that is not what its class says."""
    given = vars(estimator)
    for name, check in estimator._checks.items():
        check(name, given[name])


def optional(check: Check) -> Check:
    """None, or what the check allows."""
    return lambda name, value: None if value is None else check(name, value)


def is_integer(value: Any) -> bool:
    """Whether it is a whole number of an integer type; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """Whether it is a number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_number(
    name: str, value: Any, low: float, high: float = np.inf, low_open: bool = False
) -> float:
    """A finite number in a range."""
    inside = is_real(value) and low <= value <= high and not (low_open and value == low)
    if inside and abs(value if is_integer(value) else float(value)) <= sys.float_info.max:
        return float(value)  # for which an integer may be too large
    span = f"to be a finite number {'>' if low_open else '>='} {low:g}"
    if np.isfinite(high):
        span = f"in {'(' if low_open else '['}{low:g}, {high:g}]"
    elif low == -np.inf:
        span = "to be a finite number"
    raise error_of(is_real(value))(f"Expected {name} {span}, got {name}={value!r}.")


def check_positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    return check_number(name, value, 0.0, low_open=True)


def check_integer(name: str, value: Any, low: int, high: float = np.inf, of: str = "") -> int:
    """An integer from ``low`` on, up to ``high``, which is the number ``of`` something."""
    if is_integer(value) and low <= value <= high:
        return int(value)
    span = f">= {low}" if high == np.inf else f"from {low} to {high}"
    raise error_of(is_real(value))(
        f"Expected {name} to be an integer {span}{of and f' ({of})'}, got {name}={value!r}."
    )


def check_count(name: str, value: Any) -> None:
    """How many to select: an integer, or a fraction of all in (0, 1)."""
    whole = is_integer(value)
    share = isinstance(value, float | np.floating)
    if not (whole and value >= 1) and not (share and 0 < value < 1):
        raise error_of(whole or share)(
            f"Expected {name} to be an integer >= 1 or a fraction between 0 and 1, got {value!r}."
        )


def check_switch(name: str, value: Any) -> None:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"Expected {name} to be True or False, got {name}={value!r}.")


def check_memory(needed: float, X: Any, what: str, instead: str) -> None:
    """Refuse what needs far more memory than X has, before it is asked for."""
    stored = X.data.nbytes if sparse.issparse(X) else X.nbytes
    if needed > max(MOST_BYTES, 2.0 * stored):
        raise ValueError(
            f"Expected X on which {what} needs at most {MOST_BYTES / 1e9:g} GB, or twice what X "
            f"has, got {X.shape[0]} x {X.shape[1]}, which would need {needed / 1e9:.3g} GB; "
            f"{instead}."
        )


def check_name(name: str, value: Any, names: tuple[str, ...]) -> None:
    """One of a few names."""
    if not (isinstance(value, str) and value in names):
        known = f"{', '.join(map(repr, names[:-1]))} or {names[-1]!r}"
        raise ValueError(f"Expected {name} to be {known}, got {name}={value!r}.")


def check_task(name: str, value: Any) -> None:
    """How to read y."""
    check_name(name, value, TASKS)


def check_class_weight(name: str, value: Any) -> None:
    """None, "balanced" or a mapping; its weights are checked when the classes are known."""
    balanced = isinstance(value, str) and value == "balanced"
    if not (value is None or balanced or isinstance(value, Mapping)):
        raise ValueError(
            f"Expected {name} to be None, 'balanced' or a mapping from class to weight, "
            f"got {name}={value!r}."
        )


def error_of(right_type: bool) -> type[Exception]:
    """ValueError for a value out of range, TypeError for a thing of the wrong kind."""
    return ValueError if right_type else TypeError


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """ " Did you mean …?" where a known name looks like it, else nothing."""
    alike = difflib.get_close_matches(str(name), [str(other) for other in known], n=1)
    return f" Did you mean {alike[0]!r}?" if alike else ""


def check_k(
    k: Any, factors: np.ndarray, name: str = "n_features_to_select", of: str = "the columns of X"
) -> int:
    """How many of the candidates to select: from 1 to their number, or a fraction of it."""
    n_features = factors.size
    n_always = int(np.count_nonzero(factors == 0))
    if not is_integer(k):
        k = max(int(n_features * k), 1)  # as RFE rounds it
    if not 1 <= k <= n_features:
        raise ValueError(f"Expected {name} from 1 to {n_features} ({of}), got {k}.")
    if k < n_always:
        raise ValueError(
            f"Expected {name} of at least {n_always}, the number of features that "
            f"feature_weights keeps always in, got {k}."
        )
    return int(k)


def check_sample_weight(sample_weight: Any, n: int) -> np.ndarray | None:
    """Weights >= 0, one per sample, not all zero."""
    if sample_weight is None:
        return None
    s = as_numbers(sample_weight, "sample_weight")
    if s.ndim == 0:
        s = np.full(n, float(s))
    if s.shape != (n,):
        raise ValueError(
            f"Expected sample_weight with one number per sample, shape ({n},), got shape {s.shape}."
        )
    if not np.isfinite(s).all():
        raise ValueError("Expected finite sample_weight, got NaN or infinity in it.")
    if (s < 0).any():
        raise ValueError(f"Expected sample_weight >= 0, got negative values (down to {s.min():g}).")
    if not s.any():
        raise ValueError("Expected some positive sample_weight, got zero for every sample.")
    extreme = s[(s > 0) & ((s < 1 / LARGEST_WEIGHT) | (s > LARGEST_WEIGHT))]
    if extreme.size:
        raise ValueError(
            f"Expected sample_weight as 0 or between {1 / LARGEST_WEIGHT:g} and "
            f"{LARGEST_WEIGHT:g}, got {extreme[0]:g}; multiply all weights by one number."
        )
    return s


def as_numbers(values: Any, name: str) -> np.ndarray:
    """What NumPy reads as real numbers, each of them given."""
    try:
        array = np.asanyarray(values)
        # complex numbers, dates and times do become floats, without a meaning
        if array.dtype.kind in "cmM" or np.ma.is_masked(array):
            raise TypeError
        return np.asarray(array, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"Expected {name} as real numbers, got {values!r:.60}.") from None


def check_feature_weights(
    feature_weights: Any, n_features: int, names: Iterable[Any] | None
) -> np.ndarray | None:
    """One factor >= 0 per feature (0: always in, infinity: never), from an array or by name."""
    if feature_weights is None:
        return None
    by_name = _named_values(feature_weights)
    if by_name is not None:
        feature_weights = _weights_by_name(by_name, n_features, names)
    weights = as_numbers(feature_weights, "feature_weights")
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


def _named_values(values: Any) -> dict[Any, Any] | None:
    """A mapping, or a pandas Series whose index holds names, as a dict; None for all else."""
    if isinstance(values, Mapping):
        return dict(values)
    pandas = sys.modules.get("pandas")  # where it is not loaded there is no Series of its
    is_series = pandas is not None and isinstance(values, pandas.Series)
    if is_series and all(isinstance(label, str) for label in values.index):
        return dict(values.items())
    return None


def _weights_by_name(
    by_name: dict[Any, Any], n_features: int, names: Iterable[Any] | None
) -> np.ndarray:
    if names is None:
        raise ValueError(
            "Expected X with column names when feature_weights is a mapping, got an array; "
            "pass a DataFrame, or feature_weights as an array."
        )
    position = {name: j for j, name in enumerate(names)}
    unknown = [name for name in by_name if name not in position]
    if unknown:
        raise ValueError(
            f"Expected feature_weights for columns of X, got unknown names {unknown[:5]!r}."
            f"{did_you_mean(unknown[0], position)}"
        )
    weights = np.ones(n_features)
    for name, weight in by_name.items():
        if not is_real(weight):
            raise TypeError(f"Expected feature_weights[{name!r}] to be a number, got {weight!r}.")
        weights[position[name]] = weight
    return weights


def column_names(y: Any) -> tuple[str, ...] | None:
    """The names of a data frame's columns; None for everything else."""
    for library in ("pandas", "polars"):
        module = sys.modules.get(library)  # a frame of a library that is not loaded is none
        if module is not None and isinstance(y, module.DataFrame):
            return tuple(str(name) for name in y.columns)
    return None


def refuse_strange_table(X: Any) -> None:
    """Refuse what would be answered late, or taken for numbers."""
    kind = type(X).__name__
    if kind == "AnnData":  # known by name: the library need not be there
        raise TypeError(
            "Expected X as an array, a sparse matrix or a data frame, got AnnData; pass adata.X "
            "(or adata.layers[...]) as X and adata.obs[...] as y."
        )
    if kind == "LazyFrame":
        raise TypeError("Expected X as an array or a data frame, got a LazyFrame; use X.collect().")
    if isinstance(X, list | tuple) and X and isinstance(X[0], str):
        raise ValueError(
            "Expected a table of numbers in X, got a list of texts; make one of them first, such "
            "as by sklearn's TfidfVectorizer in the same Pipeline."
        )
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(
            "Expected a number in every entry of X, got a masked array with masked entries; fill "
            "them, for example by X.filled(numpy.nan) and sklearn.impute.SimpleImputer."
        )
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise TypeError(f"Expected numbers in X, got dates or times ({X.dtype}); convert them.")
    names = column_names(X)
    if names == ():
        raise ValueError(f"Expected X with columns, got a data frame of shape {X.shape}.")
    if names and _holds_times(X):
        name_columns_without_numbers(X)


def _holds_times(X: Any) -> bool:
    """Whether some column of a data frame holds dates or times, which NumPy takes for numbers."""
    kinds = " ".join({str(kind).lower() for kind in X.dtypes})
    return any(word in kinds for word in ("date", "time", "duration"))


def explain_no_table(X: Any) -> None:
    """Raise with what X is if NumPy or SciPy, whose words are riddles, cannot read it."""
    if column_names(X) is not None:
        name_columns_without_numbers(X)
        return
    if sparse.issparse(X):
        if X.ndim != 2:
            raise ValueError(f"Expected a sparse X with two dimensions, got {X.ndim}.")
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of complex numbers, which scikit-learn refuses
            np.asarray(X, dtype=float)
    except (TypeError, ValueError) as error:
        raise type(error)(
            "Expected X as a table of numbers, samples by features, got what NumPy cannot read as "
            f"one ({type(X).__name__}): {error}."
        ) from None


def name_columns_without_numbers(X: Any) -> None:
    """Raise with the names of a data frame's columns that are no numbers, if there are any."""
    wrong = {}
    for name in X.columns:
        try:
            as_numbers(X[name], str(name))
        except TypeError:
            wrong[str(name)] = str(np.ravel(X[name])[0])
    if wrong:
        raise ValueError(
            "Expected numbers in X, got strings, dates or other things in the columns "
            f"{list(wrong)[:5]} (such as {next(iter(wrong.values()))!r}); convert them to numbers "
            "(categories by pandas.get_dummies, decimal commas by read_csv(decimal=',')) or leave "
            "them out."
        ) from None


def name_columns_with_gaps(X: Any, names: Any) -> None:
    """Raise with the columns of an array or a sparse matrix that hold NaN, if there are any."""
    largest = X.max(axis=0)  # NaN where one is, in one pass and without an array of X's size
    if sparse.issparse(largest):
        largest = largest.toarray().ravel()
    gaps = np.flatnonzero(np.isnan(largest))
    if gaps.size:
        columns = [str(j if names is None else names[j]) for j in gaps[:5]]
        raise ValueError(
            f"Expected no missing values in X, got NaN in {gaps.size} of {X.shape[1]} columns "
            f"(such as {', '.join(columns)}); put sklearn.impute.SimpleImputer before the selector "
            "in a Pipeline, or leave these rows or columns out."
        ) from None
