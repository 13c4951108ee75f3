"""rowsparse select --method: every method answers, and says which options it does not have."""

import inspect
import json
import sys
import time

import numpy as np
import pytest
from command import rowsparse

from rowsparse import ScoreSelector, TopKSelector
from rowsparse.cli.methods import METHODS, PARAMETERS, SWITCHES
from rowsparse.datasets import load_dataset

SETTINGS = {
    "alpha": 0.3, "p": 0.25, "r": 1.5, "ridge": 0.6, "C": 0.7, "norm": 1.0,
    "init": "zero", "seed": 3,
}  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_every_method_selects_exactly_k(method):
    result = rowsparse("select", "iris", "--method", method, "-k", 2, "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["method"] == method
    assert [feature["rank"] for feature in record["features"]] == [1, 2]


@pytest.mark.parametrize("method", ["lpinf", "topk", "zero-norm-svm", "probit", "relieff", "mrmr"])
def test_every_kind_of_method_has_its_table(method):
    lines = rowsparse("select", "iris", "--method", method, "-k", 2).stdout.splitlines()
    assert lines[0].split()[:3] == ["rank", "name", "score"]
    assert [line.split()[0] for line in lines[1:3]] == ["1", "2"]
    assert lines[3].startswith("2 of 4 features · ")


@pytest.mark.parametrize("method", METHODS)
def test_an_option_is_used_or_refused(method, monkeypatch):
    for option, value in SETTINGS.items():
        seen = {}
        made = METHODS[method].build({})

        def fit(self, X, y, seen=seen):
            seen.update(self.get_params(deep=False))
            raise ValueError("enough")

        monkeypatch.setattr(type(made), "fit", fit)
        result = rowsparse("select", "iris", "--method", method, f"--{option}", value)
        assert result.exit_code == 2
        if option in METHODS[method].options:
            assert seen[PARAMETERS.get(option, option)] == value
        else:
            assert not seen
            for word in (f"--{option}:", f"--method {method}", "leave it out"):
                assert word in result.stderr


def test_options_name_parameters_that_exist():
    for method in METHODS.values():
        known = method.build({}).get_params(deep=False)
        for option in method.options:
            if method.solver is None and option == "time_limit":  # the clock's, not the filter's
                continue
            name = {**PARAMETERS, **SWITCHES, "time_limit": "solver"}.get(option, option)
            # a special case fixes some exponents: its maker decides, not the class
            assert name in known or name in inspect.signature(method.make).parameters


def test_top_k_on_the_command_line_is_the_selector():
    wine = load_dataset("wine")
    arguments = ("--method", "topk", "-k", 4, "--r", 2, "--seed", 1, "--json")
    record = json.loads(rowsparse("select", "wine", *arguments).stdout)
    selector = TopKSelector(4, r=2.0, random_state=1).fit(wine.X, wine.y)
    assert {f["index"] for f in record["features"]} == set(np.flatnonzero(selector.support_))
    assert record["objective"] == pytest.approx(selector.solution_.objective)


@pytest.mark.parametrize("method", ["l2p", "lpinf", "topk"])
def test_what_a_ridge_proves_is_shown(method):
    arguments = ("select", "wine", "--method", method, "-k", 3, "--ridge", 2, "--time-limit", 60)
    last = rowsparse(*arguments).stdout.splitlines()[-1]
    assert " · ridge 2 · " in last
    assert "above the optimum" in last or "proved optimal" in last
    record = json.loads(rowsparse(*arguments, "--json").stdout)
    assert record["ridge"] == 2
    assert record["proof"]
    assert record["gap"] == pytest.approx(record["objective"] - record["lower_bound"], abs=1e-9)


@pytest.mark.parametrize("method", ["topk", "relieff"])
def test_how_many_features_without_k_is_said(method):
    result = rowsparse("select", "iris", "--method", method, "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert len(record["features"]) == 4  # ten unless X has fewer
    assert f"-k was not given: {method} selects 4 features then." in record["notes"]
    assert "Note: -k was not given" in result.stderr


@pytest.mark.parametrize("method", [m for m in METHODS if METHODS[m].solver is not None])
def test_a_time_limit_reaches_every_method_that_has_one(method):
    arguments = ("--method", method, "-k", 5, "--time-limit", 1e-9, "--json")
    result = rowsparse("select", "digits", *arguments)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["status"] == "out of time"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timer for this")
def test_a_filter_that_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr(ScoreSelector, "fit", lambda *_: time.sleep(30))
    began = time.perf_counter()
    result = rowsparse("select", "iris", "--method", "relieff", "--time-limit", 0.2)
    assert time.perf_counter() - began < 20
    assert result.exit_code == 2
    assert "expected relieff to end within 0.2 s" in result.stderr
    monkeypatch.undo()
    assert rowsparse("select", "iris", "--method", "f", "--time-limit", 60).exit_code == 0


def test_a_filter_has_scores_and_no_coefficients(tmp_path):
    out = tmp_path / "scores.csv"
    result = rowsparse("select", "wine", "--method", "relieff", "-k", 2, "--out", out)
    assert result.exit_code == 0, result.output
    header, *rows = out.read_text().splitlines()
    assert header == "rank,name,score"
    assert len(rows) == 2


def test_classifiers_refuse_numbers():
    result = rowsparse("select", "diabetes", "--method", "zero-norm-svm", "-k", 2)
    assert result.exit_code == 2
    assert "expected classes in the target, got numbers" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
