"""Many fits that can be watched and interrupted.

Where scikit-learn has callbacks (1.9 and later) the estimators here take them; older versions, and
``compare``, say the same in the log "rowsparse" at level INFO.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from joblib import Parallel, delayed

logger = logging.getLogger("rowsparse")

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's where it has none."""

    def with_callbacks(method: Any) -> Any:
        """The method as it is."""
        return method


class Progress:
    """The tree of one fit as scikit-learn's callbacks see it: the fit, and one leaf per task."""

    def __init__(self, estimator: Any, X: Any, y: Any, n_tasks: int, name: str):
        self.estimator = estimator
        self.n_tasks = n_tasks
        self.name = name
        self.done = 0
        self.root: Any = None
        if "set_callbacks" in dir(estimator):
            self.root = estimator._init_callback_context(max_subtasks=n_tasks)
            self.root.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    def step(self) -> bool:
        """One task is done; whether a callback asks to stop."""
        self.done += 1
        logger.info("%s: %d of %d", self.name, self.done, self.n_tasks)
        if self.root is None:
            return False
        leaf = self.root.subcontext(task_name=self.name)
        leaf.call_on_fit_task_begin(estimator=self.estimator)
        return bool(leaf.call_on_fit_task_end(estimator=self.estimator))

    def end(self) -> None:
        """The fit is over."""
        if self.root is not None:
            self.root.call_on_fit_task_end(estimator=self.estimator)


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
