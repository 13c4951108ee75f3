"""rowsparse datasets list | info."""

import json

import numpy as np
import pytest
from command import rowsparse


@pytest.fixture
def folder(tmp_path, monkeypatch):
    np.savez(tmp_path / "tiny.npz", X=np.eye(4), Y=[[0, 1], [1, 1], [0, 0], [1, 0]])
    (tmp_path / "damaged.npz").write_bytes(b"PK\x03\x04 no more")
    monkeypatch.setenv("ROWSPARSE_DATA", str(tmp_path))
    return tmp_path


def test_list_names_sizes_and_targets(folder):
    result = rowsparse("datasets", "list", "--json")
    entries = {entry["name"]: entry for entry in json.loads(result.stdout)}
    assert (entries["digits"]["samples"], entries["digits"]["features"]) == (1797, 64)
    assert entries["digits"]["target"] == "10 classes"
    assert entries["tiny"]["target"] == "2 labels"
    assert entries["tiny"]["source"] == "file in ROWSPARSE_DATA"
    assert "digits" in rowsparse("datasets", "list").stdout


def test_a_damaged_file_does_not_hide_the_others(folder):
    result = rowsparse("datasets", "list")
    assert result.exit_code == 0
    assert "cannot be read" in result.stdout
    info = rowsparse("datasets", "info", "damaged")
    assert info.exit_code == 2
    assert "damaged.npz" in info.stderr


def test_files_of_every_fault_do_not_hide_the_others(folder):
    np.savez(folder / "constant.npz", X=np.eye(3), y=[1, 1, 1])
    np.savez(folder / "strange.npz", X=np.eye(3), y=np.array(3))
    (folder / "locked.npz").symlink_to(folder / "gone.npz")
    (folder / "folder.npz").mkdir()
    entries = {e["name"]: e for e in json.loads(rowsparse("datasets", "list", "--json").stdout)}
    for name in ("constant", "strange", "locked", "folder", "damaged"):
        assert entries[name]["target"].startswith("cannot be read")
    assert entries["tiny"]["samples"] == 4


def test_info_counts_classes_and_labels(folder):
    facts = json.loads(rowsparse("datasets", "info", "breast_cancer", "--json").stdout)
    assert facts["counts"] == {"malignant": 212, "benign": 357}
    assert len(facts["feature_names"]) == 30
    facts = json.loads(rowsparse("datasets", "info", "tiny", "--json").stdout)
    assert facts["counts"] == {"0": 2, "1": 2}
    text = rowsparse("datasets", "info", "diabetes").stdout
    assert "numbers" in text
    assert "'bmi'" in text


def test_info_answers_for_a_file_too(table):
    path, _ = table
    without = rowsparse("datasets", "info", path)
    assert without.exit_code == 2
    assert "name it with --target" in without.stderr
    facts = json.loads(rowsparse("datasets", "info", path, "--target", "kind", "--json").stdout)
    assert facts["target"] == "3 classes"
    assert (facts["samples"], facts["features"]) == (90, 12)
    assert set(facts["counts"]) == {"red", "green", "blue"}
    assert facts["source"] == str(path)


def test_wrong_folder_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setenv("ROWSPARSE_DATA", str(tmp_path / "gone"))
    result = rowsparse("datasets", "list")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "ROWSPARSE_DATA" in result.stderr


def test_what_can_be_fetched_is_listed_and_said(folder):
    entries = {e["name"]: e for e in json.loads(rowsparse("datasets", "list", "--json").stdout)}
    assert entries["ALLAML"]["target"] == "remote: see 'datasets fetch'"
    missing = rowsparse("select", "ALLAML", "-k", 2)
    assert missing.exit_code == 2
    assert "rowsparse datasets fetch ALLAML" in missing.stderr
    unknown = rowsparse("datasets", "fetch", "ALLAMM")
    assert unknown.exit_code == 2
    assert "Did you mean 'ALLAML'?" in unknown.stderr
