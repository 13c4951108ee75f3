"""Marker panels for single-cell data, in scanpy's manner: results go into ``var`` and ``uns``.

anndata itself is not imported: what is passed in is all that is needed of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .filters import BY_NAME
from .inputs import did_you_mean
from .selectors import L2pSelector, LpInfSelector, ScoreSelector, TopKSelector
from .selectors.base import FeatureSelector

METHODS = {"l2p": L2pSelector, "lpinf": LpInfSelector, "topk": TopKSelector}
CELLS_AT_ONCE = 4000  # of a file or a lazy array: some 100 MB of 30,000 genes, a tenth stored


def select_genes(
    adata: Any,
    groupby: str,
    n_genes: int = 50,
    *,
    method: str | FeatureSelector = "topk",
    layer: str | None = None,
    use_raw: bool = False,
    mask_var: str | Sequence[bool] | None = None,
    groups: str | Sequence[str] = "all",
    always: Iterable[str] | None = None,
    never: Iterable[str] | None = None,
    key_added: str = "rowsparse",
    copy: bool = False,
) -> Any:
    """Choose one panel of genes that tells the groups of cells apart, all groups at once.

    Parameters
    ----------
    adata : AnnData, in memory, backed by a file, or with a lazy (Dask) X
        Log-normalised values are expected; counts are answered by a warning.
    groupby : column of ``obs`` with the groups; cells without one are left out
    n_genes : the size of the panel, the genes of ``always`` included
    method : "topk", "l2p", "lpinf", the name of a filter, or a selector object
    layer, use_raw : which values are used; ``X`` unless one is given
    mask_var : boolean column of ``var``, or one boolean per gene: genes that may be chosen
    groups : "all", or the names of those groups whose cells alone are to be told apart
    always : genes that are in the panel whatever happens; it is extended around them
    never : genes that are not chosen
    key_added : under which names the results are stored
    copy : return a copy with the results and leave ``adata`` as it is

    Returns
    -------
    None, or the copy. With ``key_added="rowsparse"``:

    - ``var["rowsparse"]``, ``var["rowsparse_rank"]``, ``var["rowsparse_score"]``: whether a gene is
      in the panel, its place (1 = best; NaN where it could not be chosen) and its score;
    - ``uns["rowsparse"]``: ``params``, ``panel`` (best first) and the record arrays ``names`` and
      ``scores`` with the genes of the panel for each group, those that speak for it first, which
      scanpy's ``pl.rank_genes_groups`` and its like read with ``key="rowsparse"``.
    """
    adata = adata.copy() if copy else adata
    view = _View.of(adata, layer, use_raw)
    cells, labels = _labels(adata, groupby, groups)
    required = _positions(view, always, "always")
    allowed = _allowed(view, adata, mask_var, never, required)
    columns = np.flatnonzero(allowed)
    selector = _selector(method, n_genes, columns, required)
    X = view.read(cells, columns)
    _warn_of_counts(X)
    selector.fit(X, labels)
    _store(adata, view, columns, selector, key_added)
    params = {
        "groupby": groupby,
        "reference": "rest",
        "method": method if isinstance(method, str) else type(method).__name__,
        "use_raw": use_raw,
        "n_genes": n_genes,
    }
    adata.uns[key_added]["params"] = params if layer is None else {**params, "layer": layer}
    return adata if copy else None


@dataclass(frozen=True)
class PanelEvaluation:
    """How well a panel tells the groups apart, on cells that the classifier has not seen.

    ``confusion[i, j]`` counts the cells of group i that were taken for group j; ``correlations``
    is that of the genes with each other.
    """

    genes: tuple[str, ...]
    groups: tuple[str, ...]
    confusion: np.ndarray
    correlations: np.ndarray

    @property
    def accuracy(self) -> float:
        """Share of all cells."""
        return float(np.trace(self.confusion) / self.confusion.sum())

    @property
    def balanced_accuracy(self) -> float:
        """Mean over the groups, the small ones counting as much as the large."""
        return float(np.mean(self.recall))

    @property
    def recall(self) -> np.ndarray:
        """For each group the share of its cells that are recognised."""
        return np.diag(self.confusion) / self.confusion.sum(axis=1)

    @property
    def precision(self) -> np.ndarray:
        """For each group the share of the cells taken for it that are its own."""
        taken = self.confusion.sum(axis=0)
        return np.divide(np.diag(self.confusion), taken, out=np.zeros(len(taken)), where=taken > 0)

    @property
    def redundancy(self) -> np.ndarray:
        """For each gene its largest correlation, in size, with another one of the panel."""
        others = np.abs(self.correlations - np.eye(len(self.genes)))
        return others.max(axis=1, initial=0.0)

    def to_frame(self) -> Any:
        """One line per group as a pandas data frame: accuracy, precision, cells, mixed up with."""
        import pandas

        wrong = self.confusion - np.diag(np.diag(self.confusion))
        most = [self.groups[j] if wrong[i, j] else "" for i, j in enumerate(wrong.argmax(axis=1))]
        columns = {
            "accuracy": self.recall,
            "precision": self.precision,
            "n_cells": self.confusion.sum(axis=1),
            "most_often_taken_for": most,
        }
        return pandas.DataFrame(columns, index=list(self.groups))

    def __str__(self) -> str:
        worst = int(np.argmin(self.recall))
        return (
            f"{len(self.genes)} genes: accuracy {self.accuracy:.3f}, balanced "
            f"{self.balanced_accuracy:.3f}; hardest {self.groups[worst]} ({self.recall[worst]:.3f})"
        )


def evaluate_panel(
    adata: Any,
    genes: Iterable[str] | str,
    groupby: str,
    *,
    layer: str | None = None,
    use_raw: bool = False,
    groups: str | Sequence[str] = "all",
    estimator: Any = None,
    cv: int = 5,
    random_state: int = 0,
) -> PanelEvaluation:
    """How well given genes tell the groups apart: per group, which are mixed up, how redundant.

    Parameters
    ----------
    genes : names, or the boolean column of ``var`` that ``select_genes`` has written
    estimator : scikit-learn classifier; logistic regression on standardised genes unless given
    cv, random_state : stratified folds, shuffled
    others : as in ``select_genes``

    A panel that was chosen on the same cells has seen them all: its accuracy here is somewhat too
    good. Choose on one half of the cells and evaluate on the other where that matters.
    """
    view = _View.of(adata, layer, use_raw)
    cells, labels = _labels(adata, groupby, groups)
    if isinstance(genes, str):
        genes = [str(name) for name in adata.var_names[_mask(adata, genes)]]
    chosen = _positions(view, genes, "genes")
    if not chosen.size:
        raise ValueError("Expected at least one gene, got none.")
    X = view.read(cells, chosen)
    dense = X.toarray() if sparse.issparse(X) else X
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    folds = StratifiedKFold(cv, shuffle=True, random_state=random_state)
    predicted = cross_val_predict(
        model if estimator is None else clone(estimator), dense, labels, cv=folds
    )
    found = np.unique(labels)
    with np.errstate(invalid="ignore", divide="ignore"):  # constant genes go with none
        correlations = np.atleast_2d(np.corrcoef(dense, rowvar=False))
    correlations = np.nan_to_num(correlations)
    np.fill_diagonal(correlations, 1.0)
    return PanelEvaluation(
        tuple(view.names[chosen].tolist()),
        tuple(found.tolist()),
        confusion_matrix(labels, predicted, labels=found),
        correlations,
    )


@dataclass(frozen=True)
class _View:
    """The matrix of an AnnData that is asked for, wherever it lives."""

    X: Any
    names: np.ndarray

    @classmethod
    def of(cls, adata: Any, layer: str | None, use_raw: bool) -> _View:
        if use_raw and layer is not None:
            raise ValueError("Expected layer or use_raw=True, got both; leave one out.")
        if use_raw:
            if adata.raw is None:
                raise ValueError("Expected adata.raw with use_raw=True, got none; leave it out.")
            return cls(adata.raw.X, adata.raw.var_names.to_numpy(dtype=str))
        names = adata.var_names.to_numpy(dtype=str)
        if layer is None:
            return cls(adata.X, names)
        if layer not in adata.layers:
            raise ValueError(
                f"Expected layer to be one of {list(adata.layers)}, got {layer!r}."
                f"{did_you_mean(layer, adata.layers)}"
            )
        return cls(adata.layers[layer], names)

    def read(self, cells: np.ndarray, columns: np.ndarray) -> Any:
        """These cells and genes, sparse where it is; a file or a lazy array is read in parts, so
        that never more of it is in memory than one part and what is asked for."""
        if isinstance(self.X, np.ndarray) or sparse.issparse(self.X):
            everything = columns.size == self.X.shape[1]
            X = self.X if everything else self.X[:, columns]
            return X if cells.size == X.shape[0] else X[cells]
        parts = []
        for start in range(0, self.X.shape[0], CELLS_AT_ONCE):
            part = self.X[start : start + CELLS_AT_ONCE]
            part = part.compute() if "compute" in dir(part) else part
            inside = cells[(cells >= start) & (cells < start + CELLS_AT_ONCE)] - start
            parts.append(part[inside][:, columns])
        if sparse.issparse(parts[0]):
            return sparse.vstack(parts, format="csr")
        return np.concatenate([np.asarray(part) for part in parts])


def _labels(adata: Any, groupby: str, groups: str | Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The cells that have one of the groups, and its name: the order of categories plays no part."""
    if groupby not in adata.obs:
        raise ValueError(
            f"Expected groupby to be a column of adata.obs, got {groupby!r}."
            f"{did_you_mean(groupby, list(adata.obs))}"
        )
    column = adata.obs[groupby]
    known = column.notna().to_numpy()
    labels = column.astype(str).to_numpy(dtype=str)
    if not isinstance(groups, str):
        wanted = [str(group) for group in groups]
        unknown = [group for group in wanted if group not in labels[known]]
        if unknown:
            close = did_you_mean(unknown[0], np.unique(labels[known]).tolist())
            raise ValueError(f"Expected groups of {groupby!r}, got {unknown[0]!r}.{close}")
        known &= np.isin(labels, wanted)
    elif groups != "all":
        raise ValueError(f"Expected groups to be 'all' or a list of names, got {groups!r}.")
    cells = np.flatnonzero(known)
    if np.unique(labels[cells]).size < 2:
        raise ValueError(
            f"Expected at least two groups of cells in {groupby!r}, got "
            f"{np.unique(labels[cells]).tolist()}; a panel tells groups apart."
        )
    return cells, labels[cells]


