"""What the pages show in a session gives what they say, and their links lead somewhere."""

import doctest
import re
from pathlib import Path

import pytest

from rowsparse import WrongToolWarning

ROOT = Path(__file__).parent.parent
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])
SESSIONS = [page for page in PAGES if ">>> " in page.read_text()]


@pytest.mark.filterwarnings(f"ignore::rowsparse.{WrongToolWarning.__name__}")
@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.name)
def test_sessions_run(page):
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        if "://" not in link:
            assert (page.parent / link).exists(), link
