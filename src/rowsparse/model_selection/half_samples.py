"""Selections on complementary pairs of half-samples: one task per pair, which a folder may keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .following import follow
from .intake import Table, fit_params_of, seeded, selects_k
from .parts import Part, learn_together, refuse_nested_clusters, training_part
from .progress import finished
from .store import CellStore, Fingerprint


@dataclass(frozen=True)
class Half:
    """What was selected on one half-sample."""

    columns: np.ndarray
    not_converged: bool

    def facts(self) -> dict[str, Any]:
        """In the words of JSON."""
        return {"columns": self.columns.tolist(), "not_converged": self.not_converged}

    @classmethod
    def of_facts(cls, facts: dict[str, Any]) -> Half:
        """From what ``facts`` gave."""
        return cls(np.array(facts["columns"], dtype=int), bool(facts["not_converged"]))


@dataclass(frozen=True)
class PairTask:
    """Two halves of the samples, and the selector that is fitted to each."""

    number: int
    selector: Any  # with its number of features
    table: Table
    weight: np.ndarray | None
    halves: tuple[np.ndarray, np.ndarray]
    seed: int
    parts: tuple[Part | None, ...] = (None, None)  # of the halves, where X is read by passes

    @property
    def key(self) -> str:
        """A name of its own among the pairs of a fit."""
        return f"pair/{self.number}"

    def halves_selected(self) -> list[Half]:
        """One selection per half."""
        return [self._selected(which) for which in range(len(self.halves))]

    def _selected(self, which: int) -> Half:
        rows = self.halves[which]
        seed = self.seed + which
        weight = None if self.weight is None else self.weight[rows]
        given = fit_params_of(self.selector, weight)
        k = int(selects_k(self.selector) or 1)
        # gaps are filled within the half: the two know nothing of each other
        X = training_part(self.table.filled(rows), self.selector, rows, self.parts[which])
        walk = follow(seeded(self.selector, seed), X, self.table.y[rows], given, ks=[k])
        return Half(walk.steps[0].columns, bool(walk.not_converged))


def folder_of(store: Any, tasks: list[PairTask]) -> CellStore:
    """The folder of these pairs; one with pairs of another fit is refused."""
    first = tasks[0]
    mark = Fingerprint()
    mark.add_table(first.table.X, first.table.y)
    mark.add_words([first.selector, first.table.imputer])
    if first.weight is not None:
        mark.add_rows(first.weight)
    for task in tasks:
        mark.add_words([task.seed])
        # the halves themselves: another version of NumPy may draw others from the same seed
        for rows in task.halves:
            mark.add_rows(rows)
    return CellStore(store, mark.text(), "stability selection")


def with_parts(tasks: list[PairTask], n_jobs: int | None) -> list[PairTask]:
    """The tasks with their halves as masks, of which one pass over X has summed what they need; as
    they are where X is not read by passes."""
    first = tasks[0]
    if first.table.design is None:
        return tasks
    parts = []
    for task in tasks:
        for rows in task.halves:
            weight = None if task.weight is None else task.weight[rows]
            parts.append(Part.of(task.selector, task.table, rows, weight))
    learn_together(first.selector, first.table, parts, first.weight)
    refuse_nested_clusters(first.table, parts, n_jobs)
    # first and second half, pair after pair
    return [
        replace(task, parts=tuple(parts[2 * number : 2 * number + 2]))
        for number, task in enumerate(tasks)
    ]


def all_halves(
    tasks: list[PairTask],
    folder: CellStore | None,
    n_jobs: int | None,
    step: Callable[[], bool],
) -> tuple[list[Half], bool]:
    """The halves of every pair that is finished, and whether Ctrl-C or a callback ended it early.

    Pairs of the folder are taken as they are.
    """
    stored = {} if folder is None else folder.read()
    known = {key: [Half.of_facts(facts) for facts in halves] for key, halves in stored.items()}
    missing = [task for task in tasks if task.key not in known]
    for _ in range(len(tasks) - len(missing)):
        # of the folder: who watches sees them as done
        step()
    found, interrupted = finished(_on_a_pair, [(task, folder) for task in missing], n_jobs, step)
    # the results come in the order of the tasks, and an interruption leaves the last ones out
    known.update({task.key: pair for task, pair in zip(missing, found, strict=False)})
    if not known:
        raise KeyboardInterrupt
    return [half for task in tasks for half in known.get(task.key, [])], interrupted


def _on_a_pair(task: PairTask, folder: CellStore | None) -> list[Half]:
    found = task.halves_selected()
    if folder is not None:
        folder.write(task.key, [half.facts() for half in found])
    return found
