"""A panel of genes for all groups of cells at once, stored as scanpy stores its rankings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ..filters import BY_NAME
from ..inputs import did_you_mean
from ..selectors import L2pSelector, LpInfSelector, ScoreSelector, TopKSelector
from ..selectors.base import FeatureSelector
from ..warn import warn_user
from .view import View, labels_of, mask_of, positions

METHODS = {"l2p": L2pSelector, "lpinf": LpInfSelector, "topk": TopKSelector}


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
      ``sc.pl.rank_genes_groups``, its dotplot and the others, and ``sc.get.rank_genes_groups_df``
      read with ``key="rowsparse"``.

    Examples
    --------
    >>> import numpy as np
    >>> from anndata import AnnData
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)  # flowers for cells
    >>> adata = AnnData(np.log1p(X))
    >>> adata.obs["type"] = y.astype(str)
    >>> from rowsparse.anndata import select_genes
    >>> select_genes(adata, "type", 2)
    >>> adata.uns["rowsparse"]["panel"].tolist()
    ['3', '1']
    """
    adata = adata.copy() if copy else adata
    view = View.of(adata, layer, use_raw)
    cells, labels = labels_of(adata, groupby, groups)
    required = positions(view, always, "always")
    allowed = _allowed(view, adata, mask_var, never, required)
    columns = np.flatnonzero(allowed)
    selector = _selector(method, n_genes, columns, required)
    X = view.read(cells, columns)
    _warn_of_counts(X)
    selector.fit(X, labels)
    _store(adata, view, columns, selector, key_added)
    params = {
        "groupby": groupby,
        "reference": "rest",  # as scanpy calls it that every group is told from all others
        "method": "logreg",  # by this word scanpy knows a ranking without p-values
        "selector": method if isinstance(method, str) else type(method).__name__,
        "use_raw": use_raw,
        "n_genes": n_genes,
    }
    adata.uns[key_added]["params"] = params if layer is None else {**params, "layer": layer}
    return adata if copy else None


def _allowed(
    view: View, adata: Any, mask_var: Any, never: Iterable[str] | None, required: np.ndarray
) -> np.ndarray:
    """Genes that may be chosen: those of the mask, without ``never``, and all of ``always``."""
    allowed = np.ones(view.names.size, dtype=bool)
    if isinstance(mask_var, str):
        inside = adata.var_names.to_numpy(dtype=str)[mask_of(adata, mask_var)]
        allowed = np.isin(view.names, inside)
    elif mask_var is not None:
        allowed = np.array(mask_var, dtype=bool)
        if allowed.shape != view.names.shape:
            raise ValueError(
                f"Expected mask_var with one boolean per gene ({view.names.size}), got "
                f"{allowed.size}."
            )
    refused = positions(view, never, "never")
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
    """Whole numbers beyond 0 and 1 are counts, in which the deepest cells would rule."""
    # some of them tell: all of a large X would take longer than the selection
    values = X.data[:10000] if sparse.issparse(X) else np.ravel(X[:100])
    if values.size and values.max() > 1 and np.all(values == np.round(values)):
        warn_user(
            "Expected log-normalised values, got whole numbers, which look like counts; normalise "
            "the cells and take log1p first, or name the layer that has such values.",
        )


def _store(adata: Any, view: View, columns: np.ndarray, selector: Any, key: str) -> None:
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
    # var has a line per gene of X, and raw may have others
    own = adata.var_names.to_numpy(dtype=str)
    if own.shape == view.names.shape and np.array_equal(own, view.names):
        at = np.arange(d)
    else:
        place = {name: j for j, name in enumerate(view.names.tolist())}
        at = np.array([place.get(name, -1) for name in own.tolist()], dtype=int)
    there = at >= 0
    adata.var[key] = np.where(there, support[at], False)
    adata.var[f"{key}_rank"] = np.where(there, rank[at], np.nan)
    adata.var[f"{key}_score"] = np.where(there, score[at], np.nan)
    names, scores = _by_group(view.names[panel], selector, np.searchsorted(columns, panel))
    result = {"panel": view.names[panel].astype(object), "names": names, "scores": scores}
    adata.uns[key] = result


def _by_group(genes: np.ndarray, selector: Any, places: np.ndarray) -> tuple[Any, Any]:
    """Record arrays of scanpy's form: a field per group, the genes that speak for it first."""
    groups = [str(group) for group in selector.classes_]
    fitted = vars(selector)
    if "coef_" in fitted:
        weights = fitted["coef_"][:, places]
        # in units of the spread of each gene, so that genes can be compared
        size = np.linalg.norm(weights, axis=0)
        known = fitted["scores_"][places]
        scale = np.divide(known, size, where=size > 0, out=np.ones(size.size))
        weights = weights * scale
        if len(weights) == 1:  # two groups: what speaks for the one speaks against the other
            weights = np.vstack([-weights[0], weights[0]])
    else:  # a filter has one score for all groups
        weights = np.tile(fitted["scores_"][places], (len(groups), 1))
    names = []
    scores = []
    for row in weights:
        order = np.argsort(-row, kind="stable")
        names.append(genes[order].astype(object))
        scores.append(row[order].astype(np.float32))
    return (
        np.rec.fromarrays(names, dtype=[(group, "O") for group in groups]),
        np.rec.fromarrays(scores, dtype=[(group, "f4") for group in groups]),
    )
