"""A short attack with fixed seeds, and all that earlier attacks have found."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fuzz import damaged_stores, driver, fits, interrupts

FOUND = Path(__file__).parent / "found.jsonl"
RECIPES = 60


@pytest.fixture(scope="module")
def worker():
    worker = driver.Worker()
    yield worker
    worker.close()


def found():
    for line in FOUND.read_text().splitlines():
        failure = json.loads(line)
        yield pytest.param(failure["recipe"], id=failure["id"])


@pytest.mark.parametrize("recipe", list(found()))
def test_what_was_found_once_is_gone(worker, recipe):
    assert worker.carried_out(recipe)["findings"] == []


def test_a_short_attack_finds_nothing(worker):
    recipes = [driver.recipe_of(0, i) for i in range(RECIPES)]
    answers = [worker.carried_out(recipe) for recipe in recipes]
    findings = [(i, answer["findings"]) for i, answer in enumerate(answers) if answer["findings"]]
    assert findings == []
    assert sum(answer["status"] == "fitted" for answer in answers) > 0.8 * RECIPES


def test_a_summary_counts_fits_and_lets_a_run_go_on(worker, monkeypatch, tmp_path):
    monkeypatch.setattr(driver, "Worker", lambda: worker)
    monkeypatch.setattr(worker, "close", lambda: None)
    monkeypatch.setattr(driver, "commit", lambda: "abc")
    path = tmp_path / "summary.json"
    out = io.StringIO()
    for _ in range(2):
        tally = driver.attack(0, 60.0, 3, out, summary=driver.Summary(path))
    kept = json.loads(path.read_text())["0"]
    assert driver.Tally.of(kept) == tally
    assert tally.next == 6
    assert tally.commits == {"abc": 6}
    assert tally.counts.total() == 6
    assert tally.fits > 6  # some have twins
    assert tally.checks > tally.fits
    assert tally.cpu > 0


def test_another_result_of_the_same_call_is_a_finding():
    ours = SimpleNamespace(coef_=np.array([1.0]), support_=np.array([True]))
    its = SimpleNamespace(coef_=np.array([np.nextafter(1.0, 2.0)]), support_=np.array([True]))
    assert fits._same_bits(ours, ours) == []
    assert fits._same_bits(ours, its) == [("twin", "again: another coef_")]


def test_a_worker_that_dies_is_a_finding_and_is_replaced(worker, monkeypatch):
    answer = worker.carried_out({"estimator": "none such"})
    assert answer["findings"][0][0].startswith("crash")
    recipe = driver.recipe_of(0, 0)
    assert worker.carried_out(recipe)["status"] in ("fitted", "refused")


def test_a_fit_that_takes_too_long_is_a_finding(worker, monkeypatch):
    monkeypatch.setattr(driver, "LIMIT", -1.0)
    monkeypatch.setattr(driver, "LOOK", 0.01)
    worker.close()  # the next one loads the library first, which takes long enough
    answer = worker.carried_out(driver.recipe_of(0, 0))
    assert answer["findings"][0][0] == "timeout"


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a child")
def test_interrupts_end_in_a_keyboard_interrupt_or_a_kept_point():
    counts = interrupts.attack(["l2p", "topk", "svc 1", "kernel probit", "mrmr"], rounds=4)
    assert interrupts.failures(counts) == {}
    assert counts.total() == 20


@pytest.mark.skipif(sys.platform == "win32", reason="no limits for a process")
def test_damaged_stores_are_answered():
    *wrong, counted = damaged_stores.failures(range(40))
    assert wrong == []
    assert sum(counted["outcomes"].values()) == 40
