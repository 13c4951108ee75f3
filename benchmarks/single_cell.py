"""Accuracy of panels on pbmc3k, and what choosing one costs: the figures of docs/single-cell.md.

ROWSPARSE_DATA=folder python benchmarks/single_cell.py
"""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold

from rowsparse.anndata import select_genes

MOST_VARIABLE = 2000
KS = (10, 20, 40)


def pbmc3k() -> anndata.AnnData:
    """Annotated cells, normalised and log1p, the genes of largest variance."""
    stem = Path(os.environ["ROWSPARSE_DATA"]) / "sc_pbmc3k_counts"
    counts = sp.load_npz(f"{stem}.X.npz").astype(np.float32).tocsr()
    X = (sp.diags(1e4 / np.asarray(counts.sum(axis=1)).ravel()) @ counts).astype(np.float32).tocsr()
    X.data = np.log1p(X.data)
    means = np.asarray(X.mean(axis=0)).ravel()
    variances = np.asarray(X.multiply(X).mean(axis=0)).ravel() - means**2
    kept = np.sort(np.argsort(-variances)[:MOST_VARIABLE])
    labels = np.load(f"{stem}.class_names.npy")[np.load(f"{stem}.y.npy")]
    cells = [f"cell{i}" for i in range(len(labels))]
    obs = pd.DataFrame({"type": pd.Categorical(labels)}, index=cells)
    var = pd.DataFrame(index=np.load(f"{stem}.feature_names.npy")[kept])
    return anndata.AnnData(X[:, kept], obs=obs, var=var)


def measured(adata: anndata.AnnData, method: str, k: int) -> tuple[float, float]:
    """Mean accuracy on unseen cells, and the median CPU seconds of a selection."""
    types = adata.obs["type"].to_numpy()
    scores, seconds = [], []
    folds = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0)
    for train, test in folds.split(types, types):
        cells = adata[train].copy()
        began = time.process_time()
        select_genes(cells, "type", k, method=method)
        seconds.append(time.process_time() - began)
        X = adata.X[:, np.flatnonzero(cells.var["rowsparse"])].toarray()
        model = LogisticRegression(max_iter=2000).fit(X[train], types[train])
        scores.append(model.score(X[test], types[test]))
    return float(np.mean(scores)), float(np.median(seconds))


def main() -> None:
    adata = pbmc3k()
    print("| method | " + " | ".join(f"k = {k}" for k in KS) + " | CPU s |")
    print("| --- |" + " --- |" * (len(KS) + 1))
    for method in ("topk", "l2p", "f"):
        found = [measured(adata, method, k) for k in KS]
        scores = " | ".join(f"{score:.4f}" for score, _ in found)
        print(f"| {method} | {scores} | {', '.join(f'{s:.2f}' for _, s in found)} |", flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
