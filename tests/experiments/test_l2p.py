"""The study of the l2,p paper on small data; what its percentages say about its folds."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.frame import CellFile, Table, main, whole_page
from experiments.frame.run import HOME
from experiments.l2p import measure
from experiments.l2p.claims import claims
from experiments.l2p.read import attainable, steps_to
from experiments.l2p.study import STUDY

pytest.importorskip("matplotlib")


@pytest.fixture
def small_data(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = 2000 * np.exp(rng.normal(size=(40, 90)))
    X[:, :5] *= 1 + 4 * y[:, None]
    monkeypatch.setattr(measure, "load", lambda name: Table(name, X, y))
    measure.table.cache_clear()
    yield
    measure.table.cache_clear()


def test_quick_ends_with_a_page_and_its_figure(small_data, tmp_path):
    assert main(STUDY, ["--quick", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "l2p.md").read_text()
    assert "| ALLAML (golub) | published | 6.86 | 4.00 | 6.67 | 5.43 |" in text
    assert "nan" not in text
    assert (tmp_path / "figures" / "l2p_convergence.png").exists()


@pytest.mark.parametrize(
    ("percent", "n", "possible"),
    [
        (2.0, 50, True),  # one of ten in one fold
        (6.86, 72, True),  # 3 of 15 and 2 of 14, 20 % of each: 4 + 2.857
        (0.99, 203, True),  # 1 of 41 and 1 of 40: .488 + .5
        (0.99, 181, False),  # one error is .54 or .56, two are 1.08 at least
        (1.0, 72, False),
    ],
)
def test_percentages_tell_the_number_of_samples(percent, n, possible):
    assert attainable(percent, n) is possible


def test_steps_are_counted_to_the_fall_that_is_small():
    assert steps_to([8.0, 4.0, 2.0, 1.999, 1.998], 1e-2) == 4  # the third fall is the small one
    assert steps_to([8.0, 4.0, 2.0], 1e-2) is None


@pytest.mark.skipif(not (HOME / "cells" / "l2p.jsonl").exists(), reason="no committed cells")
def test_the_committed_page_comes_from_the_committed_cells(tmp_path):
    cells = CellFile(HOME / "cells" / "l2p.jsonl")
    text = whole_page(STUDY, cells, tmp_path)
    assert "nan" not in text
    assert len(text.splitlines()) == len((HOME / "l2p.md").read_text().splitlines())
    assert len(claims(cells)) >= 6
