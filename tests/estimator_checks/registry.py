"""The list of checks: which pitfall each covers and what a selector must be able to do for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest

CAPABILITIES = frozenset(
    {
        "alpha",  # a penalty parameter `alpha`; a large one gives W = 0
        "k",  # `n_features_to_select`
        "classification",
        "regression",
        "multilabel",
        "sparse",
        "sample_weight",
        "relative_weights",  # only the proportions of the sample weights matter
        "coef",  # `coef_` and `intercept_`
        "feature_weights",
        "solution",  # `solution_` with tol and violation
        "standardize",  # a parameter `standardize`, on by default
    }
)


@dataclass(frozen=True)
class Check:
    """One check: `run(make_selector)`, where `make_selector(**params)` builds a selector."""

    pitfall: str
    run: Callable[[Callable[..., Any]], None]
    needs: frozenset[str]

    @property
    def id(self) -> str:
        return f"{self.pitfall}-{self.run.__name__.removeprefix('check_')}"


ALL_CHECKS: list[Check] = []


def covers(pitfall: str, *needs: str) -> Callable:
    """Register a check for a pitfall of the list in README.md, with the capabilities it needs."""
    unknown = set(needs) - CAPABILITIES
    if unknown:
        raise ValueError(f"unknown capabilities {sorted(unknown)}")

    def register(run: Callable) -> Callable:
        ALL_CHECKS.append(Check(pitfall, run, frozenset(needs)))
        return run

    return register


def checks_for(lacks: Iterable[str] = ()) -> list:
    """Parameters for `pytest.mark.parametrize("check", ...)`: every check that applies.

    A new selector needs one line per variant:

        @pytest.mark.parametrize("check", checks_for(lacks={"regression"}))
        def test_pitfalls(check):
            check.run(partial(MySelector, n_features_to_select=3))
    """
    lacks = set(lacks)
    if lacks - CAPABILITIES:
        raise ValueError(f"unknown capabilities {sorted(lacks - CAPABILITIES)}")
    return [pytest.param(c, id=c.id) for c in ALL_CHECKS if not c.needs & lacks]
