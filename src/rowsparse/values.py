"""Parameter objects: dataclasses that scikit-learn can clone and search (``solver__tol``)."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class Parameters:
    """Gives a dataclass scikit-learn's ``get_params`` and ``set_params``."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor arguments by name; ``deep`` has no effect, nothing is nested."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init}  # type: ignore[arg-type]

    def set_params(self, **params: Any):
        """Change constructor arguments by name."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {sorted(known)}."
                )
            setattr(self, name, value)
        return self
