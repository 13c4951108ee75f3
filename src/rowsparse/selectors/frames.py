"""The table of a fitted selector, in pandas or polars, whichever is installed."""

from __future__ import annotations

from typing import Any

import numpy as np


def selection_columns(selector: Any, input_features: Any = None) -> dict[str, np.ndarray]:
    """One entry per feature, best first: the columns of ``to_frame``."""
    fitted = vars(selector)
    order = np.argsort(fitted["ranking_"], kind="stable")
    columns = {
        "name": _names(fitted, order.size, input_features)[order],
        "rank": fitted["ranking_"][order],
        "score": fitted["scores_"][order],
        "selected": fitted["support_"][order],
    }
    if "coef_" in fitted:  # a filter has none
        for output, row in zip(fitted["output_names_"], fitted["coef_"], strict=True):
            columns[f"coef_{output}"] = row[order]
    if "entered_alpha_" in fitted:  # a constraint has no alpha
        columns["entered_alpha"] = fitted["entered_alpha_"][order]
    return columns


def _names(fitted: dict[str, Any], d: int, input_features: Any) -> np.ndarray:
    names = fitted.get("feature_names_in_") if input_features is None else list(input_features)
    if names is None:
        names = [f"x{j}" for j in range(d)]
    if len(names) != d:
        raise ValueError(
            f"Expected input_features with one name per column of X ({d}), got {len(names)}."
        )
    return np.array(names, dtype=object)


def selection_frame(selector: Any, input_features: Any = None) -> Any:
    """A pandas data frame; a polars one after ``set_output(transform="polars")`` or where only
    polars is installed."""
    columns = selection_columns(selector, input_features)
    wanted = vars(selector).get("_sklearn_output_config", {}).get("transform")
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
