"""The study of the GSR-FS paper on small data, and how an order of convergence is read."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.frame import CellFile, Options, Table, main, whole_page
from experiments.frame.run import HOME
from experiments.gsr_fs import accuracy, order, reading_page, synthetic, times
from experiments.gsr_fs.claims import claims
from experiments.gsr_fs.reading_page import Reading
from experiments.gsr_fs.study import STUDY

pytest.importorskip("matplotlib")


@pytest.fixture
def small_data(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 101))
    X[:, :3] += 2 * (y[:, None] == range(3))
    for module in (accuracy, order, times):
        monkeypatch.setattr(module, "load", lambda name: Table(name, X, y))
    monkeypatch.setattr(times, "TOP", 20)
    for name, value in {"N": 60, "D1": 3, "D2": 9, "K": 6}.items():
        monkeypatch.setattr(synthetic, name, value)
    for cached in (accuracy._scaled, synthetic.data):
        cached.cache_clear()
    yield
    for cached in (accuracy._scaled, synthetic.data):
        cached.cache_clear()


def test_quick_ends_with_a_page_and_its_figures(small_data, tmp_path):
    assert main(STUDY, ["--quick", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "gsr_fs.md").read_text()
    assert "| GSR p=.5 | 86.87 ± 0.89 |" in text
    assert "| SEMEION | E-RFS | 32.9 |" in text
    assert "nan" not in text
    for name in ("accuracy", "synthetic", "order"):
        assert (tmp_path / "figures" / f"gsr_fs_{name}.png").exists()


def test_the_first_cells_of_the_plan_fill_every_table_once():
    plan = [task.settings for task in STUDY.plan(Options(quick=False))]
    first = plan[: plan.index({"part": "accuracy", "data": "SEMEION", "split": 1,
                               "kind": "penalised"})]  # fmt: skip
    assert {cell["part"] for cell in first} == {"synthetic", "order", "accuracy", "times"}
    tried = {cell["data"] for cell in first if cell["part"] == "accuracy"}
    assert tried == set(accuracy.COST_ORDER)


@pytest.mark.parametrize(("q", "ratio"), [(1.0, 0.5), (1.5, 1.0), (2.0, 1.0)])
def test_an_order_that_is_known_is_found(q, ratio):
    errors = [0.5]
    while errors[-1] > 1e-12:
        errors.append(ratio * errors[-1] ** q)
    assert order.order_of(np.array(errors)) == pytest.approx(q, abs=1e-2)


def test_a_reading_picks_by_its_own_score_among_what_it_tries():
    inner, test = [60.0, 80.0, 70.0, 0.0, 0.0], [61.0, 62.0, 63.0, 0.0, 0.0]
    rows = [[2.0, 0.5, 1.0, 90, inner, test], [1.0, 0.5, 1.0, 90, [90.0] * 5, [50.0] * 5]]
    readings = [
        Reading("all"),
        Reading("r = 2", tried=lambda r, cost: r == 2),
        Reading("C = 1", tried=lambda r, cost: (r, cost) == (2, 1)),
        Reading("the test part", on_test=True),
    ]
    costs = (0.1, 0.5, 1.0, 5.0, 10.0)
    found = [reading_page.picked(rows, 0.5, reading, costs) for reading in readings]
    assert found == [50.0, 62.0, 63.0, 63.0]


@pytest.mark.skipif(not (HOME / "cells" / "gsr_fs.jsonl").exists(), reason="no committed cells")
def test_the_committed_page_comes_from_the_committed_cells(tmp_path):
    cells = CellFile(HOME / "cells" / "gsr_fs.jsonl")
    text = whole_page(STUDY, cells, tmp_path)
    assert "nan" not in text
    assert len(text.splitlines()) == len((HOME / "gsr_fs.md").read_text().splitlines())
    assert len(claims(cells)) >= 6
