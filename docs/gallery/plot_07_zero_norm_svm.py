"""
A support vector machine that selects
=====================================

``ZeroNormSVC`` removes features while it learns; ``ZeroNormKernelSVC`` does the same with training
points, so that predictions need only a few kernel evaluations.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.svm import SVC

from rowsparse import ZeroNormKernelSVC

X, y = make_moons(300, noise=0.22, random_state=0)
dense = SVC(kernel="rbf", gamma=1.0).fit(X, y)
sparse = ZeroNormKernelSVC(kernel="rbf", gamma=1.0, C=1.0).fit(X, y)

fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
for axis, machine, name in ((axes[0], dense, "SVC"), (axes[1], sparse, "ZeroNormKernelSVC")):
    DecisionBoundaryDisplay.from_estimator(
        machine, X, ax=axis, response_method="decision_function", cmap="RdBu", alpha=0.4
    )
    axis.scatter(*X.T, c=y, cmap="RdBu", s=12, edgecolors="k", linewidths=0.3)
    axis.scatter(*X[machine.support_].T, s=70, facecolors="none", edgecolors="k")
    vectors = int(np.sum(machine.n_support_))
    axis.set_title(f"{name}: {vectors} support vectors, accuracy {machine.score(X, y):.3f}")
fig.tight_layout()
