"""Which method a name on the command line stands for, and which options it understands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import rowsparse
from rowsparse.filters import BY_NAME
from rowsparse.solvers import BlockDescent

PENALISED = ("alpha", "init", "no_intercept", "no_standardize", "time_limit", "task")

# What an option is called in the constructors; the others keep their names.
PARAMETERS = {"k": "n_features_to_select", "seed": "random_state"}
SWITCHES = {"no_intercept": "fit_intercept", "no_standardize": "standardize"}


@dataclass(frozen=True)
class Method:
    """A way to make a selector, and the options beside -k that it takes."""

    make: Callable[..., Any]
    options: tuple[str, ...]
    about: str

    def build(self, given: dict[str, Any]) -> Any:
        """The selector for the options that were given; all of them are known to it."""
        given = dict(given)
        parameters: dict[str, Any] = {}
        if "time_limit" in given:
            parameters["solver"] = limited_solver(given.pop("time_limit"))
        for flag, parameter in SWITCHES.items():
            if given.pop(flag, False):
                parameters[parameter] = False
        for option, value in given.items():
            parameters[PARAMETERS.get(option, option)] = value
        return self.make(**parameters)


def limited_solver(seconds: float) -> BlockDescent:
    if not seconds > 0:
        raise ValueError(f"--time-limit: expected seconds above 0, got {seconds:g}; raise it.")
    return BlockDescent(time_limit=seconds)


def _methods() -> dict[str, Method]:
    l2p = Method(rowsparse.L2pSelector, (*PENALISED, "p", "r"), "row norms to the power p")
    methods = {
        "l2p": l2p,
        "lpinf": Method(rowsparse.LpInfSelector, (*PENALISED, "p"), "largest entries of the rows"),
        "topk": Method(
            rowsparse.TopKSelector,
            ("r", "no_intercept", "no_standardize", "seed", "task"),
            "the best k features for the loss itself",
        ),
        "zero-norm-svm": Method(
            rowsparse.ZeroNormSVC, ("C", "norm", "no_standardize"), "classes, with a margin"
        ),
        "probit": Method(rowsparse.ProbitSelector, ("norm", "no_standardize"), "classes, by EM"),
    }
    for name, open_exponents in (
        ("gsr", ("p", "r")),
        ("rk1u", ("p",)),
        ("erfs", ("p",)),
        ("mtfs", ()),
        ("rfs", ()),
    ):
        make = getattr(rowsparse.L2pSelector, name)
        methods[name] = replace(l2p, make=make, options=(*PENALISED, *open_exponents))
    for name in BY_NAME:
        methods[name.replace("_", "-")] = Method(_scored_by(name), ("task",), "a filter")
    return methods


def _scored_by(name: str) -> Callable[..., Any]:
    return lambda **parameters: rowsparse.ScoreSelector(name, **parameters)


METHODS = _methods()


def build_selector(name: str, given: dict[str, Any]) -> Any:
    """The selector of a method; ``given`` holds the options that the user typed."""
    if name not in METHODS:
        raise ValueError(
            f"--method: expected one of {', '.join(METHODS)}, got {name!r}; "
            f"this version has no other."
        )
    method = METHODS[name]
    for option, value in given.items():
        if option not in (*method.options, "k"):
            raise ValueError(
                f"--{option.replace('_', '-')}: expected no such option with --method {name}, "
                f"got {value}; leave it out or choose another method."
            )
    if "alpha" in given and "k" in given:
        raise ValueError("-k, --alpha: expected one of them, got both; leave one out.")
    return method.build(given)
