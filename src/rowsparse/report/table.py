"""The data beside a result: names, groups of samples, quantiles and columns that move together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .facts import DataFacts, Group, StandIn
from .words import count, visible

QUANTILES = (5, 25, 50, 75, 95)
MOST_GROUPS = 4  # distributions that are told apart in the height of a table row
MOST_SAMPLES = 5000  # quantiles of more look the same
MOST_PRODUCTS = 1e9  # of correlations: some tenths of a second
CLOSE = 0.8  # correlation from which a column is named as one that could stand in
MOST_STAND_INS = 3


@dataclass(frozen=True)
class Table:
    """X and y as they were given, with the names that go with them."""

    X: Any  # ndarray, memory map or sparse
    y: np.ndarray | None
    storage: str
    names: tuple[str, ...] | None = None
    target_names: tuple[str, ...] | None = None
    name: str = ""
    source: str = ""
    target: str = ""  # the column of the source that y is
    notes: tuple[str, ...] = ()
    coded: frozenset[int] = frozenset()  # columns that are words of categories

    @classmethod
    def of(cls, data: Any) -> Table | None:
        """From None, (X, y), an object with X and y such as a ``Dataset``, or X alone."""
        if data is None or isinstance(data, Table):
            return data
        if isinstance(data, tuple | list) and len(data) == 2:
            return cls._checked(data[0], data[1])
        if not {"X", "y"} <= set(dir(data)):
            return cls._checked(data, None)
        known = vars(data)
        groups = known.get("groups") or {}
        return cls._checked(
            data.X,
            data.y,
            names=_texts(known.get("feature_names")),
            target_names=_texts(known.get("target_names")),
            name=str(known.get("name") or ""),
            source=str(known.get("source") or ""),
            target=str(known.get("target") or ""),
            notes=_texts(known.get("notes")) or (),
            coded=frozenset(j for group in groups.values() for j in group),
        )

    @classmethod
    def _checked(cls, X: Any, y: Any, **known: Any) -> Table:
        storage = ""
        if "columns" in dir(X):  # a data frame of pandas or polars
            storage = f"a {type(X).__module__.split('.')[0]} data frame"
            known["names"] = known.get("names") or _texts(X.columns)
            X = X.to_numpy()
        elif not sparse.issparse(X):
            X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(
                f"Expected data as (X, y) with a two-dimensional X, got one of shape {X.shape}; "
                "pass data=(X, y) as the selector was fitted."
            )
        if y is not None and len(y) != X.shape[0]:
            raise ValueError(
                f"Expected data=(X, y) with one y per row of X, got {X.shape[0]} rows and "
                f"{len(y)} values."
            )
        if y is not None:
            y = np.asarray(y)
        return cls(X, y, storage=storage or _storage(X), **known)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    def columns(self, indices: Sequence[int], rows: np.ndarray | None = None) -> np.ndarray:
        """Some columns as floats, of all or of some samples; nothing else is made dense."""
        if sparse.issparse(self.X):
            picked = self.X.tocsc()[:, list(indices)].toarray()
        else:
            picked = self.X[:, list(indices)]
        if rows is not None:
            picked = picked[rows]
        return np.asarray(picked, dtype=float)

    def some_rows(self, most: int) -> np.ndarray | None:
        """All (None) or a random sample of them in their order, the same in every run."""
        n = self.shape[0]
        if n <= most:
            return None
        drawn = np.random.default_rng(0).choice(n, size=most, replace=False)
        return np.sort(drawn)  # in the order of a memory map


def _texts(values: Any) -> tuple[str, ...] | None:
    return None if values is None else tuple(str(value) for value in values)


class Groups:
    """The samples of every class or label, or of the low, middle and high third of numbers."""

    def __init__(self, table: Table, kind: str, outputs: Sequence[str], classes: Any) -> None:
        self.rows = table.some_rows(MOST_SAMPLES)
        y = np.asarray(table.y)
        if self.rows is not None:
            y = y[self.rows]
        self.masks: list[np.ndarray] = []
        self.names: list[str] = list(outputs)
        if kind == "multilabel":
            present = np.asarray(y, dtype=float) > 0
            self.masks = list(present.T)
        elif classes is not None:
            self.names = class_names(table, classes)
            self.masks = [y == label for label in classes]
        elif y.ndim == 1 or y.shape[1] == 1:
            numbers = np.asarray(y, dtype=float)
            self._thirds(numbers.ravel())
        self.names = self.names[: len(self.masks)]

    def _thirds(self, y: np.ndarray) -> None:
        low, high = np.quantile(y, [1 / 3, 2 / 3])
        between = (y > low) & (y <= high)
        self.masks = [y <= low, between, y > high]
        self.names = ["low y", "middle", "high y"]

    def of(self, values: np.ndarray, weights: np.ndarray) -> tuple[Group, ...]:
        """Quantiles per group: the groups that the feature speaks for most, and the others."""
        if len(self.masks) <= MOST_GROUPS:
            pairs = list(zip(self.names, self.masks, strict=True))
        else:
            if not np.any(weights):  # a filter has none
                weights = self._how_far_means_stand_out(values)
            # one place is for all the others together
            heaviest = np.argsort(-np.abs(weights), kind="stable")[: MOST_GROUPS - 1]
            pairs = [(self.names[i], self.masks[i]) for i in heaviest]
            shown = np.any([mask for _, mask in pairs], axis=0)
            pairs.append(("others", ~shown))
        return tuple(_group(name, values[mask]) for name, mask in pairs if mask.any())

    def _how_far_means_stand_out(self, values: np.ndarray) -> np.ndarray:
        centre = values.mean()
        # a class may be missing from the drawn samples
        means = [values[mask].mean() if mask.any() else centre for mask in self.masks]
        return np.array(means) - centre


def _group(name: str, values: np.ndarray) -> Group:
    quantiles = np.percentile(values, QUANTILES)
    return Group(str(name), tuple(float(q) for q in quantiles), int(values.size))


def class_names(table: Table | None, classes: Any) -> list[str]:
    """What the classes are called: the names of a dataset come in the order of its codes."""
    names = None if table is None else table.target_names
    if names and len(names) == len(classes):
        return list(names)
    return [str(label) for label in classes]


def stand_ins(table: Table, chosen: Sequence[int], names: Sequence[str]) -> list[tuple]:
    """For every chosen column those others whose correlation with it is ``CLOSE`` or more."""
    pairs = max(1, table.shape[1] * len(chosen))
    rows = table.some_rows(max(50, int(MOST_PRODUCTS / pairs)))
    found = _correlations(table, chosen, rows)
    found[list(chosen), np.arange(len(chosen))] = 0.0  # each with itself
    answer = []
    for column in found.T:
        best = np.argsort(-np.abs(column), kind="stable")[:MOST_STAND_INS]
        close = [j for j in best if abs(column[j]) >= CLOSE]
        answer.append(tuple(StandIn(names[j], float(column[j])) for j in close))
    return answer


def _correlations(table: Table, chosen: Sequence[int], rows: np.ndarray | None) -> np.ndarray:
    """All columns × chosen ones. Sparse tables stay sparse: centring is done on the products."""
    A = table.columns(chosen, rows)
    A = _unit(A - A.mean(axis=0))
    # X is read as it is stored, with no centred copy
    X = table.X if rows is None else table.X[rows]
    if sparse.issparse(X):
        X = X.tocsc().astype(float)
        squares = np.asarray(X.multiply(X).sum(axis=0)).ravel()
    else:
        X = np.asarray(X, dtype=float)
        squares = np.einsum("ij,ij->j", X, X)
    means = np.asarray(X.mean(axis=0)).ravel()
    norms = np.sqrt(np.maximum(squares - X.shape[0] * means**2, 0.0))
    products = np.asarray(X.T @ A)  # A is centred, so the means of X fall out
    varies = norms > 1e-12 * (1.0 + np.abs(means))
    norms[~varies] = np.inf  # what is left of a constant column is rounding
    return products / norms[:, None]


def _unit(columns: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(columns, axis=0)
    return columns / np.where(norms > 0, norms, 1.0)


def data_facts(table: Table, kind: str, classes: Any, outputs: Sequence[str]) -> DataFacts:
    """Rows, columns, storage, target and what is odd about them."""
    n, d = table.shape
    counts: tuple[tuple[str, int], ...] = ()
    y = table.y
    target = "not given"
    if y is not None and kind == "multilabel":
        present = np.asarray(y, dtype=float) > 0
        totals = present.sum(axis=0)
        counts = tuple((visible(o), int(t)) for o, t in zip(outputs, totals, strict=False))
        target = f"{count(len(totals), 'label')}; a sample may have several"
    elif y is not None and classes is not None:
        pairs = zip(class_names(table, classes), classes, strict=True)
        counts = tuple((visible(name), int(np.sum(y == label))) for name, label in pairs)
        target = count(len(classes), "class", "classes")
    elif y is not None:
        n_outputs = 1 if y.ndim == 1 else y.shape[1]
        target = f"numbers, {count(n_outputs, 'output')}"
    return DataFacts(
        name=visible(table.name),
        source=visible(table.source),
        n_samples=n,
        n_features=d,
        storage=table.storage,
        target=target,
        classes=counts,
        sentences=(*_odd(table), *map(visible, table.notes)),
    )


def _storage(X: Any) -> str:
    if sparse.issparse(X):
        filled = X.nnz / max(1, X.shape[0] * X.shape[1])
        return f"sparse, {100 * filled:.3g} % of the entries stored, {X.dtype}"
    return f"dense, {X.dtype}"


def _odd(table: Table) -> list[str]:
    """What a reader of the selection should know of the columns."""
    X = table.X.tocsc() if sparse.issparse(table.X) else table.X
    low = X.min(axis=0)
    high = X.max(axis=0)
    if sparse.issparse(X):
        low = low.toarray()
        high = high.toarray()
    constant = int(np.sum(low == high))
    if not constant:
        return []
    verb = "is" if constant == 1 else "are"
    return [f"{count(constant, 'column')} {verb} constant and cannot be selected."]
