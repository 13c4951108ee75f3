"""How Sphinx builds the site (`make docs`): nothing is fetched from a network."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

import rowsparse

# A fitted attribute in running text (coef_), or a norm (|w|): both mean something else to Sphinx.
PLAIN = re.compile(r"(?<![`\w])([A-Za-z]\w*_)(?![`\w{])|(?<!\w)\|[^|`\s]+\|(?:\*\*\w+|_\w+)?")

sys.path.insert(0, str(Path(__file__).parent))  # for repository_pages, an extension of our own

project = "rowsparse"
author = "rowsparse developers"
copyright = author
version = release = rowsparse.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
    "repository_pages",
]
exclude_patterns = ["_build", "gallery"]
templates_path = ["_templates"]

# Markdown: anchors of headings may be linked, and `$…$` is mathematics.
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings name the types in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "rowsparse"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
toc_object_entries_show_parents = "hide"  # the margin has room for fit(), not for L2pSelector.fit()
html_show_sourcelink = False
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

sphinx_gallery_conf = {
    "examples_dirs": ["gallery"],
    "gallery_dirs": ["auto_gallery"],
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,  # that page asks a network for its scripts
    "min_reported_time": 60,
    "remove_config_comments": True,
    "abort_on_example_error": True,
}

# An example that warns on purpose says so itself; the build log is for what is not meant.
warnings.filterwarnings("ignore", category=UserWarning, module="matplotlib")


def skip_what_others_document(app, what, name, member, skip, options):
    """Methods that a class has from scikit-learn alone are on scikit-learn's pages."""
    home = getattr(member, "__module__", None) or ""
    return skip or home.startswith("sklearn") or name.endswith("_request")


def as_code(line):
    """The line with names and norms as code, but for what is code already."""
    head = re.match(r"\s*(?:[\w, ]+ :)?", line).group()  # the name of a parameter stays as it is
    parts = re.split(r"(``.+?``)", line[len(head) :])
    parts[::2] = [PLAIN.sub(r"``\g<0>``", text) for text in parts[::2]]
    return head + "".join(parts)


def plain_text_to_rst(app, what, name, obj, options, lines):
    """Docstrings are written for people: formulas are indented, names stand as they are. Here
    indented formulas become literal blocks, and names and norms become code."""
    result = []
    formula_indent = None
    for before, line in zip(["", *lines], lines, strict=False):
        indent = len(line) - len(line.lstrip())
        last = next((text for text in reversed(result) if text.strip()), line)
        margin = len(last) - len(last.lstrip())
        if formula_indent is not None and line.strip() and indent < formula_indent:
            formula_indent = None
        if formula_indent is None and line.strip() and not before.strip() and indent > margin:
            formula_indent = indent
            result += [" " * margin + ".. code-block:: text", ""]
        is_text = formula_indent is None and ">>>" not in line
        result.append(as_code(line) if is_text else line)
    lines[:] = result


# What a browser fetches by itself: scripts, pictures, frames, and what a link element names.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?https?://|"""
    r"""<link\b[^>]*\brel=["']?(?:stylesheet|preload|icon)[^>]*\bhref=["']?https?://|"""
    r"""<link\b[^>]*\bhref=["']?https?://[^>]*\brel=["']?(?:stylesheet|preload|icon)"""
)


def refuse_requests(app, exception):
    """No page of the site asks a network for anything."""
    if exception is None and app.builder.format == "html":
        pages = sorted(app.outdir.rglob("*.html"))
        asking = [page.name for page in pages if FETCHED.search(page.read_text("utf-8"))]
        if asking:
            raise ValueError(f"Expected pages that fetch nothing, got {asking}.")


def setup(app):
    app.connect("build-finished", refuse_requests)
    # before numpydoc, whose priority is 500
    app.connect("autodoc-process-docstring", plain_text_to_rst, priority=100)
    app.connect("autodoc-skip-member", skip_what_others_document)
