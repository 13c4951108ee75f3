"""Marker panels: found, extended, stored as scanpy stores its rankings, and evaluated."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from rowsparse import L2pSelector, TopKSelector
from rowsparse.anndata import evaluate_panel, select_genes

anndata = pytest.importorskip("anndata")
N_CELLS, N_GENES = 240, 60
TYPES = ["B", "NK", "T"]
MARKERS = ["g0", "g1", "g2", "g3", "g4", "g5"]  # two of each type


def make(storage=sparse.csr_matrix):
    """Log-normalised values of three types; genes 2 i and 2 i + 1 are high in type i alone."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], N_CELLS // 3)
    counts = rng.poisson(0.4, size=(N_CELLS, N_GENES)).astype(float)
    for i in range(3):
        counts[np.ix_(labels == i, [2 * i, 2 * i + 1])] += rng.poisson(6, size=(N_CELLS // 3, 2))
    X = np.log1p(1e3 * counts / counts.sum(axis=1, keepdims=True)).astype(np.float32)
    shuffled = rng.permutation(N_CELLS)
    obs = pd.DataFrame(
        {"type": pd.Categorical(np.array(TYPES)[labels])}, index=[f"c{i}" for i in range(N_CELLS)]
    )
    var = pd.DataFrame(index=[f"g{j}" for j in range(N_GENES)])
    return anndata.AnnData(storage(X), obs=obs, var=var)[shuffled].copy()


def panel(adata, key="rowsparse"):
    return adata.uns[key]["panel"].tolist()


@pytest.mark.parametrize("method", ["topk", "l2p", "lpinf", "f", TopKSelector(n_init=1)])
def test_the_markers_are_found(method):
    adata = make()
    assert select_genes(adata, "type", 6, method=method) is None
    assert sorted(panel(adata)) == MARKERS
    assert adata.var_names[adata.var["rowsparse"]].tolist() == MARKERS
    ranks = adata.var.loc[panel(adata), "rowsparse_rank"]
    assert ranks.tolist() == [1, 2, 3, 4, 5, 6]
    assert adata.var["rowsparse_score"].notna().all()


@pytest.mark.parametrize("storage", [np.asarray, sparse.csc_matrix])
def test_the_answer_does_not_depend_on_the_storage(storage):
    expected, other = make(), make(storage)
    select_genes(expected, "type", 4)
    select_genes(other, "type", 4)
    assert panel(other) == panel(expected)


def test_the_same_as_the_selector():
    adata = make()
    select_genes(adata, "type", 5, method="l2p")
    selector = L2pSelector(5).fit(adata.X, adata.obs["type"].astype(str).to_numpy())
    np.testing.assert_array_equal(adata.var["rowsparse"], selector.support_)
    np.testing.assert_array_equal(adata.var["rowsparse_rank"], selector.ranking_)
    np.testing.assert_allclose(adata.var["rowsparse_score"], selector.scores_)


def test_every_group_lists_the_genes_that_speak_for_it_first():
    adata = make()
    select_genes(adata, "type", 6)
    result = adata.uns["rowsparse"]
    assert result["names"].dtype.names == tuple(TYPES)
    assert result["scores"].dtype.names == tuple(TYPES)
    for i, name in enumerate(TYPES):
        assert set(result["names"][name][:2]) == {f"g{2 * i}", f"g{2 * i + 1}"}
        assert (np.diff(result["scores"][name]) <= 0).all()
        assert (result["scores"][name][:2] > 0).all()
    assert result["params"]["groupby"] == "type"
    assert result["params"]["reference"] == "rest"
    assert result["params"]["use_raw"] is False
    assert result["params"]["method"] == "logreg"  # else scanpy looks for p-values
    assert result["params"]["selector"] == "topk"


def test_two_groups_have_opposite_scores():
    adata = make()
    select_genes(adata, "type", 4, groups=["B", "T"])
    result = adata.uns["rowsparse"]
    assert result["names"].dtype.names == ("B", "T")
    b = dict(zip(result["names"]["B"], result["scores"]["B"], strict=True))
    t = dict(zip(result["names"]["T"], result["scores"]["T"], strict=True))
    assert b == {gene: -score for gene, score in t.items()}
    assert set(panel(adata)) == {"g0", "g1", "g4", "g5"}


def test_reordered_categories_change_nothing():
    adata, other = make(), make()
    other.obs["type"] = other.obs["type"].cat.reorder_categories(["T", "B", "NK"])
    select_genes(adata, "type", 6)
    select_genes(other, "type", 6)
    pd.testing.assert_frame_equal(adata.var, other.var)
    for name in TYPES:
        for field in ("names", "scores"):
            mine, its = adata.uns["rowsparse"][field][name], other.uns["rowsparse"][field][name]
            np.testing.assert_array_equal(mine, its)


def test_a_panel_is_extended():
    adata = make()
    select_genes(adata, "type", 6, always=["g40", "g0"], never=["g2"])
    chosen = panel(adata)
    assert len(chosen) == 6
    assert {"g40", "g0"} <= set(chosen)
    assert "g2" not in chosen
    assert np.isnan(adata.var.loc["g2", "rowsparse_rank"])


def test_a_mask_limits_the_choice():
    adata = make()
    adata.var["hvg"] = np.arange(N_GENES) % 2 == 0
    select_genes(adata, "type", 4, mask_var="hvg", always=["g1"])
    assert {"g0", "g1", "g2", "g4"} == set(panel(adata))
    assert adata.var["rowsparse_rank"].notna().sum() == 31
    other = make()
    select_genes(other, "type", 4, mask_var=np.arange(N_GENES) % 2 == 0, always=["g1"])
    assert panel(other) == panel(adata)


def test_layers_raw_and_copies():
    adata = make()
    adata.layers["log"] = adata.X.copy()
    adata.raw = adata.copy()
    values = adata.X.copy()
    adata.X = sparse.csr_matrix(np.random.default_rng(1).random(adata.shape))
    copied = select_genes(adata, "type", 6, layer="log", copy=True)
    assert sorted(panel(copied)) == MARKERS
    assert "rowsparse" not in adata.var
    assert copied.uns["rowsparse"]["params"]["layer"] == "log"
    select_genes(adata, "type", 6, use_raw=True, key_added="panel")
    assert sorted(panel(adata, "panel")) == MARKERS
    assert (adata.layers["log"] != values).nnz == 0  # nothing was changed


def test_genes_of_raw_that_var_does_not_have():
    adata = make()
    adata.raw = adata.copy()
    few = adata[:, 1:30].copy()
    select_genes(few, "type", 6, use_raw=True)
    assert sorted(panel(few)) == MARKERS
    assert few.var_names[few.var["rowsparse"]].tolist() == MARKERS[1:]


def test_cells_without_a_group_are_left_out():
    adata = make()
    adata.obs.loc[adata.obs_names[:30], "type"] = np.nan
    rest = adata[30:].copy()
    select_genes(adata, "type", 5)
    select_genes(rest, "type", 5)
    pd.testing.assert_frame_equal(adata.var, rest.var)


def test_a_file_goes_out_and_in(tmp_path):
    adata = make()
    select_genes(adata, "type", 6)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    pd.testing.assert_frame_equal(again.var, adata.var)
    assert panel(again) == panel(adata)
    for field in ("names", "scores"):
        for name in TYPES:
            mine, its = again.uns["rowsparse"][field][name], adata.uns["rowsparse"][field][name]
            np.testing.assert_array_equal(mine, its)
    assert again.uns["rowsparse"]["params"]["n_genes"] == 6


@pytest.mark.parametrize("storage", [sparse.csr_matrix, np.asarray])
def test_a_backed_file_is_read_in_parts(storage, tmp_path, monkeypatch):
    adata = make(storage)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    select_genes(adata, "type", 6, groups=["B", "T"], mask_var=np.arange(N_GENES) < 50)
    monkeypatch.setattr("rowsparse.anndata.view.CELLS_AT_ONCE", 70)
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    select_genes(backed, "type", 6, groups=["B", "T"], mask_var=np.arange(N_GENES) < 50)
    pd.testing.assert_frame_equal(backed.var, adata.var)
    backed.file.close()


def test_lazy_values_are_read_in_parts(monkeypatch):
    array = pytest.importorskip("dask.array")
    monkeypatch.setattr("rowsparse.anndata.view.CELLS_AT_ONCE", 70)
    adata, lazy = make(np.asarray), make(np.asarray)
    lazy.X = array.from_array(lazy.X, chunks=(50, -1))
    select_genes(adata, "type", 6)
    select_genes(lazy, "type", 6)
    pd.testing.assert_frame_equal(lazy.var, adata.var)


def test_lazy_sparse_values(monkeypatch):
    array = pytest.importorskip("dask.array")
    monkeypatch.setattr("rowsparse.anndata.view.CELLS_AT_ONCE", 70)
    adata, lazy = make(), make()
    lazy.X = array.from_array(lazy.X.toarray(), chunks=(50, -1)).map_blocks(sparse.csr_matrix)
    select_genes(adata, "type", 6)
    select_genes(lazy, "type", 6)
    pd.testing.assert_frame_equal(lazy.var, adata.var)


def test_open_or_closed_is_no_count(recwarn):
    adata = make()
    adata.X = (adata.X > 0).astype(np.float32)
    select_genes(adata, "type", 3)
    assert not [one for one in recwarn if "counts" in str(one.message)]


def test_numbers_are_no_groups_of_cells():
    adata = make()
    adata.obs["age"] = np.random.default_rng(0).normal(size=adata.n_obs)
    with pytest.raises(ValueError, match="groups of several cells in 'age', got"):
        select_genes(adata, "age", 3)


def test_counts_are_noticed():
    adata = make()
    adata.X = sparse.csr_matrix(np.minimum(np.round(np.expm1(adata.X.toarray())), 3.0))
    with pytest.warns(UserWarning, match="look like counts"):
        select_genes(adata, "type", 3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"groupby": "typ"}, "column of adata.obs, got 'typ'. Did you mean 'type'"),
        ({"always": ["g999"]}, "Expected always to name genes of the data, got 'g999'"),
        ({"never": ["nope", "neither"]}, "got 'nope' and 1 more"),
        ({"always": ["g1"], "never": ["g1"]}, "in both"),
        ({"layer": "lg"}, "Expected layer to be one of"),
        ({"use_raw": True}, "got none"),
        ({"use_raw": True, "layer": "log"}, "leave one out"),
        ({"groups": ["B", "X"]}, "got 'X'"),
        ({"groups": ["B"]}, "at least two groups"),
        ({"groups": "B"}, "'all' or a list"),
        ({"method": "topq"}, "Did you mean 'topk'"),
        ({"mask_var": "hvg"}, "boolean column of adata.var"),
        ({"mask_var": [True]}, "one boolean per gene"),
        ({"n_genes": 61}, "61"),
    ],
)
def test_what_is_refused(given, message):
    adata = make()
    adata.layers["log"] = adata.X
    with pytest.raises(ValueError, match=message):
        select_genes(adata, **{"groupby": "type", "n_genes": 5, **given})
    assert "rowsparse" not in adata.uns
    assert "rowsparse" not in adata.var


