"""For every selected column those that could stand in for it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..inputs import check_number, check_sample_weight
from ..values import ByValue
from .intake import Table
from .saving import load_result, pack, save_result, unpack
from .tables import data_frame

DEPENDENT = 1e-10  # of a column's variance: what is left of one that depends on others is rounding


@dataclass(frozen=True, eq=False)
class Alternatives(ByValue):
    """For each selected column those that may replace it.

    Attributes
    ----------
    selected : array of columns
    columns : for each of them those that may replace it, best first
    changes : how much the loss rises if they do, as a share of the loss without columns
    tol : the largest change that was asked for
    names : of all columns, or empty

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import TopKSelector
    >>> from rowsparse.model_selection import alternatives
    >>> found = alternatives(TopKSelector(3).fit(X, y), X, y, tol=0.05)
    >>> found.to_frame().columns.tolist()
    ['selected', 'alternative', 'change']
    """

    selected: np.ndarray
    columns: tuple[np.ndarray, ...]
    changes: tuple[np.ndarray, ...]
    tol: float
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        counts = ", ".join(str(columns.size) for columns in self.columns)
        return f"<Alternatives to {self.selected.size} columns: {counts}, shown by to_frame()>"

    def to_frame(self) -> Any:
        """One line per selected column and alternative as a pandas data frame."""

        def name(j: int) -> str:
            return self.names[j] if self.names else f"x{j}"

        lines = [
            {"selected": name(j), "alternative": name(i), "change": float(change)}
            for j, columns, changes in zip(self.selected, self.columns, self.changes, strict=True)
            for i, change in zip(columns, changes, strict=True)
        ]
        return data_frame(lines, columns=["selected", "alternative", "change"])

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write to a folder: JSON and npz, no pickle."""
        changes = np.concatenate([*self.changes, np.zeros(0)])
        arrays = {**pack(list(self.columns)), "selected": self.selected, "changes": changes}
        save_result(folder, "alternatives", {"tol": self.tol, "names": self.names}, arrays)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Alternatives:
        """Read what ``save`` wrote."""
        facts, arrays = load_result(folder, "alternatives")
        columns = tuple(unpack(arrays))
        changes = np.split(arrays["changes"], np.cumsum(arrays["sizes"])[:-1])
        return cls(
            arrays["selected"], columns, tuple(changes)[: len(columns)], facts["tol"],
            tuple(facts["names"]),
        )  # fmt: skip


class _Owner(BaseEstimator):
    """In place of the estimator whose input is checked."""


def alternatives(
    selector: Any, X: Any, y: Any, *, tol: float = 0.01, sample_weight: Any = None
) -> Alternatives:
    r"""The columns that could stand in for each selected one.

    A swap is judged by what the columns explain together: the squared loss of least squares on
    them, with the selector's own ridge and standardisation,

        min_W  1/(2n) |X_S W + 1b' - Y|**2 + ridge/2 |W|**2

    whatever the selector's loss and penalty. All single swaps are computed exactly.

    Parameters
    ----------
    selector : a fitted selector
    X, y : the data it was fitted on
    tol : float
        A swap may raise this loss by so much of the loss without columns. Without ridge it is by
        how much R² may fall.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from rowsparse import TopKSelector
    >>> from rowsparse.model_selection import alternatives
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = alternatives(TopKSelector(2).fit(X, y), X, y, tol=0.03)
    >>> found.to_frame()[["selected", "alternative"]].values.tolist()
    [['alcohol', 'proline'], ['flavanoids', 'od280/od315_of_diluted_wines']]
    """
    check_is_fitted(selector)
    check_number("tol", tol, 0.0)
    table = Table.of(_Owner(), selector, X, y)
    support = np.flatnonzero(selector.get_support())
    if len(selector.get_support()) != table.shape[1]:
        raise ValueError(
            f"Expected X with the {len(selector.get_support())} columns that were fitted, got "
            f"{table.shape[1]}."
        )
    moments = _Moments.of(table, selector, support, sample_weight)
    found = [moments.swaps(at, tol) for at in range(support.size)]
    names = () if table.names is None else tuple(map(str, table.names))
    return Alternatives(
        support, tuple(one for one, _ in found), tuple(two for _, two in found), float(tol), names
    )


