"""Results as pages, texts and figures: what was selected, how sure, compared with what.

    report(result, "page.html", data=(X, y))      one self-contained page
    report_markdown(result), report_json(result)  the same facts as text
    save_figures(result, "figures")               its figures as files

``result`` is a fitted selector, a ``SelectorCV``, a ``StabilitySelector``, a ``Comparison``, a
``Path`` or a ``Solution``, or a list of such results that belong to the same data.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .displays import AccuracyDisplay, CoefficientDisplay, PathDisplay, StabilityDisplay
from .markdown import as_markdown
from .page import as_html, as_json, as_svg, figures_of, write
from .pictures import save_pictures
from .reading import read

__all__ = [
    "AccuracyDisplay",
    "CoefficientDisplay",
    "PathDisplay",
    "StabilityDisplay",
    "report",
    "report_json",
    "report_markdown",
    "save_figures",
]


def report(
    result: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    data: Any = None,
    title: str | None = None,
) -> str:
    """One self-contained HTML page about a result; it asks no network for anything.

    Parameters
    ----------
    result : what was fitted, or a list of several results on the same data
    path : where to write the page, whole or not at all; None writes nothing
    data : (X, y) of the fit, or an object with X, y and names such as a ``Dataset``, optional
        With it the page has names, the distribution of every selected column, the columns that
        move with it, and the data as seen.
    title : the heading of the page

    Returns
    -------
    The page. It needs Jinja2 (extra ``report``); the other formats need nothing.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from rowsparse import L2pSelector
    >>> from rowsparse.report import report
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> page = report(L2pSelector(3).fit(X, y), data=(X, y), title="Which wine")
    >>> "flavanoids" in page
    True
    """
    return _written(as_html(read(result, data, title)), path)


def report_markdown(
    result: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    data: Any = None,
    title: str | None = None,
) -> str:
    """The facts of ``report`` as Markdown; figures are tables there.

    Parameters
    ----------
    result, path, data, title : as in ``report``

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import L2pSelector
    >>> from rowsparse.report import report_markdown
    >>> text = report_markdown(L2pSelector(3).fit(X, y), title="Which wine")
    >>> text.splitlines()[0]
    '# Which wine'
    """
    return _written(as_markdown(read(result, data, title)), path)


def report_json(
    result: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    data: Any = None,
    title: str | None = None,
) -> str:
    """The facts of ``report`` as JSON, for programs.

    Parameters
    ----------
    result, path, data, title : as in ``report``

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import L2pSelector
    >>> from rowsparse.report import report_json
    >>> import json
    >>> facts = json.loads(report_json(L2pSelector(3).fit(X, y), title="Which wine"))
    >>> facts["title"]
    'Which wine'
    """
    return _written(as_json(read(result, data, title)), path)


def save_figures(
    result: Any, folder: str | os.PathLike[str], *, data: Any = None, format: str = "svg"
) -> list[Path]:
    """The figures of the page as files of their own, ``path.svg``, ``comparison.svg``, ….

    "svg" are those of the page (extra ``report``); "png" and "pdf" are drawn by matplotlib
    (extra ``plot``). The folder is made where it is missing; returns what was written.

    Parameters
    ----------
    result, data : as in ``report``
    folder : where the files go
    format : {"svg", "png", "pdf"}

    Returns
    -------
    list of paths

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import L2pSelector
    >>> import tempfile
    >>> from rowsparse.report import save_figures
    >>> from rowsparse.paths import selection_path
    >>> path = selection_path(L2pSelector(), X, y, n_alphas=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = save_figures(path, folder)
    >>> [file.name for file in files]
    ['path.svg']
    """
    facts = read(result, data)
    target = Path(folder)
    if format not in ("svg", "png", "pdf"):
        raise ValueError(f"Expected format to be 'svg', 'png' or 'pdf', got {format!r}.")
    target.mkdir(parents=True, exist_ok=True)
    if format != "svg":
        return save_pictures(facts, target, format)
    files = []
    for figure in figures_of(facts):
        files.append(target / f"{figure.key}.svg")
        write(files[-1], as_svg(figure))
    return files


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        write(path, text)
    return text
