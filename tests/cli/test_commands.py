"""rowsparse path, compare, stability, tune, report: what they print is what the library says."""

import csv
import json
import logging
import os

import numpy as np
import pytest
from command import rowsparse
from rich.progress import Progress
from sklearn.datasets import load_wine

from rowsparse import L2pSelector, ScoreSelector, TopKSelector
from rowsparse.cli import progress
from rowsparse.datasets import load_dataset
from rowsparse.datasets.gaps import GapFiller
from rowsparse.model_selection import Comparison, SelectorCV, StabilitySelector, compare, load
from rowsparse.paths import selection_path

WINE = load_wine()


def answer(*arguments):
    result = rowsparse(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_path_is_selection_path():
    record = answer("path", "wine", "--n-alphas", 6)
    expected = selection_path(L2pSelector(), WINE.data, WINE.target, n_alphas=6)
    assert [step["features"] for step in record["steps"]] == expected.n_rows.tolist()
    np.testing.assert_allclose([step["alpha"] for step in record["steps"]], expected.alphas)
    names = np.array(load_dataset("wine").feature_names)
    entered = [name for step in record["steps"] for name in step["entered"]]
    assert set(entered) == set(names[np.unique(np.concatenate([s.rows for s in expected]))])
    assert len(entered) == len(set(entered))


@pytest.mark.parametrize(
    ("name", "measure"), [("wine", "fitted accuracy"), ("diabetes", "fitted R2")]
)
@pytest.mark.parametrize("switch", [(), ("--no-standardize",), ("--no-intercept",)])
def test_the_fit_along_a_path_is_the_score_of_the_selector(name, measure, switch):
    step = answer("path", name, "-k", 3, *switch)["steps"][-1]
    data = load_dataset(name)
    parameters = {"--no-standardize": "standardize", "--no-intercept": "fit_intercept"}
    selector = L2pSelector(3, task=data.task).set_params(**{parameters[s]: False for s in switch})
    assert step[measure] == pytest.approx(selector.fit(data.X, data.y).score(data.X, data.y))


def test_path_over_k_of_a_constraint_and_its_file(tmp_path):
    out = tmp_path / "path.csv"
    result = rowsparse("path", "wine", "--method", "topk", "-k", "1,2,5", "--out", out)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["alpha", "features", "objective", "fitted", "accuracy", "entered"]
    with out.open(newline="") as stream:
        assert [int(row["features"]) for row in csv.DictReader(stream)] == [1, 2, 5]


def test_compare_is_compare(tmp_path):
    arguments = ("compare", "wine", "--methods", "topk,f", "-k", "2,4", "--cv", 3, "--seed", 5)
    record = answer(*arguments, "--store", tmp_path / "store")
    methods = {"topk": TopKSelector(task="classification"), "f": ScoreSelector("f")}
    expected = compare(methods, WINE.data, WINE.target, ks=[2, 4], cv=3, random_state=5)
    for told, line in zip(record["lines"], expected.summary(), strict=True):
        assert (told["method"], told["k"]) == (line["method"], line["k"])
        assert told["score"] == pytest.approx(line["score"])
    stored = Comparison.load(tmp_path / "store")
    assert stored.names == load_dataset("wine").feature_names
    page = tmp_path / "page.html"
    assert rowsparse("report", tmp_path / "store", "--out", page).exit_code == 0
    assert "topk" in page.read_text(encoding="utf-8")
    text = rowsparse(*arguments, "--store", tmp_path / "store")  # goes on where it was: at the end
    assert text.exit_code == 0, text.output
    assert "Best: " in text.stdout
    other = rowsparse("compare", "iris", "--methods", "f", "-k", 1, "--store", tmp_path / "store")
    assert other.exit_code == 2


def test_more_features_than_there_are_means_all():
    record = answer("compare", "iris", "--methods", "f", "-k", "2,4,50", "--cv", 3)
    assert [line["k"] for line in record["lines"]] == [2, 4]


def test_a_method_takes_the_options_it_knows():
    arguments = ("compare", "iris", "--methods", "l2p,f", "-k", 2, "--cv", 3)
    assert rowsparse(*arguments, "--p", 1).exit_code == 0
    refused = rowsparse(*arguments, "--C", 1)
    assert refused.exit_code == 2
    assert "--C: expected an option of some of the methods" in refused.stderr


def test_stability_is_stability_selection(tmp_path):
    folder = tmp_path / "store"
    arguments = ("stability", "wine", "-k", 3, "--pairs", 6, "--seed", 0, "--store", folder)
    record = answer(*arguments)
    selector = StabilitySelector(
        TopKSelector(task="classification"), q=3, n_pairs=6, random_state=0
    ).fit(WINE.data, WINE.target)
    names = np.array(load_dataset("wine").feature_names)
    stable = {f["name"] for f in record["features"] if f["stable"]}
    assert stable == set(names[selector.support_])
    told = {f["name"]: f["probability"] for f in record["features"]}
    expected = selector.selection_probabilities_
    assert told == {n: p for n, p in zip(names, expected, strict=True) if p > 0}
    assert record["pfer"] == pytest.approx(selector.pfer_)
    assert load(folder).names == tuple(names)
    (folder / "cells" / "pair%2f4.json").unlink()
    assert answer(*arguments) == record  # goes on where it was
    other = rowsparse(*arguments, "--p", "0.5", "--method", "l2p")
    assert other.exit_code == 2
    assert "choose another folder" in other.stderr
    text = rowsparse(*arguments, "--out", tmp_path / "out.csv")
    assert "half-samples" in text.stdout.splitlines()[-1]
    assert (tmp_path / "out.csv").read_text().startswith("rank,name,probability,stable")


def test_tune_is_selector_cv(tmp_path):
    record = answer("tune", "wine", "--method", "topk", "-k", "1,3", "--rule", "1se", "--cv", 3)
    search = SelectorCV(TopKSelector(task="classification"), ks=[1, 3], rule="1se", cv=3)
    search.fit(WINE.data, WINE.target)
    assert [c["score"] for c in record["candidates"]] == pytest.approx(
        search.cv_results_["mean_test_score"].tolist()
    )
    assert [c["chosen"] for c in record["candidates"]].index(True) == search.best_index_
    assert {f["index"] for f in record["features"]} == set(np.flatnonzero(search.support_))
    page = tmp_path / "page.html"
    arguments = ("tune", "iris", "--method", "f", "-k", "1,2", "--report", page)
    text = rowsparse(*arguments)
    assert text.exit_code == 0, text.output
    assert "<--" in text.stdout
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert rowsparse(*arguments).exit_code == 2  # the page is there


@pytest.fixture
def gappy(tmp_path):
    """A table of numbers and a category, a fifth of whose cells are missing."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    numbers = rng.normal(size=(60, 3)) + y[:, None] * [1.0, 0.5, 0.0]
    towns = np.where(rng.random(60) < 0.7, np.array(["Bonn", "Oslo"])[y], "Rome")
    cells = np.column_stack([numbers.round(3).astype(str), towns])
    cells[rng.random(cells.shape) < 0.2] = ""
    path = tmp_path / "gaps.csv"
    lines = [",".join([*row, str(label)]) for row, label in zip(cells, y, strict=True)]
    path.write_text("a,b,c,town,y\n" + "\n".join(lines) + "\n")
    return path


def test_gaps_are_filled_inside_the_folds(gappy, monkeypatch):
    seen = []

    def fit(self, X, y=None):
        seen.append(len(X))
        return fitted(self, X, y)

    fitted = GapFiller.fit
    monkeypatch.setattr(GapFiller, "fit", fit)
    table = (gappy, "--target", "y", "--impute", "median")
    answer("compare", *table, "--methods", "f", "-k", 2, "--cv", 3)
    assert seen == [60, 40, 40, 40]  # on reading, which is what the page shows, and in the folds
    seen.clear()
    answer("tune", *table, "--method", "f", "-k", "1,2", "--cv", 3)
    assert sorted(seen) == [40, 40, 40, 60, 60, 60]
    seen.clear()
    answer("stability", *table, "--method", "f", "-k", 2, "--pairs", 2)
    assert seen == [60, 30, 30, 30, 30]


BAD_INPUT = {
    "path of a filter": (("path", "iris", "--method", "relieff"), ["--method", "l2p, lpinf"]),
    "path to words": (("path", "iris", "-k", "few"), ["-k", "5,10,20", "'few'"]),
    "path to none": (("path", "iris", "-k", "0,3"), ["-k", "above 0"]),
    "compare what": (("compare", "iris", "--methods", "l2p,mrmx"), ["Did you mean 'mrmr'?"]),
    "compare numbers": (("compare", "diabetes", "--methods", "arom", "-k", "2"), ["arom"]),
    "compare by what": (
        ("compare", "iris", "--methods", "f", "-k", "1", "--scoring", "luck"),
        ["luck"],
    ),
    "stability of a half": (("stability", "iris", "-k", 2, "--threshold", 0.4), ["0.5"]),
    "stability of all three": (
        ("stability", "iris", "-k", 2, "--threshold", 0.6, "--pfer", 1),
        ["threshold"],
    ),
    "tune by what": (("tune", "iris", "-k", "1,2", "--rule", "luck"), ["luck"]),
    "report of nothing": (("report", "{folder}/gone"), ["gone"]),
    "report of a file": (("report", "{folder}/file.txt"), ["file.txt"]),
    "store in a file": (
        ("stability", "iris", "-k", 2, "--store", "{folder}/file.txt"),
        ["--store", "got the file"],
    ),
    "store among other things": (
        ("compare", "iris", "-k", "2", "--store", "{folder}"),
        ["--store", "new folder"],
    ),
    "page that is none": (("select", "iris", "-k", 2, "--report", "page.pdf"), [".html"]),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_one_sentence_and_exit_code_2(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.txt").write_text("x")
    arguments, words = BAD_INPUT[case]
    result = rowsparse(*(str(a).replace("{folder}", str(tmp_path)) for a in arguments))
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    sentences = [line for line in result.stderr.splitlines() if not line.startswith("Note: ")]
    assert len(sentences) == 1, result.stderr
    for word in words:
        assert word in result.stderr
    assert os.listdir(tmp_path) == ["file.txt"]


def test_a_bar_moves_on_a_terminal_and_there_is_none_in_a_pipe(monkeypatch):
    seen = []
    monkeypatch.setattr(Progress, "update", lambda self, task, **to: seen.append(to))
    logger = logging.getLogger("rowsparse")
    with progress.bar("Working"):
        logger.info("%s: %d of %d", "path", 1, 3)
    assert seen == []
    monkeypatch.setenv("FORCE_COLOR", "1")
    level = logger.level
    with progress.bar("Working"):
        logger.info("%s: %d of %d", "path", 1, 3)
        logger.info("something else")
    assert seen == [{"completed": 1, "total": 3}]
    assert (logger.level, logger.handlers) == (level, [])


def test_completion_knows_the_commands(monkeypatch):
    from typer.testing import CliRunner

    from rowsparse.cli import build_app

    environment = {"_ROWSPARSE_COMPLETE": "complete_bash", "COMP_WORDS": "rowsparse st",
                   "COMP_CWORD": "1"}  # fmt: skip
    done = CliRunner().invoke(build_app(), [], env=environment, prog_name="rowsparse")
    assert done.stdout.split() == ["stability"]
