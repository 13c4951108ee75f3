"""
Which pixels tell ten digits apart
==================================

One set of pixels for all ten classes: every selected pixel serves several digits at once, and its
row of coefficients says which.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from rowsparse import TopKSelector

X, y = load_digits(return_X_y=True)
selector = TopKSelector(16).fit(X, y)

# %%
# Sixteen of 64 pixels, drawn over the mean image. The certificate says how well it was solved.

fig, axes = plt.subplots(1, 2, figsize=(9, 4))
axes[0].imshow(X.mean(axis=0).reshape(8, 8), cmap="gray_r")
rows, columns = np.unravel_index(np.flatnonzero(selector.support_), (8, 8))
axes[0].scatter(columns, rows, s=220, facecolors="none", edgecolors="tab:orange", linewidths=2)
axes[0].set(title="16 selected pixels on the mean image", xticks=[], yticks=[])

order = np.argsort(selector.ranking_)[:16]
coefficients = (selector.coef_ * X.std(axis=0))[:, order]
limit = np.abs(coefficients).max()
image = axes[1].imshow(coefficients, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
axes[1].set(
    title="What each says about each digit",
    xlabel="pixel, best first",
    ylabel="digit",
    yticks=range(10),
    xticks=range(16),
    xticklabels=[str(j) for j in order],
)
axes[1].tick_params(axis="x", labelsize=7)
fig.colorbar(image, ax=axes[1], label="coefficient × spread")
fig.tight_layout()
print(selector.solution_)
