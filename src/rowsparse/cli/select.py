"""rowsparse select: features from a table, a certificate with them, files if asked for."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

from typer import Exit, Option

from rowsparse.cli.engine import Engine, EngineOptions, in_blocks
from rowsparse.cli.methods import METHODS, build_selector, stopped_after
from rowsparse.cli.opening import grouped
from rowsparse.cli.options import DataOptions, Method, OutputOptions, ProblemOptions, Seed
from rowsparse.cli.output import check_output, write_table
from rowsparse.cli.reduced import reduced_table
from rowsparse.cli.selection import as_record, as_rows, read_selection, show
from rowsparse.cli.terminal import (
    INTERRUPTED,
    print_json,
    said_plainly,
    warnings_as_notes,
    working,
)
from rowsparse.datasets import Dataset
from rowsparse.datasets.base import Task
from rowsparse.results import Status
from rowsparse.warn import warn_user


def select(
    data: DataOptions,
    problem: ProblemOptions,
    output: OutputOptions,
    engine: EngineOptions,
    k: Annotated[
        int | None, Option("-k", "--n-features", help="Select exactly this many features.")
    ] = None,
    alpha: Annotated[
        float | None,
        Option(
            help="Strength of the penalty instead of -k. With neither: a tenth of the alpha at "
            "which the first feature enters."
        ),
    ] = None,
    method: Method = "l2p",
    seed: Seed = None,
    out_data: Annotated[
        Path | None,
        Option(metavar="FILE.csv", help="Write the table with the selected columns only."),
    ] = None,
) -> None:
    """Select features: one set for all classes, labels or outputs.

    Prints the selected features, best first, and one line that says how well the problem was
    solved: violation 0 means that changing no single feature can lower the objective.
    """
    with said_plainly(), closing(Engine(engine)) as reader:
        output.check(data.data)
        if out_data is not None:  # before the work starts, not after it
            check_output("--out-data", out_data, (".csv",), data.data, output.force)
            if out_data == output.out:
                raise ValueError(f"--out-data: expected another file than --out, got {out_data}.")
        selector = build_selector(method, problem.given(k=k, alpha=alpha, seed=seed))
        dataset = reader.load(data)
        if out_data is not None and in_blocks(dataset):
            raise ValueError(
                "--out-data: expected none for data that is not read into memory, got "
                f"{str(out_data)!r}; --out writes the names of the columns."
            )
        with (
            warnings_as_notes([*dataset.notes]) as notes,
            working(f"Selecting from {dataset.n_features} features"),
        ):
            complete(selector, method, k, problem.task, dataset)
            selector = grouped(selector, dataset)
            began = time.perf_counter()  # without reading, which takes longer than many fits
            with stopped_after(method, problem.time_limit):
                selector.fit(dataset.X, dataset.y)
            seconds = time.perf_counter() - began
        selection = read_selection(dataset, method, selector, seconds)
        if output.as_json:
            print_json({**as_record(selection), "notes": notes})
        else:
            show(selection)
        output.write_table(*as_rows(selection), f"{selection.n_selected} features")
        if out_data is not None:
            what = f"{dataset.n_samples} rows of the selected columns"
            write_table(out_data, *reduced_table(dataset, selector.support_), what)
        output.write_report(selector, dataset)
    # what was found until then has been shown; scripts shall know that it is not all
    if selection.solution is not None and selection.solution.status == Status.INTERRUPTED:
        raise Exit(INTERRUPTED)


def complete(selector: Any, method: str, k: int | None, task: Task, dataset: Dataset) -> None:
    """Settings that nobody typed and that follow from the data."""
    known = METHODS[method]
    if "task" not in known.options and dataset.task == "regression":
        raise ValueError(
            f"--method {method}: expected classes in the target, got numbers; use another "
            f"method, such as l2p or topk."
        )
    if task == "auto" and "task" in known.options:
        selector.set_params(task=dataset.task)
    if k is None and known.default_k is not None:
        fewest = min(known.default_k, dataset.n_features)
        selector.set_params(n_features_to_select=fewest)
        warn_user(f"-k was not given: {method} selects {fewest} features then.")
