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
from rowsparse.solvers import IRLS

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

    def __init__(self, stop_at=None, only=None):
        self.only = only
        self.tasks = []
        self.stop_at = stop_at
        self.torn_down = 0

    def setup(self, estimator, context):
        self.tasks = []

    def on_fit_task_begin(self, estimator, context):
        return None

    def on_fit_task_end(self, estimator, context):
        if context.task_name == self.only or self.only is None:
            parents = [] if context.parent is None else [context.parent.task_name]
            self.tasks.append((context.task_name, *parents))
        return len(self.tasks) == self.stop_at

    def teardown(self, estimator, context):
        self.torn_down += 1


@pytest.mark.parametrize(("estimator", "name", "n_tasks"), CASES)
def test_callbacks_see_one_tree(estimator, name, n_tasks):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    watch = Watch()
    fitted = clone(estimator).set_callbacks(watch).fit(*toy.labelled())
    searched = isinstance(estimator, SelectorCV)
    parent = "fold" if searched else "fit"
    tasks = [task for task in watch.tasks if task[0] != "iteration"]
    each = [(name, parent), ("fold", "fit")] if searched else [(name, parent)]
    assert tasks == each * n_tasks + [("fit",)]
    iterations = [task for task in watch.tasks if task[0] == "iteration"]
    assert len(iterations) >= n_tasks
    assert set(iterations) == {("iteration", name)}
    assert watch.torn_down == 1
    assert (pickle.loads(pickle.dumps(fitted)).support_ == fitted.support_).all()


def test_a_callback_can_end_a_fit():
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    estimator = StabilitySelector(FAST, q=3, n_pairs=5, random_state=0)
    with pytest.warns(UserWarning, match="2 of 5 pairs"):
        estimator.set_callbacks(Watch(2, "pair of half-samples")).fit(*toy.labelled())


def test_a_callback_can_end_a_fit_within_a_task():
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    search = SelectorCV(L2pSelector(p=1), grid={"alpha": 10}, cv=3)
    watch = Watch()
    search.set_callbacks(watch).fit(*toy.labelled())
    of_first = [task[0] for task in watch.tasks].index("path on a fold")
    with pytest.warns(UserWarning, match="Interrupted: 1 of 3 paths"):
        search.set_callbacks(Watch(of_first + 4, None)).fit(*toy.labelled())
    assert search.support_.any()


def test_nobody_watches_after_a_fit_that_fails():
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    watch = Watch()
    X, y = toy.labelled()
    search = SelectorCV(L2pSelector(solver=IRLS(), p=0), grid={"alpha": 3}).set_callbacks(watch)
    with pytest.raises(ValueError, match="some fit of the cross-validation"):
        search.fit(X, y)
    seen = len(watch.tasks)
    L2pSelector(3).fit(X, y)
    assert len(watch.tasks) == seen


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
