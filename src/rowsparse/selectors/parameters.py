"""Parameters of estimators, checked before the data is read.

An estimator declares ``_checks``, a mapping from the name of a parameter to its check: a function
of the name and the value that raises with one sentence. ``check_parameters`` walks it at the
beginning of ``fit``. What needs the data (k <= d, the shape of ``init``) is checked when it is
there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..inputs import check_integer, check_number, error_of, is_integer
from ..solvers.base import Solver
from ..targets import TASKS

Check = Callable[[str, Any], object]


def check_parameters(estimator: Any) -> None:
    """Raise about the first parameter that is not what its class says."""
    given = vars(estimator)
    for name, check in estimator._checks.items():
        check(name, given[name])


def optional(check: Check) -> Check:
    """None, or what the check allows."""
    return lambda name, value: None if value is None else check(name, value)


def number(low: float, high: float = np.inf, low_open: bool = False) -> Check:
    """A real number in a range."""
    return lambda name, value: check_number(name, value, low, high, low_open)


def integer(low: int) -> Check:
    """An integer from ``low`` on."""
    return lambda name, value: check_integer(name, value, low)


def one_of(*names: str) -> Check:
    """One of a few names."""
    known = " or ".join([", ".join(map(repr, names[:-1])), repr(names[-1])])

    def check(name: str, value: Any) -> None:
        if not (isinstance(value, str) and value in names):
            raise ValueError(f"Expected {name} to be {known}, got {name}={value!r}.")

    return check


def name_or(names: tuple[str, ...], other: Check) -> Check:
    """One of a few names, or what the check allows."""

    def check(name: str, value: Any) -> None:
        if isinstance(value, str):
            one_of(*names)(name, value)
        else:
            other(name, value)

    return check


def otherwise_callable(*names: str) -> Check:
    """One of a few names, or a function."""

    def check(name: str, value: Any) -> None:
        if not callable(value) and not (isinstance(value, str) and value in names):
            known = ", ".join(names)
            raise ValueError(
                f"Expected {name} to be one of {known} or a callable, got {name}={value!r}."
            )

    return check


def infinity_or(check: Check) -> Check:
    """Infinity, or what the check allows."""

    def checked(name: str, value: Any) -> None:
        if isinstance(value, float) and value == np.inf:
            return
        try:
            check(name, value)
        except (TypeError, ValueError) as error:
            also = f"; infinity ({name}=float('inf')) works too."
            raise type(error)(str(error)[:-1] + also) from None

    return checked


def true_or_false(name: str, value: Any) -> None:
    """A switch."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"Expected {name} to be True or False, got {name}={value!r}.")


def count(name: str, value: Any) -> None:
    """How many to select: an integer, or a fraction of all in (0, 1)."""
    whole = is_integer(value)
    share = isinstance(value, float | np.floating)
    if not (whole and value >= 1) and not (share and 0 < value < 1):
        raise error_of(whole or share)(
            f"Expected {name} to be an integer >= 1 or a fraction between 0 and 1, got {value!r}."
        )


def seed(name: str, value: Any) -> None:
    """What scikit-learn takes for a source of randomness."""
    try:
        check_random_state(value)
    except ValueError:
        raise ValueError(
            f"Expected {name} to be None, an integer >= 0 or a RandomState, got {name}={value!r}."
        ) from None


def class_weight(name: str, value: Any) -> None:
    """None, "balanced" or a mapping; its weights are checked when the classes are known."""
    balanced = isinstance(value, str) and value == "balanced"
    if not (value is None or balanced or isinstance(value, Mapping)):
        raise ValueError(
            f"Expected {name} to be None, 'balanced' or a mapping from class to weight, "
            f"got {name}={value!r}."
        )


def solver_for(kind: str, known: str) -> Check:
    """The word "auto", or a solver for this kind of problem whose own parameters are in range."""

    def check(name: str, value: Any) -> None:
        if isinstance(value, str) and value == "auto":
            return
        if not isinstance(value, Solver):
            raise TypeError(
                f"Expected {name} to be 'auto' or an object from rowsparse.solvers ({known}), "
                f"got {name}={value!r}."
            )
        if kind not in value.solves:
            raise ValueError(
                f"Expected {name} to be one for {kind}, got {type(value).__name__}, which is for "
                f"{' or '.join(value.solves)}; use {known}."
            )
        check_solver(name, value)

    return check


def check_solver(name: str, solver: Solver) -> None:
    """The parameters that all solvers share."""
    check_number(f"{name}.tol", solver.tol, 0.0, np.inf, low_open=True)
    check_integer(f"{name}.max_iter", solver.max_iter, 1)
    if solver.time_limit is not None:
        check_number(f"{name}.time_limit", solver.time_limit, 0.0, np.inf)
    if solver.callback is not None and not callable(solver.callback):
        raise TypeError(f"Expected {name}.callback to be callable, got {solver.callback!r}.")


def init_from(starts: tuple[str, ...]) -> Check:
    """A named start, "best", or an array of finite numbers with two dimensions."""

    def check(name: str, value: Any) -> None:
        if isinstance(value, str):
            if value not in (*starts, "best"):
                known = ", ".join(map(repr, starts))
                raise ValueError(
                    f"Expected {name} to be {known}, 'best' or an array, got {value!r}."
                )
            return
        array = np.asarray(value, dtype=float)
        if array.ndim != 2:
            raise ValueError(
                f"Expected {name} as an array of shape (features × outputs), got {array.shape}."
            )
        if not np.isfinite(array).all():
            raise ValueError(f"Expected a finite {name} array, got NaN or infinity in it.")

    return check


task = one_of(*TASKS)
