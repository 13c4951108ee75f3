"""rowsparse stability: which features are selected again and again on half of the samples."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Annotated

import numpy as np
from typer import Option

from rowsparse.cli.engine import Engine, EngineOptions
from rowsparse.cli.methods import build_selector
from rowsparse.cli.opening import grouped, opened
from rowsparse.cli.options import (
    DataOptions,
    Jobs,
    Method,
    OutputOptions,
    ProblemOptions,
    Seed,
    Store,
)
from rowsparse.cli.progress import bar
from rowsparse.cli.terminal import (
    plain,
    plain_table,
    print_json,
    said_plainly,
    terminal,
    warnings_as_notes,
)
from rowsparse.model_selection import Stability, StabilitySelector
from rowsparse.selectors.grouped import features_of

FEWEST_SHOWN = 10  # features, stable or not: what nearly was is worth a look
MOST_SHOWN = 50


def stability(
    data: DataOptions,
    problem: ProblemOptions,
    output: OutputOptions,
    engine: EngineOptions,
    k: Annotated[
        int | None, Option("-k", "--q", help="Select so many on every half-sample.")
    ] = None,
    threshold: Annotated[
        float | None, Option(help="Share of half-samples from which a feature is stable.")
    ] = None,
    pfer: Annotated[
        float | None, Option(help="Bound on the expected number of false features.")
    ] = None,
    pairs: Annotated[int, Option(help="How many times the samples are halved.", min=2)] = 50,
    method: Method = "topk",
    # not None: a store goes on by the seed, which says which halves were drawn
    seed: Seed = 0,
    jobs: Jobs = None,
    store: Store = None,
) -> None:
    """Select the features that are chosen on most half-samples, with a bound on the false ones.

    Two of -k, --threshold and --pfer give the third. With --store a run that was interrupted or
    killed goes on where it was, and 'rowsparse report' makes a page of the result.
    """
    with said_plainly(), closing(Engine(engine)) as reader:
        selector = build_selector(method, problem.given())
        dataset = opened(data, output, {method: selector}, store=store, reader=reader)
        stable = StabilitySelector(
            grouped(selector, dataset),
            n_pairs=pairs,
            threshold=threshold,
            q=k,
            pfer=pfer,
            random_state=seed,
            imputer=dataset.filler,
            n_jobs=jobs,
            store=store,
        )
        with warnings_as_notes([*dataset.notes]) as notes, bar("Selecting on half-samples"):
            stable.fit(dataset.unfilled, dataset.y)
        # of categories, where columns were selected together
        names = features_of(stable.selector, dataset.n_features, dataset.feature_names).names
        result = replace(stable.stability_, names=names)
        if store is not None:
            result.save(store)
        rows = _rows(result)
        if output.as_json:
            print_json({"dataset": dataset.name, "method": method, "threshold": result.threshold,
                        "q": result.q, "pfer": result.pfer, "stability": result.nogueira.estimate,
                        "features": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
                        "notes": notes})  # fmt: skip
        else:
            shown = rows[: min(max(result.support.size, FEWEST_SHOWN), MOST_SHOWN)]
            cells = []
            for rank, name, probability, is_stable in shown:
                cells.append([rank, name, f"{probability:.2f}", "yes" if is_stable else ""])
            terminal().print(plain_table(COLUMNS, cells, words=("name", "stable")))
            terminal().print(plain(result.explanation()), markup=False)
        output.write_table(COLUMNS, rows, f"{len(rows)} features")
        output.write_report(stable, dataset)


COLUMNS = ("rank", "name", "probability", "stable")


def _rows(result: Stability) -> list[list[object]]:
    """Features that were selected at all, the most frequent first."""
    probabilities = result.probabilities
    best_first = np.argsort(-probabilities, kind="stable")
    chosen = best_first[probabilities[best_first] > 0].tolist()
    stable = set(result.support.tolist())
    rows: list[list[object]] = []
    for rank, j in enumerate(chosen, start=1):
        rows.append([rank, result.names[j], float(probabilities[j]), j in stable])
    return rows
