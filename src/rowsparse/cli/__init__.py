"""The command line: `rowsparse …`. One file per command; this one only puts them together."""

from __future__ import annotations

import os
import sys
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
    try:
        app()
    except BrokenPipeError:
        # The reader (head, less) has left. Python would complain again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def build_app() -> Any:
    """All commands in one typer application."""
    import typer

    from rowsparse.cli.base import common_options
    from rowsparse.cli.datasets import datasets_app
    from rowsparse.cli.select import select

    app = typer.Typer(
        name="rowsparse",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # plain help: it reads as well in a pipe as on a terminal
    )
    app.callback()(common_options)
    app.command("select")(select)
    app.add_typer(datasets_app, name="datasets")
    return app
