"""rowsparse report: a page about results that were stored."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from rowsparse.cli.options import Force, ReadingOptions
from rowsparse.cli.output import check_output
from rowsparse.cli.pages import write_page
from rowsparse.cli.terminal import said_plainly
from rowsparse.model_selection import load


def report(
    reading: ReadingOptions,
    results: Annotated[
        list[Path],
        Argument(metavar="RESULT…", help="Folders that --store of other commands named."),
    ],
    data: Annotated[
        str | None, Option(metavar="DATA", help="What the results are about, to show it, too.")
    ] = None,
    out: Annotated[
        Path | None, Option(metavar="FILE.html", help="The first RESULT.html unless given.")
    ] = None,
    force: Force = False,
) -> None:
    """Make one page about a stored comparison, stability selection or tuning, or several."""
    with said_plainly():
        page = out or results[0].with_name(f"{results[0].name}.html")
        check_output("--out", page, (".html",), data or "", force)
        dataset = None if data is None else reading.read(data)
        found = [load(folder) for folder in results]
        write_page(page, found if len(found) > 1 else found[0], dataset)
