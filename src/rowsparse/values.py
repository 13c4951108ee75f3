"""Small value objects: parameters that scikit-learn can clone, and equality that knows arrays."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Self

import numpy as np


@dataclass(eq=False, repr=False)
class Parameters:
    """Gives a dataclass scikit-learn's ``get_params`` and ``set_params``."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor arguments by name; ``deep`` has no effect, nothing is nested."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init}

    def set_params(self, **params: Any) -> Self:
        """Change constructor arguments by name."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {sorted(known)}."
                )
            setattr(self, name, value)
        return self


class ByValue:
    """Gives a dataclass that is declared with ``eq=False`` an equality that compares arrays.

    The one that dataclasses write themselves raises as soon as a field is an array. Like arrays,
    such values have no hash.
    """

    def __eq__(self, other: object) -> bool:
        return same_values(self, other)


class ShownInNotebooks:
    """Gives a result figures in the cell of a notebook; the layer of reports draws them."""

    def _repr_html_(self) -> str | None:
        try:
            return str(importlib.import_module("rowsparse.report.notebook").fragment(self))
        except ImportError:  # without Jinja2 (extra "report") the cell shows the text
            return None


def same_values(a: Any, b: Any) -> bool:
    """Whether a and b are equal: arrays entry by entry, dataclasses of one type field by field;
    NaN, what some histories have to say, equals NaN."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")
    if is_dataclass(a):
        if type(a) is not type(b):  # a subclass may mean something else by the same fields
            return False
        mine = vars(a)
        others = vars(b)
        return all(same_values(mine[f.name], others[f.name]) for f in fields(a))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same_values, a, b))
    if isinstance(a, float) and isinstance(b, float) and np.isnan(a):
        return bool(np.isnan(b))
    return bool(a == b)  # of NumPy's scalars too
