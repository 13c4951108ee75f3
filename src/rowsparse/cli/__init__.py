"""The command line: `rowsparse …`. One file per command; this one only puts them together."""

from __future__ import annotations

import io
import os
import signal
import sys
from types import FrameType
from typing import Any


def main() -> None:
    """Entry point of the `rowsparse` script."""
    try:
        app = build_app()
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package not in ("typer", "rich"):
            raise
        sys.exit(
            f"The rowsparse command needs {package}, which is not installed; "
            f"run pip install typer rich, or pip install '.[cli]' in a clone of rowsparse."
        )
    end_like_an_error()
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal that has no é shows an escape for it
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except BrokenPipeError:
        # The reader (head, less) has left. Python would complain again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def end_like_an_error() -> None:
    """Ended by the system, a command removes what it has half written."""

    def end(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)


def build_app() -> Any:
    """All commands in one typer application."""
    import typer

    from rowsparse.cli.application import PlainGroup, common_options
    from rowsparse.cli.compare import compare
    from rowsparse.cli.datasets import datasets_app
    from rowsparse.cli.options import with_options
    from rowsparse.cli.path import path
    from rowsparse.cli.report import report
    from rowsparse.cli.select import select
    from rowsparse.cli.stability import stability
    from rowsparse.cli.tune import tune

    app = typer.Typer(
        name="rowsparse",
        cls=PlainGroup,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # plain help: it reads as well in a pipe as on a terminal
    )
    app.callback()(common_options)
    for command in (select, path, compare, stability, tune, report):
        app.command(command.__name__)(with_options(command))
    app.add_typer(datasets_app, name="datasets")
    return app
