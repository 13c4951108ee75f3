"""Many methods, numbers of features and classifiers on the same folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from ..inputs import check_integer, is_integer
from ..warn import warn_user
from .comparison import Cell, Comparison
from .following import checked_ks, follow
from .intake import Table, check_selector, seeded
from .progress import finished, logger
from .readout import Readout, Split, readout_for
from .store import CellStore, Fingerprint


@dataclass(frozen=True)
class Unit:
    """One path: a method on one training set. What is stored and resumed."""

    method: str
    repeat: int
    fold: int
    selector: Any
    split: Split

    @property
    def key(self) -> str:
        """A name of its own among the units of a comparison."""
        return f"{self.method}/{self.repeat}/{self.fold}"


class _Owner(BaseEstimator):
    """In place of the estimator whose input is checked."""


def compare(
    methods: Any,
    X: Any,
    y: Any,
    *,
    ks: Iterable[int],
    cv: Any = 5,
    repeats: int = 1,
    estimators: Any = None,
    scoring: Any = None,
    imputer: Any = None,
    groups: Any = None,
    store: Any = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    callback: Callable[[int, int], object] | None = None,
) -> Comparison:
    """Score methods of selection on the same folds, at the same numbers of features.

    On every fold every method is followed once along ``ks``; at each k every estimator is refitted
    on the selected columns and scored on the test part. A method that fails is a cell with its
    message. With ``store`` every path is saved as it is finished, and the same call resumes.

    Parameters
    ----------
    methods : mapping from name to selector, or a list of selectors
    ks : numbers of features
    cv : int, or a splitter or splits as in scikit-learn
        An int is shuffled folds, stratified for classes, other ones in every repeat. A splitter
        without a ``random_state`` gives the same folds in every repeat: leave ``repeats`` at 1.
    repeats : int
    estimators : mapping from name to estimator, a list, or None
        None is a ridge classifier or regression on the standardised columns.
    scoring : None, or as in scikit-learn
        None is accuracy (several labels: all of them right) or R².
    imputer : transformer, optional
        X may have NaN then; a copy is fitted on every training part and fills both parts. It must
        keep the columns, as ``SimpleImputer(keep_empty_features=True)`` does.
    groups : array of n_samples for splitters such as ``GroupKFold``
    store : folder, optional
        Also of a run that was killed: what it holds is not computed again.
    n_jobs : int, optional
        Paths at the same time; scores and selections do not depend on it.
    random_state : int
        Of the folds, and of methods and estimators whose own is None.
    callback : function of (paths finished, all paths), optional

    Returns
    -------
    Comparison
        Ctrl-C gives what is finished, with a warning that says how much.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from rowsparse import ScoreSelector, TopKSelector
    >>> from rowsparse.model_selection import compare
    >>> X, y = load_wine(return_X_y=True)
    >>> found = compare({"top-k": TopKSelector(), "F": ScoreSelector("f")}, X, y, ks=[2, 5])
    >>> found.to_frame().shape
    (20, 9)
    """
    named = _named(methods, "methods", check_selector)
    # once, as the first method reads y: all answer for the same samples
    table = Table.of(_Owner(), next(iter(named.values())), X, y, imputer)
    ks = checked_ks(ks, table.shape[1])
    check_integer("repeats", repeats, 1)
    check_integer("random_state", random_state, 0)
    readouts = _readouts(estimators, scoring, table, random_state)
    units = list(_units(named, table, cv, repeats, groups, random_state))
    facts = _facts(named, readouts, units, table, ks, scoring)
    # kept path by path: a run that was killed loses the ones under way
    folder = None if store is None else CellStore(store, facts["fingerprint"], "comparison")
    cells = _all_cells(units, table, readouts, ks, folder, n_jobs, callback)
    names = () if table.names is None else tuple(map(str, table.names))
    comparison = Comparison(
        cells=tuple(cells), methods=tuple(named), ks=tuple(ks),
        estimators=tuple(readout.name for readout in readouts), n_features=table.shape[1],
        test_share=facts["test_share"], scoring=facts["scoring"],
        n_cells=len(units) * len(ks) * len(readouts), names=names,
    )  # fmt: skip
    if folder is not None:
        comparison.save(store)
    return comparison


def _named(given: Any, what: str, check: Callable[[Any], object]) -> dict[str, Any]:
    """A mapping from different names to objects."""
    if isinstance(given, Mapping):
        named = {str(name): one for name, one in given.items()}
    elif np.iterable(given) and not isinstance(given, str):
        named = {}
        for one in given:
            name = type(one).__name__
            # a list has no names: the second selector of a class would replace the first
            alike = sum(other == name or other.startswith(f"{name}-") for other in named)
            named[f"{name}-{alike + 1}" if alike else name] = one
    else:
        raise TypeError(
            f"Expected {what} as a mapping from name to object or a list, got {given!r}."
        )
    if not named:
        raise ValueError(f"Expected at least one entry in {what}, got none.")
    for one in named.values():
        check(one)
    return named


def _readouts(estimators: Any, scoring: Any, table: Table, seed: int) -> list[Readout]:
    if isinstance(scoring, str) and scoring == "loss":
        raise ValueError(
            "Expected a score of predictions, got scoring='loss', which differs from method to "
            "method; leave scoring out."
        )
    if estimators is None:
        return [readout_for(None, scoring, table.target)]
    if "fit" in dir(estimators):  # one alone; a pipeline is iterable, too
        estimators = [estimators]
    found = []
    for name, estimator in _named(estimators, "estimators", lambda one: None).items():
        # an estimator that draws draws alike for all methods: differences are the columns'
        readout = readout_for(seeded(estimator, seed), scoring, table.target)
        readout.name = name
        found.append(readout)
    return found


def _units(
    named: dict[str, Any], table: Table, cv: Any, repeats: int, groups: Any, seed: int
) -> Iterable[Unit]:
    """Fold after fold, so that what is finished when it is interrupted can be compared."""
    for repeat in range(repeats):
        for fold, (train, test) in enumerate(_folds(cv, table, groups, seed + repeat)):
            split = Split(np.asarray(train), np.asarray(test), {})
            for i, (name, selector) in enumerate(named.items()):
                # of its own for every fit, and the same in whatever order the tasks run
                state = np.random.SeedSequence([seed, repeat, fold, i]).generate_state(1)
                own = seeded(table.resolved(selector), int(state[0]))
                yield Unit(name, repeat, fold, own, split)


def _folds(cv: Any, table: Table, groups: Any, seed: int) -> list[Any]:
    classes = table.target.classes is not None
    if is_integer(cv):
        kind = StratifiedKFold if classes else KFold
        cv = kind(cv, shuffle=True, random_state=seed)
    elif not np.iterable(cv):
        cv = _seeded_splitter(cv, seed)
    splitter = check_cv(cv, table.y, classifier=classes)
    # splitters ask X for its length alone, and X may be sparse
    return list(splitter.split(np.zeros((table.shape[0], 1)), table.y, groups))


def _seeded_splitter(cv: Any, seed: int) -> Any:
    """A copy of a splitter that draws from this seed, if it draws and has none."""
    copied = clone(cv, safe=False)
    if vars(copied).get("random_state", 0) is None and vars(copied).get("shuffle", True):
        copied.random_state = seed
    return copied


def _all_cells(
    units: list[Unit],
    table: Table,
    readouts: list[Readout],
    ks: list[int],
    folder: CellStore | None,
    n_jobs: int | None,
    callback: Callable[[int, int], object] | None,
) -> list[Cell]:
    """The cells of every unit, those of the store as they are."""
    stored = {} if folder is None else folder.read()
    known = {key: [Cell.of_facts(facts) for facts in cells] for key, cells in stored.items()}
    missing = [unit for unit in units if unit.key not in known]
    # a list, in which the function below counts on
    done = [len(units) - len(missing)]

    def step() -> bool:
        done[0] += 1
        logger.info("compare: %d of %d paths", done[0], len(units))
        if callback is not None:
            callback(done[0], len(units))
        return False

    tasks = [(unit, table, readouts, ks, folder) for unit in missing]
    found, interrupted = finished(cells_of, tasks, n_jobs, step)
    if interrupted and len(found) < len(missing):
        # nothing to show: as if nobody had caught Ctrl-C
        if not found and not known:
            raise KeyboardInterrupt
        warn_user(
            f"Interrupted: {done[0]} of {len(units)} paths are finished, and the comparison holds "
            "these." + ("" if folder is None else " The same call goes on from there."),
        )
    known.update({cells[0].key: cells for cells in found})
    return [cell for unit in units if unit.key in known for cell in known[unit.key]]


def cells_of(
    unit: Unit, table: Table, readouts: list[Readout], ks: list[int], folder: CellStore | None
) -> list[Cell]:
    """Follow one method on one training set and score every k with every estimator."""
    cells = list(_cells(unit, table, readouts, ks))
    if folder is not None:
        # by the process that made them, which waits for no other
        folder.write(unit.key, [cell.facts() for cell in cells])
    return cells


def _cells(unit: Unit, table: Table, readouts: list[Readout], ks: list[int]) -> Iterable[Cell]:
    y = table.y[unit.split.train]
    failure = ""
    try:
        table = table.filled(unit.split.train)
        walk = follow(unit.selector, table.rows(unit.split.train), y, {}, ks=ks)
    except Exception as error:  # a method is other people's code, and one must not end the rest
        failure = f"{type(error).__name__}: {error}"
    for readout in readouts:
        # a failure is no bad score: it has none
        scores = [float("nan")] * len(ks)
        reason = failure
        if not failure:
            try:
                scores = readout.scores(table.X, table.y, table.target, unit.split, walk.steps)
            except Exception as error:  # so is an estimator
                reason = f"{readout.name}: {type(error).__name__}: {error}"
        for i, k in enumerate(ks):
            columns = np.zeros(0, dtype=int) if failure else walk.steps[i].columns
            seconds = float("nan") if failure else walk.seconds
            yield Cell(
                unit.method, unit.repeat, unit.fold, k, readout.name,
                scores[i], seconds, columns, reason,
            )  # fmt: skip


def _facts(
    named: dict[str, Any],
    readouts: list[Readout],
    units: list[Unit],
    table: Table,
    ks: list[int],
    scoring: Any,
) -> dict[str, Any]:
    """What the comparison is of: a store belongs to one fingerprint alone."""
    mark = Fingerprint()
    mark.add_table(table.X, table.y)
    for unit in units:
        # all that decides a number: cells of other settings or samples must not be mixed in
        mark.add_words([unit.key, unit.selector])
        mark.add_rows(unit.split.train)
    models = [(readout.name, vars(readout)) for readout in readouts]
    mark.add_words([sorted(named), models, ks, str(scoring), table.imputer])
    # of all folds: they differ by a sample or so
    share = float(np.mean([u.split.test.size / u.split.train.size for u in units]))
    usual = "r2" if table.target.kind == "numbers" else "accuracy"
    return {
        "fingerprint": mark.text(),
        "test_share": share,
        "scoring": usual if scoring is None else str(scoring),
    }
