"""
The whole path: in which order features enter
=============================================

Lowering alpha lets one feature after the other in. With p = 1 every coefficient is shrunk; with
p = 0.5 a feature enters at a size that matters and is shrunk less.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from rowsparse import L2pSelector
from rowsparse.paths import selection_path

data = load_wine(as_frame=True)

fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
for axis, p in zip(axes, (1.0, 0.5), strict=True):
    path = selection_path(L2pSelector(p=p), data.data, data.target, n_alphas=40)
    norms = np.array([np.linalg.norm(solution.W, axis=1) for solution in path.solutions])
    axis.plot(path.alphas, norms, linewidth=1.2)
    for j in np.argsort(-norms[-1])[:5]:
        axis.annotate(
            data.feature_names[j], (path.alphas[-1], norms[-1, j]), fontsize=7, va="center"
        )
    axis.set(xscale="log", xlabel="alpha", title=f"p = {p:g}")
    axis.invert_xaxis()
axes[0].set_ylabel("norm of the feature's row")
fig.tight_layout()
