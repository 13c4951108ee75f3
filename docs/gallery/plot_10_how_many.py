"""
How many, which, and how surely
===============================

Three questions after the first fit: how many columns the data support (cross-validation, with the
selection inside the folds), which of them (the fit itself), and how surely (the share of
half-samples on which a column is chosen, with a bound on the expected number of false ones).
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from rowsparse import TopKSelector
from rowsparse.model_selection import SelectorCV, StabilitySelector
from rowsparse.report import AccuracyDisplay, StabilityDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
search = SelectorCV(TopKSelector(), ks=[1, 2, 3, 5, 8, 12], rule="1se").fit(X, y)
stable = StabilitySelector(TopKSelector(), q=5, n_pairs=20, random_state=0).fit(X, y)

fig, axes = plt.subplots(1, 2, figsize=(11, 4))
AccuracyDisplay.from_estimator(search, ax=axes[0])
StabilityDisplay.from_estimator(stable, ax=axes[1])
fig.tight_layout()
