"""A Sphinx extension: pages that live elsewhere in the repository, on the site too.

The tables of benchmarks/ and experiments/ stand beside the programs that write them, and GitHub
wants the changelog at the top. They are copied into docs/project/ before the site is built, and
links to them follow.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path, PurePosixPath

DOCS = Path(__file__).parent
REPOSITORY = DOCS.parent
COPIES = "project"
PAGES = ("*.md", "benchmarks/**/*.md", "experiments/**/*.md")
NOT_ON_SITE = {
    "README.md",  # docs/index.md says the same
    "benchmarks/CONDITIONS.md",  # a part of benchmarks/RESULTS.md, without a heading
}

LINK = re.compile(r"(?P<bang>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


def pages_elsewhere() -> list[Path]:
    """Relative to the repository: every page that is copied."""
    found = {page for pattern in PAGES for page in REPOSITORY.glob(pattern)}
    names = {page.relative_to(REPOSITORY) for page in found}
    hidden = {name for name in names if any(part.startswith(".") for part in name.parts)}
    return sorted(name for name in names - hidden if name.as_posix() not in NOT_ON_SITE)


def place_on_site(name: PurePosixPath) -> PurePosixPath | None:
    """Where a page of the repository stands below docs/; None for one that is not on the site."""
    if name.parts[:1] == ("docs",):
        return PurePosixPath(*name.parts[1:])
    on_site = Path(name) in pages_elsewhere()
    return PurePosixPath(COPIES) / name if on_site else None


def home_of(docname: str) -> PurePosixPath:
    """The page's place in the repository, from its name on the site."""
    name = PurePosixPath(docname)
    is_copy = name.parts[0] == COPIES and len(name.parts) > 1
    return PurePosixPath(*name.parts[1:]) if is_copy else PurePosixPath("docs") / name


def link_on_site(docname: str, link: re.Match[str]) -> str:
    """The link as the page `docname` of the site has to write it."""
    target = link["target"]
    if "://" in target or target.startswith("mailto:") or link["bang"]:
        return link[0]  # pictures are copied beside their page
    home = home_of(docname)
    meant = PurePosixPath(os.path.normpath(home.parent / target))
    on_site = place_on_site(meant) if meant.suffix == ".md" else None
    if on_site is not None:
        path = os.path.relpath(on_site, PurePosixPath(docname).parent)
        return f"[{link['text']}]({path}{link['anchor'] or ''})"
    if meant.as_posix() == "README.md":
        return f"[{link['text']}]({os.path.relpath('index.md', PurePosixPath(docname).parent)})"
    if home.parts[0] == "docs":
        return link[0]  # a source file: the site offers it for download
    return link["text"]  # data beside a table; who has the repository has it


def with_links_of_the_site(docname: str, text: str) -> str:
    """The page's text with every link to another page of the repository leading to its copy."""
    return LINK.sub(lambda link: link_on_site(docname, link), text)


def copy_pages(app, config) -> None:
    """Fresh copies of the pages, and of the pictures that they show."""
    shutil.rmtree(DOCS / COPIES, ignore_errors=True)
    for name in pages_elsewhere():
        source = REPOSITORY / name
        copy = DOCS / COPIES / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, copy)  # with its date: a page that did not change is not read again
        for link in LINK.finditer(source.read_text("utf-8")):
            if link["bang"] and "://" not in link["target"]:
                picture = copy.parent / link["target"]
                picture.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source.parent / link["target"], picture)


def rewrite_links(app, docname: str, source: list[str]) -> None:
    is_markdown = str(app.env.doc2path(docname)).endswith(".md")
    if is_markdown:
        source[0] = with_links_of_the_site(docname, source[0])


def setup(app):
    app.connect("config-inited", copy_pages)
    app.connect("source-read", rewrite_links)
    return {"parallel_read_safe": True}
