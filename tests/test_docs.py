"""What the pages show in a session gives what they say, and their links lead somewhere."""

import contextlib
import doctest
import importlib.util
import io
import re
from pathlib import Path

import pytest

from rowsparse import WrongToolWarning

ROOT = Path(__file__).parent.parent
WRITTEN_BY_SPHINX = {"_build", "auto_gallery", "generated", "project"}
PAGES = sorted(
    page
    for page in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    if not WRITTEN_BY_SPHINX & set(page.relative_to(ROOT).parts)
)
ELSEWHERE = [  # they are on the site, too: docs/repository_pages.py
    *(page for page in ROOT.glob("*.md") if page.name != "README.md"),
    *sorted((ROOT / "benchmarks").glob("*.md")),
    *sorted((ROOT / "benchmarks").glob("[!.]*/*.md")),
    *sorted((ROOT / "experiments").glob("*.md")),
]
SESSIONS = [page for page in PAGES if ">>> " in page.read_text()]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
TESTED_ELSEWHERE = "add-a-penalty.md"  # its file is run by tests/examples


@pytest.mark.filterwarnings(f"ignore::rowsparse.{WrongToolWarning.__name__}")
@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.name)
def test_sessions_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some of them write files
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0


def plain_blocks(page):
    """The code of a page that is no session: what a reader pastes, block after block."""
    return [code for code in BLOCK.findall(page.read_text()) if ">>> " not in code]


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if plain_blocks(page) and page.name != TESTED_ELSEWHERE],
    ids=lambda page: page.name,
)
def test_code_runs_as_pasted(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for code in plain_blocks(page):
            exec(code, names)


@pytest.mark.parametrize("page", PAGES + ELSEWHERE, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        if "://" not in link:
            assert (page.parent / link).exists(), link


def anchors(page):
    """What myst calls the headings of a page."""
    headings = re.findall(r"^#{1,3} (.+)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES + ELSEWHERE, ids=lambda page: page.name)
def test_links_into_a_page_name_one_of_its_headings(page):
    for link, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", page.read_text()):
        assert anchor in anchors(page.parent / link if link else page), f"{link}#{anchor}"


@pytest.fixture(scope="module")
def repository_pages():
    path = ROOT / "docs" / "repository_pages.py"
    spec = importlib.util.spec_from_file_location("repository_pages", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("page", "written", "on_site"),
    [
        ("scale", "[a](../SECURITY.md#what)", "[a](project/SECURITY.md#what)"),
        ("methods/l2p", "[a](../ridge.md)", "[a](../ridge.md)"),
        ("guide/panel", "[a](../../README.md)", "[a](../index.md)"),
        ("project/SECURITY", "[a](docs/ridge.md)", "[a](../ridge.md)"),
        ("project/SECURITY", "[a](README.md)", "[a](../index.md)"),
        ("project/SECURITY", "[a table](pyproject.toml)", "a table"),
        ("scale", "[a file](../pyproject.toml)", "[a file](../pyproject.toml)"),
        ("project/SECURITY", "![a picture](b.png)", "![a picture](b.png)"),
        ("scale", "[a](https://example.org/x.md)", "[a](https://example.org/x.md)"),
    ],
)
def test_links_follow_pages_to_the_site(repository_pages, page, written, on_site):
    assert repository_pages.with_links_of_the_site(page, written) == on_site
