"""Every option that more than one command has, declared once.

A command takes groups of options as parameters, ``def path(data: DataOptions, …)``, and
``with_options`` spreads the fields of the groups out into options as typer reads them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import numpy as np
from scipy import sparse
from sklearn.metrics import get_scorer_names
from typer import Argument, Option

from rowsparse.cli.methods import METHODS
from rowsparse.cli.output import check_output, write_table
from rowsparse.cli.pages import write_page
from rowsparse.datasets import Dataset, load_any
from rowsparse.datasets.base import Impute, Task
from rowsparse.inputs import did_you_mean

Columns = list[str] | None
AsJson = Annotated[bool, Option("--json", help="Print JSON for machines.")]
Seed = Annotated[int | None, Option(help="Of everything random: same seed, same answer.")]
Jobs = Annotated[int | None, Option(metavar="N", help="Run in so many processes.")]
Folds = Annotated[int, Option("--cv", help="Number of folds.", min=2)]
Scoring = Annotated[
    str | None, Option(help="A score of scikit-learn; accuracy or r2 unless given.")
]
Store = Annotated[
    Path | None, Option(metavar="FOLDER", help="Keep the result there, for 'rowsparse report'.")
]
Force = Annotated[bool, Option("--force", help="Replace files that exist.")]


@dataclass(frozen=True)
class ReadingOptions:
    """How to read a table."""

    target: Annotated[
        Columns,
        Option(
            metavar="COL",
            help="Target column; repeat it for several outputs. Named datasets need none.",
        ),
    ] = None
    ignore: Annotated[
        Columns, Option("--ignore", "--drop", metavar="COL", help="Leave a column out.")
    ] = None
    ids: Annotated[
        Columns, Option("--id", metavar="COL", help="A column that names the samples.")
    ] = None
    keep: Annotated[
        Columns,
        Option(metavar="COL", help="A feature, although it looks like names or row numbers."),
    ] = None
    impute: Annotated[
        Impute | None, Option(help="What to put where a value is missing; refused unless given.")
    ] = None
    delimiter: Annotated[
        str | None, Option(metavar="CHAR", help="Between cells of a text table: ';', tab, …")
    ] = None
    no_header: Annotated[
        bool, Option("--no-header", help="The first line holds data; the columns are x0, x1, …")
    ] = False

    def read(self, data: str) -> Dataset:
        return load_any(
            data,
            self.target,
            delimiter=self.delimiter,
            header=not self.no_header,
            ignore=tuple(self.ignore or ()),
            ids=tuple(self.ids or ()),
            keep=tuple(self.keep or ()),
            impute=self.impute,
        )


@dataclass(frozen=True, kw_only=True)
class DataOptions(ReadingOptions):
    """What to read, and how."""

    data: Annotated[
        str,
        Argument(
            metavar="DATA",
            help="A csv, tsv, parquet, feather, xlsx, npz, npy, mat, svmlight or h5ad file, - for "
            "a text table on standard input, or a name from 'datasets list'.",
        ),
    ]

    def load(self) -> Dataset:
        return self.read(self.data)


@dataclass(frozen=True)
class ProblemOptions:
    """Settings of a selector beside the number of features; each is used or refused."""

    p: Annotated[
        float | None, Option(help="Exponent of the penalty, 0 to 1; 0.5 unless given.")
    ] = None
    r: Annotated[
        float | None,
        Option(help="Exponent of the loss, up to 2: 2 unless given; 1 resists outliers."),
    ] = None
    ridge: Annotated[
        float | None,
        Option(
            help="Ridge on the coefficients (l2p, lpinf, topk), 0 or more: steadier selections on "
            "few samples, and a proved gap. Unless given it follows from k and the size of X."
        ),
    ] = None
    C: Annotated[
        float | None, Option("--C", help="What an error costs (zero-norm-svm); 1 unless given.")
    ] = None
    norm: Annotated[
        float | None, Option(help="Norm of the weights (zero-norm-svm, probit); 0 unless given.")
    ] = None
    init: Annotated[
        str | None,
        Option(
            help="Where to start when p < 1: zero, irls (l2p), ridge (lpinf), convex, or the best "
            "of all, which is what you get if you leave this out."
        ),
    ] = None
    task: Annotated[Task, Option(help="What the target is; 'auto' decides from its values.")] = (
        "auto"
    )
    no_standardize: Annotated[
        bool, Option("--no-standardize", help="Do not scale features to unit variance.")
    ] = False
    no_intercept: Annotated[bool, Option("--no-intercept", help="Fit no intercept.")] = False
    time_limit: Annotated[
        float | None, Option(metavar="SECONDS", help="Stop then, with the best so far.")
    ] = None

    def given(self, **more: Any) -> dict[str, Any]:
        """The options that were typed, with those of ``more`` that are not None."""
        every = {field.name: vars(self)[field.name] for field in fields(self)} | more
        # what these hold where nobody typed anything; all others hold None
        unset = {"task": "auto", "no_standardize": False, "no_intercept": False}
        typed = {}
        for name, value in every.items():
            if value is not None and value != unset.get(name):
                typed[name] = value
        return typed


Method = Annotated[str, Option(help=f"One of {', '.join(METHODS)}.")]


@dataclass(frozen=True)
class OutputOptions:
    """Where results go beside the terminal."""

    out: Annotated[Path | None, Option(metavar="FILE.csv", help="Write the result.")] = None
    report: Annotated[
        Path | None, Option(metavar="FILE.html", help="Write a page that shows it.")
    ] = None
    force: Force = False
    as_json: AsJson = False

    def check(self, data: str) -> None:
        """Refuse before the work starts, not after it."""
        if self.out is not None:
            check_output("--out", self.out, (".csv",), data, self.force)
        if self.report is not None:
            check_output("--report", self.report, (".html",), data, self.force)

    def write_table(self, columns: Sequence[str], rows: Iterable[Sequence[Any]], what: str) -> None:
        """The result as csv, if one was asked for; ``what`` is in it, for the message."""
        if self.out is not None:
            write_table(self.out, columns, rows, what)

    def write_report(self, result: Any, dataset: Dataset) -> None:
        """The page, if one was asked for."""
        if self.report is not None:
            # distributions and correlations of X in blocks would take more passes
            in_memory = isinstance(dataset.X, np.ndarray) or sparse.issparse(dataset.X)
            write_page(self.report, result, dataset if in_memory else None)


def check_scoring(name: str | None) -> None:
    """A score that scikit-learn knows, or none named."""
    # asked of scikit-learn itself: its list grows
    known = get_scorer_names()
    if name is not None and name not in known:
        raise ValueError(
            f"--scoring: expected the name of a score of scikit-learn, got {name!r}; "
            f"such are accuracy, balanced_accuracy, f1_macro and r2.{did_you_mean(name, known)}"
        )


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its groups of options in place of the groups."""
    hints = get_type_hints(command, include_extras=True)
    parameters: dict[str, inspect.Parameter] = {}
    groups: dict[str, Any] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        group = hints[name]
        if not is_dataclass(group):
            parameters[name] = parameter.replace(annotation=group, kind=parameter.KEYWORD_ONLY)
            continue
        groups[name] = group
        # annotations are texts in modules that postpone them; typer wants what they mean
        inner = get_type_hints(group, include_extras=True)
        for field in inspect.signature(hints[name]).parameters.values():
            parameters[field.name] = field.replace(
                annotation=inner[field.name], kind=field.KEYWORD_ONLY
            )

    @functools.wraps(command)
    def spread(**values: Any) -> None:
        made = {}
        for name, group in groups.items():
            own = {field.name: values.pop(field.name) for field in fields(group)}
            made[name] = group(**own)
        command(**made, **values)

    # typer asks the function itself what it takes
    ordered = list(parameters.values())
    vars(spread)["__signature__"] = inspect.Signature(ordered)
    spread.__annotations__ = {p.name: p.annotation for p in ordered}
    return spread
