"""X in blocks, as ``fit`` is given it: a store on disk or a Dask array, never read as a whole."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from sklearn.utils.validation import validate_data

from ..designs import ChunkedDesign, SearchedDesign, as_design, is_dask
from ..designs.chunked import MOST_PRODUCTS
from ..targets import refuse_strange_target

# Columns from which one fit looks for those whose products it needs. To multiply 1,000 with each
# other takes a processor 5.4 s for a GB of float32; a pass that does not takes .9, and a fit makes
# some three. Below there is less to gain, and all products have more to say: proofs, and paths.
SEARCH_FROM = 1000
TAKE_BLOCKS = (
    "L2pSelector, LpInfSelector, TopKSelector with r=2, ScoreSelector with an additive filter, and "
    "SelectorCV or StabilitySelector of these"
)


def refuse_blocks(selector: Any, X: Any) -> NoReturn:
    """Say who takes X in blocks, where this selector does not."""
    raise TypeError(
        f"Expected X in memory for {type(selector).__name__}, got {type(X).__name__}; "
        f"X in blocks is for {TAKE_BLOCKS}."
    )


def refuse_passes(r: float, X: Any, one_fit: bool) -> None:
    """Say what TopKSelector needs of X in blocks, where it is something else."""
    if r != 2:
        raise ValueError(
            f"Expected r=2 for TopKSelector on X in blocks, got r={r!r}; use r=2, or L2pSelector."
        )
    if len(X.shape) != 2 or X.shape[1] <= MOST_PRODUCTS:
        return
    if not one_fit:
        raise ValueError(
            f"Expected X in blocks with at most {MOST_PRODUCTS} columns for many fits of "
            f"TopKSelector, got {X.shape[1]}; fit one k, use L2pSelector, or a filter first."
        )
    if X.shape[0] < 2 * X.shape[1]:
        raise ValueError(
            f"Expected X in blocks with at most {MOST_PRODUCTS} columns for TopKSelector, or twice "
            f"as many samples, got shape {X.shape}; use L2pSelector, or a filter first."
        )


def validated_blocks(selector: Any, X: Any, y: Any) -> tuple[ChunkedDesign, np.ndarray]:
    """The design of X, which is not read, and y as scikit-learn reads it."""
    if y is None:
        raise ValueError(
            f"{type(selector).__name__} requires y to be passed, but the target y is None."
        )
    design = as_design(X)
    if not isinstance(design, ChunkedDesign):
        raise TypeError(f"Expected X in blocks of rows, got {type(X).__name__}.")
    if is_dask(y):
        # computed here: y is one number per sample, which fits where X does not
        y = np.asarray(y)
    refuse_strange_target(y)
    y = validate_data(selector, y=y, multi_output=True)
    n, d = design.shape
    if len(y) != n:
        raise ValueError(f"Expected as many samples in y as in X ({n}), got {len(y)}.")
    if n < 2 or d < 1:
        raise ValueError(f"Expected X with at least 2 samples and 1 feature, got shape ({n}, {d}).")
    selector.n_features_in_ = d
    # of an earlier fit on a data frame
    vars(selector).pop("feature_names_in_", None)
    if design.passes.names is not None:
        selector.feature_names_in_ = np.array(design.passes.names, dtype=object)
    return design, y


def check_same_columns(selector: Any, X: Any) -> ChunkedDesign:
    """The design of X, if it has as many columns as the X that was fitted."""
    design = as_design(X)
    if not isinstance(design, ChunkedDesign) or design.shape[1] != selector.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(selector).__name__} is expecting "
            f"{selector.n_features_in_} features as input."
        )
    return design


def first_pass(
    design: ChunkedDesign, weights: np.ndarray, Y: np.ndarray, squared: bool, one_fit: bool
) -> ChunkedDesign:
    """All that one pass says: for squared loss of not too many columns all that is needed; where
    there are more, and the products are for one fit alone, a design that learns some of them. One
    that knows all from an earlier fit is not read again."""
    if design.moments(weights, Y) is not None:
        return design
    columns = design.shape[1] + Y.shape[1]
    # on fewer samples than columns products take as much memory as X, and passes are short
    if squared and one_fit and SEARCH_FROM < columns <= len(Y):
        searched = SearchedDesign(design)
        searched.look(weights, Y)
        return searched
    design.summarise(weights, Y, diagonal_only=columns > MOST_PRODUCTS or not squared)
    return design


def refuse_bad_blocks(sums: np.ndarray) -> NoReturn:
    """Say which column makes the sums over a pass no numbers."""
    raise ValueError(
        "Expected finite numbers in X whose sums of squares are finite, got NaN, infinity or too "
        f"large numbers in column {int(np.argmin(np.isfinite(sums)))}; clean or rescale X."
    )
