"""rowsparse report: a page about a result that was stored."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from rowsparse.cli.options import Force
from rowsparse.cli.output import check_output
from rowsparse.cli.pages import write_page
from rowsparse.cli.terminal import said_plainly
from rowsparse.model_selection import load


def report(
    result: Annotated[
        Path, Argument(metavar="RESULT", help="The folder that --store of another command named.")
    ],
    out: Annotated[
        Path | None, Option(metavar="FILE.html", help="RESULT.html unless given.")
    ] = None,
    force: Force = False,
) -> None:
    """Make a page about a stored comparison, stability selection or tuning."""
    with said_plainly():
        page = out or result.with_name(f"{result.name}.html")
        check_output("--out", page, (".html",), str(result), force)
        write_page(page, load(result), None)
