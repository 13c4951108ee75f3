"""Fits that can be watched: callbacks of scikit-learn where it has them, the log everywhere."""

import logging
import pickle

import pytest
from estimator_checks import toy
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from rowsparse import L2pSelector, TopKSelector
from rowsparse.model_selection import KnockoffSelector, SelectorCV, StabilitySelector

FAST = TopKSelector(n_init=0, polish=False)
CASES = [
    (SelectorCV(FAST, ks=[1, 3], cv=4), "path on a fold", 4),
    (StabilitySelector(FAST, q=3, n_pairs=5, random_state=0), "pair of half-samples", 5),
    (KnockoffSelector(L2pSelector(p=1), fdr=0.5, n_draws=2), "draw of knockoffs", 2),
]


@pytest.mark.parametrize(("estimator", "name", "n_tasks"), CASES)
def test_every_task_is_logged(estimator, name, n_tasks, caplog):
    with caplog.at_level(logging.INFO, logger="rowsparse"):
        estimator.fit(*toy.labelled())
    expected = [f"{name}: {i} of {n_tasks}" for i in range(1, n_tasks + 1)]
    assert [m for m in caplog.messages if m.startswith(name)] == expected


class Watch:
    """A callback that counts tasks, and may end the fit."""

    def __init__(self, stop_at=None):
        self.tasks = []
        self.stop_at = stop_at
        self.torn_down = 0

    def setup(self, estimator, context):
        self.tasks = []

    def on_fit_task_begin(self, estimator, context):
        return None

    def on_fit_task_end(self, estimator, context):
        self.tasks.append(context.task_name)
        return len(self.tasks) == self.stop_at

    def teardown(self, estimator, context):
        self.torn_down += 1


@pytest.mark.parametrize(("estimator", "name", "n_tasks"), CASES)
def test_callbacks_see_one_tree(estimator, name, n_tasks):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    watch = Watch()
    fitted = clone(estimator).set_callbacks(watch).fit(*toy.labelled())
    assert watch.tasks == [name] * n_tasks + ["fit"]
    assert watch.torn_down == 1
    assert (pickle.loads(pickle.dumps(fitted)).support_ == fitted.support_).all()


def test_a_callback_can_end_a_fit():
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    estimator = StabilitySelector(FAST, q=3, n_pairs=5, random_state=0)
    with pytest.warns(UserWarning, match="2 of 5 pairs"):
        estimator.set_callbacks(Watch(stop_at=2)).fit(*toy.labelled())


def test_progress_bars_work_through_pipelines_and_searches(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    pytest.importorskip("rich")
    X, y = toy.labelled()
    inner = StabilitySelector(FAST, q=3, n_pairs=2, random_state=0)
    pipeline = make_pipeline(inner, LogisticRegression())
    search = GridSearchCV(clone(pipeline), {"stabilityselector__q": [2, 3]}, cv=2)
    search.set_callbacks(callback.ProgressBar()).fit(X, y)
    assert "Pipeline - fit" in capsys.readouterr().out
    pipeline.set_callbacks(callback.ProgressBar()).fit(X, y)
    assert "StabilitySelector - fit" in capsys.readouterr().out
