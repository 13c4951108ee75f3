"""Three papers' studies: they measure and draw in small, and what they print line by line holds."""

from __future__ import annotations

import warnings
from itertools import islice

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from experiments.frame import (
    CellFile,
    Curves,
    Options,
    Table,
    along,
    behind,
    curves,
    gains_table,
    main,
    mean_of,
    verdict,
    whole_page,
)
from experiments.frame.run import HOME
from experiments.gsr_fs import study as gsr_fs
from experiments.l2p import study as l2p
from experiments.lpinf import __main__ as lpinf
from experiments.lpinf.algorithm_1 import algorithm_1
from experiments.lpinf.residues import residue
from experiments.top_k import __main__ as top_k
from experiments.top_k import printed as alm
from experiments.zero_norm import __main__ as zero_norm
from experiments.zero_norm import printed as reweighting
from rowsparse import ScoreSelector

STUDIES = {study.name: study for study in (lpinf.STUDY, top_k.STUDY, zero_norm.STUDY)}
CHEAP = {  # of every study one cell or two of each part that takes no seconds
    "lpinf": ('"method": "F"', '"method": "ReliefF"'),
    "top_k": ('"part": "genes"', '"k": 1, "part": "ours"', '"method": "Fisher"'),
    "zero_norm": ('"part": "equivalence"', '"method": "SVM ranking"', '"part": "norms"'),
}


@pytest.fixture
def small_data(monkeypatch):
    """Sixty positive samples of ninety columns, of which two tell the classes apart."""

    def load(name):
        rng = np.random.default_rng(0)
        y = np.arange(60) % (2 if name in ("golub", "Sonar") else 3)
        X = rng.lognormal(5.0, 1.0, (60, 90))
        X[:, :2] += 400.0 * np.stack([y == 0, y == 1], axis=1)
        return Table(name, X, (y[:, None] == np.arange(3)).astype(int) if "ml_" in name else y)

    for module in (
        "lpinf.residues", "lpinf.accuracy", "top_k.data", "zero_norm.features",
        "zero_norm.iterates", "zero_norm.times", "zero_norm.dual",
    ):  # fmt: skip
        monkeypatch.setattr(f"experiments.{module}.load", load, raising=False)


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_measures_and_draws(name, small_data, tmp_path):
    for only in CHEAP[name]:
        assert main(STUDIES[name], ["--quick", "--only", only, "--out", str(tmp_path)]) == 0
    cells = CellFile(tmp_path / "cells" / f"{name}.jsonl")
    assert len(cells.cells) >= 3
    assert (tmp_path / "claims" / f"{name}.jsonl").read_text().count("\n") >= 3
    page = (tmp_path / f"{name}.md").read_text()
    assert all((tmp_path / path).exists() for path in pictures(page))


@pytest.mark.parametrize("name", STUDIES)
def test_the_committed_page_comes_from_the_committed_cells_alone(name, tmp_path, monkeypatch):
    monkeypatch.setenv("ROWSPARSE_DATA", str(tmp_path))
    cells = CellFile(HOME / "cells" / f"{name}.jsonl")
    assert whole_page(STUDIES[name], cells, tmp_path) == (HOME / f"{name}.md").read_text()


@pytest.mark.parametrize("study", [*STUDIES.values(), gsr_fs.STUDY, l2p.STUDY])
def test_every_cell_of_the_full_plan_is_committed(study):
    cells = CellFile(HOME / "cells" / f"{study.name}.jsonl")
    plan = study.plan(Options(quick=False))
    assert [task.settings for task in plan if task.settings not in cells] == []


@pytest.mark.parametrize("name", STUDIES)
def test_settings_name_one_cell_each(name):
    tasks = list(STUDIES[name].plan(Options(quick=False)))
    keys = {str(sorted(task.settings.items(), key=str)) for task in tasks}
    assert len(keys) == len(tasks)


def pictures(page: str) -> list[str]:
    return [part.partition(")")[0] for part in page.split("](") if part[:8] == "figures/"]


def test_a_claim_that_holds_three_times_in_four_is_a_yes():
    assert [verdict(3, 4), verdict(2, 4), verdict(1, 4)] == ["yes", "in part", "no"]
    assert verdict(0, 0) == "not tested"


def test_the_scores_of_a_column_that_is_the_class_are_perfect(tmp_path):
    y = np.arange(30) % 2
    X = np.c_[np.random.default_rng(0).standard_normal((30, 3)), 10.0 * y]
    splits = [(np.arange(20), np.arange(20, 30)), (np.arange(10, 30), np.arange(10))]
    found = along(
        ScoreSelector("f"), X, y, (1, 2), splits, {"1-NN": KNeighborsClassifier(1)}, columns=True
    )
    assert found["scores"]["1-NN"][0][0] == 100.0
    assert found["columns"][1][0] == [3]
    cells = CellFile(tmp_path / "cells.jsonl")
    cells.add({"method": "F", "block": 0}, found, 0.0)
    panel = curves(cells, (1, 2), 0.5, "1-NN", ["F", "not measured"])
    assert list(panel.scores) == ["F"]
    assert panel.mean("F")[0] == 100.0
    cells.add({"method": "F", "block": 2}, found, 0.0)
    behind_a_gap = curves(cells, (1, 2), 0.5, "1-NN", ["F"])
    assert len(behind_a_gap.scores["F"]) == len(splits)


