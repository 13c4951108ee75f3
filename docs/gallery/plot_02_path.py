"""
The whole path: in which order features enter
=============================================

Lowering alpha lets one feature after the other in. With p = 1 every coefficient is shrunk; with
p = 0.5 a feature enters at a size that matters and is shrunk less. The five that end largest in
either have a colour.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from rowsparse import L2pSelector
from rowsparse.paths import selection_path

data = load_wine(as_frame=True)

paths = {
    p: selection_path(L2pSelector(p=p), data.data, data.target, n_alphas=40) for p in (1.0, 0.5)
}
norms = {
    p: np.array([np.linalg.norm(solution.W, axis=1) for solution in path.solutions])
    for p, path in paths.items()
}
last = np.maximum(norms[1.0][-1], norms[0.5][-1])
largest = np.argsort(-last)[:5]

fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
for axis, (p, path) in zip(axes, paths.items(), strict=True):
    axis.plot(path.alphas, norms[p], color="0.8", linewidth=1)
    for j in largest:
        axis.plot(path.alphas, norms[p][:, j], label=data.feature_names[j])
    axis.set(xscale="log", xlabel="alpha", title=f"p = {p:g}")
    axis.invert_xaxis()
axes[0].legend(fontsize=8)
axes[0].set_ylabel("norm of the feature's row")
fig.tight_layout()
