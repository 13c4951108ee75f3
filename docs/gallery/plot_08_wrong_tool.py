"""
When a linear selection is the wrong tool
=========================================

The class is the sign of a product of two columns. No linear model can see it; near neighbours can.
The fit says so in a warning, and ReliefF finds both columns.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from rowsparse import L2pSelector, ScoreSelector, WrongToolWarning

X = np.random.default_rng(0).normal(size=(600, 30))
y = (X[:, 0] * X[:, 1] > 0).astype(int)

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    linear = L2pSelector(5, p=1.0).fit(X, y)
print(next(str(w.message) for w in caught if w.category is WrongToolWarning))
neighbours = ScoreSelector("relieff", 5).fit(X, y)

fig, axes = plt.subplots(1, 3, figsize=(11, 3.5))
axes[0].scatter(X[:, 0], X[:, 1], c=y, cmap="coolwarm", s=10)
axes[0].set(title="the two columns that decide", xlabel="column 0", ylabel="column 1")
for axis, selector, name in ((axes[1], linear, "L2pSelector"), (axes[2], neighbours, "ReliefF")):
    colours = ["tab:orange" if j < 2 else "tab:blue" for j in range(30)]
    axis.bar(range(30), selector.scores_, color=colours)
    axis.set(title=f"{name}: scores", xlabel="column")
fig.tight_layout()
