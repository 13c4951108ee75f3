"""compare: cells against fits by hand, failures, folders that survive a kill."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from estimator_checks import toy
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rowsparse import L2pSelector, ScoreSelector, TopKSelector
from rowsparse.model_selection import Comparison, compare
from rowsparse.model_selection.intervals import corrected_interval

FAST = TopKSelector(n_init=0, polish=False)
METHODS = {"top-k": FAST, "F": ScoreSelector("f")}


def without_times(comparison):
    return [
        (c.method, c.repeat, c.fold, c.k, c.estimator, c.score, tuple(c.columns), c.failure)
        for c in comparison.cells
    ]


def test_a_cell_is_a_fit_on_the_training_part_scored_on_the_rest(monkeypatch):
    X, y = toy.labelled()
    models = {"ridge": None, "knn": KNeighborsClassifier(3)}
    found = compare(
        {"F": ScoreSelector("f")}, X, y, ks=[2, 4], cv=3, repeats=2, random_state=5,
        estimators={"knn": KNeighborsClassifier(3), "logistic": LogisticRegression()},
    )  # fmt: skip
    assert len(found.cells) == found.n_cells == 2 * 3 * 2 * 2
    assert found.finished
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pandas", None)
        with pytest.raises(ImportError, match="needs pandas; install it with"):
            found.to_frame()
    assert repr(found) == (
        "<Comparison of F at k = 2, 4: 24 of 24 cells, shown by to_frame() and intervals()>"
    )
    for repeat in range(2):
        folds = StratifiedKFold(3, shuffle=True, random_state=5 + repeat).split(X, y)
        for fold, (train, test) in enumerate(folds):
            for k in (2, 4):
                chosen = ScoreSelector("f", k).fit(X[train], y[train]).support_
                model = models["knn"].fit(X[train][:, chosen], y[train])
                expected = model.score(X[test][:, chosen], y[test])
                mine = [c for c in found.cells if (c.repeat, c.fold, c.k) == (repeat, fold, k)]
                assert mine[0].score == pytest.approx(expected)
                np.testing.assert_array_equal(mine[0].columns, np.flatnonzero(chosen))


def test_the_default_model_is_ridge_on_standardised_columns():
    X, y = toy.labelled()
    default = compare(METHODS, X, y, ks=[2], cv=3)
    model = make_pipeline(StandardScaler(), RidgeClassifier())
    named = compare(METHODS, X, y, ks=[2], cv=3, estimators=model)
    assert [c.score for c in default.cells] == pytest.approx([c.score for c in named.cells])


def test_intervals_differences_and_stability():
    X, y = toy.labelled()
    noise = X + 2 * np.random.default_rng(0).standard_normal(X.shape)
    found = compare(METHODS, noise, y, ks=[1, 3], cv=3, repeats=2)
    scores = found.scores("F", 3, "ridge")
    assert found.interval("F", 3, "ridge") == corrected_interval(scores, 0.5)[0]
    gains = found.scores("top-k", 3, "ridge") - scores
    difference = found.differences(k=3)[0]
    assert difference.interval == corrected_interval(gains, 0.5)[0]
    assert ("not separable" in str(difference)) == (not difference.separable)
    assert len(found.not_separable()) == sum(not d.separable for d in found.differences())
    frame = found.intervals()
    assert frame.shape == (4, 9)
    assert frame["n_scores"].tolist() == [6] * 4
    counts = np.zeros(8)
    for cell in found.cells:
        if (cell.method, cell.k) == ("F", 3):
            counts[cell.columns] += 1
    p = counts / 6
    expected = 1 - 6 / 5 * np.mean(p * (1 - p)) / (3 / 8 * 5 / 8)
    assert found.stability("F", 3).estimate == pytest.approx(expected)


def test_a_clear_difference_is_separable():
    X, y = toy.labelled(n=120)
    wrong = ScoreSelector(lambda X, y: -np.abs(np.corrcoef(X.T, y)[-1, :-1]))
    found = compare({"F": ScoreSelector("f"), "last": wrong}, X, y, ks=[3], cv=3, repeats=3)
    assert str(found.differences()[0]).startswith("F is better than last at k = 3 (ridge)")
    assert found.not_separable() == []


def test_a_method_or_a_model_that_fails_is_a_cell():
    X, y = toy.labelled()

    class Broken(KNeighborsClassifier):
        def predict(self, X):
            raise RuntimeError("no neighbours")

    found = compare(
        {"F": ScoreSelector("f"), "zero": ScoreSelector(lambda X, y: 1 / 0)}, X, y, ks=[2], cv=3,
        estimators={"ridge": RidgeClassifier(), "broken": Broken()},
    )  # fmt: skip
    assert found.finished
    assert set(found.failures) == {"F", "zero"}
    assert "ZeroDivisionError" in found.failures["zero"]
    good = [c for c in found.cells if not c.failure]
    assert {(c.method, c.estimator) for c in good} == {("F", "ridge")}
    assert "cannot be compared" in str(found.differences(estimator="ridge")[0])


def test_the_same_table_for_any_number_of_processes():
    X, y = toy.labelled()
    methods = {"l2,1": L2pSelector(p=1), "F": ScoreSelector("f")}
    alone = compare(methods, X, y, ks=[1, 3], cv=2)
    assert without_times(alone) == without_times(compare(methods, X, y, ks=[1, 3], cv=2, n_jobs=2))
    other = compare(methods, X, y, ks=[1, 3], cv=2, random_state=1)
    assert without_times(alone) != without_times(other)


def test_splitters_groups_frames_lists_and_numbers():
    X, Y = toy.outputs()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(8)])
    found = compare([FAST, FAST, ScoreSelector("f")], frame, Y, ks=[3], cv=KFold(3))
    assert found.methods == ("TopKSelector", "TopKSelector-2", "ScoreSelector")
    assert found.names[2] == "c2"
    assert found.scoring == "r2"
    groups = np.arange(60) // 10
    grouped = compare(METHODS, X, Y, ks=[3], cv=GroupKFold(3), groups=groups)
    splits = list(GroupKFold(3).split(X, groups=groups))
    assert without_times(grouped) == without_times(compare(METHODS, X, Y, ks=[3], cv=splits))
    for cv in (ShuffleSplit(4), RepeatedKFold(n_splits=2, n_repeats=2)):
        drawn = [compare(METHODS, X, Y, ks=[3], cv=cv) for _ in range(2)]
        assert without_times(drawn[0]) == without_times(drawn[1])
        assert len(drawn[0].scores("F", 3, "ridge")) == 4


def test_progress_is_called_back_and_ctrl_c_keeps_what_is_finished():
    X, y = toy.labelled()
    seen = []
    compare(METHODS, X, y, ks=[2], cv=3, callback=lambda done, all_: seen.append((done, all_)))
    assert seen == [(i, 6) for i in range(1, 7)]

    def stop(done, all_):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="4 of 6 paths"):
        found = compare(METHODS, X, y, ks=[2], cv=3, callback=stop)
    assert len(found.cells) == 4
    assert not found.finished


# -- folders --------------------------------------------------------------------------------------


def test_a_folder_resumes_and_holds_every_cell_once(tmp_path):
    X, y = toy.labelled()
    whole = compare(METHODS, X, y, ks=[1, 2], cv=3, store=tmp_path)
    files = sorted((tmp_path / "cells").glob("*.json"))
    assert len(files) == 6
    files[0].unlink()
    (tmp_path / "cells" / ".left.json.999999999.part").write_text("{")
    calls = []
    again = compare(
        METHODS, X, y, ks=[1, 2], cv=3, store=tmp_path, callback=lambda *at: calls.append(at)
    )
    assert calls == [(6, 6)]
    assert without_times(again) == without_times(whole)
    assert not list((tmp_path / "cells").glob(".*"))
    assert Comparison.load(tmp_path) == again


def test_a_folder_of_another_comparison_is_refused(tmp_path):
    X, y = toy.labelled()
    compare(METHODS, X, y, ks=[1], cv=3, store=tmp_path)
    others = [
        {"ks": [2]}, {"cv": 4}, {"random_state": 1}, {"scoring": "f1_macro"},
        {"methods": {"F": ScoreSelector("f")}}, {"X": X + 1}, {"estimators": RidgeClassifier()},
    ]  # fmt: skip
    for other in others:
        given = {"methods": METHODS, "X": X, "y": y, "ks": [1], "cv": 3, **other}
        with pytest.raises(ValueError, match="holds another one"):
            compare(store=tmp_path, **given)


PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
from estimator_checks import toy
from rowsparse import ScoreSelector
from rowsparse.model_selection import compare
X, y = toy.labelled()
print("ready", flush=True)
methods = {{"F": ScoreSelector("f"), "relief": ScoreSelector("relieff")}}
compare(methods, X, y, ks=[1, 2], cv=5, repeats=4, store={store!r})
"""


