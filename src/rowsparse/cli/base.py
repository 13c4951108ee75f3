"""What all commands share: where text goes, how errors are said, how files are written."""

from __future__ import annotations

import csv
import json
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

BAD_INPUT = 2  # what typer and click say for wrong arguments
INTERRUPTED = 130  # what shells report for a program that Ctrl-C ended
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
PIPE_WIDTH = 10_000  # in a pipe nothing is folded or cut to fit a screen


def terminal(stderr: bool = False) -> Console:
    """Results go to stdout."""
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    return console


def messages() -> Console:
    """Notes and errors go to stderr, so that a pipe carries results only."""
    return terminal(stderr=True)


def plain_table(*columns: str, words: Sequence[str]) -> Table:
    """A table whose cells are never cut; columns of numbers, not of `words`, are aligned right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        justify: Literal["left", "right"] = "left" if column in words else "right"
        table.add_column(Text(column), justify=justify, overflow="fold")
    return table


def one_sentence(error: Warning | BaseException | str) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}."
    return " ".join(str(error).split())


@contextmanager
def said_plainly() -> Iterator[None]:
    """Bad input: one sentence and exit code 2. Ctrl-C: exit code 130. Never a traceback."""
    try:
        yield
    except BrokenPipeError:  # an OSError, and nothing that the user did wrong
        raise
    except (ValueError, OSError, MemoryError) as error:
        sentence = one_sentence(error)
        if isinstance(error, MemoryError):
            sentence = "There is not enough memory for this data; use fewer columns or rows."
        messages().print(Text(sentence, style="red"))
        raise typer.Exit(BAD_INPUT) from error
    except KeyboardInterrupt as error:
        messages().print(Text("Interrupted before there was a result.", style="yellow"))
        raise typer.Exit(INTERRUPTED) from error


@contextmanager
def warnings_as_notes() -> Iterator[list[str]]:
    """Collect warnings as plain sentences, each once, and say them on stderr at the end."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            yield notes
        finally:
            notes.extend(dict.fromkeys(one_sentence(w.message) for w in caught))
            for note in notes:
                messages().print(Text(f"Note: {note}", style="yellow"))


@contextmanager
def working(sentence: str) -> Iterator[None]:
    """A moving sign of life on a terminal; nothing at all in a pipe."""
    console = messages()
    with console.status(Text(sentence)) if console.is_terminal else nullcontext():
        yield


def print_json(value: Any) -> None:
    # Not through rich: a machine reads this, and no line may be folded or coloured.
    typer.echo(json.dumps(value, indent=2, allow_nan=False))


def check_output_path(path: Path) -> None:
    """Refuse before the work starts, not after it."""
    if path.suffix.lower() != ".csv":
        raise ValueError(f"--out: expected a file ending in .csv, got {str(path)!r}; rename it.")
    if path.is_dir():
        raise ValueError(
            f"--out: expected a file, got the folder {str(path)!r}; name a file in it."
        )
    if not path.parent.is_dir():
        raise ValueError(
            f"--out: expected an existing folder, got {str(path.parent)!r}, which is none; "
            f"create it first."
        )


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Whole or not at all: a reader sees the old file or the new one, never half of one."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("x", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(rows)
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _show_version(wanted: bool) -> None:
    if wanted:
        from rowsparse import __version__

        typer.echo(f"rowsparse {__version__}")
        raise typer.Exit()


def common_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Feature selection by structured row sparsity: one set of features for all classes."""
