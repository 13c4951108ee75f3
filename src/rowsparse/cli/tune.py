"""rowsparse tune: how many features, or how strong a penalty, by cross-validation."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Annotated, Any

from typer import Option

from rowsparse.cli.engine import Engine, EngineOptions
from rowsparse.cli.methods import build_selector
from rowsparse.cli.opening import at_most, grouped, opened
from rowsparse.cli.options import (
    DataOptions,
    Folds,
    Jobs,
    Method,
    OutputOptions,
    ProblemOptions,
    Scoring,
    Seed,
    Store,
)
from rowsparse.cli.path import whole_numbers
from rowsparse.cli.progress import bar
from rowsparse.cli.selection import as_record, as_rows, read_selection, show
from rowsparse.cli.terminal import (
    finite,
    plain_table,
    print_json,
    said_plainly,
    terminal,
    warnings_as_notes,
)
from rowsparse.model_selection import SelectorCV, Tuning


def tune(
    data: DataOptions,
    problem: ProblemOptions,
    output: OutputOptions,
    engine: EngineOptions,
    k: Annotated[
        str | None, Option("-k", metavar="K,K,…", help="Numbers of features to try.")
    ] = None,
    rule: Annotated[
        str, Option(help="best; or 1se: the fewest features within one standard error of it.")
    ] = "best",
    cv: Folds = 5,
    scoring: Scoring = None,
    method: Method = "l2p",
    seed: Seed = None,
    jobs: Jobs = None,
    store: Store = None,
) -> None:
    """Choose the number of features, or alpha without -k, by cross-validation, and select.

    Selection sees the training part of a fold alone; scored is a ridge model refitted on the
    selected columns.
    """
    with said_plainly(), closing(Engine(engine)) as reader:
        selector = build_selector(method, problem.given(seed=seed))
        ks = None if k is None else whole_numbers(k)
        # a result is no store that goes on: without --force none is written over
        replaces = "result.json" if output.force else None
        dataset = opened(
            data,
            output,
            {method: selector},
            scoring=scoring,
            store=store,
            replaces=replaces,
            reader=reader,
        )
        search = SelectorCV(
            grouped(selector, dataset),
            ks=None if ks is None else at_most(dataset, ks),
            scoring=scoring,
            cv=cv,
            rule=rule,
            imputer=dataset.filler,
            n_jobs=jobs,
        )
        with warnings_as_notes([*dataset.notes]) as notes, bar("Tuning"):
            began = time.perf_counter()
            search.fit(dataset.unfilled, dataset.y)
            seconds = time.perf_counter() - began
        if store is not None:
            search.result_.save(store)
        selection = read_selection(dataset, method, search.best_selector_, seconds)
        lines = _lines(search.result_)
        if output.as_json:
            print_json({**as_record(selection), "candidates": lines, "notes": notes})
        else:
            rows = [[_shown(value) for value in line.values()] for line in lines]
            terminal().print(plain_table(list(lines[0]), rows, words=("chosen",)))
            show(selection)
        output.write_table(*as_rows(selection), f"{selection.n_selected} features")
        output.write_report(search, dataset)


def _lines(result: Tuning) -> list[dict[str, Any]]:
    """One per candidate: its parameters, its score, and whether it was taken."""
    lines = []
    for i, params in enumerate(result.params):
        facts = {
            "score": finite(result.means[i]),
            "error": finite(result.errors[i]),
            "features": finite(result.sizes[i]),
            "chosen": i == result.best_index,
        }
        named = {name: value for name, value in params.items() if name != "n_features_to_select"}
        # called as on the command line, after the parameters that come first
        if "n_features_to_select" in params:
            named["k"] = params["n_features_to_select"]
        lines.append(named | facts)
    return lines


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "<--" if value else ""
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