def test_a_panel_is_evaluated():
    adata = make()
    select_genes(adata, "type", 6)
    found = evaluate_panel(adata, "rowsparse", "type")
    same = evaluate_panel(adata, [f"g{j}" for j in range(6)], "type")
    poor = evaluate_panel(adata, ["g0", "g50", "g51"], "type")
    assert found.genes == tuple(MARKERS)
    np.testing.assert_array_equal(found.confusion, same.confusion)
    assert found.confusion.sum() == N_CELLS
    assert found.accuracy > 0.95 > poor.accuracy
    assert poor.recall[0] > max(poor.recall[1:])  # g0 is a marker of B
    frame = poor.to_frame()
    assert frame.index.tolist() == TYPES
    assert frame.loc["NK", "most_often_taken_for"] == "T"
    assert "hardest" in str(poor)


def test_the_figures_of_an_evaluation():
    adata = make()
    model = LogisticRegression(max_iter=500)
    found = evaluate_panel(adata, ["g0", "g2", "g7"], "type", estimator=model, cv=3, random_state=1)
    X = adata[:, ["g0", "g2", "g7"]].X.toarray()
    y = adata.obs["type"].astype(str).to_numpy()
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    predicted = cross_val_predict(model, X, y, cv=folds)
    assert found.accuracy == pytest.approx(np.mean(predicted == y))
    recall = [np.mean(predicted[y == name] == name) for name in TYPES]
    precision = [np.mean(y[predicted == name] == name) for name in TYPES]
    np.testing.assert_allclose(found.recall, recall)
    np.testing.assert_allclose(found.precision, precision)
    assert found.balanced_accuracy == pytest.approx(np.mean(recall))
    np.testing.assert_allclose(found.correlations, np.corrcoef(X, rowvar=False), atol=1e-6)


def test_a_gene_twice_is_redundant():
    adata = make()
    X = adata.X.toarray()
    X[:, 9] = 2 * X[:, 0]
    adata.X = sparse.csr_matrix(X)
    found = evaluate_panel(adata, ["g0", "g3", "g9"], "type")
    assert found.redundancy[[0, 2]] == pytest.approx([1, 1], abs=1e-5)
    assert found.redundancy[1] < 0.9
    with pytest.raises(ValueError, match="at least one gene"):
        evaluate_panel(adata, [], "type")
    with pytest.raises(ValueError, match="Did you mean 'g3'"):
        evaluate_panel(adata, ["g3", "gg3"], "type")


def test_importing_rowsparse_loads_no_anndata():
    program = "import sys, rowsparse, rowsparse.anndata; assert 'anndata' not in sys.modules"
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)