def test_killed_at_any_moment_it_goes_on_where_it_was(tmp_path):
    tests = os.path.dirname(os.path.dirname(__file__))
    program = PROGRAM.format(tests=tests, store=str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    for file in (tmp_path / "cells").glob("*.json"):  # whole, every one
        json.loads(file.read_text())
    X, y = toy.labelled()
    methods = {"F": ScoreSelector("f"), "relief": ScoreSelector("relieff")}
    found = compare(methods, X, y, ks=[1, 2], cv=5, repeats=4, store=tmp_path)
    fresh = compare(methods, X, y, ks=[1, 2], cv=5, repeats=4)
    assert without_times(found) == without_times(fresh)


BAD = [
    ({"methods": []}, "methods"),
    ({"methods": {"x": LogisticRegression()}}, "feature selector"),
    ({"methods": "topk"}, "methods"),
    ({"ks": [0]}, "ks"),
    ({"ks": [9]}, "1 to 8"),
    ({"repeats": 0}, "repeats"),
    ({"scoring": "loss"}, "scoring"),
    ({"random_state": -1}, "random_state"),
    ({"cv": 1}, "n_splits|k-fold"),
]


@pytest.mark.parametrize(("params", "words"), BAD)
def test_bad_parameters_are_refused_in_one_sentence(params, words):
    X, y = toy.labelled()
    with pytest.raises((ValueError, TypeError), match=words):
        compare(**{"methods": METHODS, "X": X, "y": y, "ks": [1], **params})


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        (("F", 2, "ridge"), "'top-k'"),
        (("top-k", 3, "ridge"), "2, 4"),
        (("top-k", 2, "svm"), "ridge"),
    ],
)
def test_what_was_not_compared_is_no_missing_score(asked, known):
    X, y = toy.labelled()
    found = compare({"top-k": TopKSelector()}, X, y, ks=[2, 4], cv=2)
    with pytest.raises(ValueError, match=known):
        found.interval(*asked)


def test_the_interval_of_an_accuracy_ends_at_one():
    X, y = toy.labelled()
    found = compare({"top-k": TopKSelector()}, X, y, ks=[4], cv=3)
    scores = found.scores("top-k", 4, "ridge")
    assert scores.min() < scores.max()
    assert 0 <= found.interval("top-k", 4, "ridge").low
    assert found.interval("top-k", 4, "ridge").high <= 1
