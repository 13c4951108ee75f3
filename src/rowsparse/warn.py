"""Warnings that point at the user's own line, however deep they are said."""

from __future__ import annotations

import sys
import warnings

# Libraries between the user and us: their lines tell nobody what to change.
_BETWEEN = frozenset({"rowsparse", "sklearn", "joblib"})


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the line that called the package, perhaps through scikit-learn.

    Counting frames by hand goes wrong with every decorator that is added on the way.
    """
    frame = sys._getframe(1)
    level = 2
    while frame.f_back is not None and _library(frame.f_globals) in _BETWEEN:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def _library(module: dict[str, object]) -> str:
    return str(module.get("__name__")).partition(".")[0]


def say_fewer_than(k: int, found: int) -> None:
    """Warn that there are not k features to select."""
    warn_user(
        f"Expected {k} features, got {found}: the other columns of X are constant or excluded."
    )
