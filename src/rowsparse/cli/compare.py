"""rowsparse compare: methods of selection on the same folds, at the same numbers of features."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from typer import Exit, Option

from rowsparse.cli.methods import METHODS, build_selectors
from rowsparse.cli.opening import at_most, grouped, opened
from rowsparse.cli.options import (
    DataOptions,
    Folds,
    Jobs,
    OutputOptions,
    ProblemOptions,
    Scoring,
    Seed,
    Store,
)
from rowsparse.cli.path import whole_numbers
from rowsparse.cli.progress import bar
from rowsparse.cli.terminal import (
    INTERRUPTED,
    finite,
    plain_table,
    print_json,
    said_plainly,
    terminal,
    warnings_as_notes,
)
from rowsparse.model_selection import Comparison
from rowsparse.model_selection import compare as compare_methods


def compare(
    data: DataOptions,
    problem: ProblemOptions,
    output: OutputOptions,
    methods: Annotated[
        str, Option(metavar="A,B,…", help=f"Some of {', '.join(METHODS)}.")
    ] = "l2p,topk,mrmr,relieff",
    k: Annotated[
        str, Option("-k", metavar="K,K,…", help="Numbers of features to compare at.")
    ] = "5,10,20,50",
    cv: Folds = 5,
    repeats: Annotated[int, Option(help="Of the whole, on other folds.", min=1)] = 1,
    scoring: Scoring = None,
    seed: Seed = None,
    jobs: Jobs = None,
    store: Store = None,
) -> None:
    """Compare methods: how well a classifier or regression does on the columns each selects.

    Selection sees the training part of a fold alone. With --store a comparison that was
    interrupted goes on where it was, and 'rowsparse report' makes a page of it.
    """
    with said_plainly():
        chosen = build_selectors(methods.split(","), problem.given())
        ks = whole_numbers(k)
        dataset = opened(data, output, chosen, scoring=scoring, store=store)
        chosen = {name: grouped(selector, dataset) for name, selector in chosen.items()}
        with warnings_as_notes([*dataset.notes]) as notes, bar("Comparing"):
            # gaps are filled inside the folds, so that no test sample says what is filled in
            found = compare_methods(
                chosen,
                dataset.unfilled,
                dataset.y,
                ks=at_most(dataset, ks),
                cv=cv,
                repeats=repeats,
                scoring=scoring,
                imputer=dataset.filler,
                store=store,
                n_jobs=jobs,
                # without a seed, too, the same call has the same folds
                random_state=seed or 0,
            )
            notes.extend(_failures(found))
        # what was compared is an array, which has no names
        found = replace(found, names=dataset.feature_names)
        if store is not None:
            found.save(store)
        lines = list(found.summary())
        if output.as_json:
            # a k at which no fold has a score is NaN, which JSON does not know
            told = [{key: finite(value) for key, value in line.items()} for line in lines]
            print_json({"dataset": dataset.name, "scoring": found.scoring, "lines": told,
                        "not_separable": found.not_separable(), "notes": notes})  # fmt: skip
        else:
            _show(found, lines)
        rows = [list(line.values()) for line in lines]
        output.write_table(list(lines[0]), rows, f"{len(lines)} lines")
        output.write_report(found, dataset)
    if not found.finished:
        raise Exit(INTERRUPTED)


def _failures(found: Comparison) -> list[str]:
    """Methods that failed somewhere; if all did everywhere there is nothing to show."""
    failures = [f"{name} failed: {why}" for name, why in found.failures.items()]
    if all(cell.failure for cell in found.cells):
        raise ValueError(failures[0] if failures else "Interrupted before there was a result.")
    return failures


def _show(found: Comparison, lines: list[dict[str, Any]]) -> None:
    rows = []
    for line in lines:
        numbers = [_rounded(line[key]) for key in NUMBERS]
        rows.append([line["method"], line["k"], *numbers])
    columns = ("method", "k", found.scoring, *NUMBERS[1:])
    terminal().print(plain_table(columns, rows, words=("method",)))
    best = max(lines, key=lambda line: np.nan_to_num(line["score"], nan=-np.inf))
    cases = len(found.methods) * len(found.ks) * len(found.estimators)
    folds = found.n_cells // max(cases, 1)
    alike = len(found.not_separable(k=best["k"]))
    pairs = len(found.methods) * (len(found.methods) - 1) // 2
    terminal().print(
        f"Best: {best['method']} with {best['k']} features, {_rounded(best['score'])} "
        f"({folds} folds). Pairs of methods that these folds cannot tell apart at "
        f"{best['k']} features: {alike} of {pairs}."
    )


NUMBERS = ("score", "low", "high", "stability", "seconds")


def _rounded(value: float) -> str:
    return f"{value:.3g}" if np.isfinite(value) else "-"
