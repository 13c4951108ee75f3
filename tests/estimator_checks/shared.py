"""What several checks use."""

from __future__ import annotations

import numpy as np
import sklearn

SKLEARN = tuple(map(int, sklearn.__version__.split(".")[:2]))
ODD_NAMES = ["y", "a b", "[x] <1>", "é", "0", "name", "score", "selected"]


def with_k(make_selector, k, **params):
    """A selector asked for k features and nothing else."""
    selector = make_selector(n_features_to_select=k, **params)
    if "alpha" in selector.get_params():
        selector.set_params(alpha=None)
    return selector


def assert_same_fit(a, b, rtol=1e-4):
    """Same features, and scores that agree up to what two converged runs may differ by."""
    np.testing.assert_array_equal(a.support_, b.support_)
    np.testing.assert_allclose(a.scores_, b.scores_, rtol=rtol, atol=rtol * np.max(a.scores_))


def assert_bitwise_equal(a, b):
    for name in ("support_", "scores_", "ranking_", "coef_", "intercept_"):
        if hasattr(a, name):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def assert_finite(selector):
    for name in ("scores_", "coef_", "intercept_"):
        if hasattr(selector, name):
            assert np.all(np.isfinite(getattr(selector, name))), f"{name} is not finite"