def _positions(view: _View, names: Iterable[str] | None, parameter: str) -> np.ndarray:
    """Where the named genes are; a name that is not there is answered with the nearest ones."""
    wanted = [] if names is None else [str(name) for name in names]
    place = {name: j for j, name in enumerate(view.names.tolist())}
    unknown = [name for name in wanted if name not in place]
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise ValueError(
            f"Expected {parameter} to name genes of the data, got {unknown[0]!r}{more}."
            f"{did_you_mean(unknown[0], place)}"
        )
    return np.array([place[name] for name in dict.fromkeys(wanted)], dtype=int)


def _mask(adata: Any, column: str) -> np.ndarray:
    if column not in adata.var:
        raise ValueError(
            f"Expected a boolean column of adata.var, got {column!r}."
            f"{did_you_mean(column, list(adata.var))}"
        )
    return adata.var[column].to_numpy(dtype=bool)


def _allowed(
    view: _View, adata: Any, mask_var: Any, never: Iterable[str] | None, required: np.ndarray
) -> np.ndarray:
    """Genes that may be chosen: those of the mask, without ``never``, and all of ``always``."""
    allowed = np.ones(view.names.size, dtype=bool)
    if isinstance(mask_var, str):
        inside = adata.var_names.to_numpy(dtype=str)[_mask(adata, mask_var)]
        allowed = np.isin(view.names, inside)
    elif mask_var is not None:
        allowed = np.array(mask_var, dtype=bool)
        if allowed.shape != view.names.shape:
            raise ValueError(
                f"Expected mask_var with one boolean per gene ({view.names.size}), got "
                f"{allowed.size}."
            )
    refused = _positions(view, never, "never")
    both = np.intersect1d(refused, required)
    if both.size:
        raise ValueError(
            f"Expected a gene in always or in never, got {view.names[both[0]]!r} in both."
        )
    allowed[refused] = False
    allowed[required] = True
    return allowed


