"""Results as tables."""

from __future__ import annotations

from typing import Any


def data_frame(lines: list[dict[str, Any]], columns: list[str] | None = None) -> Any:
    """A pandas data frame; the package runs without pandas."""
    try:
        import pandas
    except ImportError:
        raise ImportError(
            "A table of results needs pandas; install it with: pip install pandas"
        ) from None
    return pandas.DataFrame(lines, columns=columns)
