"""rowsparse select: one sentence for everything that is wrong, and files left whole."""

import os

import pytest
from command import rowsparse

BAD_INPUT = {
    "no such name": (("irs", "-k", 1), ["'irs'", "Did you mean 'iris'?"]),
    "no such file": (("gone.csv", "--target", "y"), ["gone.csv", "check the path"]),
    "no such target": (("{table}", "--target", "king"), ["'king'", "Did you mean 'kind'?"]),
    "no target": (("{table}",), ["--target", "'kind'"]),
    "target of a named set": (("iris", "--target", "y"), ["carries its own"]),
    "both k and alpha": (("iris", "-k", 1, "--alpha", 1), ["-k, --alpha", "got both"]),
    "unknown method": (("iris", "--method", "boruta"), ["--method", "l2p", "'boruta'"]),
    "nearly a method": (("iris", "--method", "relief"), ["Did you mean 'relieff'?"]),
    "no time for a filter": (
        ("iris", "--method", "relieff", "--time-limit", 0),
        ["--time-limit", "above 0", "got 0"],
    ),
    "arom of numbers": (
        ("iris", "-k", 2, "--method", "arom", "--task", "regression"),
        ["arom", "expected class labels", "got numbers"],
    ),
    "p of mtfs": (("iris", "--method", "mtfs", "--p", 0.5), ["--p", "mtfs", "got 0.5"]),
    "r of erfs": (("iris", "--method", "erfs", "--r", 2), ["--r", "erfs", "got 2"]),
    "k above d": (("iris", "-k", 5), ["4", "5"]),
    "k of zero": (("iris", "-k", 0), ["0"]),
    "negative alpha": (("iris", "--alpha", -1), ["alpha", "-1"]),
    "negative ridge": (("iris", "-k", 2, "--ridge", -1), ["ridge", ">= 0", "-1"]),
    "ridge that is no number": (("iris", "-k", 2, "--ridge", "nan"), ["ridge", "finite", "nan"]),
    "ridge of a filter": (
        ("iris", "--method", "relieff", "--ridge", 1),
        ["--ridge", "no such option with --method relieff", "choose one of l2p,", "topk"],
    ),
    "p above one": (("iris", "-k", 2, "--p", 1.5), ["p", "1.5"]),
    "r above two": (("iris", "-k", 2, "--r", 3), ["r", "3"]),
    "unknown init": (("iris", "-k", 2, "--init", "magic"), ["init", "magic"]),
    "no time": (("iris", "-k", 2, "--time-limit", 0), ["--time-limit", "above 0", "got 0"]),
    "folder for out is missing": (("iris", "--out", "no/such/x.csv"), ["--out", "create it"]),
    "out twice": (
        ("iris", "--out", "x.csv", "--out-data", "x.csv"),
        ["--out-data", "another file"],
    ),
    "out is a folder": (("iris", "--out", "{folder}"), ["--out", "name a file"]),
    "out is no csv": (("iris", "--out", "x.parquet"), ["--out", ".csv", "'x.parquet'"]),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_one_sentence_and_exit_code_2(case, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.csv").mkdir()
    arguments, words = BAD_INPUT[case]
    places = {"{table}": table[0], "{folder}": tmp_path / "folder.csv"}
    result = rowsparse("select", *(places.get(a, a) for a in arguments))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


def test_wrong_options_are_usage_errors():
    for arguments in (
        ["select"],
        ["select", "iris", "-k", "many"],
        ["select", "iris", "--ridge", "much"],
        ["selekt", "iris"],
    ):
        assert rowsparse(*arguments).exit_code == 2


def test_constant_target_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,same\n2,same\n3,same\n")
    result = rowsparse("select", tmp_path / "t.csv", "--target", "y", "-k", 1)
    assert result.exit_code == 2
    assert "class" in result.stderr


def test_bad_input_leaves_an_existing_file_alone(tmp_path):
    out = tmp_path / "selected.csv"
    out.write_text("precious")
    assert rowsparse("select", "iris", "-k", 99, "--out", out, "--force").exit_code == 2
    assert out.read_text() == "precious"


def test_failed_writing_leaves_the_old_file_and_no_debris(tmp_path, monkeypatch):
    out = tmp_path / "selected.csv"
    out.write_text("precious")

    def disk_full(source, target):
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(os, "replace", disk_full)
    result = rowsparse("select", "iris", "-k", 2, "--out", out, "--force")
    assert result.exit_code == 2
    assert "no space left on device" in result.stderr
    assert out.read_text() == "precious"
    assert os.listdir(tmp_path) == ["selected.csv"]


def test_output_is_replaced_and_readable_by_others(tmp_path):
    out = tmp_path / "selected.csv"
    out.write_text("old")
    assert rowsparse("select", "iris", "-k", 2, "--out", out, "--force").exit_code == 0
    assert out.read_text().startswith("rank,name,score,")
    (tmp_path / "plain").write_text("")
    assert out.stat().st_mode == (tmp_path / "plain").stat().st_mode
