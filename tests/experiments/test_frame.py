"""The frame of the experiments: cells survive what interrupts them, pages come from cells alone."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments.frame import CellFile, Claim, Study, Task, main, random_splits, standardised
from experiments.frame.claims import read_claims
from experiments.frame.run import HOME
from experiments.readme import readme


def squares(calls, *, bad=None):
    """A study of three cells; ``calls`` collects what was measured."""

    def measure(i):
        calls.append(i)
        if i == bad:
            raise ZeroDivisionError("three is too many")
        return {"square": i * i}

    def plan(options):
        for i in range(options.splits or 3):
            yield Task({"part": "square", "i": i}, lambda i=i: measure(i))

    def page(cells, folder):
        return f"# Squares\n\nsum {sum(cell['square'] for cell in cells.where(part='square'))}\n"

    def claims(cells):
        return [Claim("a paper", "squares grow", "yes", f"{len(cells.cells)} cells")]

    return Study("squares", plan, page, claims)


def test_a_study_goes_on_where_it_was_and_pages_need_cells_alone(tmp_path, capsys):
    calls = []
    study = squares(calls)
    assert main(study, ["--full", "--splits", "2", "--out", str(tmp_path)]) == 0
    page = tmp_path / "squares.md"
    command = "`python -m experiments.squares --full`"
    start = (
        f"# Squares\n\n**1 of 3 cells of {command} are missing**: square (1). 0.0 CPU minutes for 2"
    )
    assert page.read_text().startswith(start)
    assert main(study, ["--full", "--out", str(tmp_path)]) == 0
    assert calls == [0, 1, 2]
    whole = page.read_text()
    assert whole.startswith(f"# Squares\n\nAll 3 cells of {command} are measured. 0.0 CPU minutes")
    assert "sum 5\n\n## What the paper claims" in whole
    assert whole.endswith("| squares grow | yes | 3 cells |\n")
    page.unlink()
    assert main(study, ["--page", "--out", str(tmp_path)]) == 0
    assert calls == [0, 1, 2]
    assert page.read_text() == whole
    assert read_claims(tmp_path / "claims")[0].evidence == "3 cells"
    assert "3 cells, 1 to measure" in capsys.readouterr().err


def test_a_cell_that_fails_ends_no_other_and_is_tried_again(tmp_path, capsys):
    calls = []
    assert main(squares(calls, bad=1), ["--full", "--out", str(tmp_path)]) == 1
    assert "FAILED, ZeroDivisionError: three is too many" in capsys.readouterr().err
    assert main(squares(calls), ["--full", "--out", str(tmp_path)]) == 0
    assert calls == [0, 1, 2, 1]


def test_a_line_in_part_is_read_over(tmp_path):
    path = tmp_path / "cells.jsonl"
    cells = CellFile(path)
    cells.add({"i": 1}, {"value": 2.0}, 0.1)
    with path.open("a") as stream:
        stream.write('{"settings": {"i": 2}, "found"')
    again = CellFile(path)
    assert {"i": 1} in again
    assert {"i": 2} not in again
    again.add({"i": 3}, {"value": 4.0}, 0.1)
    assert [cell["i"] for cell in CellFile(path).where()] == [1, 3]


def test_every_cell_says_where_it_comes_from(tmp_path):
    CellFile(tmp_path / "cells.jsonl").add({"i": 1}, {}, 0.1)
    origin = json.loads((tmp_path / "cells.jsonl").read_text())["origin"]
    assert {"date", "commit", "machine", "versions", "load", "threads"} <= origin.keys()
    assert "numpy" in origin["versions"]


def test_a_split_stays_the_same_when_more_are_asked_for():
    two, three = random_splits(10, 2, 0.6), random_splits(10, 3, 0.6)
    for (train, test), (train_again, _) in zip(two, three, strict=False):
        assert np.array_equal(train, train_again)
        assert sorted([*train, *test]) == list(range(10))
    assert not np.array_equal(three[0][0], three[2][0])


def test_scales_are_of_the_training_part():
    rng = np.random.default_rng(0)
    train = rng.normal(5.0, 3.0, (40, 3))
    train[:, 1] = 7.0
    new_train, new_test = standardised(train, train + 1)
    assert np.allclose(new_train.std(axis=0), [1, 0, 1])
    assert np.allclose(new_test[:, 0] - new_train[:, 0], 1 / train[:, 0].std())
    assert not new_test[:, 1].any()


def test_the_readme_holds_every_claim():
    text = readme()
    assert text == (HOME / "README.md").read_text()  # else: python -m experiments.readme
    assert text.startswith("# The papers' experiments")
    assert "| paper | claim | reproduced | what was seen |" in text


@pytest.mark.parametrize("given", [[], ["--quick", "--full"]])
def test_one_size_must_be_named(given, tmp_path):
    with pytest.raises(SystemExit):
        main(squares([]), [*given, "--out", str(tmp_path)])
