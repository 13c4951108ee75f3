"""Which method a name on the command line stands for, and which options it understands."""

from __future__ import annotations

import functools
import math
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rowsparse import (
    L2pSelector,
    LpInfSelector,
    ProbitSelector,
    ScoreSelector,
    TopKSelector,
    ZeroNormSVC,
)
from rowsparse.filters import BY_NAME
from rowsparse.inputs import did_you_mean
from rowsparse.solvers import (
    BlockDescent,
    LargestNormLP,
    ProbitEM,
    ReweightedSVM,
    Solver,
    Splice,
)

MARGIN = ("norm", "no_standardize", "time_limit")
PENALISED = ("alpha", "ridge", "init", "no_intercept", "no_standardize", "time_limit", "task")

# What an option is called in the constructors; the others keep their names.
PARAMETERS = {"k": "n_features_to_select", "seed": "random_state"}
SWITCHES = {"no_intercept": "fit_intercept", "no_standardize": "standardize"}


@dataclass(frozen=True)
class Method:
    """A way to make a selector, the options beside -k that it takes, and what a time limit stops.

    ``solver`` is None where there is none, which is a filter. ``default_k``: how many features
    there are without -k; None where a penalty decides that.
    """

    make: Callable[..., Any]
    options: tuple[str, ...]
    solver: Callable[..., Solver] | None = BlockDescent
    default_k: int | None = None

    def build(self, given: dict[str, Any]) -> Any:
        """The selector for the options that were given; all of them are known to it."""
        parameters: dict[str, Any] = {}
        for option, value in given.items():
            if option in SWITCHES:
                parameters[SWITCHES[option]] = False
            elif option == "time_limit":
                if not value > 0:
                    raise ValueError(
                        f"--time-limit: expected seconds above 0, got {value:g}; raise it."
                    )
                # the largest coefficient is a linear program: there is nothing to reweight
                limited = LargestNormLP if given.get("norm") == math.inf else self.solver
                if limited is not None:
                    parameters["solver"] = limited(time_limit=value)
            else:
                parameters[PARAMETERS.get(option, option)] = value
        return self.make(**parameters)


METHODS = {
    "l2p": Method(L2pSelector, (*PENALISED, "p", "r")),
    "lpinf": Method(LpInfSelector, (*PENALISED, "p")),
    "topk": Method(
        TopKSelector,
        ("r", "ridge", "no_intercept", "no_standardize", "time_limit", "seed", "task"),
        Splice,
        default_k=10,
    ),
    "zero-norm-svm": Method(ZeroNormSVC, ("C", *MARGIN), ReweightedSVM),
    "probit": Method(ProbitSelector, MARGIN, ProbitEM),
    "gsr": Method(L2pSelector.gsr, (*PENALISED, "p", "r")),
    "rk1u": Method(L2pSelector.rk1u, (*PENALISED, "p")),
    "erfs": Method(L2pSelector.erfs, (*PENALISED, "p")),
    "mtfs": Method(L2pSelector.mtfs, PENALISED),
    "rfs": Method(L2pSelector.rfs, PENALISED),
}
# a new filter is a method here without another line
for _filter in BY_NAME:
    METHODS[_filter.replace("_", "-")] = Method(
        functools.partial(ScoreSelector, _filter), ("task", "time_limit"), None, default_k=10
    )


def known_method(option: str, name: str) -> Method:
    if name not in METHODS:
        raise ValueError(
            f"{option}: expected one of {', '.join(METHODS)}, got {name!r}; "
            f"this version has no other.{did_you_mean(name, METHODS)}"
        )
    return METHODS[name]


def build_selectors(names: Sequence[str], given: dict[str, Any]) -> dict[str, Any]:
    """Several methods; each takes the options it knows, and some of them must know each."""
    methods = {name: known_method("--methods", name) for name in map(str.strip, names)}
    # an option that does nothing would be taken for one that did
    for option, value in given.items():
        if not any(option in method.options for method in methods.values()):
            raise ValueError(
                f"--{option.replace('_', '-')}: expected an option of some of the methods, got "
                f"{value} for {', '.join(methods)}, which have none such; leave it out."
            )
    built = {}
    for name, method in methods.items():
        own = {option: value for option, value in given.items() if option in method.options}
        built[name] = method.build(own)
    return built


def build_selector(name: str, given: dict[str, Any]) -> Any:
    """The selector of a method; ``given`` holds the options that the user typed."""
    method = known_method("--method", name)
    for option, value in given.items():
        if option not in (*method.options, "k"):
            others = [other for other, known in METHODS.items() if option in known.options]
            raise ValueError(
                f"--{option.replace('_', '-')}: expected no such option with --method {name}, "
                f"got {value}; leave it out or choose one of {', '.join(others)}."
            )
    if "alpha" in given and "k" in given:
        raise ValueError("-k, --alpha: expected one of them, got both; leave one out.")
    return method.build(given)


@contextmanager
def stopped_after(name: str, seconds: float | None) -> Iterator[None]:
    """The time limit of a method without a solver: a filter has no result before its end."""
    if seconds is None or METHODS[name].solver is not None:
        yield
        return
    if sys.platform == "win32":
        raise ValueError(f"--time-limit: expected none with {name} on Windows; leave it out.")

    def ring(*_: object) -> None:
        raise ValueError(
            f"--time-limit: expected {name} to end within {seconds:g} s, got no result by then, "
            f"and it has none before its end; raise the limit or choose another method."
        )

    # a thread could not stop the filter, which runs in this one
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
