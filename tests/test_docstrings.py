"""Docstrings of public objects are complete, and their examples give what they say.

Completeness is numpydoc's validation with the checks that help who reads: a summary, every
parameter of a function or constructor, no parameter that does not exist, what is returned, and an
example. Off are: "See also" and an extended summary for everything (SA01, ES01: some things are
said in a line), a type and a description of each parameter in separate lines (PR07, RT02, RT03 and
their punctuation: "k : int, how many" says both), the order of parameters (PR03: nearly all are
keywords), a verb first and one line for summaries (SS05, SS06) and the place of the quotes (GL02).
Methods need a docstring; the example is that of their class.
"""

import doctest
import importlib
import inspect
import pkgutil
from dataclasses import is_dataclass

import pytest
from numpydoc.docscrape import ClassDoc
from numpydoc.validate import validate
from test_public_surface import DOCUMENTED

import rowsparse

MODULES = [
    module.name
    for module in pkgutil.walk_packages(rowsparse.__path__, "rowsparse.")
    if not module.name.startswith("rowsparse.cli")  # needs an extra, and its help is its example
]
HELPFUL = {
    "GL08",  # no docstring
    "SS01",  # no summary
    "SS03",  # summary without a full stop
    "PR01",  # parameters that are not documented
    "PR02",  # documented parameters that do not exist
    "PR04",  # nothing said after the name of a parameter
    "RT01",  # nothing said about what is returned
    "EX01",  # no example
}
NO_EXAMPLE = {"Status", "Step"}  # words and a line of a record: their fields are all there is


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def faults(module, name):
    """What numpydoc finds wrong; the fields of plain values may be attributes instead."""
    found = getattr(importlib.import_module(module), name)
    errors = dict(validate(f"{module}.{name}")["errors"])
    if is_dataclass(found):
        told = {one.name for one in ClassDoc(found)["Attributes"] + ClassDoc(found)["Parameters"]}
        told = {part.strip() for one in told for part in one.split(",")}
        if told >= set(inspect.signature(found).parameters):
            errors.pop("PR01", None)
    if name in NO_EXAMPLE:
        errors.pop("EX01", None)
    return {code: text for code, text in errors.items() if code in HELPFUL}


@pytest.mark.parametrize(("module", "name"), DOCUMENTED)
def test_docstrings_are_complete(module, name):
    assert faults(module, name) == {}


@pytest.mark.parametrize(("module", "name"), [one for one in DOCUMENTED if one[1][0].isupper()])
def test_methods_have_docstrings(module, name):
    owner = getattr(importlib.import_module(module), name)
    ours = [
        key
        for kind in owner.__mro__
        if kind.__module__.startswith("rowsparse")
        for key in vars(kind)
        if not key.startswith("_")
    ]
    methods = [inspect.getattr_static(owner, key) for key in ours]
    bare = [
        key
        for key, method in zip(ours, methods, strict=True)
        if inspect.isroutine(method) or isinstance(method, property)
        if not inspect.getdoc(getattr(owner, key))
    ]
    assert bare == []
