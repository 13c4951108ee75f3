"""Files: what is read is what was written, and every bad file is answered by one clear sentence."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.datasets import dump_svmlight_file

from rowsparse.datasets import Dataset, DatasetError, load_file

X = np.array([[1.5, -2.0, 0.0], [0.25, 1e-7, 3.0], [4.0, 5.0, 6e10], [7.0, 8.0, 9.0]])
NAMES = ("a", "b", "weight, kg")
LABELS = np.array(["cat", "dog", "cat", "ein Igel"])


@pytest.fixture
def frame():
    return pd.DataFrame(X, columns=list(NAMES)).assign(species=LABELS)


def write(folder, name, content):
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content, encoding="utf-8")
    return path


def assert_is_the_frame(data):
    np.testing.assert_array_equal(data.X, X)
    assert data.feature_names == NAMES
    assert list(data.y) == list(LABELS)


# ---------------------------------------------------------------- tables


@pytest.mark.parametrize(("suffix", "separator"), [(".csv", ","), (".tsv", "\t"), (".CSV", ",")])
def test_text_tables_keep_numbers_names_and_labels(tmp_path, frame, suffix, separator):
    path = tmp_path / f"animals{suffix}"
    frame.to_csv(path, sep=separator, index=False)
    data = load_file(path, "species")
    assert_is_the_frame(data)
    assert data.name == "animals"
    assert data.source == str(path)


def test_csv_needs_no_pandas(tmp_path, frame, monkeypatch):
    frame.to_csv(tmp_path / "t.csv", index=False)
    for module in ("pandas", "polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, module, None)
    assert_is_the_frame(load_file(tmp_path / "t.csv", "species"))


def test_csv_with_byte_order_mark_windows_lines_and_blank_end(tmp_path):
    path = write(tmp_path, "t.csv", b"\xef\xbb\xbfa,b,y\r\n1,2,0\r\n3,4,1\r\n\r\n")
    data = load_file(path, "y")
    np.testing.assert_array_equal(data.X, [[1, 2], [3, 4]])
    assert data.feature_names == ("a", "b")


def test_target_column_may_stand_anywhere_and_is_never_a_feature(tmp_path):
    data = load_file(write(tmp_path, "t.csv", "a,y,b\n1,5,2\n3,6,4\n"), "y")
    assert data.feature_names == ("a", "b")
    np.testing.assert_array_equal(data.X, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("cells", "kind"),
    [(("0", "1"), "i"), (("0.5", "1"), "f"), (("1", "b"), "U"), (("1_0", "1_1"), "U")],
)
def test_target_type_follows_its_cells(tmp_path, cells, kind):
    path = write(tmp_path, "t.csv", f"a,y\n1,{cells[0]}\n2,{cells[1]}\n")
    assert load_file(path, "y").y.dtype.kind == kind


def test_several_target_columns_are_several_outputs_in_the_order_asked_for(tmp_path):
    path = write(tmp_path, "t.csv", "u,a,v\n1,10,2\n3,20,4\n")
    data = load_file(path, ["v", "u"])
    np.testing.assert_array_equal(data.y, [[2, 1], [4, 3]])
    assert data.target_names == ("v", "u")
    assert data.feature_names == ("a",)


@pytest.mark.parametrize("without", [None, "polars", "pyarrow"])
def test_parquet_with_either_library(tmp_path, frame, monkeypatch, without):
    frame.to_parquet(tmp_path / "t.parquet")
    if without:
        monkeypatch.setitem(sys.modules, without, None)
    assert_is_the_frame(load_file(tmp_path / "t.parquet", "species"))


@pytest.mark.parametrize("without", ["polars", "pyarrow"])
@pytest.mark.parametrize("index_name", [None, "patient"])
def test_pandas_index_in_parquet_is_no_feature(tmp_path, frame, monkeypatch, without, index_name):
    frame.index = pd.Index([10, 20, 30, 40], name=index_name)
    frame.to_parquet(tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, without, None)
    assert_is_the_frame(load_file(tmp_path / "t.parquet", "species"))


@pytest.mark.parametrize("without", ["polars", "pyarrow"])
def test_parquet_takes_integers_booleans_and_categories(tmp_path, monkeypatch, without):
    frame = pd.DataFrame({"i": [1, 2, 3], "b": [True, False, True], "y": ["u", "v", "u"]})
    frame["y"] = frame["y"].astype("category")
    frame.to_parquet(tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, without, None)
    data = load_file(tmp_path / "t.parquet", "y")
    np.testing.assert_array_equal(data.X, [[1, 1], [2, 0], [3, 1]])
    assert list(data.y) == ["u", "v", "u"]


# ---------------------------------------------------------------- arrays


def test_npz_keeps_float32_and_widens_small_integers(tmp_path):
    y = np.array([0, 1, 1, 0], dtype=np.int16)
    np.savez(tmp_path / "f.npz", X=X.astype(np.float32), y=y)
    assert load_file(tmp_path / "f.npz").X.dtype == np.float32
    np.savez(tmp_path / "i.npz", X=np.full((4, 2), 200, np.uint8), y=y)
    data = load_file(tmp_path / "i.npz")
    assert (data.X + data.X == 400).all()
    assert data.feature_names == ("x0", "x1")


def test_npz_with_names_and_another_target(tmp_path):
    np.savez(
        tmp_path / "t.npz",
        X=X,
        y=[0, 1, 0, 1],
        other=["u", "v", "u", "w"],
        class_names=["sick", "well"],
        feature_names=["a", "", "c"],
    )
    data = load_file(tmp_path / "t.npz")
    assert data.target_names == ("sick", "well")
    assert data.feature_names == ("a", "x1", "c")
    other = load_file(tmp_path / "t.npz", "other")
    assert list(other.y) == ["u", "v", "u", "w"]
    assert other.target_names is None  # class_names belong to y


def test_npz_multi_label(tmp_path):
    Y = np.array([[0, 1], [1, 1], [0, 0], [1, 0]], dtype=np.uint8)
    np.savez(tmp_path / "ml.npz", X=X, Y=Y, label_names=["red", "round"])
    data = load_file(tmp_path / "ml.npz")
    np.testing.assert_array_equal(data.y, Y)
    assert data.target_names == ("red", "round")


def test_sparse_design_with_its_target_beside_it(tmp_path):
    design = scipy.sparse.csr_array(X.astype(np.int64))
    scipy.sparse.save_npz(tmp_path / "words.X.npz", design)
    np.save(tmp_path / "words.y.npy", [0, 1, 0, 1])
    np.save(tmp_path / "words.class_names.npy", ["spam", "ham"])
    np.save(tmp_path / "words.feature_names.npy", list(NAMES))
    data = load_file(tmp_path / "words.X.npz")
    assert scipy.sparse.issparse(data.X)
    assert data.X.dtype == float
    np.testing.assert_array_equal(data.X.toarray(), X.astype(np.int64))
    assert (data.name, data.target_names, data.feature_names) == ("words", ("spam", "ham"), NAMES)


@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight_names_keep_the_numbers_of_the_file(tmp_path, zero_based):
    path = tmp_path / "t.svm"
    dump_svmlight_file(X + 1, [1, -1, 1, -1], str(path), zero_based=zero_based)
    data = load_file(path)
    np.testing.assert_allclose(data.X.toarray(), X + 1, rtol=1e-12)
    assert data.feature_names == (("x0", "x1", "x2") if zero_based else ("x1", "x2", "x3"))
    assert data.y.tolist() == [1, -1, 1, -1]


# ---------------------------------------------------------------- bad files: one sentence each


def assert_one_sentence(error, *words):
    message = str(error.value)
    assert "\n" not in message
    for word in words:
        assert word in message


BAD_TABLES = {
    "empty file": ("t.csv", "", "y", ["expected data", "an empty file"]),
    "only a blank line": ("t.csv", "\n1,2\n", "y", ["a first line with column names"]),
    "header only": ("t.csv", "a,y\n", "y", ["0 samples", "has rows"]),
    "target only": ("t.csv", "y\n1\n2\n", "y", ["0 features", "besides the target"]),
    "no header": (
        "t.csv",
        "1,2,3\n4,5,6\n",
        "y",
        ["column names in the first line", "got numbers"],
    ),
    "duplicate names": ("t.csv", "a,b,a,y\n1,2,3,4\n", "y", ["'a' more than once", "rename"]),
    "no target named": ("t.csv", "a,b\n1,2\n", None, ["--target", "'a', 'b'"]),
    "perhaps no header": ("t.csv", "1.5,2,ill\n2,3,well\n", "y", ["'y'", "--no-header"]),
    "no such target": ("t.csv", "a,label\n1,2\n", "lable", ["'lable'", "Did you mean 'label'?"]),
    "same target twice": ("t.csv", "a,y\n1,2\n", ["y", "y"], ["different target columns"]),
    "words among numbers": (
        "t.csv",
        "a,b,y\n1,2,0\n<0.5,3,1\n4,5,1\n6,7,1\n",
        "y",
        ["among the numbers in 'a'", "'<0.5' in 'a'", "--ignore"],
    ),
    "underscored code": ("t.csv", "a,y\n1_5,0\n2,1\n", "y", ["'a'", "another word in every row"]),
    "missing cells": (
        "t.csv",
        "a,b,y\n1,2,0\n,3,1\n4,NA,1\n",
        "y",
        ["'a' (1), 'b' (1)", "data row 2", "--impute"],
    ),
    "nan cells": ("t.csv", "a,b,y\n1,2,0\n5,nan,1\n", "y", ["missing values", "'b'", "data row 2"]),
    "infinite cells": ("t.csv", "a,b,y\n1,2,0\n5,inf,1\n", "y", ["infinite", "'b'"]),
    "missing target": ("t.csv", "a,y\n1,u\n2,\n", "y", ["'y'", "data row 2"]),
    "labels in two targets": ("t.csv", "a,u,v\n1,x,2\n2,y,3\n", ["u", "v"], ["labels in 'u'"]),
    "cut off": ("t.csv", "a,b,y\n1,2,0\n3,4", "y", ["expected 3 cells", "got 2 in data row 2"]),
    "open quote": ("t.csv", 'a,y\n1,"u\n', "y", ["damaged", "cut off"]),
    "not UTF-8": ("t.csv", b"a,gr\xf6\xdfe\n1,2\n", "a", ["UTF-8"]),
    "wrong ending": ("t.docx", "x", "y", [".csv", ".npz", ".parquet", "got '.docx'"]),
    "no ending": ("t", "x", "y", ["got 'no ending'"]),
    "no parquet": ("t.parquet", "a,b\n1,2\n", "a", ["a Parquet file", "damaged"]),
    "no zip": ("t.npz", "a,b\n1,2\n", None, ["a NumPy file", "damaged"]),
    "no svmlight": ("t.svm", "a,b\n1,2\n", None, ["svmlight lines such as"]),
    "target for svmlight": ("t.svm", "1 1:2\n", "y", ["no target name", "'y'"]),
    "two targets for npz": ("t.npz", "x", ["u", "v"], ["at most one target array"]),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_file_gives_one_sentence(tmp_path, case):
    name, content, target, words = BAD_TABLES[case]
    path = write(tmp_path, name, content)
    with pytest.raises(DatasetError) as error:
        load_file(path, target)
    assert_one_sentence(error, str(path), *words)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing there; check the path"):
        load_file(tmp_path / "no.csv", "y")
    with pytest.raises(DatasetError, match="got a folder"):
        load_file(tmp_path, "y")


def test_text_table_with_nul_bytes(tmp_path):
    path = write(tmp_path, "t.csv", b"a,y\n1,\x00\x00\x00\n2,3\n")
    with pytest.raises(DatasetError, match="missing values, got some in 'y'"):
        load_file(path, "y")


@pytest.mark.parametrize("missing_library", [("polars", "pyarrow")])
def test_parquet_without_a_library(tmp_path, frame, monkeypatch, missing_library):
    frame.to_parquet(tmp_path / "t.parquet")
    for module in missing_library:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DatasetError) as error:
        load_file(tmp_path / "t.parquet", "species")
    assert_one_sentence(error, "pip install pyarrow", ".csv")


@pytest.mark.parametrize("without", ["polars", "pyarrow"])
def test_bad_columns_in_parquet(tmp_path, monkeypatch, without):
    monkeypatch.setitem(sys.modules, without, None)
    path = tmp_path / "t.parquet"
    numbers = pl.Series("a", [1, None, 3])
    pl.DataFrame({"a": numbers, "y": [0, 1, 0]}).write_parquet(path)
    with pytest.raises(
        DatasetError, match=r"missing values, got some in 'a' \(1\) \(first in data row 2\)"
    ):
        load_file(path, "y")
    pl.DataFrame({"a": [[1], [2], [3]], "y": [0, 1, 0]}).write_parquet(path)
    with pytest.raises(DatasetError, match=r"for example '\[1\]' in 'a'"):
        load_file(path, "y")
    pl.DataFrame({"a": [1, 2, 3], "y": ["u", None, "w"]}).write_parquet(path)
    with pytest.raises(DatasetError, match=r"missing values, got some in 'y'"):
        load_file(path, "y")
    pl.DataFrame({"a": [1, 2, 3], "y": [0.5, float("nan"), 1.0]}).write_parquet(path)
    with pytest.raises(DatasetError, match=r"missing values, got some in 'y'"):
        load_file(path, "y")


BAD_ARRAYS = {
    "no X": ({"data": X, "y": [0, 1, 0, 1]}, None, ["an array called 'X'", "'data', 'y'"]),
    "no y": ({"X": X}, None, ["a target called 'y' or 'Y'", "got 'X'"]),
    "no such target": ({"X": X, "label": [0] * 4}, "lable", ["'lable'", "mean 'label'?"]),
    "X is a vector": ({"X": X[0], "y": [0]}, None, ["to be a matrix", "(3,)"]),
    "X is text": ({"X": X.astype(str), "y": [0] * 4}, None, ["a matrix of numbers", "dtype"]),
    "y too short": ({"X": X, "y": [0, 1]}, None, ["4 samples and 2 target values"]),
    "y is a cube": ({"X": X, "y": np.zeros((4, 2, 2))}, None, ["(4, 2, 2)"]),
    "names too few": ({"X": X, "y": [0] * 4, "feature_names": ["a"]}, None, ["1 names"]),
    "no rows": ({"X": X[:0], "y": []}, None, ["0 samples"]),
}


@pytest.mark.parametrize("case", BAD_ARRAYS)
def test_bad_npz_gives_one_sentence(tmp_path, case):
    arrays, target, words = BAD_ARRAYS[case]
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(DatasetError) as error:
        load_file(tmp_path / "t.npz", target)
    assert_one_sentence(error, *words)


class RunsWhenUnpickled:
    def __reduce__(self):
        return (pytest.fail, ("a data file ran code",))


@pytest.mark.parametrize("pickled", ["X", "y", "feature_names"])
def test_pickles_are_never_loaded(tmp_path, pickled):
    arrays = {"X": X, "y": np.zeros(4), "feature_names": np.array(NAMES)}
    arrays[pickled] = np.array([RunsWhenUnpickled()], dtype=object)
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(DatasetError) as error:
        load_file(tmp_path / "t.npz")
    assert_one_sentence(error, "pickled Python objects", "dtype=str")


@pytest.mark.parametrize("compressed", [False, True])
def test_truncated_npz_at_every_tenth(tmp_path, compressed):
    save = np.savez_compressed if compressed else np.savez
    save(tmp_path / "whole.npz", X=np.random.default_rng(0).normal(size=(50, 20)), y=np.zeros(50))
    content = (tmp_path / "whole.npz").read_bytes()
    for tenth in range(1, 10):
        path = write(tmp_path, "t.npz", content[: len(content) * tenth // 10])
        with pytest.raises(DatasetError, match="damaged, cut off"):
            load_file(path)


def test_npz_with_damaged_contents_but_intact_directory(tmp_path):
    path = tmp_path / "t.npz"
    np.savez_compressed(path, X=np.random.default_rng(0).normal(size=(50, 20)), y=np.zeros(50))
    content = bytearray(path.read_bytes())
    content[200:400] = bytes(200)
    path.write_bytes(bytes(content))
    with pytest.raises(DatasetError, match="damaged, cut off"):
        load_file(path)


def test_truncated_parquet_and_npy_called_npz(tmp_path, frame):
    frame.to_parquet(tmp_path / "whole.parquet")
    content = (tmp_path / "whole.parquet").read_bytes()
    path = write(tmp_path, "t.parquet", content[: len(content) // 2])
    with pytest.raises(DatasetError, match="damaged, cut off"):
        load_file(path, "species")
    np.save(tmp_path / "t.npy", X)
    (tmp_path / "t.npy").rename(tmp_path / "t.npz")
    with pytest.raises(DatasetError, match="damaged, cut off"):
        load_file(tmp_path / "t.npz")


def test_sparse_design_without_or_with_damaged_target(tmp_path):
    scipy.sparse.save_npz(tmp_path / "w.X.npz", scipy.sparse.csr_array(X))
    with pytest.raises(DatasetError, match="'y' or 'Y', got no arrays at all"):
        load_file(tmp_path / "w.X.npz")
    (tmp_path / "w.y.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(DatasetError, match=re.escape("w.y.npy")):
        load_file(tmp_path / "w.X.npz")


# ---------------------------------------------------------------- the value itself


def test_dataset_is_frozen_and_checks_itself():
    data = Dataset("t", X, np.zeros(4), NAMES)
    assert (data.n_samples, data.n_features) == (4, 3)
    with pytest.raises(AttributeError):
        data.name = "other"
    with pytest.raises(DatasetError, match="3 features and 2 names"):
        Dataset("t", X, np.zeros(4), ("a", "b"))


def test_paths_may_be_text_or_path(tmp_path):
    path = write(tmp_path, "t.csv", "a,y\n1,2\n3,4\n")
    assert load_file(str(path), "y").source == load_file(Path(path), "y").source
