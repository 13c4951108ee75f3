"""Files of arrays of other programs: what SciPy and anndata wrote is what is read."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from rowsparse.datasets import DatasetError, load_file
from rowsparse.datasets.matlab import matlab_arrays

rng = np.random.default_rng(0)
X = rng.normal(size=(6, 4)).round(3)
Y = np.array([0, 1, 1, 0, 2, 2])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("family", ["array", "matrix"])
def test_what_scipy_saved(tmp_path, kind, family):
    dense = np.where(X > 0, X, 0)
    design = vars(scipy.sparse)[f"{kind}_{family}"](dense)
    for name in ("words.npz", "words.X.npz"):
        scipy.sparse.save_npz(tmp_path / name, design)
        np.save(tmp_path / "words.y.npy", Y)
        data = load_file(tmp_path / name)
        assert scipy.sparse.issparse(data.X)
        np.testing.assert_array_equal(data.X.toarray(), dense)
        assert (data.name, data.y.tolist()) == ("words", Y.tolist())


def test_npy_with_its_target_beside_it(tmp_path):
    np.save(tmp_path / "t.npy", np.asfortranarray(X))
    with pytest.raises(DatasetError, match="a target called 'y' or 'Y', got 'X'"):
        load_file(tmp_path / "t.npy")
    np.save(tmp_path / "t.y.npy", Y)
    np.save(tmp_path / "t.age.npy", Y * 1.5)
    np.testing.assert_array_equal(load_file(tmp_path / "t.npy").X, X)
    np.testing.assert_array_equal(load_file(tmp_path / "t.npy", "age").y, Y * 1.5)


@pytest.mark.parametrize("packed", [False, True])
def test_matlab_arrays_are_those_of_loadmat(tmp_path, packed):
    arrays = {
        "doubles": X,
        "singles": X.astype(np.float32),
        "bytes": np.arange(12, dtype=np.uint8).reshape(3, 4),
        "big": np.array([[2**40, -5]]),
        "cube": rng.normal(size=(2, 3, 4)),
        "truth": np.array([[True, False]]),
        "sparse": scipy.sparse.random(6, 9, 0.3, random_state=0, format="csc"),
        "empty": scipy.sparse.csc_matrix((3, 4)),
        "none": np.zeros((0, 3)),
        "large": np.zeros((300, 30)),
    }
    path = tmp_path / "t.mat"
    scipy.io.savemat(path, {**arrays, "cells": np.array(["a", 1], object)}, do_compression=packed)
    expected = scipy.io.loadmat(path)
    found = matlab_arrays(path)
    assert set(found) == set(arrays)
    for name, load in found.items():
        if scipy.sparse.issparse(expected[name]):
            assert load().shape == expected[name].shape
            assert abs(load() - expected[name]).nnz == 0
        else:
            np.testing.assert_array_equal(load(), expected[name])
            assert load().dtype == expected[name].dtype


@pytest.mark.parametrize("sparse", [False, True])
def test_a_matlab_dataset(tmp_path, sparse):
    design = scipy.sparse.csc_matrix(X) if sparse else X
    names = np.array([f"gene {j}" for j in range(4)])
    scipy.io.savemat(tmp_path / "t.mat", {"X": design, "Y": Y, "feature_names": names})
    data = load_file(tmp_path / "t.mat")
    np.testing.assert_array_equal(data.X.toarray() if sparse else data.X, X)
    assert data.y.tolist() == Y.tolist()  # MATLAB has no vectors: one row
    assert data.feature_names == tuple(names)
    (tmp_path / "new.mat").write_bytes(b"MATLAB 7.3".ljust(512) + b"\x89HDF\r\n\x1a\n")
    with pytest.raises(DatasetError, match=r"version 7\.3; save it with save"):
        load_file(tmp_path / "new.mat")


@pytest.mark.parametrize("sparse", [False, True])
def test_an_h5ad_file(tmp_path, sparse):
    anndata = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")
    design = scipy.sparse.csr_matrix(np.where(X > 0, X, 0).astype(np.float32)) if sparse else X
    obs = pd.DataFrame(
        {"type": pd.Categorical(list("abbacc")), "score": Y * 1.5},
        index=[f"c{i}" for i in range(6)],
    )
    var = pd.DataFrame(index=["CD3", "CD8", "MS4A1", "NKG7"])
    path = tmp_path / "t.h5ad"
    anndata.AnnData(design, obs=obs, var=var).write_h5ad(path)
    data = load_file(path, "type")
    expected = design.toarray() if sparse else design
    np.testing.assert_array_equal(data.X.toarray() if sparse else data.X, expected)
    assert data.X.dtype == design.dtype
    assert data.y.tolist() == list("abbacc")
    assert data.feature_names == ("CD3", "CD8", "MS4A1", "NKG7")
    np.testing.assert_array_equal(load_file(path, "score").y, Y * 1.5)
    assert load_file(path, "type", ignore=["CD8"]).feature_names == ("CD3", "MS4A1", "NKG7")
    for target, words in ((None, "one of 'score', 'type'"), ("typ", "Did you mean 'type'")):
        with pytest.raises(DatasetError, match=words):
            load_file(path, target)
    obs.loc["c2", "type"] = np.nan
    anndata.AnnData(design, obs=obs, var=var).write_h5ad(path)
    with pytest.raises(DatasetError, match=r"missing values, got some in 'type' \(1\)"):
        load_file(path, "type")
