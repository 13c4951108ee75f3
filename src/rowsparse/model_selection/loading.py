"""Any saved result, by what its folder says it is."""

from __future__ import annotations

import os
from typing import Any

from .comparison import Comparison
from .saving import kind_of
from .stability_result import Stability
from .tuning_result import Tuning

KINDS: dict[str, Any] = {"comparison": Comparison, "stability": Stability, "tuning": Tuning}


def load(folder: str | os.PathLike[str]) -> Comparison | Stability | Tuning:
    """The Tuning, Stability or Comparison that was saved in a folder."""
    kind = kind_of(folder)
    if kind not in KINDS:
        raise ValueError(
            f"Expected a saved {', '.join(KINDS)}, got {kind!r} in {str(folder)!r}; load it with "
            "the version of rowsparse that saved it."
        )
    return KINDS[kind].load(folder)
