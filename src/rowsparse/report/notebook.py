"""What a notebook shows of a result: the figures and tables of its page."""

from __future__ import annotations

from typing import Any

from .page import as_fragment
from .reading import read


def fragment(result: Any) -> str:
    """A piece of HTML whose styles stay inside it; it has no script."""
    return as_fragment(read(result))
