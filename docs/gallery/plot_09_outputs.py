"""
One penalty per row, two ways to share it
=========================================

``L2pSelector`` charges a feature for the length of its row of coefficients, ``LpInfSelector`` for
its largest entry alone: there a feature that is in may serve every other output for nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from rowsparse import L2pSelector, LpInfSelector

X, y = load_digits(return_X_y=True)

fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
for axis, selector in (
    (axes[0], L2pSelector(12, p=1.0, ridge=0)),
    (axes[1], LpInfSelector(12, p=1.0, ridge=0)),
):
    selector.fit(X, y)
    order = np.argsort(selector.ranking_)[:12]
    W = np.abs(selector.coef_ * X.std(axis=0))[:, order]
    image = axis.imshow(W / W.max(), cmap="viridis", aspect="auto", vmin=0, vmax=1)
    axis.set(
        title=type(selector).__name__,
        xlabel="pixel, best first",
        yticks=range(10),
        xticks=range(12),
        xticklabels=[str(j) for j in order],
    )
axes[0].set_ylabel("digit")
fig.colorbar(image, ax=axes, label="size of the coefficient, largest = 1")