def _selector(method: Any, n_genes: int, columns: np.ndarray, required: np.ndarray) -> Any:
    """A selector of so many genes; those of ``required`` have the weight zero."""
    if isinstance(method, str) and method in METHODS:
        selector = METHODS[method]()
    elif isinstance(method, str) and method in BY_NAME:
        selector = ScoreSelector(method)
    elif isinstance(method, FeatureSelector):
        selector = clone(method)
    else:
        known = [*METHODS, *BY_NAME]
        raise ValueError(
            f"Expected method to be one of {', '.join(known)} or a selector, got {method!r}."
            f"{did_you_mean(method, known) if isinstance(method, str) else ''}"
        )
    selector.set_params(n_features_to_select=n_genes)
    if required.size:
        factors = np.ones(columns.size)
        factors[np.searchsorted(columns, required)] = 0.0
        selector.set_params(feature_weights=factors)
    return selector


def _warn_of_counts(X: Any) -> None:
    """Whole numbers alone are counts, in which the deepest cells would rule."""
    values = X.data[:10000] if sparse.issparse(X) else np.ravel(X[:100])
    if values.size and values.max() > 20 and np.all(values == np.round(values)):
        warnings.warn(
            "Expected log-normalised values, got whole numbers, which look like counts; normalise "
            "the cells and take log1p first, or name the layer that has such values.",
            UserWarning,
            stacklevel=3,
        )


