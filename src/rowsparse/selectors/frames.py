"""The table of a fitted selector, in pandas or polars, whichever is installed."""

from __future__ import annotations

import numpy as np


def selection_columns(selector) -> dict[str, np.ndarray]:
    """One entry per feature, best first: the columns of ``to_frame``."""
    order = np.argsort(selector.ranking_, kind="stable")
    names = getattr(selector, "feature_names_in_", None)
    if names is None:
        names = np.array([f"x{j}" for j in range(order.size)], dtype=object)
    columns = {
        "name": np.asarray(names, dtype=object)[order],
        "rank": selector.ranking_[order],
        "score": selector.scores_[order],
        "selected": selector.support_[order],
    }
    if hasattr(selector, "coef_"):
        for output, row in zip(selector.output_names_, selector.coef_, strict=True):
            columns[f"coef_{output}"] = row[order]
    if hasattr(selector, "entered_alpha_"):  # a constraint has no alpha
        columns["entered_alpha"] = selector.entered_alpha_[order]
    return columns


def selection_frame(selector):
    """A pandas data frame; a polars one after ``set_output(transform="polars")`` or where only
    polars is installed."""
    columns = selection_columns(selector)
    wanted = getattr(selector, "_sklearn_output_config", {}).get("transform")
    try:
        if wanted == "polars":
            raise ImportError
        import pandas
    except ImportError:
        pass
    else:
        return pandas.DataFrame(columns)
    try:
        import polars
    except ImportError:
        raise ImportError(
            "to_frame needs pandas or polars; install one with: pip install pandas"
        ) from None
    return polars.DataFrame({name: list(values) for name, values in columns.items()})
