"""What every selector of features is to scikit-learn and to the user, however it was fitted."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from .frames import selection_frame


class FeatureSelector(SelectorMixin, BaseEstimator):
    """Needs ``support_``, ``scores_`` and ``ranking_`` of ``fit``."""

    support_: np.ndarray

    def to_frame(self):
        """One line per feature, best first, as a pandas (or else polars) data frame.

        Columns: name, rank, score, selected; where coefficients were fitted, one per class or
        output; where a path in alpha was followed, the alpha at which the feature entered (NaN if
        it never did).
        """
        check_is_fitted(self, "support_")
        return selection_frame(self)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = False
        return tags
