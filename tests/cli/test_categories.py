"""The columns of a category count, rank and come in as one feature, in every command."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from command import rowsparse

TOWNS = ["town=Bergen", "town=Bodø", "town=Oslo"]


@pytest.fixture
def file(tmp_path):
    """The town decides, then a; b, c and the colour are noise: six features in ten columns."""
    rng = np.random.default_rng(1)
    n = 150
    frame = pd.DataFrame(rng.standard_normal((n, 3)), columns=["a", "b", "c"])
    frame["town"] = rng.choice(["Oslo", "Bergen", "Bodø"], n)
    frame["colour"] = rng.choice(["red", "green", "blue"], n)
    frame["sex"] = rng.choice(["m", "f"], n)
    effect = frame["town"].map({"Oslo": 2, "Bergen": -2, "Bodø": 0}) + frame["a"]
    frame["y"] = np.where(effect > 0, "ill", "well")
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    return path


def answer(*arguments):
    result = rowsparse(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("method", ["l2p", "topk", "mrmr"])
def test_select(file, tmp_path, method):
    out, data = tmp_path / "out.csv", tmp_path / "reduced.csv"
    files = ("--out", out, "--out-data", data)
    command = ("select", file, "--target", "y", "-k", 2, "--method", method, *files)
    chosen = answer(*command)["features"]
    assert sorted(feature["name"] for feature in chosen) == ["a", *TOWNS]
    ranks = {feature["name"]: feature["rank"] for feature in chosen}
    assert {ranks[name] for name in TOWNS} | {ranks["a"]} == {1, 2}
    assert len({ranks[name] for name in TOWNS}) == 1
    with data.open(newline="") as stream:
        assert next(csv.reader(stream)) == ["a", *TOWNS, "y"]


def test_the_line_below_the_table_counts_features(file):
    result = rowsparse("select", file, "--target", "y", "-k", 2, "--method", "topk")
    assert "2 of 6 features in 4 columns" in result.stdout
    assert "Wrote" not in result.stdout


def test_path(file):
    steps = answer("path", file, "--target", "y", "-k", "1,2,9", "--method", "topk")["steps"]
    assert [step["features"] for step in steps] == [1, 2, 6]
    assert [step["entered"] for step in steps[:2]] == [["town"], ["a"]]
    steps = answer("path", file, "--target", "y", "--n-alphas", 5)["steps"]
    entered = [name for step in steps for name in step["entered"]]
    assert len(entered) == len(set(entered)) == steps[-1]["features"]
    assert set(entered) <= {"a", "b", "c", "town", "colour", "sex=m"}


def test_tune(file):
    record = answer("tune", file, "--target", "y", "-k", "1,2,50", "--cv", 3)
    assert [line["features"] for line in record["candidates"]] == [1, 2, 6]
    assert [line["k"] for line in record["candidates"]] == [1, 2, 6]


def test_stability(file):
    record = answer("stability", file, "--target", "y", "-k", 2, "--pairs", 5)
    assert {feature["name"] for feature in record["features"][:2]} == {"town", "a"}
    assert record["q"] == 2


def test_compare(file):
    command = ("compare", file, "--target", "y", "--methods", "f,topk", "-k", "1,50", "--cv", 3)
    lines = answer(*command)["lines"]
    assert {line["k"] for line in lines} == {1, 6}
    one = [line["score"] for line in lines if line["k"] == 1]
    assert min(one) > 0.75  # one of the town's columns alone is right for two thirds


def test_a_page_about_all_of_it(file, tmp_path):
    stored = [tmp_path / "stable", tmp_path / "compared"]
    base = (file, "--target", "y", "-k", 2, "--store")
    assert rowsparse("stability", *base, stored[0], "--pairs", 3).exit_code == 0
    assert rowsparse("compare", *base, stored[1], "--methods", "f,topk").exit_code == 0
    page = tmp_path / "page.html"
    result = rowsparse("report", *stored, "--data", file, "--target", "y", "--out", page)
    assert result.exit_code == 0, result.output
    assert "town" in page.read_text()
    page = tmp_path / "selected.html"
    result = rowsparse(
        "select", file, "--target", "y", "-k", 2, "--method", "topk", "--report", page
    )
    assert result.exit_code == 0, result.output
    text = page.read_text()
    assert "2 features, which are 4 of 10 columns, were selected" in text
    assert "-k 2" in text  # the command that repeats it


def test_a_report_reads_the_table_as_the_other_commands_do(file, tmp_path):
    head, *rows = file.read_text().splitlines()
    dated = [f"{row},2024-01-0{i % 9 + 1}" for i, row in enumerate(rows)]
    file.write_text("\n".join([f"{head},visit", *dated]))
    stored = tmp_path / "stable"
    reading = ("--target", "y", "--ignore", "visit")
    result = rowsparse("stability", file, *reading, "-k", 2, "--pairs", 2, "--store", stored)
    assert result.exit_code == 0, result.output
    page = tmp_path / "page.html"
    result = rowsparse("report", stored, "--data", file, *reading, "--out", page)
    assert result.exit_code == 0, result.output
    assert page.exists()