@dataclass(frozen=True)
class _Moments:
    """Products of the selected columns with all others and with Y: no square of all columns."""

    support: np.ndarray
    cross: np.ndarray  # selected x all
    with_y: np.ndarray  # all x outputs
    diagonal: np.ndarray  # of all, the ridge included
    ridge: float
    null: float

    @classmethod
    def of(cls, table: Table, selector: Any, support: np.ndarray, sample_weight: Any) -> _Moments:
        n = table.shape[0]
        weight = check_sample_weight(sample_weight, n)
        weight = np.ones(n) if weight is None else weight
        weight = weight / weight.sum()
        X: Any = table.X if sparse.issparse(table.X) else np.asarray(table.X, dtype=float)
        params = selector.get_params(deep=False)
        means = weight @ X if params.get("fit_intercept", True) else np.zeros(X.shape[1])
        squares = weight @ (X.multiply(X) if sparse.issparse(X) else X**2)
        # X - 1 means' is never formed: a sparse X stays one
        variances = np.maximum(squares - (2 * means * (weight @ X) - means**2), 0.0)
        variances[variances <= DEPENDENT * squares] = 0.0
        scale = np.sqrt(variances) if params.get("standardize", True) else np.ones(X.shape[1])
        scale[scale == 0] = np.inf  # constant columns stand in for nothing
        Y = table.target.Y
        if params.get("fit_intercept", True):
            Y = Y - weight @ Y
        A = _dense(X[:, support]) - means[support]
        right = np.hstack([A * weight[:, None], Y * weight[:, None]])
        products = np.asarray(X.T @ right) - np.outer(means, right.sum(axis=0))
        products = products / scale[:, None]
        k = support.size
        ridge = float(vars(selector).get("ridge_", 0.0))
        cross = products[:, :k] / scale[support]
        # the outputs were appended to the right of the columns
        with_y = products[:, k:]
        diagonal = variances / scale**2 + ridge
        return cls(support, cross.T, with_y, diagonal, ridge, 0.5 * float(weight @ (Y**2).sum(1)))

    def swaps(self, at: int, tol: float) -> tuple[np.ndarray, np.ndarray]:
        """The columns that may replace the selected one at this position, and the changes."""
        stay = np.delete(np.arange(self.support.size), at)
        gram = self.cross[np.ix_(stay, self.support[stay])] + self.ridge * np.eye(stay.size)
        solved = _solved(gram, np.hstack([self.cross[stay], self.with_y[self.support[stay]]]))
        d = self.cross.shape[1]
        # what the columns that stay leave of Y and of every column, by the normal equations
        left = self.with_y - self.cross[stay].T @ solved[:, d:]
        own = self.diagonal - np.sum(self.cross[stay] * solved[:, :d], axis=0)
        usable = own > DEPENDENT * self.diagonal
        gains = np.zeros(d)
        gains[usable] = 0.5 * np.sum(left[usable] ** 2, axis=1) / own[usable]
        changes = (gains[self.support[at]] - gains) / (self.null or 1.0)
        allowed = np.isfinite(changes) & (changes <= tol) & (gains > 0)
        # a selected column is no alternative to another
        allowed[self.support] = False
        columns = np.flatnonzero(allowed)
        columns = columns[np.argsort(changes[columns], kind="stable")]
        return columns, changes[columns]


def _solved(gram: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Least squares where selected columns depend on each other."""
    if not len(gram):
        return np.zeros_like(right)
    # columns that depend on each other leave a system that no factorisation takes
    return linalg.lstsq(gram, right, cond=DEPENDENT)[0]


def _dense(part: Any) -> np.ndarray:
    return part.toarray() if sparse.issparse(part) else part
