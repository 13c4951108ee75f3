"""Validated input of a selector: the design as the penalty sees it, target, weights, factors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from ..designs import Design, Standardized, as_design
from ..inputs import as_target, check_feature_weights, check_sample_weight
from ..targets import Target


class Data:
    """What ``fit`` was given, checked; columns are centred and scaled as the selector asks."""

    def __init__(self, design: Design, target: Target, weights, means, scales, factors):
        self.design, self.target, self.weights = design, target, weights
        self.means, self.scales, self.factors = means, scales, factors

    @classmethod
    def of(cls, selector: Any, X, y, sample_weight, later: bool = False) -> Data:
        """Check X, y and the weights of samples and features.

        ``later``: NaN in X may come to light as ``NotFinite`` when X is first read as a whole.
        """
        X, y = _validated(selector, X, y)
        s = check_sample_weight(sample_weight, X.shape[0])
        factors = check_feature_weights(
            selector.feature_weights, X.shape[1], getattr(selector, "feature_names_in_", None)
        )
        if s is not None and not s.all():
            X, y, s = X[s > 0], y[s > 0], s[s > 0]  # a weight of zero is a row that is not there
        target = as_target(y, selector.task)
        s = None if s is None else s / s.mean()
        return cls._standardized(selector, X, target, s, factors, later)

    @classmethod
    def _standardized(cls, selector: Any, X, target, s, factors, later: bool) -> Data:
        design = as_design(X)
        n, d = design.shape
        weights = np.ones(n) if s is None else s
        means, scales, known = np.zeros(d), np.ones(d), None
        moved = selector.fit_intercept or selector.standardize
        if moved or not (later and design.products_check(target.Y.shape[1])):
            sums = design.means(weights) if moved else design.squares(weights)
            if not np.isfinite(sums).all():  # needed anyway: no pass of its own
                check_finite(selector, X)
        constant = design.constant_columns()
        if moved:
            means = sums
            squares = design.squares(weights, means)
            known = (weights, squares) if selector.fit_intercept else None
            spread = np.sqrt(squares / n)
            constant |= spread <= 10 * np.finfo(design.dtype).eps * np.abs(means)
            if selector.standardize:
                scales = np.where(constant, 1.0, spread)
            if not selector.fit_intercept:
                means = np.zeros(d)
        factors = np.ones(d) if factors is None else factors.copy()
        factors[constant] = np.inf
        if np.isinf(factors).all():
            raise ValueError(
                "Expected some column of X that varies and may be selected, got only constant "
                "or excluded columns."
            )
        changed = means.any() or selector.standardize
        design = Standardized(design, means, scales, known) if changed else design
        return cls(design, target, s, means, scales, factors)


def check_finite(selector: Any, X) -> None:
    """Raise with scikit-learn's words if X has NaN or infinity in it."""
    check_array(X, accept_sparse="csc", input_name="X", estimator=selector)


def _validated(selector: Any, X, y):
    if y is None:
        raise ValueError(
            f"{type(selector).__name__} requires y to be passed, but the target y is None."
        )
    return validate_data(
        selector,
        X,
        y,
        accept_sparse="csc",
        dtype=[np.float64, np.float32],
        multi_output=True,
        ensure_min_samples=2,
        ensure_all_finite=False,  # see _standardized
    )
