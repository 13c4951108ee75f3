"""
Extend a panel that exists
==========================

Three measurements are already taken for every patient; which four would add most? Features with
weight 0 are always in and not penalised, features with weight infinity are never taken.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from rowsparse import TopKSelector

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target
taken = ["mean radius", "mean texture", "mean smoothness"]
too_dear = [name for name in X.columns if name.startswith("worst")]
weights = dict.fromkeys(taken, 0) | dict.fromkeys(too_dear, np.inf)

fresh = TopKSelector(7).fit(X, y)
extended = TopKSelector(7, feature_weights=weights).fit(X, y)

fig, axes = plt.subplots(1, 2, figsize=(10, 4))
for axis, selector, title in (
    (axes[0], fresh, "drawn up afresh"),
    (axes[1], extended, "three kept, no 'worst' columns"),
):
    frame = selector.to_frame().query("selected").sort_values("score")
    colours = ["tab:orange" if name in taken else "tab:blue" for name in frame["name"]]
    axis.barh(frame["name"], frame["score"], color=colours)
    axis.set(title=f"{title}: accuracy {selector.score(X, y):.3f}", xlabel="norm of the row")
fig.suptitle("orange: already measured")
fig.tight_layout()
