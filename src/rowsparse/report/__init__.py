"""Results as pages, texts and figures: what was selected, how sure, compared with what."""

from __future__ import annotations

import os
from typing import Any

from .page import as_html, as_json, write
from .reading import read


def report(
    result: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    data: Any = None,
    title: str | None = None,
) -> str:
    """One HTML page."""
    html = as_html(read(result, data, title))
    if path is not None:
        write(path, html)
    return html