def _store(adata: Any, view: _View, columns: np.ndarray, selector: Any, key: str) -> None:
    """The results, gene by gene and group by group."""
    d = view.names.size
    support = np.zeros(d, dtype=bool)
    rank = np.full(d, np.nan)
    score = np.full(d, np.nan)
    support[columns] = selector.support_
    rank[columns] = selector.ranking_
    score[columns] = selector.scores_
    chosen = columns[np.flatnonzero(selector.support_)]
    panel = chosen[np.argsort(rank[chosen], kind="stable")]
    own = adata.var_names.to_numpy(dtype=str)
    if own.shape == view.names.shape and np.array_equal(own, view.names):
        at = np.arange(d)
    else:  # the genes of raw: those that var has
        place = {name: j for j, name in enumerate(view.names.tolist())}
        at = np.array([place.get(name, -1) for name in own.tolist()], dtype=int)
    there = at >= 0
    adata.var[key] = np.where(there, support[at], False)
    adata.var[f"{key}_rank"] = np.where(there, rank[at], np.nan)
    adata.var[f"{key}_score"] = np.where(there, score[at], np.nan)
    names, scores = _by_group(view.names[panel], selector, np.searchsorted(columns, panel))
    result = {"panel": view.names[panel].astype(object), "names": names, "scores": scores}
    adata.uns[key] = result


def _by_group(genes: np.ndarray, selector: Any, positions: np.ndarray) -> tuple[Any, Any]:
    """Record arrays of scanpy's form: a field per group, the genes that speak for it first."""
    groups = [str(group) for group in selector.classes_]
    fitted = vars(selector)
    if "coef_" in fitted:
        weights = fitted["coef_"][:, positions]
        # in units of the spread of each gene, so that genes can be compared
        size = np.linalg.norm(weights, axis=0)
        scale = np.divide(fitted["scores_"][positions], size, where=size > 0, out=np.ones(size.size))
        weights = weights * scale
        weights = np.vstack([-weights[0], weights[0]]) if len(weights) == 1 else weights
    else:  # a filter has one score for all groups
        weights = np.tile(fitted["scores_"][positions], (len(groups), 1))
    orders = [np.argsort(-row, kind="stable") for row in weights]
    names = [genes[order].astype(object) for order in orders]
    scores = [row[order].astype(np.float32) for row, order in zip(weights, orders, strict=True)]
    return (
        np.rec.fromarrays(names, dtype=[(group, "O") for group in groups]),
        np.rec.fromarrays(scores, dtype=[(group, "f4") for group in groups]),
    )
