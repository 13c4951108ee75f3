"""The application around the commands: its own options, and errors of usage in plain text."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from rowsparse.cli.terminal import plain

# click's, or the copy of click that newer versions of typer bring along
UsageError: Any = typer.BadParameter.__bases__[0]


class PlainGroup(TyperGroup):
    """Commands whose errors of usage repeat no control characters of what was typed."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        try:
            return super().make_context(*arguments, **options)
        except UsageError as error:
            error.message = plain(error.message)
            raise

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except UsageError as error:
            error.message = plain(error.message)
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
