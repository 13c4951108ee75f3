"""X and y as they are given: names of columns, and a sentence about what is no table of numbers."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from scipy import sparse


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
    if column_names(X) == ():
        raise ValueError(f"Expected X with columns, got a data frame of shape {X.shape}.")
    if _holds_times(X):
        name_columns_without_numbers(X)


def _holds_times(X: Any) -> bool:
    """Whether some column of a data frame holds dates or times, which NumPy takes for numbers."""
    if column_names(X) is None:
        return False
    kinds = " ".join({str(kind).lower() for kind in X.dtypes})
    return any(word in kinds for word in ("date", "time", "duration"))


def explain_no_table(X: Any) -> None:
    """Raise with what X is if NumPy or SciPy, whose words are riddles, cannot read it as a table of
    numbers."""
    name_columns_without_numbers(X)
    if sparse.issparse(X) and X.ndim != 2:
        raise ValueError(f"Expected a sparse X with two dimensions, got {X.ndim}.")
    if sparse.issparse(X) or column_names(X) is not None:
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
    if column_names(X) is None:
        return
    wrong = {}
    for name in X.columns:
        column = np.asarray(X[name])
        try:
            if column.dtype.kind in "cmM":  # they do become numbers, without a meaning
                raise TypeError
            column.astype(float)
        except (TypeError, ValueError):
            wrong[str(name)] = str(column.ravel()[0])
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
    gaps = np.flatnonzero(
        np.isnan(largest.toarray().ravel() if sparse.issparse(largest) else largest)
    )
    if gaps.size:
        columns = [str(j if names is None else names[j]) for j in gaps[:5]]
        raise ValueError(
            f"Expected no missing values in X, got NaN in {gaps.size} of {X.shape[1]} columns "
            f"(such as {', '.join(columns)}); put sklearn.impute.SimpleImputer before the selector "
            "in a Pipeline, or leave these rows or columns out."
        ) from None
