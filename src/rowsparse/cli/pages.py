"""The page that --report writes and ``rowsparse report`` makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rowsparse.cli.output import write_whole
from rowsparse.cli.terminal import say
from rowsparse.datasets import Dataset


def write_page(path: Path, result: Any, dataset: Dataset | None) -> None:
    """A page about what was found, whole or not at all."""
    try:
        from rowsparse.report import report

        page = report(result, data=dataset)
    except ImportError as error:
        raise ValueError(
            f"--report: expected {error.name}, which makes pages, got none; run pip install jinja2."
        ) from error
    write_whole(path, lambda stream: stream.write(page))
    say(f"Wrote the page {path}.")
