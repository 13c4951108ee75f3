"""Named datasets: scikit-learn's own, and those of a folder."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.datasets

from rowsparse.datasets import DatasetError, dataset_names, load_any, load_dataset
from rowsparse.datasets.registry import FOLDER_VARIABLE, PACKAGED, about, describe

X = np.arange(12.0).reshape(4, 3)


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr("rowsparse.datasets.registry.fetched", dict)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    np.savez(tmp_path / "TINY.npz", X=X, y=[0, 1, 0, 2], class_names=["a", "b", "c"])
    np.savez(tmp_path / "ml_tiny.npz", X=X, Y=[[0, 1], [1, 1], [0, 0], [1, 0]])
    np.savez(tmp_path / "iris.npz", X=X, y=[0, 1, 0, 2])
    scipy.sparse.save_npz(tmp_path / "words.X.npz", scipy.sparse.csr_array(X))
    np.save(tmp_path / "words.y.npy", [0, 1, 0, 1])
    (tmp_path / "notes.txt").write_text("not a dataset")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", PACKAGED)
def test_packaged_sets_are_scikit_learns(name):
    data = load_dataset(name)
    expected = getattr(sklearn.datasets, f"load_{name}")()
    np.testing.assert_array_equal(data.X, expected.data)
    np.testing.assert_array_equal(data.y, expected.target)
    assert data.feature_names == tuple(expected.feature_names)
    assert about(name).startswith("scikit-learn: ")


def test_target_names_name_the_classes_and_diabetes_is_a_regression():
    assert load_dataset("iris").target_names == ("setosa", "versicolor", "virginica")
    assert load_dataset("diabetes").target_names is None
    assert load_dataset("diabetes").task == "regression"


def test_without_a_folder_only_packaged_sets_are_known():
    assert dataset_names() == sorted(PACKAGED)


def test_folder_adds_names_but_takes_none_away(folder):
    assert dataset_names() == sorted([*PACKAGED, "TINY", "ml_tiny", "words"], key=str.lower)
    assert load_dataset("iris").n_samples == 150
    assert load_dataset("TINY").target_names == ("a", "b", "c")
    assert scipy.sparse.issparse(load_dataset("words").X)


def test_describe(folder):
    kinds = {name: describe(load_dataset(name)) for name in ("TINY", "ml_tiny", "diabetes")}
    assert kinds == {"TINY": "3 classes", "ml_tiny": "2 labels", "diabetes": "numbers"}


def test_folder_that_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "gone"))
    with pytest.raises(DatasetError, match=r"ROWSPARSE_DATA: expected a folder .* got '.*gone'"):
        dataset_names()


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(DatasetError, match=r"datasets list.*Did you mean 'breast_cancer'\?"):
        load_dataset("breast-cancer")


@pytest.mark.parametrize("target", ["y", ["y"]])
def test_packaged_sets_carry_their_target(target):
    with pytest.raises(DatasetError, match=r"iris: expected no target name.*got 'y'"):
        load_dataset("iris", target)


def test_load_any_prefers_names_then_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wine.csv").write_text("a,y\n1,0\n2,1\n")
    assert load_any("wine").n_samples == 178
    assert load_any("wine.csv", "y").n_samples == 2
    with pytest.raises(FileNotFoundError, match=r"gone\.csv"):
        load_any("gone.csv", "y")
    with pytest.raises(FileNotFoundError, match="gone"):
        load_any("./folder/gone", "y")
    with pytest.raises(DatasetError, match="a file or the name of a dataset"):
        load_any("gone")