def test_an_accuracy_is_never_said_to_be_above_100():
    panel = Curves((1,), 0.25, {"F": np.array([[90.0], [98.0]])})
    assert panel.table().endswith("| F | 2 | 94.0 [31.8, 100.0] |")


def test_gains_are_of_the_mean_over_k_on_each_split():
    ours, theirs = np.array([[3.0, 5.0], [2.0, 2.0]]), np.array([[1.0, 1.0], [3.0, 3.0]])
    panel = Curves((1, 2), 0.25, {"ours": ours, "theirs": theirs, "other": ours})
    table = gains_table({"data": mean_of([panel, panel])}, "ours", ["theirs", "absent"])
    # 3 and -1 on the two splits; t of one degree of freedom, (1/2 + 1/4) times a variance of 8
    assert table.splitlines()[-1] == "| data | 1.0 [-30.1, 32.1], 1 of 2 |  |"
    assert behind({"data": panel}, "ours", ["theirs"]) == (
        "By a point or more *ours* is behind nobody."
    )
    assert behind({"data": panel}, "theirs", ["ours", "other"]) == (
        "By a point or more *theirs* is behind on data (ours -1.0, other -1.0)."
    )


class StopsAtSecond(ScoreSelector):
    """Ends its second fit by an error or a Ctrl-C."""

    fits = 0
    ending: type[BaseException]

    def fit(self, X, y):
        type(self).fits += 1
        if self.fits > 1:
            raise self.ending("in the second split")
        return super().fit(X, y)


@pytest.mark.parametrize("ending", [RuntimeError, KeyboardInterrupt])
def test_a_cell_is_whole_or_is_not_saved(ending, monkeypatch):
    monkeypatch.setattr(StopsAtSecond, "fits", 0)
    monkeypatch.setattr(StopsAtSecond, "ending", ending, raising=False)
    y = np.arange(30) % 2
    X = np.random.default_rng(0).standard_normal((30, 3))
    splits = [(np.arange(20), np.arange(20, 30)), (np.arange(10, 30), np.arange(10))]
    warnings.simplefilter("ignore")  # pytest puts the filters back
    with pytest.raises(ending):
        along(StopsAtSecond("f"), X, y, (1, 2), splits, {"1-NN": KNeighborsClassifier(1)})


def test_algorithm_1_of_kong_and_ding_gives_the_printed_example():
    u = algorithm_1(np.array([5.0, 4.0, 3.0, 2.0, 1.0]), 1.5, 1.0)
    assert u == pytest.approx([3.75, 3.75, 3.0, 2.0, 1.0])


def test_without_an_intercept_the_residue_keeps_the_means():
    X = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    Y = 3.0 + 2.0 * X
    chosen = np.array([True])
    assert residue(X, Y, chosen, intercept=True) == pytest.approx(0.0)
    assert residue(X, Y, chosen, intercept=False) == pytest.approx(6.0)  # the root of 4 × 3²


def test_algorithm_3_of_cai_nie_and_huang_keeps_k_rows_and_finds_planted_ones():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 20))
    Y = X[:, [4, 11]] @ np.array([[3.0, 0.0], [0.0, -3.0]]) + 1.0
    start = rng.standard_normal((20, 2))
    for point in islice(alm.l20_alm(X, Y, 2, start), 600):
        W, V, b = point
        assert np.count_nonzero(V.any(axis=1)) == 2
    assert np.flatnonzero(V.any(axis=1)).tolist() == [4, 11]
    assert W == pytest.approx(V, abs=1e-3)
    assert b == pytest.approx([1.0, 1.0], abs=1e-3)
    assert alm.objective(X, Y, V, b) == pytest.approx(0.0, abs=0.1)


def test_the_talks_iteration_is_arom_with_half_the_cost():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 8))
    signs = np.where(X[:, 0] + 0.3 * rng.standard_normal(40) > 0, 1.0, -1.0)
    theirs = islice(reweighting.arom_iterates(X, signs, 0.5), 4)
    ours = islice(reweighting.reweighted(X, signs, 1.0), 4)
    for one, other in zip(theirs, ours, strict=True):
        assert np.abs(one[:-1]) == pytest.approx(np.abs(other[:-1]), abs=1e-5)


def test_a_norm_of_two_is_a_plain_machine_of_one_step():
    X = np.array([[1.0, 0.0], [2.0, 0.5], [-1.0, 0.2], [-2.0, -0.4]])
    signs = np.array([1.0, 1.0, -1.0, -1.0])
    first, second = islice(reweighting.reweighted(X, signs, 1.0, p=2.0), 2)
    assert first == pytest.approx(second)
    wider = first * np.array([1.01, 1.01, 1.0])
    at_first = reweighting.value(X, signs, first, 1.0, 2.0)
    assert at_first < reweighting.value(X, signs, wider, 1.0, 2.0)
