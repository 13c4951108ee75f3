"""The examples in docstrings give what they say."""

import doctest
import importlib
import pkgutil

import pytest

import rowsparse

MODULES = [
    module.name
    for module in pkgutil.walk_packages(rowsparse.__path__, "rowsparse.")
    if not module.name.startswith("rowsparse.cli")  # needs an extra, and its help is its example
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
