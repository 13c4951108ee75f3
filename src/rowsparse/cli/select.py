"""rowsparse select: features from a table, a certificate with them, a file if asked for."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Annotated, Any

from rich.text import Text
from typer import Argument, Exit, Option

from rowsparse.cli.base import (
    INTERRUPTED,
    AsJson,
    check_output_path,
    messages,
    print_json,
    said_plainly,
    warnings_as_notes,
    working,
    write_csv,
)
from rowsparse.cli.methods import METHODS, build_selector
from rowsparse.cli.selection import as_record, as_rows, read_selection, show
from rowsparse.datasets import Dataset, load_any
from rowsparse.datasets.base import Task
from rowsparse.results import Status


def select(
    data: Annotated[
        str,
        Argument(
            metavar="DATA",
            help="A csv, tsv, parquet, npz or svmlight file, or a name from 'datasets list'.",
        ),
    ],
    target: Annotated[
        list[str] | None,
        Option(
            metavar="COL",
            help="Target column; repeat it for several outputs. Named datasets need none.",
        ),
    ] = None,
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
    method: Annotated[str, Option(help=f"One of {', '.join(METHODS)}.")] = "l2p",
    p: Annotated[
        float | None, Option(help="Exponent of the penalty, 0 to 1; 0.5 unless given.")
    ] = None,
    r: Annotated[
        float | None,
        Option(help="Exponent of the loss, up to 2: 2 unless given; 1 resists outliers."),
    ] = None,
    ridge: Annotated[
        float | None,
        Option(
            help="Ridge on the coefficients (l2p, lpinf, topk), 0 or more: steadier selections on "
            "few samples, and a proved gap. Unless given it follows from k and the data's size."
        ),
    ] = None,
    c: Annotated[
        float | None, Option("--C", help="What an error costs (zero-norm-svm); 1 unless given.")
    ] = None,
    norm: Annotated[
        float | None, Option(help="Norm of the weights (zero-norm-svm, probit); 0 unless given.")
    ] = None,
    init: Annotated[
        str | None,
        Option(
            help="Where to start when p < 1: zero, irls (l2p), ridge (lpinf), convex, or the best "
            "of all, which is what you get if you leave this out."
        ),
    ] = None,
    seed: Annotated[
        int | None, Option(help="Of the random starts (topk): same seed, same answer.")
    ] = None,
    task: Annotated[
        Task, Option(help="What the target is; 'auto' decides from its values.")
    ] = "auto",
    no_standardize: Annotated[
        bool, Option("--no-standardize", help="Do not scale features to unit variance.")
    ] = False,
    no_intercept: Annotated[bool, Option("--no-intercept", help="Fit no intercept.")] = False,
    time_limit: Annotated[
        float | None, Option(metavar="SECONDS", help="Stop then, with the best so far.")
    ] = None,
    out: Annotated[
        Path | None, Option(metavar="FILE.csv", help="Write the selected features.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Select features: one set for all classes, labels or outputs.

    Prints the selected features, best first, and one line that says how well the problem was
    solved: violation 0 means that changing no single feature can lower the objective.
    """
    given = {
        "k": k,
        "alpha": alpha,
        "p": p,
        "r": r,
        "ridge": ridge,
        "C": c,
        "norm": norm,
        "init": init,
        "seed": seed,
        "no_standardize": no_standardize or None,
        "no_intercept": no_intercept or None,
        "time_limit": time_limit,
        "task": None if task == "auto" else task,
    }
    with said_plainly():
        if out is not None:
            check_output_path(out)
        selector = build_selector(method, {n: v for n, v in given.items() if v is not None})
        dataset = load_any(data, target)
        with warnings_as_notes() as notes, working(f"Selecting from {dataset.n_features} features"):
            _complete(selector, method, k, task, dataset)
            began = time.perf_counter()
            selector.fit(dataset.X, dataset.y)
            seconds = time.perf_counter() - began
        selection = read_selection(dataset, method, selector, seconds)
        if as_json:
            print_json({**as_record(selection), "notes": notes})
        else:
            show(selection)
        if out is not None:
            write_csv(out, *as_rows(selection))
            messages().print(Text(f"Wrote {len(selection.features)} features to {out}."))
    if selection.solution is not None and selection.solution.status == Status.INTERRUPTED:
        raise Exit(INTERRUPTED)


def _complete(selector: Any, method: str, k: int | None, task: Task, dataset: Dataset) -> None:
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
        warnings.warn(f"-k was not given: {method} selects {fewest} features then.", stacklevel=2)
