"""What all commands share: where text goes, and how errors and notes are said.

Names come from files that may have been made to attack a terminal: what reaches it has passed
through ``plain``, which shows control characters instead of sending them.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Literal

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

BAD_INPUT = 2  # what typer and click say for wrong arguments
INTERRUPTED = 130  # what shells report for a program that Ctrl-C ended
PIPE_WIDTH = 10_000  # in a pipe nothing is folded or cut to fit a screen


def plain(value: object) -> str:
    r"""The text with everything that is not printable as an escape, such as \x1b or \u202e."""
    text = str(value)
    if text.isprintable():  # as nearly every cell is
        return text
    shown = []
    for letter in text:
        harmless = letter.isprintable()
        shown.append(letter if harmless else letter.encode("unicode_escape").decode())
    return "".join(shown)


def terminal(stderr: bool = False) -> Console:
    """Results go to stdout."""
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    return console


def messages() -> Console:
    """Notes and errors go to stderr, so that a pipe carries results only."""
    return terminal(stderr=True)


def say(sentence: str, style: str = "") -> None:
    """A sentence on stderr."""
    messages().print(Text(plain(sentence), style=style))


def show_notes(notes: Iterable[str]) -> None:
    for note in notes:
        say(f"Note: {note}", "yellow")


def plain_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], words: Sequence[str] = ()
) -> Table:
    """A table whose cells are never cut; columns of numbers, not of `words`, are aligned right."""
    table = Table(box=None, pad_edge=False, header_style="bold", show_header=any(columns))
    for column in columns:
        justify: Literal["left", "right"] = "left" if column in words else "right"
        table.add_column(Text(plain(column)), justify=justify, overflow="fold")
    for row in rows:
        # as Text: rich takes brackets in a name for its own markup
        table.add_row(*(Text(plain(cell)) for cell in row))
    return table


def one_sentence(error: Warning | BaseException | str) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror.lower()}."
    return " ".join(str(error).split())  # some libraries write paragraphs


@contextmanager
def said_plainly() -> Iterator[None]:
    """Bad input: one sentence and exit code 2. Ctrl-C: exit code 130. Never a traceback."""
    try:
        yield
    except BrokenPipeError:  # an OSError, and nothing that the user did wrong
        raise
    except (ValueError, TypeError, OSError, MemoryError) as error:
        sentence = one_sentence(error)
        if isinstance(error, MemoryError):
            sentence = "There is not enough memory for this data; use fewer columns or rows."
        say(sentence, "red")
        raise typer.Exit(BAD_INPUT) from error
    except KeyboardInterrupt as error:
        say("Interrupted before there was a result.", "yellow")
        raise typer.Exit(INTERRUPTED) from error


@contextmanager
def warnings_as_notes(notes: list[str]) -> Iterator[list[str]]:
    """Collect warnings as plain sentences, each once, and say all notes on stderr at the end."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            yield notes
        finally:  # they may be what explains an error
            notes.extend(dict.fromkeys(one_sentence(w.message) for w in caught))
            show_notes(notes)


@contextmanager
def working(sentence: str) -> Iterator[None]:
    """A moving sign of life on a terminal; nothing at all in a pipe."""
    console = messages()
    with console.status(Text(plain(sentence))) if console.is_terminal else nullcontext():
        yield


def finite(value: Any) -> Any:
    """JSON knows no infinity and no NaN, and nothing of NumPy's numbers."""
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value


def print_json(value: Any) -> None:
    # Not through rich: a machine reads this, and no line may be folded or coloured.
    typer.echo(json.dumps(value, indent=2, allow_nan=False))
