"""Many fits that can be watched and interrupted.

Where scikit-learn has callbacks (1.9 and later) the estimators here take them; older versions, and
``compare``, say the same in the log "rowsparse" at level INFO.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from joblib import Parallel, delayed

from ..solvers.base import watched

logger = logging.getLogger("rowsparse")


class _NoCallbacks:
    """In place of scikit-learn's mixin where it has none."""


def _as_it_is(method: Any) -> Any:
    return method


CallbackSupportMixin: Any = _NoCallbacks
with_callbacks: Any = _as_it_is
try:
    _support = importlib.import_module("sklearn.callback")
except ImportError:  # scikit-learn before 1.9
    pass
else:
    CallbackSupportMixin = _support.CallbackSupportMixin
    with_callbacks = _support.with_callbacks


class Progress(AbstractContextManager["Progress"]):
    """The tree of one fit as scikit-learn's callbacks see it: the fit, its tasks, their iterations.

    Tasks of other processes show as tasks alone. ``outer`` names what so many tasks in a row belong
    to, the fold of a search say.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        n_tasks: int,
        name: str,
        outer: tuple[str, int] | None = None,
    ):
        self.estimator = estimator
        self.n_tasks = n_tasks
        self.name = name
        self.outer = outer
        self.done = 0
        self.open: list[Any] = []  # contexts of scikit-learn: the fit, …, the task under way
        self.watching = ExitStack()
        if "set_callbacks" in dir(estimator):
            n_children = n_tasks if outer is None else n_tasks // outer[1]
            root = estimator._init_callback_context(max_subtasks=n_children)
            root.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
            self.open.append(root)

    def __enter__(self) -> Progress:
        if self.open and vars(self.estimator).get("_skl_callbacks"):
            self.watching.enter_context(watched(self._iteration))
        self._begin_task()
        return self

    def __exit__(self, *error: object) -> None:
        self.watching.close()  # what is fitted afterwards belongs to no task

    def step(self) -> bool:
        """One task is done; whether a callback asks to stop."""
        self.done += 1
        logger.info("%s: %d of %d", self.name, self.done, self.n_tasks)
        if not self.open:
            return False
        stop = self._end_last()
        if self.outer is not None and self.done % self.outer[1] == 0:
            stop |= self._end_last()
        if not stop:
            self._begin_task()
        return stop

    def end(self) -> None:
        """The fit is over."""
        while self.open:
            self._end_last()

    def _begin_task(self) -> None:
        if not self.open or self.done == self.n_tasks:
            return
        if self.outer is not None and len(self.open) == 1:
            self._begin(*self.outer)
        self._begin(self.name, None)

    def _begin(self, name: str, n_children: int | None) -> None:
        context = self.open[-1].subcontext(task_name=name, max_subtasks=n_children)
        context.call_on_fit_task_begin(estimator=self.estimator)
        self.open.append(context)

    def _end_last(self) -> bool:
        return bool(self.open.pop().call_on_fit_task_end(estimator=self.estimator))

    def _iteration(self, _: Any) -> bool:
        """Of a solver of the task under way."""
        leaf = self.open[-1].subcontext(task_name="iteration")
        leaf.call_on_fit_task_begin(estimator=self.estimator)
        return bool(leaf.call_on_fit_task_end(estimator=self.estimator))


def finished(
    work: Callable[..., Any],
    tasks: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    step: Callable[[], bool],
) -> tuple[list[Any], bool]:
    """The results of all tasks in their order, and whether Ctrl-C or a callback ended them early.

    Each task is independent of the others, so the results do not depend on ``n_jobs``.
    """
    results: list[Any] = []
    try:
        for result in _results(work, tasks, n_jobs):
            results.append(result)
            if step():
                return results, True
    except KeyboardInterrupt:
        return results, True
    return results, False


def _results(
    work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[Any]:
    if n_jobs in (None, 1):  # without joblib a traceback shows the fit that failed
        return (work(*task) for task in tasks)
    pool = Parallel(n_jobs=n_jobs, return_as="generator")
    return pool(delayed(work)(*task) for task in tasks)
