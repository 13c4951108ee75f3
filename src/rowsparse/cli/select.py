"""rowsparse select: features from a table, a certificate with them, a file if asked for."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.text import Text

from rowsparse import L2pSelector
from rowsparse.cli.base import (
    INTERRUPTED,
    check_output_path,
    messages,
    print_json,
    said_plainly,
    warnings_as_notes,
    working,
    write_csv,
)
from rowsparse.cli.selection import as_record, as_rows, read_selection, show
from rowsparse.datasets import load_any
from rowsparse.results import Status
from rowsparse.solvers import BlockDescent

# Which of p and r a method leaves open; the others are what gives the method its name.
METHODS: dict[str, tuple[str, ...]] = {
    "l2p": ("p", "r"),
    "gsr": ("p", "r"),
    "rk1u": ("p",),
    "erfs": ("p",),
    "mtfs": (),
    "rfs": (),
}


def select(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A csv, tsv, parquet, npz or svmlight file, or a name from 'datasets list'.",
        ),
    ],
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            metavar="COL",
            help="Target column; repeat it for several outputs. Named datasets need none.",
        ),
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", "--n-features", help="Select exactly this many features.")
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            help="Strength of the penalty instead of -k. With neither: a tenth of the alpha at "
            "which the first feature enters."
        ),
    ] = None,
    method: Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.")] = "l2p",
    p: Annotated[
        float | None, typer.Option(help="Exponent of the penalty, 0 to 1; 0.5 unless given.")
    ] = None,
    r: Annotated[
        float | None,
        typer.Option(help="Exponent of the loss, up to 2; 2 unless given; 1 resists outliers."),
    ] = None,
    init: Annotated[
        str, typer.Option(help="Where to start when p < 1: zero, irls, convex, or best of all.")
    ] = "best",
    task: Annotated[
        Literal["auto", "classification", "regression"],
        typer.Option(help="What the target is; 'auto' decides from its values."),
    ] = "auto",
    no_standardize: Annotated[
        bool, typer.Option("--no-standardize", help="Do not scale features to unit variance.")
    ] = False,
    no_intercept: Annotated[bool, typer.Option("--no-intercept", help="Fit no intercept.")] = False,
    time_limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Stop then, with the best so far.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Write the selected features.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Select features: one set for all classes, labels or outputs.

    Prints the selected features, best first, and one line that says how well the problem was
    solved: violation 0 means that changing no single feature can lower the objective.
    """
    with said_plainly():
        if out is not None:
            check_output_path(out)
        settings = {
            "n_features_to_select": k,
            "init": init,
            "standardize": not no_standardize,
            "fit_intercept": not no_intercept,
        }
        selector = build_selector(method, alpha, p, r, settings)
        if time_limit is not None:
            selector.set_params(solver=solver_with_limit(time_limit))
        dataset = load_any(data, target)
        selector.set_params(task=dataset.task if task == "auto" else task)
        with warnings_as_notes() as notes, working(f"Selecting from {dataset.n_features} features"):
            began = time.perf_counter()
            selector.fit(dataset.X, dataset.y)
            seconds = time.perf_counter() - began
        selection = read_selection(dataset, selector, seconds)
        if as_json:
            print_json({**as_record(selection, method), "notes": notes})
        else:
            show(selection)
        if out is not None:
            write_csv(out, *as_rows(selection))
            messages().print(Text(f"Wrote {len(selection.features)} features to {out}."))
    if selector.solution_.status is Status.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)


def solver_with_limit(seconds: float) -> BlockDescent:
    if not seconds > 0:
        raise ValueError(f"--time-limit: expected seconds above 0, got {seconds:g}; raise it.")
    return BlockDescent(time_limit=seconds)


def build_selector(
    method: str,
    alpha: float | None,
    p: float | None,
    r: float | None,
    settings: dict[str, Any],
) -> L2pSelector:
    if method not in METHODS:
        raise ValueError(
            f"--method: expected one of {', '.join(METHODS)}, got {method!r}; "
            f"this version has no other."
        )
    if alpha is not None and settings["n_features_to_select"] is not None:
        raise ValueError("-k, --alpha: expected one of them, got both; leave one out.")
    exponents = {name: value for name, value in (("p", p), ("r", r)) if value is not None}
    for name in exponents:
        if name not in METHODS[method]:
            raise ValueError(
                f"--{name}: expected no value with --method {method}, which fixes it, got "
                f"{exponents[name]:g}; leave it out or use --method l2p."
            )
    make = L2pSelector if method == "l2p" else getattr(L2pSelector, method)
    return make(alpha, **exponents, **settings)
