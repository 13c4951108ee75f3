"""What a panel of genes is worth: groups recognised, groups mixed up, genes that say the same."""

from __future__ import annotations

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

from .view import View, labels_of, mask_of, positions


@dataclass(frozen=True)
class PanelEvaluation:
    """How well a panel tells the groups apart, on cells that the classifier has not seen.

    ``confusion[i, j]`` counts the cells of group i that were taken for group j; ``correlations``
    is that of the genes with each other.

    Attributes
    ----------
    genes, groups : names
    confusion, correlations : as above

    Examples
    --------
    >>> import numpy as np
    >>> from anndata import AnnData
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)  # flowers for cells
    >>> adata = AnnData(np.log1p(X))
    >>> adata.obs["type"] = y.astype(str)
    >>> from rowsparse.anndata import evaluate_panel
    >>> evaluate_panel(adata, ["2", "3"], "type").recall.round(2).tolist()
    [1.0, 0.96, 0.92]
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
        right = np.diag(self.confusion)
        taken = self.confusion.sum(axis=0)
        # no cell may have been taken for a group
        return np.divide(right, taken, out=np.zeros(len(taken)), where=taken > 0)

    @property
    def redundancy(self) -> np.ndarray:
        """For each gene its largest correlation, in size, with another one of the panel."""
        others = np.abs(self.correlations - np.eye(len(self.genes)))
        return others.max(axis=1, initial=0.0)

    def to_frame(self) -> Any:
        """One line per group as a pandas data frame: accuracy, precision, cells, mixed up with."""
        import pandas

        wrong = self.confusion - np.diag(np.diag(self.confusion))
        most = []
        for row in wrong:
            taken_for = int(row.argmax())
            most.append(self.groups[taken_for] if row[taken_for] else "")
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

    A panel that was chosen on the same cells has seen them all: its accuracy here is somewhat too
    good. Choose on one half of the cells and evaluate on the other where that matters.

    Parameters
    ----------
    adata, groupby, layer, use_raw, groups : as in ``select_genes``
    genes : names, or the boolean column of ``var`` that ``select_genes`` has written
    estimator : scikit-learn classifier; logistic regression on standardised genes unless given
    cv, random_state : stratified folds, shuffled

    Returns
    -------
    PanelEvaluation

    Examples
    --------
    >>> import numpy as np
    >>> from anndata import AnnData
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)  # flowers for cells
    >>> adata = AnnData(np.log1p(X))
    >>> adata.obs["type"] = y.astype(str)
    >>> from rowsparse.anndata import evaluate_panel
    >>> print(evaluate_panel(adata, ["2", "3"], "type"))
    2 genes: accuracy 0.960, balanced 0.960; hardest 2 (0.920)
    """
    view = View.of(adata, layer, use_raw)
    cells, labels = labels_of(adata, groupby, groups)
    if isinstance(genes, str) and not use_raw:
        chosen = np.flatnonzero(mask_of(adata, genes))
    else:
        named = adata.var_names[mask_of(adata, genes)] if isinstance(genes, str) else genes
        chosen = positions(view, named, "genes")
    if not chosen.size:
        raise ValueError("Expected at least one gene, got none.")
    X = view.read(cells, chosen)
    dense = X.toarray() if sparse.issparse(X) else X
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    if estimator is not None:
        model = clone(estimator)
    # shuffled: cells stand in the order in which batches were measured
    folds = StratifiedKFold(cv, shuffle=True, random_state=random_state)
    predicted = cross_val_predict(model, dense, labels, cv=folds)
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
