"""What a stranger meets in the source, counted by benchmarks/house.py: limits that only fall."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HOUSE = ROOT / "benchmarks" / "house.py"

LONGEST_FILE = 350  # lines
LONGEST_BODY = 40  # lines of a function without its docstring
MOST_IGNORES = 3  # of type: ignore
MOST_GETATTRS = 12  # and hasattr
MOST_CASTS = 0


@pytest.fixture(scope="module")
def house():
    return runpy.run_path(str(HOUSE))


@pytest.fixture(scope="module")
def files(house):
    return {path: house["count"](path) for path in sorted((ROOT / "src").rglob("*.py"))}


def test_no_file_is_too_long(files):
    assert [str(p) for p, count in files.items() if count.lines > LONGEST_FILE] == []


def test_no_body_is_too_long(files):
    bodies = [body for count in files.values() for body in count.bodies]
    assert [name for size, name in bodies if size > LONGEST_BODY] == []


@pytest.mark.parametrize(
    ("what", "most"),
    [("ignores", MOST_IGNORES), ("getattrs", MOST_GETATTRS), ("casts", MOST_CASTS)],
)
def test_ways_around_the_types_are_few(files, what, most):
    used = {str(p): vars(c)[what] for p, c in files.items() if vars(c)[what]}
    assert sum(used.values()) <= most, used


@pytest.mark.parametrize("table", ["FACTS", "LIMITS"])
def test_every_number_that_is_said_not_to_be_chosen_is_there(house, files, table):
    package = ROOT / "src" / "rowsparse"
    for file, names in house[table].items():
        assert names <= set(files[package / file].constants), file
