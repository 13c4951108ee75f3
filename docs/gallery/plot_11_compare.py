"""
Compare methods on the same folds
=================================

Every method selects on the training part of the same folds, and the same model is scored on what
it selected. Intervals are corrected for training sets that overlap: often the folds cannot tell
methods apart, and the result says so.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from rowsparse import ScoreSelector, TopKSelector
from rowsparse.model_selection import compare
from rowsparse.report import AccuracyDisplay

X, y = load_digits(return_X_y=True)
methods = {
    "TopKSelector": TopKSelector(),
    "mRMR": ScoreSelector("mrmr"),
    "F test": ScoreSelector("f"),
}
comparison = compare(methods, X, y, ks=[4, 8, 16, 32], cv=3)

fig, axis = plt.subplots(figsize=(7, 4))
AccuracyDisplay.from_estimator(comparison, ax=axis)
fig.tight_layout()
